"""GPTScore for summaries without a reference: how readily a language model writes the summary after its source."""

from collections.abc import Sequence
from math import log

from metrics.core.evaluator import CaseScore, Example, Status, evaluator
from metrics.core.suite import Case
from metrics.evaluators.text._gptscore import Asked, LanguageModelParameters, loss_metrics, scored
from metrics.models.language_model import Predicts

TEMPLATE = "{source}\nA summary of the text above {quality}.\nTL;DR:"
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
    tasks=("text",),
    inputs=("source_text", "answer"),
    resources=("language_model",),
    metrics=loss_metrics(
        {name: f"Loss of the summary when asked for one {quality}." for name, quality in QUALITIES.items()},
        "semantic_coverage",
    ),
    sources=("H", "Fu et al. 2023, GPTScore"),
    standards=("NIST AI RMF: valid and reliable", "SR 11-7: outcomes analysis"),
    examples=(
        Example(
            "a model to which a word costs ln 8 when new and ln 2 when said before; one of three words is new",
            {"source_text": "Die Ernte fiel gut aus.", "answer": "Ernte gut dennoch"},
            dict.fromkeys(QUALITIES, (log(8) + 2 * log(2)) / 3),
        ),
        Example("an empty summary", {"source_text": "Die Ernte.", "answer": " "}, status=Status.NOT_APPLICABLE),
    ),
    differs_from="gptscore_summary_reference compares with a reference summary; "
    "summarization_completeness_faithfulness checks sentence by sentence.",
)
def gptscore_summary(
    cases: Sequence[Case],
    parameters: LanguageModelParameters,  # noqa: ARG001
    language_model: Predicts,
) -> list[CaseScore]:
    """How readily a language model writes the answer as a summary of the source text.

        score = mean over the answer's tokens of  −ln p(token | source, “A summary … TL;DR:”, answer so far)

    In nats a token, from 0, lower is better; one wording for each of seven aspects. No threshold by default: the number
    means something beside others of the same model only. It favours summaries in the source's own words.

    Without a word in source or answer: not applicable. A source longer than the model's window is not seen whole: texts
    are read in windows, see metrics.models.language_model; then the evidence says in how many. Evidence: tokens scored,
    the model and its weights' sha256. Source: H2O Eval Studio, after Fu et al.
    """
    return scored(cases, language_model, _asked)


def _asked(case: Case) -> Asked | str:
    source, answer = case.source_text or "", case.answer or ""
    if not source.strip() or not answer.strip():
        return "the source text is blank" if answer.strip() else "the answer is empty"
    return {
        1: {
            name: [(TEMPLATE.format(source=source, quality=quality), f" {answer}")]
            for name, quality in QUALITIES.items()
        }
    }
