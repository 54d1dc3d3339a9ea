"""The GPTScore family: how likely a text is to a language model after an instruction, one number per aspect."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import inf, log
from typing import Any

from pydantic import Field

from metrics.core.evaluator import CaseScore, Example, Metric, Parameters, not_applicable
from metrics.core.evidence import Evidence
from metrics.core.prompt import Prompt, filled, split_template, wording
from metrics.core.suite import Case
from metrics.models.language_model import LanguageModel, Loss

PORTION = 64  # cases whose texts are in memory at once
REWRITE = "Say this again {quality}: {ref_hypo}\nIn other words: {hypo_ref}"
QUALITY = "{quality}"

# alternatives by number from 1, each with (prefix, target) pairs by aspect; an aspect's loss is their mean
Asked = Mapping[int, Mapping[str, Sequence[tuple[str, str]]]]
Rewrites = Mapping[str, tuple[str, str]]  # by aspect: how a text is to be said again, and what that asks for


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


def templates(id: str, text: str, qualities: Mapping[str, str]) -> tuple[Prompt, ...]:
    """Return the template of all aspects, and that of each."""
    return (Prompt(id, text), *(Prompt(f"{id}.{name}", text.replace(QUALITY, how)) for name, how in qualities.items()))


def pair(template: str, values: Mapping[str, str]) -> tuple[str, str]:
    """Return prefix and target of a template, filled with the texts of a case."""
    prefix, target = split_template(template)
    return filled(prefix, values), filled(target, values)


def loss_metrics(aspects: Mapping[str, str], primary: str) -> tuple[Metric, ...]:
    """Return a metric per aspect, in nats a token, unbounded above; the text of an aspect describes its metric."""
    return tuple(
        Metric.lower(
            name, description, high=inf, threshold=inf, primary=name == primary, minor=name != primary,
            unit="nats per token",
        )
        for name, description in aspects.items()
    )  # fmt: skip


def rewrite_metrics(aspects: Rewrites, primary: str) -> tuple[Metric, ...]:
    """Return a metric per aspect in which one text is rewritten as the other."""
    meanings = {name: f"Loss of one text after the other, asked {what}." for name, (_, what) in aspects.items()}
    return loss_metrics(meanings, primary)


def rewrite_templates(id: str, aspects: Rewrites) -> tuple[Prompt, ...]:
    """Return the templates by which one text is rewritten as the other."""
    return templates(id, REWRITE, {name: how for name, (how, _) in aspects.items()})


def half_rewritten(aspects: Rewrites) -> Example:
    """Return the worked example of a loss taken in both directions, which is the same for every aspect."""
    return Example(
        "one of two words is repeated, with a model that charges ln 8 for a new word and ln 2 for a repeated one",
        {"answer": "Ernte gut", "expected_answers": ["Ernte schlecht"]},
        dict.fromkeys(aspects, (log(8) + log(2)) / 2),
    )


def scored(
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
            not_applicable(wanted) if isinstance(wanted, str) else _case_score(wanted, losses, language_model, stated)
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
        means = {number: sum(loss.mean for loss in own[name]) / len(own[name]) for number, own in found.items()}
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


def rewritten(
    cases: Sequence[Case], parameters: TemplateParameters, language_model: LanguageModel, id: str, aspects: Rewrites
) -> list[CaseScore]:
    """Return the score of each case: in each aspect, how likely answer and expected answer are after one another."""
    wordings = {name: parameters.template(id, REWRITE, name, how) for name, (how, _) in aspects.items()}
    return scored(cases, parameters, language_model, lambda case: _both_ways(case, wordings))


def _both_ways(case: Case, wordings: Mapping[str, str]) -> Asked | str:
    answer = case.answer or ""
    references = {number: text for number, text in enumerate(case.expected_answers, 1) if text.strip()}
    if not references:
        return "every expected answer is blank"
    if not answer.strip():
        return "the answer is empty"
    return {
        number: {
            name: [
                pair(template, {"ref_hypo": answer, "hypo_ref": reference}),
                pair(template, {"ref_hypo": reference, "hypo_ref": answer}),
            ]
            for name, template in wordings.items()
        }
        for number, reference in references.items()
    }
