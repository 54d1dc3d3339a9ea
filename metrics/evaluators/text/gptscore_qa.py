"""GPTScore for answers to questions: how likely a language model is to say yes to a question about the answer."""

from collections.abc import Sequence
from math import log

from metrics.core.evaluator import CaseScore, Example
from metrics.core.evaluator_decorator import evaluator
from metrics.core.suite import Case
from metrics.evaluators.text._gptscore import Asked, TemplateParameters, loss_metrics, pair, scored, templates
from metrics.models.language_model import LanguageModel

TEMPLATE = "Question: {question}\nReply: {answer}\nIs the reply {quality}? Say Yes or No: Yes"
QUALITIES = {
    "interest": "interesting",
    "engagement": "engaging",
    "understandability": "easy to understand",
    "relevance": "relevant to the question",
    "specificity": "specific rather than generic",
    "correctness": "correct",
    "semantic_appropriateness": "appropriate in what it means",
    "fluency": "fluent",
}


@evaluator(
    id="gptscore_qa",
    title="GPTScore: question answering",
    inputs=("question", "answer"),
    metrics=loss_metrics(
        {name: f"Loss of “Yes” when asked whether the answer is {quality}." for name, quality in QUALITIES.items()},
        "interest",
    ),
    sources=("H2O Eval Studio", "Fu et al. 2023, GPTScore"),
    standards=("NIST AI RMF: valid and reliable", "SR 11-7: outcomes analysis"),
    prompts=templates("gptscore_qa", TEMPLATE, QUALITIES),
    examples=(
        Example(
            "every question contains “Yes”, with a model that charges ln 2 for a repeated word",
            {"question": "Was gibt es?", "answer": "Nichts Neues"},
            dict.fromkeys(QUALITIES, log(2)),
        ),
        Example.not_applicable("an empty answer", {"question": "Was?", "answer": ""}),
    ),
    differs_from="the other gptscore evaluators measure how likely the texts themselves are; this one asks about them.",
    differs_from_source=(
        "The instructions are worded by Assay, so numbers are not comparable with published ones. The score is a "
        "loss, as in H2O: lower is better; the paper's is a log-likelihood. The loss is that of “Yes” alone. H2O does "
        "not name its model; any causal language model can be chosen, none is bundled."
    ),
)
def gptscore_qa(
    cases: Sequence[Case], parameters: TemplateParameters, language_model: LanguageModel
) -> list[CaseScore]:
    """How likely a language model is to say “Yes” when asked whether the answer is interesting, correct, fluent ….

        score = −ln p(“Yes” | question, answer, “Is the reply …? Say Yes or No:”)

    Eight aspects, in nats per token, from 0, lower is better. No threshold by default: numbers are only comparable
    within one model. If the vocabulary splits the word into several tokens, the score is their mean.

    A question or answer without a word is not applicable. Long texts are read in windows, see
    metrics.models.language_model; the evidence then gives their number.
    Texts of your own can stand in place of the template of all aspects or of one; their last word or placeholder is
    scored.
    Evidence: tokens scored, the model and the sha256 of its weights.
    """
    return scored(cases, parameters, language_model, lambda case: _asked(case, parameters))


def _asked(case: Case, parameters: TemplateParameters) -> Asked | str:
    question, answer = case.question or "", case.answer or ""
    if not question.strip() or not answer.strip():
        return "the question is blank" if answer.strip() else "the answer is empty"
    values = {"question": question, "answer": answer}
    return {
        1: {
            name: [pair(parameters.template("gptscore_qa", TEMPLATE, name, quality), values)]
            for name, quality in QUALITIES.items()
        }
    }
