"""Perplexity: how surprising the answer is to a language model."""

from collections.abc import Sequence
from math import exp, inf

from metrics.core.evaluator import CaseScore, Example, Metric, Status, output_failure
from metrics.core.evaluator_decorator import evaluator
from metrics.core.evidence import Evidence
from metrics.core.suite import Case
from metrics.evaluators.text.gptscore import LanguageModelParameters, provenance
from metrics.models.language_model import LanguageModel, Loss


@evaluator(
    inputs=("answer",),
    synonyms=("fluency",),
    metrics=Metric.lower(
        "perplexity", "exp of the mean cross-entropy of the answer's tokens.", low=1.0, high=inf, threshold=inf
    ),
    version=2,
    sources=("H2O Eval Studio", "Jelinek et al. 1977"),
    standards=("valid and reliable", "ongoing monitoring"),
    examples=(
        Example(
            "√(8 · 2), with a model that charges ln 8 for a new word and ln 2 for a repeated one",
            {"answer": "rot rot"},
            {"perplexity": 4.0},
        ),
        Example("an empty answer", {"answer": " "}, status=Status.SKIPPED),
    ),
    differs_from="the gptscore evaluators measure a text after an instruction; this one the answer by itself.",
    differs_from_source="There is no threshold: H2O's .5 can never be reached, since perplexity is at least 1. How a "
    "text begins and how long texts are read in windows is stated; H2O leaves both open. No language model is bundled.",
)
def perplexity(
    cases: Sequence[Case], parameters: LanguageModelParameters, language_model: LanguageModel
) -> list[CaseScore]:
    """How surprising the answer is to a language model, token by token: low for fluent text, high for scrambled text.

        perplexity = exp( mean over the answer's tokens of  −ln p(token | beginning of text, answer so far) )

    From 1, lower is better: the number of words among which the model was, on average, undecided at each token. It does
    not measure truth; short answers score higher than long ones. It can never be .5, H2O's threshold, so there is none
    by default. Numbers of models with different vocabularies are not comparable. metrics.models.language_model
    describes how a text begins and how texts longer than the model's window are read.

    An answer without a word has no value and counts as missing, and so does one of a single token if the model has no
    beginning-of-text token.
    Evidence: tokens scored, the number of windows if there are several, the model and the sha256 of its weights.
    """
    losses = language_model.losses([("", case.answer or "") for case in cases])
    return [_score(case, loss, language_model) for case, loss in zip(cases, losses, strict=True)]


def _score(case: Case, loss: Loss, language_model: LanguageModel) -> CaseScore:
    if not (case.answer or "").strip():
        return output_failure("the answer is empty")
    evidence = Evidence(facts={"tokens_scored": loss.tokens, **provenance(language_model, [loss])})
    if not loss.tokens:
        return output_failure("the answer is a single token, with nothing before it to predict it from", evidence)
    return CaseScore({"perplexity": exp(loss.mean)}, evidence=evidence)
