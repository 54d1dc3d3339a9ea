"""GPTScore for summaries without a reference: how likely the summary is to a language model after its source."""

from collections.abc import Sequence
from math import log

from metrics.core.evaluator import CaseScore, Example
from metrics.core.evaluator_decorator import evaluator
from metrics.core.suite import Case
from metrics.evaluators.text._gptscore import Asked, TemplateParameters, loss_metrics, pair, scored, templates
from metrics.models.language_model import LanguageModel

TEMPLATE = "{source}\nA summary of the text above {quality}.\nTL;DR: {answer}"
QUALITIES = {
    "semantic_coverage": "that has all of its points",
    "factuality": "that keeps to its facts",
    "consistency": "that says nothing at odds with it",
    "informativeness": "that tells all that is worth knowing",
    "coherence": "that is one coherent text",
    "relevance": "that tells what matters in it",
    "fluency": "in correct and natural language",
}


@evaluator(
    id="gptscore_summary",
    title="GPTScore: summaries without a reference",
    inputs=("source_text", "answer"),
    metrics=loss_metrics(
        {name: f"Loss of the summary when asked for one {quality}." for name, quality in QUALITIES.items()},
        "semantic_coverage",
    ),
    sources=("H2O Eval Studio", "Fu et al. 2023, GPTScore"),
    standards=("NIST AI RMF: valid and reliable", "SR 11-7: outcomes analysis"),
    prompts=templates("gptscore_summary", TEMPLATE, QUALITIES),
    examples=(
        Example(
            "one of three words is new, with a model that charges ln 8 for a new word and ln 2 for a repeated one",
            {"source_text": "Die Ernte fiel gut aus.", "answer": "Ernte gut dennoch"},
            dict.fromkeys(QUALITIES, (log(8) + 2 * log(2)) / 3),
        ),
        Example.not_applicable("an empty summary", {"source_text": "Die Ernte.", "answer": " "}),
    ),
    differs_from="gptscore_summary_reference compares with a reference summary; "
    "summarization_completeness_faithfulness checks sentence by sentence.",
    differs_from_source=(
        "The instructions are worded by Assay, so numbers are not comparable with published ones. The score is a "
        "loss, as in H2O: lower is better; the paper's is a log-likelihood. H2O does not name its model; any causal "
        "language model can be chosen, none is bundled. Texts longer than the model's window are read in windows."
    ),
)
def gptscore_summary(
    cases: Sequence[Case], parameters: TemplateParameters, language_model: LanguageModel
) -> list[CaseScore]:
    """How likely the answer is to a language model as a summary of the source text.

        score = mean over the answer's tokens of  −ln p(token | source, “A summary … TL;DR:”, answer so far)

    In nats per token, from 0, lower is better; one wording for each of seven aspects. No threshold by default: numbers
    are only comparable within one model. It favours summaries in the source's own words.

    A source or answer without a word is not applicable. A source longer than the model's window is never seen as a
    whole: texts are read in windows, see metrics.models.language_model; the evidence then gives their number.
    Texts of your own can stand in place of the template of all aspects or of one; their last word or placeholder is
    scored.
    Evidence: tokens scored, the model and the sha256 of its weights.
    """
    return scored(cases, parameters, language_model, lambda case: _asked(case, parameters))


def _asked(case: Case, parameters: TemplateParameters) -> Asked | str:
    source, answer = case.source_text or "", case.answer or ""
    if not source.strip() or not answer.strip():
        return "the source text is blank" if answer.strip() else "the answer is empty"
    values = {"source": source, "answer": answer}
    return {
        1: {
            name: [pair(parameters.template("gptscore_summary", TEMPLATE, name, quality), values)]
            for name, quality in QUALITIES.items()
        }
    }
