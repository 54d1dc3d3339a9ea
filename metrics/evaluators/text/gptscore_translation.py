"""GPTScore for translations: how likely a language model is to rewrite the answer as the expected answer, and back."""

from collections.abc import Sequence
from math import log

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
    "accuracy": ("with the same facts", "to keep the facts"),
    "fluency": ("in correct and natural language", "for correct and natural language"),
    "multidimensional_quality": ("as well as can be, with the same facts", "for high quality overall"),
}


@evaluator(
    id="gptscore_translation",
    title="GPTScore: machine translation",
    inputs=("answer", "expected_answers"),
    metrics=rewrite_metrics(ASPECTS, "accuracy"),
    sources=("H2O Eval Studio", "Fu et al. 2023, GPTScore"),
    standards=("NIST AI RMF: valid and reliable", "SR 11-7: outcomes analysis"),
    prompts=rewrite_templates("gptscore_translation", ASPECTS),
    examples=(
        half_rewritten(ASPECTS),
        Example(
            "the expected answer with the lowest loss counts",
            {"answer": "Katze schläft", "expected_answers": ["Hund bellt", "Katze schläft"]},
            dict.fromkeys(ASPECTS, log(2)),
        ),
        Example.not_applicable("the answer is blank", {"answer": " ", "expected_answers": ["Katze"]}),
    ),
    differs_from="gptscore_summary_reference asks for the qualities of summaries; bleu and rouge compare the wording.",
    differs_from_source=(
        "The instructions are worded by Assay, so numbers are not comparable with published ones. The score is a "
        "loss, as in H2O: lower is better; the paper's is a log-likelihood. With several expected answers each aspect "
        "takes the lowest loss; H2O knows one. H2O does not name its model; any causal language model can be chosen, "
        "none is bundled."
    ),
)
def gptscore_translation(
    cases: Sequence[Case], parameters: TemplateParameters, language_model: LanguageModel
) -> list[CaseScore]:
    """How likely the expected answer is to a language model after the answer, and the other way round.

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
    return rewritten(cases, parameters, language_model, "gptscore_translation", ASPECTS)
