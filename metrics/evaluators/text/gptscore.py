"""The GPTScore family: how likely a text is to a language model after an instruction, one number per aspect."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from inspect import cleandoc
from math import inf, log
from typing import Any

from pydantic import Field

from metrics.core.evaluator import (
    CaseScore,
    Evaluator,
    Example,
    Metric,
    Parameters,
    Status,
    not_applicable,
    output_failure,
)
from metrics.core.evaluator_decorator import evaluator
from metrics.core.evidence import Evidence
from metrics.core.prompt import Prompt, filled, split_template, wording
from metrics.core.rounding import exact_sum
from metrics.core.suite import Case
from metrics.models.language_model import LanguageModel, Loss

PORTION = 64  # cases whose texts are in memory at once
QUALITY = "{quality}"
EMPTY = "the answer is empty"
UNIT = "nats per token"

# alternatives by number from 1, each with (prefix, target) pairs by aspect; an aspect's loss is their mean
Asked = Mapping[int, Mapping[str, Sequence[tuple[str, str]]]]
Asks = Callable[[Case, Mapping[str, str]], Asked | str]  # of a case, by the templates of the aspects; or why not


class LanguageModelParameters(Parameters):
    """Which model."""

    language_model: str = Field(
        "",
        description="Causal language model: a local folder, a GGUF file or the name of a model on the hub, which is "
        "downloaded; empty: the run's. Scores of different models cannot be compared.",
        examples=["HuggingFaceTB/SmolLM2-135M"],
    )


class TemplateParameters(LanguageModelParameters):
    """Which model, and texts of the user's own."""

    prompts: dict[str, str] = Field(
        default_factory=dict, description="Texts in place of the templates of these ids; see the evaluator's prompts."
    )

    def template(self, id: str, text: str, aspect: str, quality: str) -> str:
        """Return the template of an aspect: the user's own for it, or for all, or our `text`."""
        own = self.prompts.get(f"{id}.{aspect}")
        return own or self.prompts.get(id, text).replace(QUALITY, quality)


def pair(template: str, values: Mapping[str, str]) -> tuple[str, str]:
    """Return prefix and target of a template, filled with the texts of a case."""
    prefix, target = split_template(template)
    return filled(prefix, values), filled(target, values)


def gptscore(
    *,
    id: str,
    template: str,
    qualities: Mapping[str, str],
    measures: str,
    differs: str,
    doc: str,
    asks: Asks,
    demands: Mapping[str, str] | None = None,
    **declared: Any,
) -> Evaluator:
    """Return an evaluator of the family.

    Args:
        id: its id, and that of the template of all aspects.
        template: the text in which the last word or placeholder is scored.
        qualities: by aspect, the primary one first, what its template has for {quality}.
        measures: the description of a metric, with {} for what its aspect demands.
        differs: how it differs from its sources, beside what holds for all of them.
        doc: its page.
        asks: the losses that a case needs.
        demands: by aspect what is demanded; the qualities themselves unless given.
        declared: the rest of its declaration, see core.evaluator_decorator.
    """
    metrics = tuple(
        Metric.lower(
            name, measures.format(what), high=inf, threshold=inf, primary=not place, minor=place > 0, unit=UNIT
        )
        for place, (name, what) in enumerate((demands or qualities).items())
    )
    each = (Prompt(f"{id}.{name}", template.replace(QUALITY, how)) for name, how in qualities.items())

    def score(cases: Sequence[Case], parameters: TemplateParameters, language_model: LanguageModel) -> list[CaseScore]:
        wordings = {name: parameters.template(id, template, name, how) for name, how in qualities.items()}
        return score_losses(cases, parameters, language_model, lambda case: asks(case, wordings))

    score.__doc__ = cleandoc(doc)
    return evaluator(
        id=id,
        metrics=metrics,
        sources=("H2O Eval Studio", "Fu et al. 2023, GPTScore"),
        standards=("valid and reliable", "outcomes analysis"),
        prompts=(Prompt(id, template), *each),
        version=2,
        differs_from_source="The instructions are worded by Assay, so numbers are not comparable with published ones. "
        f"The score is a loss, as in H2O: lower is better; the paper's is a log-likelihood. {differs}",
        **declared,
    )(score)


def score_losses(
    cases: Sequence[Case],
    parameters: TemplateParameters,
    language_model: LanguageModel,
    asks: Callable[[Case], Asked | str],
) -> list[CaseScore]:
    """Return the score of each case: the losses that `asks` requests for it, or why it has none.

    With several alternatives (expected answers), each aspect takes the lowest loss.
    """
    own = {id: wording(text) for id, text in parameters.prompts.items()}
    stated = {"wordings": own} if own else {}
    scores = []
    for begin in range(0, len(cases), PORTION):
        asked = [asks(case) for case in cases[begin : begin + PORTION]]
        pairs = [
            each
            for wanted in asked
            if not isinstance(wanted, str)
            for aspects in wanted.values()
            for pairs_of in aspects.values()
            for each in pairs_of
        ]
        losses = iter(language_model.losses(pairs))
        scores += [
            _case_score(wanted, losses, language_model, stated)
            if not isinstance(wanted, str)
            else (output_failure if wanted == EMPTY else not_applicable)(wanted)
            for wanted in asked
        ]
    return scores


def _case_score(
    wanted: Asked, losses: Iterator[Loss], language_model: LanguageModel, stated: Mapping[str, Any]
) -> CaseScore:
    """Return the score of a case whose losses are the next ones."""
    found = {
        number: {name: [next(losses) for _ in own] for name, own in aspects.items()}
        for number, aspects in wanted.items()
    }
    values: dict[str, float | None] = {}
    best: dict[str, int] = {}
    for name in next(iter(found.values())):
        means = {number: exact_sum(loss.mean for loss in own[name]) / len(own[name]) for number, own in found.items()}
        best[name] = min(means, key=means.__getitem__)
        values[name] = means[best[name]]
    every = [loss for aspects in found.values() for own in aspects.values() for loss in own]
    facts: dict[str, Any] = {"expected_answer": best} if len(found) > 1 else {}
    facts["tokens_scored"] = sum(loss.tokens for loss in every)
    return CaseScore(values, evidence=Evidence(facts={**facts, **provenance(language_model, every), **stated}))


def provenance(language_model: LanguageModel, losses: Sequence[Loss]) -> dict[str, Any]:
    """Return the provenance of a loss: model, sha256 of its weights, and number of windows if there are several."""
    facts: dict[str, Any] = {"model": language_model.name, "weights_sha256": language_model.weights}
    windows = max((loss.windows for loss in losses), default=1)
    if windows > 1:
        facts["windows"] = windows
    return facts


def _asks_after(before: Callable[[Case], str | None], name: str, what: str) -> Asks:
    """Return what asks for the loss of the answer after another text of the case, which templates call `name`."""

    def ask(case: Case, wordings: Mapping[str, str]) -> Asked | str:
        text, answer = before(case) or "", case.answer or ""
        if not text.strip() or not answer.strip():
            return f"the {what} is blank" if answer.strip() else EMPTY
        values = {name: text, "answer": answer}
        return {1: {aspect: [pair(template, values)] for aspect, template in wordings.items()}}

    return ask


QA_QUALITIES = {
    "interest": "interesting",
    "engagement": "engaging",
    "understandability": "easy to understand",
    "relevance": "relevant to the question",
    "specificity": "specific rather than generic",
    "correctness": "correct",
    "semantic_appropriateness": "appropriate in what it means",
    "fluency": "fluent",
}
gptscore_qa = gptscore(
    id="gptscore_qa",
    title="GPTScore: question answering",
    inputs=("question", "answer"),
    template="Question: {question}\nReply: {answer}\nIs the reply {quality}? Say Yes or No: Yes",
    qualities=QA_QUALITIES,
    measures="Loss of “Yes” when asked whether the answer is {}.",
    examples=(
        Example(
            "every question contains “Yes”, with a model that charges ln 2 for a repeated word",
            {"question": "Was gibt es?", "answer": "Nichts Neues"},
            dict.fromkeys(QA_QUALITIES, log(2)),
        ),
        Example("an empty answer", {"question": "Was?", "answer": ""}, status=Status.SKIPPED),
    ),
    differs_from="the other gptscore evaluators measure how likely the texts themselves are; this one asks about them.",
    differs="The loss is that of “Yes” alone. H2O does not name its model; any causal language model can be chosen, "
    "none is bundled.",
    asks=_asks_after(lambda case: case.question, "question", "question"),
    doc="""
    How likely a language model is to say “Yes” when asked whether the answer is interesting, correct, fluent ….

        score = −ln p(“Yes” | question, answer, “Is the reply …? Say Yes or No:”)

    Eight aspects, in nats per token, from 0, lower is better. No threshold by default: numbers are only comparable
    within one model. If the vocabulary splits the word into several tokens, the score is their mean.

    A question or answer without a word is not applicable. Long texts are read in windows, see
    metrics.models.language_model; the evidence then gives their number.
    Texts of your own can stand in place of the template of all aspects or of one; their last word or placeholder is
    scored.
    Evidence: tokens scored, the model and the sha256 of its weights.
    """,
)
SUMMARY_QUALITIES = {
    "semantic_coverage": "that has all of its points",
    "factuality": "that keeps to its facts",
    "consistency": "that says nothing at odds with it",
    "informativeness": "that tells all that is worth knowing",
    "coherence": "that is one coherent text",
    "relevance": "that tells what matters in it",
    "fluency": "in correct and natural language",
}
gptscore_summary = gptscore(
    id="gptscore_summary",
    title="GPTScore: summaries without a reference",
    inputs=("source_text", "answer"),
    template="{source}\nA summary of the text above {quality}.\nTL;DR: {answer}",
    qualities=SUMMARY_QUALITIES,
    measures="Loss of the summary when asked for one {}.",
    examples=(
        Example(
            "one of three words is new, with a model that charges ln 8 for a new word and ln 2 for a repeated one",
            {"source_text": "Die Ernte fiel gut aus.", "answer": "Ernte gut dennoch"},
            dict.fromkeys(SUMMARY_QUALITIES, (log(8) + 2 * log(2)) / 3),
        ),
        Example("an empty summary", {"source_text": "Die Ernte.", "answer": " "}, status=Status.SKIPPED),
    ),
    differs_from="gptscore_summary_reference compares with a reference summary; "
    "summarization_completeness_faithfulness checks sentence by sentence.",
    differs="H2O does not name its model; any causal language model can be chosen, none is bundled. Texts longer than "
    "the model's window are read in windows.",
    asks=_asks_after(lambda case: case.source_text, "source", "source text"),
    doc="""
    How likely the answer is to a language model as a summary of the source text.

        score = mean over the answer's tokens of  −ln p(token | source, “A summary … TL;DR:”, answer so far)

    In nats per token, from 0, lower is better; one wording for each of seven aspects. No threshold by default: numbers
    are only comparable within one model. It favours summaries in the source's own words.

    A source or answer without a word is not applicable. A source longer than the model's window is never seen as a
    whole: texts are read in windows, see metrics.models.language_model; the evidence then gives their number.
    Texts of your own can stand in place of the template of all aspects or of one; their last word or placeholder is
    scored.
    Evidence: tokens scored, the model and the sha256 of its weights.
    """,
)


def _ask_both_ways(case: Case, wordings: Mapping[str, str]) -> Asked | str:
    """Return the losses of the answer after each expected answer, and the reverse."""
    answer = case.answer or ""
    references = {number: text for number, text in enumerate(case.expected_answers, 1) if text.strip()}
    if not references:
        return "every expected answer is blank"
    if not answer.strip():
        return EMPTY
    return {
        number: {
            name: [
                pair(template, {"ref_hypo": first, "hypo_ref": second})
                for first, second in ((answer, reference), (reference, answer))
            ]
            for name, template in wordings.items()
        }
        for number, reference in references.items()
    }


def _rewriting(
    *, aspects: Mapping[str, tuple[str, str]], examples: tuple[Example, ...], reference: str, **declared: Any
) -> Evaluator:
    """Return an evaluator by which answer and expected answer (a `reference`) are rewritten as one another.

    aspects: how a text is to be said again, and what that asks for.
    """
    repeated = Example(
        "one of two words is repeated, with a model that charges ln 8 for a new word and ln 2 for a repeated one",
        {"answer": "Ernte gut", "expected_answers": ["Ernte schlecht"]},
        dict.fromkeys(aspects, (log(8) + log(2)) / 2),
    )
    return gptscore(
        inputs=("answer", "expected_answers"),
        template="Say this again {quality}: {ref_hypo}\nIn other words: {hypo_ref}",
        qualities={name: how for name, (how, _) in aspects.items()},
        demands={name: what for name, (_, what) in aspects.items()},
        measures="Loss of one text after the other, asked {}.",
        examples=(repeated, *examples),
        differs="With several expected answers each aspect takes the lowest loss; H2O knows one. H2O does not name its "
        "model; any causal language model can be chosen, none is bundled.",
        asks=_ask_both_ways,
        doc=f"""
    How likely the {reference} is to a language model after the answer, and the other way round.

        loss(b | a) = mean over the tokens of b of  −ln p(token | instruction, a, bridge words, b so far)
        score = (loss(expected | answer) + loss(answer | expected)) / 2

    In nats per token, from 0, lower is better; one instruction for each aspect. No threshold by default: numbers are
    only comparable within one model. With several expected answers, each aspect takes the lowest loss.

    An answer or expected answers without a word are not applicable. Long texts are read in windows, see
    metrics.models.language_model; the evidence then gives their number.
    Texts of your own can stand in place of the template of all aspects or of one; {{ref_hypo}} is the one text,
    {{hypo_ref}} at its end the other, whose loss is measured.
    Evidence: tokens scored, the best expected answer (from 1) of each aspect, the model and the sha256 of its weights.
    """,
        **declared,
    )


SUMMARY_REFERENCE_ASPECTS = {
    "semantic_coverage": ("with all of its points", "to keep all points"),
    "factuality": ("with the same facts", "to keep the facts"),
    "informativeness": ("with all that is worth knowing", "for all that is worth knowing"),
    "coherence": ("as one coherent text", "for a coherent text"),
    "relevance": ("with what matters in it", "for what matters"),
    "fluency": ("in correct and natural language", "for correct and natural language"),
}
gptscore_summary_reference = _rewriting(
    id="gptscore_summary_reference",
    title="GPTScore: summaries with a reference",
    aspects=SUMMARY_REFERENCE_ASPECTS,
    examples=(Example.not_applicable("the expected answer is blank", {"answer": "Ernte", "expected_answers": [""]}),),
    differs_from="gptscore_summary needs no reference summary, it reads the source; gptscore_translation asks for the "
    "qualities of translations.",
    reference="reference summary",
)
TRANSLATION_ASPECTS = {
    "accuracy": ("with the same facts", "to keep the facts"),
    "fluency": ("in correct and natural language", "for correct and natural language"),
    "multidimensional_quality": ("as well as can be, with the same facts", "for high quality overall"),
}
gptscore_translation = _rewriting(
    id="gptscore_translation",
    title="GPTScore: machine translation",
    aspects=TRANSLATION_ASPECTS,
    examples=(
        Example(
            "the expected answer with the lowest loss counts",
            {"answer": "Katze schläft", "expected_answers": ["Hund bellt", "Katze schläft"]},
            dict.fromkeys(TRANSLATION_ASPECTS, log(2)),
        ),
        Example("the answer is blank", {"answer": " ", "expected_answers": ["Katze"]}, status=Status.SKIPPED),
    ),
    differs_from="gptscore_summary_reference asks for the qualities of summaries; bleu and rouge compare the wording.",
    reference="expected answer",
)
