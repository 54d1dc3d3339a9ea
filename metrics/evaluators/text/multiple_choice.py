"""Multiple choice by log-likelihood: whether the likeliest choice is the correct one."""

from collections.abc import Mapping, Sequence
from itertools import islice
from math import exp, inf, isnan
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pydantic import Field

from metrics.core.array_types import Floats, Ints
from metrics.core.cases import Cases
from metrics.core.evaluator import Example, Metric, Resource
from metrics.core.evaluator_decorator import evaluator
from metrics.core.evidence import Holds, verdicts_json
from metrics.core.prompt import Prompt
from metrics.core.score_columns import ScoreColumns
from metrics.core.suite import Case
from metrics.evaluators._spread_scores import spread_columns
from metrics.evaluators.text.gptscore import TemplateParameters, pair, provenance
from metrics.models.language_model import LanguageModel
from metrics.stats.float_tolerance import first_highest

TEMPLATE = "Question: {question}\nAnswer: {choice}"
UNEQUAL_CHOICES = {"choices": ["no", "certainly"], "correct_choice": 1, "choice_logprobs": [-4.0, -9.0]}
KINDS: tuple[tuple[Holds, str], ...] = (
    ("unknown", ""), ("unknown", "correct"), ("no", "chosen"), ("yes", "chosen, correct"),
)  # fmt: skip
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
    standards=("valid and reliable", "outcomes analysis"),
    prompts=(Prompt("multiple_choice", TEMPLATE),),
    examples=(
        Example(
            "the likeliest choice is wrong; per character and per byte it is right",
            UNEQUAL_CHOICES,
            {
                "accuracy": 0.0,
                "normalised_accuracy": 1.0,
                "byte_accuracy": 1.0,
                "probability": 1 / (1 + exp(5)),
                "brier_score": 2 * (1 - 1 / (1 + exp(5))) ** 2,
            },
        ),
        Example(
            "one character of three bytes", CHINESE, {"accuracy": 1.0, "normalised_accuracy": 0.0, "byte_accuracy": 1.0}
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
    differs_from_source="accuracy, normalised_accuracy and byte_accuracy are lm-eval's acc, acc_norm and acc_bytes on "
    "the same numbers (acc_norm divides by characters, though often described as bytes), brier_score its Brier score; "
    "there is one correct choice. A case whose log-likelihoods are missing or do not fit its choices has no value. The "
    "template for a local model is worded by Assay, without examples of other questions: numbers so computed are not "
    "those of lm-eval's tasks. No language model is bundled.",
)
def multiple_choice(
    cases: Sequence[Case], parameters: MultipleChoiceParameters, language_model: LanguageModel | None = None
) -> ScoreColumns:
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
    cases = Cases.of(cases)
    choices, correct, logprobs = (cases.column(name) for name in ("choices", "correct_choice", "choice_logprobs"))
    provenances: list[dict[str, Any]] = []
    if language_model is not None:
        logprobs, provenances = _logprobs(cases, parameters, language_model)
    place, sizes = _scored_rows(choices, correct, logprobs)
    which = pa.array(place)
    texts = pc.fill_null(choices.take(which).flatten(), "")
    right = correct.take(which).to_numpy().astype(np.int64)
    origins = [provenances[row] for row in place.tolist()] if provenances else []
    values, evidence = _scores(texts, logprobs.take(which).flatten().to_numpy(), sizes, right, origins)
    left_out = np.full(len(cases), True)
    left_out[place[~np.isnan(values["normalised_accuracy"])]] = False
    reasons = np.full(len(cases), None, object)
    for row in np.flatnonzero(left_out).tolist():
        reasons[row] = _reason(choices[row].as_py() or (), correct[row].as_py(), logprobs[row].as_py() or ())
    return spread_columns(cases.column("case_id"), place, pa.array(reasons, pa.string()), values, evidence)


def _logprobs(
    cases: Cases, parameters: MultipleChoiceParameters, language_model: LanguageModel
) -> tuple[pa.Array, list[dict[str, Any]]]:
    """Return the log-likelihoods of each case, read by the model where none are stored, and where they are from."""
    template = parameters.prompts.get("multiple_choice", TEMPLATE)
    pairs = [
        pair(template, {"question": case.question or "", "choice": choice})
        for case in cases
        if not case.choice_logprobs
        for choice in case.choices
    ]
    losses = iter(language_model.losses(pairs))
    found, provenances = [], []
    for case in cases:
        own = [] if case.choice_logprobs else list(islice(losses, len(case.choices)))
        found.append(case.choice_logprobs or [-loss.mean * loss.tokens for loss in own])
        provenances.append({} if case.choice_logprobs else provenance(language_model, own))
    return pa.array(found, pa.list_(pa.float64())), provenances


def _scored_rows(choices: pa.Array, correct: pa.Array, logprobs: pa.Array) -> tuple[Ints, Ints]:
    """Return the rows [n] of the cases that have scores, and how many choices each of them has."""
    many, given = (pc.fill_null(pc.list_value_length(column), 0).to_numpy() for column in (choices, logprobs))
    right = pc.fill_null(correct, -1).to_numpy()
    place = np.flatnonzero((right >= 0) & (right < many) & (many == given))
    values = logprobs.take(pa.array(place)).flatten().to_numpy(zero_copy_only=False)
    begin = np.cumsum(many[place]) - many[place]
    highest = np.maximum.reduceat(values, begin) if len(place) else values  # NaN where one is
    place = place[np.isfinite(highest)]
    return place, many[place].astype(np.int64)


def _scores(
    texts: pa.Array, logprobs: Floats, sizes: Ints, right: Ints, provenances: Sequence[Mapping[str, Any]]
) -> tuple[dict[str, Floats], pa.Array]:
    """Return the metrics of n cases, NaN for none, and their evidence.

    texts, logprobs: [m], the choices of all cases one after the other; sizes: [n], of each case; right: [n], the place
    of its correct choice.
    """
    begin, case = np.cumsum(sizes) - sizes, np.repeat(np.arange(len(sizes)), sizes)
    correct, chosen = begin + right, first_highest(logprobs, sizes)
    likely = np.exp(logprobs - logprobs[chosen][case])
    shares = likely / np.bincount(case, likely, len(sizes))[case]
    is_correct, is_chosen = np.zeros(len(case), np.int64), np.zeros(len(case), np.int64)
    is_correct[correct] = is_chosen[chosen] = 1
    values = {"accuracy": (chosen == correct).astype(np.float64)}
    lengths = {"normalised_accuracy": pc.utf8_length(texts), "byte_accuracy": pc.binary_length(texts)}
    for name, column in lengths.items():
        length = column.to_numpy()
        best = first_highest(logprobs / np.maximum(length, 1), sizes)
        values[name] = np.where(np.bincount(case, length == 0, len(sizes)) > 0, np.nan, best == correct)
    values["probability"] = shares[correct]
    values["brier_score"] = np.bincount(case, (shares - is_correct) ** 2, len(sizes))
    facts = {"log_likelihood": pa.array(logprobs), "probability": pa.array(shares)}
    kind = 2 * is_chosen + is_correct
    return values, verdicts_json("choices", sizes, texts, KINDS, kind, facts, provenances)


def _reason(choices: Sequence[str], correct: int | None, logprobs: Sequence[float]) -> str:
    """Return why a case lacks scores."""
    if correct is None:
        return "the case has no correct choice"
    if not 0 <= correct < len(choices):
        return f"the correct choice is at {correct}, but there are {len(choices)}, counted from 0"
    if not logprobs:
        return "the output has no log-likelihoods of the choices"
    if len(logprobs) != len(choices):
        return f"{len(logprobs)} log-likelihoods for {len(choices)} choices"
    if any(value is None or isnan(value) for value in logprobs) or max(logprobs) in (inf, -inf):
        return "a log-likelihood is no number"
    return "a choice has no characters to divide its log-likelihood by"
