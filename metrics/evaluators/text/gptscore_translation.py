"""GPTScore for translations: how likely a language model is to rewrite the answer as the expected answer, and back."""

from collections.abc import Sequence
from math import log

from metrics.core.evaluator import CaseScore, Example, evaluator
from metrics.core.suite import Case
from metrics.evaluators.text._gptscore import (
    LanguageModelParameters,
    against_references,
    half_said,
    loss_metrics,
    scored,
)
from metrics.models.language_model import Predicts

TEMPLATES = {
    "accuracy": "Say this again with the same facts: {text}\nIn other words:",
    "fluency": "Say this again in correct and natural language: {text}\nIn other words:",
    "multidimensional_quality": "Say this again as well as can be, with the same facts: {text}\nIn other words:",
}
MEANINGS = {
    "accuracy": "Loss of one text after the other, asked to keep the facts.",
    "fluency": "Loss of one text after the other, asked for correct and natural language.",
    "multidimensional_quality": "Loss of one text after the other, asked for high quality overall.",
}


@evaluator(
    id="gptscore_translation",
    title="GPTScore: machine translation",
    tasks=("text",),
    inputs=("answer", "expected_answers"),
    resources=("language_model",),
    metrics=loss_metrics(MEANINGS, "accuracy"),
    sources=("H", "Fu et al. 2023, GPTScore"),
    standards=("NIST AI RMF: valid and reliable", "SR 11-7: outcomes analysis"),
    examples=(
        half_said(TEMPLATES),
        Example(
            "the expected answer with the lowest loss counts",
            {"answer": "Katze schläft", "expected_answers": ["Hund bellt", "Katze schläft"]},
            dict.fromkeys(TEMPLATES, log(2)),
        ),
        Example.not_applicable("the answer is blank", {"answer": " ", "expected_answers": ["Katze"]}),
    ),
    differs_from="gptscore_summary_reference asks for the qualities of summaries; bleu and rouge compare the wording.",
)
def gptscore_translation(
    cases: Sequence[Case],
    parameters: LanguageModelParameters,  # noqa: ARG001
    language_model: Predicts,
) -> list[CaseScore]:
    """How likely the expected answer is to a language model after the answer, and the other way round.

        loss(b | a) = mean over the tokens of b of  −ln p(token | instruction, a, bridge words, b so far)
        score = (loss(expected | answer) + loss(answer | expected)) / 2

    In nats per token, from 0, lower is better; one instruction for each aspect. No threshold by default: numbers are
    only comparable within one model. With several expected answers, each aspect takes the lowest loss.

    An answer or expected answers without a word are not applicable. Long texts are read in windows, see
    metrics.models.language_model; the evidence then gives their number.
    Evidence: tokens scored, the best expected answer (from 1) of each aspect, the model and the sha256 of its weights.
    Source: H2O Eval Studio, after Fu et al.
    """
    return scored(cases, language_model, lambda case: against_references(case, TEMPLATES))
