"""Multiple choice by log-likelihood: whether the likeliest choice is the correct one."""

from collections.abc import Iterator, Sequence
from itertools import islice
from math import exp, inf, isnan
from typing import Literal

from pydantic import Field

from metrics.core.evaluator import CaseScore, Example, Metric, Resource, not_applicable
from metrics.core.evaluator_decorator import evaluator
from metrics.core.evidence import Evidence, Holds, Verdict
from metrics.core.prompt import Prompt
from metrics.core.suite import Case
from metrics.evaluators.text._gptscore import TemplateParameters, pair, provenance
from metrics.models.language_model import LanguageModel

TEMPLATE = "Question: {question}\nAnswer: {choice}"
LONG = {"choices": ["no", "certainly"], "correct_choice": 1, "choice_logprobs": [-4.0, -9.0]}
CHINESE = {"choices": ["no", "是"], "correct_choice": 1, "choice_logprobs": [-4.0, -3.0]}


class MultipleChoiceParameters(TemplateParameters):
    """Where the log-likelihoods come from."""

    log_likelihoods: Literal["stored", "language_model"] = Field(
        "stored",
        description="stored: those of the outputs' column choice_logprobs; language_model: where an output has none, a "
        "local model reads the question with each choice.",
    )

    def used(self, declared: tuple[Resource, ...]) -> tuple[Resource, ...]:
        """Return the language model only where it is asked for."""
        return declared if self.log_likelihoods == "language_model" else ()


@evaluator(
    id="multiple_choice",
    title="Multiple choice",
    inputs=("choices",),
    default_needs=("choice_logprobs",),
    metrics=(
        Metric("accuracy", "Share of cases whose likeliest choice is correct.", binary=True, primary=True),
        Metric(
            "normalised_accuracy",
            "The same with each log-likelihood divided by the characters of its choice: acc_norm of lm-eval.",
            binary=True,
        ),
        Metric(
            "byte_accuracy",
            "The same with each log-likelihood divided by the UTF-8 bytes of its choice: acc_bytes of lm-eval.",
            binary=True,
            minor=True,
        ),
        Metric("probability", "Probability of the correct choice among the choices (softmax).", minor=True),
        Metric.lower(
            "brier_score", "Sum over the choices of (probability − 1 if correct, else − 0)².", high=2.0, minor=True
        ),
    ),
    has_thresholds=False,
    sources=("lm-evaluation-harness", "Brier 1950"),
    standards=("NIST AI RMF: valid and reliable", "SR 11-7: outcomes analysis"),
    prompts=(Prompt("multiple_choice", TEMPLATE),),
    examples=(
        Example(
            "the likeliest choice is wrong; per character and per byte it is right",
            LONG,
            {
                "accuracy": 0.0, "normalised_accuracy": 1.0, "byte_accuracy": 1.0, "probability": 1 / (1 + exp(5)),
                "brier_score": 2 * (1 - 1 / (1 + exp(5))) ** 2,
            },
        ),
        Example(
            "one character of three bytes",
            CHINESE,
            {"accuracy": 1.0, "normalised_accuracy": 0.0, "byte_accuracy": 1.0},
        ),
        Example(
            "of equally likely choices the first is taken",
            {"choices": ["a", "b"], "correct_choice": 1, "choice_logprobs": [-1.0, -1.0]},
            {"accuracy": 0.0, "normalised_accuracy": 0.0, "probability": 0.5, "brier_score": 0.5},
        ),
        Example(
            "a model that charges ln 2 for a word of the question, ln 8 for another",
            {"question": "Is rot a colour?", "choices": ["blau", "rot"], "correct_choice": 1},
            {"accuracy": 1.0, "probability": 0.8, "brier_score": 0.08},
            parameters={"log_likelihoods": "language_model"},
        ),
        Example.not_applicable("no log-likelihoods are stored", {"choices": ["a", "b"], "correct_choice": 1}),
        Example.not_applicable("no choice is said to be correct", {"choices": ["a"], "choice_logprobs": [-1.0]}),
    ),
    differs_from="classification_text reads which class an answer names; this one reads no answer, only how likely the "
    "choices are.",
    differs_from_source=(
        "accuracy, normalised_accuracy and byte_accuracy are lm-eval's acc, acc_norm and acc_bytes on the same numbers "
        "(acc_norm divides by characters, though often described as bytes), brier_score its Brier score; there is one "
        "correct choice. A case whose log-likelihoods are missing or do not fit its choices has no value. The template "
        "for a local model is worded by Assay, without examples of other questions: numbers so computed are not those "
        "of lm-eval's tasks. No language model is bundled."
    ),
)  # fmt: skip
def multiple_choice(
    cases: Sequence[Case], parameters: MultipleChoiceParameters, language_model: LanguageModel | None = None
) -> list[CaseScore]:
    """Whether the choice that is most likely to the model is the correct one.

        choice = argmax_i ll_i            ll_i = ln p(choice i | question), the sum over its tokens
        accuracy = 1 if it is correct;  normalised_accuracy: argmax of ll_i / characters of choice i
        p_i = exp(ll_i) / Σ_j exp(ll_j);  probability = p of the correct choice;  Brier score = Σ_i (p_i − correct_i)²

    Longer choices are less likely by their length alone; the normalised accuracies make up for it, by characters or by
    UTF-8 bytes. Of equal choices the first is taken. Accuracies and probability are from 0 to 1, the Brier score from
    0, best, to 2. Guessing gives an accuracy of 1 / number of choices: there is no threshold by default.

    The log-likelihoods are those of the output (`choice_logprobs`), one a choice, in nats. With `log_likelihoods` =
    language_model, where an output has none they are those of a local model for “Question: … Answer: ” and each choice;
    a text of your own can stand in place of this template, its last placeholder {choice} is scored.

    Without a correct choice, without log-likelihoods, with more or fewer of them than choices, or with one that is no
    number, a case is not applicable. A choice without characters has no normalised accuracies.
    Evidence: each choice with its log-likelihood and probability, which was chosen and which is correct; of a local
    model the sha256 of its weights.
    """
    asked = [case for case in cases if language_model is not None and not case.choice_logprobs]
    template = parameters.prompts.get("multiple_choice", TEMPLATE)
    pairs = [
        pair(template, {"question": case.question or "", "choice": choice}) for case in asked for choice in case.choices
    ]
    losses = iter(language_model.losses(pairs) if language_model is not None else ())
    scores = []
    for case in cases:
        if language_model is None or case.choice_logprobs:
            scores.append(_score(case, case.choice_logprobs))
            continue
        own = list(islice(losses, len(case.choices)))
        scores.append(_score(case, [-loss.mean * loss.tokens for loss in own], provenance(language_model, own)))
    return scores


def _score(case: Case, logprobs: Sequence[float], facts: dict[str, object] | None = None) -> CaseScore:
    choices, correct = case.choices, case.correct_choice
    if correct is None:
        return not_applicable("the case has no correct choice")
    if not 0 <= correct < len(choices):
        return not_applicable(f"the correct choice is at {correct}, but there are {len(choices)}, counted from 0")
    if not logprobs:
        return not_applicable("the output has no log-likelihoods of the choices")
    if len(logprobs) != len(choices):
        return not_applicable(f"{len(logprobs)} log-likelihoods for {len(choices)} choices")
    if any(value is None or isnan(value) for value in logprobs) or max(logprobs) in (inf, -inf):
        return not_applicable("a log-likelihood is no number")
    chosen = _best(logprobs)
    likely = [exp(value - logprobs[chosen]) for value in logprobs]
    shares = [value / sum(likely) for value in likely]
    values: dict[str, float | None] = {
        "accuracy": float(chosen == correct),
        "normalised_accuracy": None,
        "byte_accuracy": None,
        "probability": shares[correct],
        "brier_score": sum((share - (place == correct)) ** 2 for place, share in enumerate(shares)),
    }
    if all(choices):
        sizes = {"normalised_accuracy": map(len, choices), "byte_accuracy": map(_bytes, choices)}
        for name, lengths in sizes.items():
            best = _best([value / length for value, length in zip(logprobs, lengths, strict=True)])
            values[name] = float(best == correct)
    verdicts = list(_verdicts(choices, logprobs, shares, chosen, correct))
    reason = None if all(choices) else "a choice has no characters to divide its log-likelihood by"
    return CaseScore(values, reason=reason, evidence=Evidence({"choices": verdicts}, facts or {}))


def _verdicts(
    choices: Sequence[str], logprobs: Sequence[float], shares: Sequence[float], chosen: int, correct: int
) -> Iterator[Verdict]:
    for place, (choice, logprob, share) in enumerate(zip(choices, logprobs, shares, strict=True)):
        right = place == correct
        holds: Holds = "unknown" if place != chosen else "yes" if right else "no"
        label = ", ".join(word for word, fits in (("chosen", place == chosen), ("correct", right)) if fits)
        yield Verdict(choice, holds, label, facts={"log_likelihood": logprob, "probability": share})


def _best(values: Sequence[float]) -> int:
    """Return the place of the greatest value, the first of equals."""
    return max(range(len(values)), key=values.__getitem__)


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))
