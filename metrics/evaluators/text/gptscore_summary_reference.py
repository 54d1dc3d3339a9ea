"""GPTScore for summaries with a reference: how likely a language model is to turn one into the other."""

from collections.abc import Sequence

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
    "semantic_coverage": "Say this again with all of its points: {text}\nIn other words:",
    "factuality": "Say this again with the same facts: {text}\nIn other words:",
    "informativeness": "Say this again with all that is worth knowing: {text}\nIn other words:",
    "coherence": "Say this again as one coherent text: {text}\nIn other words:",
    "relevance": "Say this again with what matters in it: {text}\nIn other words:",
    "fluency": "Say this again in correct and natural language: {text}\nIn other words:",
}
MEANINGS = {
    "semantic_coverage": "Loss of one text after the other, asked to keep all points.",
    "factuality": "Loss of one text after the other, asked to keep the facts.",
    "informativeness": "Loss of one text after the other, asked for all that is worth knowing.",
    "coherence": "Loss of one text after the other, asked for a coherent text.",
    "relevance": "Loss of one text after the other, asked for what matters.",
    "fluency": "Loss of one text after the other, asked for correct and natural language.",
}


@evaluator(
    id="gptscore_summary_reference",
    title="GPTScore: summaries with a reference",
    tasks=("text",),
    inputs=("answer", "expected_answers"),
    resources=("language_model",),
    metrics=loss_metrics(MEANINGS, "semantic_coverage"),
    sources=("H", "Fu et al. 2023, GPTScore"),
    standards=("NIST AI RMF: valid and reliable", "SR 11-7: outcomes analysis"),
    examples=(
        half_said(TEMPLATES),
        Example.not_applicable("the expected answer is blank", {"answer": "Ernte", "expected_answers": [""]}),
    ),
    differs_from="gptscore_summary needs no reference summary, it reads the source; gptscore_translation asks for the "
    "qualities of translations.",
)
def gptscore_summary_reference(
    cases: Sequence[Case],
    parameters: LanguageModelParameters,  # noqa: ARG001
    language_model: Predicts,
) -> list[CaseScore]:
    """How likely the reference summary is to a language model after the answer, and the other way round.

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
