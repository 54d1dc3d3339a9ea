"""GPTScore for summaries with a reference: how likely a language model is to turn one into the other."""

from collections.abc import Sequence

from metrics.core.evaluator import CaseScore, Example
from metrics.core.evaluator_decorator import evaluator
from metrics.core.suite import Case
from metrics.evaluators.text._gptscore import (
    TemplateParameters,
    half_rewritten,
    rewrite_metrics,
    rewrite_templates,
    rewritten,
)
from metrics.models.language_model import LanguageModel

ASPECTS = {
    "semantic_coverage": ("with all of its points", "to keep all points"),
    "factuality": ("with the same facts", "to keep the facts"),
    "informativeness": ("with all that is worth knowing", "for all that is worth knowing"),
    "coherence": ("as one coherent text", "for a coherent text"),
    "relevance": ("with what matters in it", "for what matters"),
    "fluency": ("in correct and natural language", "for correct and natural language"),
}


@evaluator(
    id="gptscore_summary_reference",
    title="GPTScore: summaries with a reference",
    inputs=("answer", "expected_answers"),
    metrics=rewrite_metrics(ASPECTS, "semantic_coverage"),
    sources=("H2O Eval Studio", "Fu et al. 2023, GPTScore"),
    standards=("NIST AI RMF: valid and reliable", "SR 11-7: outcomes analysis"),
    prompts=rewrite_templates("gptscore_summary_reference", ASPECTS),
    examples=(
        half_rewritten(ASPECTS),
        Example.not_applicable("the expected answer is blank", {"answer": "Ernte", "expected_answers": [""]}),
    ),
    differs_from="gptscore_summary needs no reference summary, it reads the source; gptscore_translation asks for the "
    "qualities of translations.",
    differs_from_source=(
        "The instructions are worded by Assay, so numbers are not comparable with published ones. The score is a "
        "loss, as in H2O: lower is better; the paper's is a log-likelihood. With several expected answers each aspect "
        "takes the lowest loss; H2O knows one. H2O does not name its model; any causal language model can be chosen, "
        "none is bundled."
    ),
)
def gptscore_summary_reference(
    cases: Sequence[Case], parameters: TemplateParameters, language_model: LanguageModel
) -> list[CaseScore]:
    """How likely the reference summary is to a language model after the answer, and the other way round.

        loss(b | a) = mean over the tokens of b of  −ln p(token | instruction, a, bridge words, b so far)
        score = (loss(expected | answer) + loss(answer | expected)) / 2

    In nats per token, from 0, lower is better; one instruction for each aspect. No threshold by default: numbers are
    only comparable within one model. With several expected answers, each aspect takes the lowest loss.

    An answer or expected answers without a word are not applicable. Long texts are read in windows, see
    metrics.models.language_model; the evidence then gives their number.
    Texts of your own can stand in place of the template of all aspects or of one; {ref_hypo} is the one text,
    {hypo_ref} at its end the other, whose loss is measured.
    Evidence: tokens scored, the best expected answer (from 1) of each aspect, the model and the sha256 of its weights.
    """
    return rewritten(cases, parameters, language_model, "gptscore_summary_reference", ASPECTS)
