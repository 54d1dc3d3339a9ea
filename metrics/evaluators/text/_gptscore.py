"""The GPTScore family: how likely a text is to a language model after an instruction, one number per aspect."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import inf, log
from typing import Any

from pydantic import Field

from metrics.core.evaluator import CaseScore, Example, Metric, Parameters, not_applicable
from metrics.core.evidence import Evidence
from metrics.core.suite import Case
from metrics.models.language_model import LanguageModel, Loss

PORTION = 64  # cases whose texts are in memory at once
REWRITE = "Say this again {how}: {text}\nIn other words:"

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


def half_rewritten(aspects: Rewrites) -> Example:
    """Return the worked example of a loss taken in both directions, which is the same for every aspect."""
    return Example(
        "one of two words is repeated, with a model that charges ln 8 for a new word and ln 2 for a repeated one",
        {"answer": "Ernte gut", "expected_answers": ["Ernte schlecht"]},
        dict.fromkeys(aspects, (log(8) + log(2)) / 2),
    )


def scored(
    cases: Sequence[Case], language_model: LanguageModel, asks: Callable[[Case], Asked | str]
) -> list[CaseScore]:
    """Return the score of each case: the losses that `asks` requests for it, or why it has none.

    With several alternatives (expected answers), each aspect takes the lowest loss.
    """
    scores = []
    for begin in range(0, len(cases), PORTION):
        asked = [asks(case) for case in cases[begin : begin + PORTION]]
        pairs = [
            pair
            for wanted in asked
            if not isinstance(wanted, str)
            for aspects in wanted.values()
            for own in aspects.values()
            for pair in own
        ]
        losses = iter(language_model.losses(pairs))
        scores += [
            not_applicable(wanted) if isinstance(wanted, str) else _case_score(wanted, losses, language_model)
            for wanted in asked
        ]
    return scores


def _case_score(wanted: Asked, losses: Iterator[Loss], language_model: LanguageModel) -> CaseScore:
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
    return CaseScore(values, evidence=Evidence(facts=facts | provenance(language_model, every)))


def provenance(language_model: LanguageModel, losses: Sequence[Loss]) -> dict[str, Any]:
    """Return the provenance of a loss: model, sha256 of its weights, and number of windows if there are several."""
    facts: dict[str, Any] = {"model": language_model.name, "weights_sha256": language_model.weights}
    windows = max((loss.windows for loss in losses), default=1)
    if windows > 1:
        facts["windows"] = windows
    return facts


def rewritten(cases: Sequence[Case], language_model: LanguageModel, aspects: Rewrites) -> list[CaseScore]:
    """Return the score of each case: in each aspect, how likely answer and expected answer are after one another."""
    return scored(cases, language_model, lambda case: _both_ways(case, aspects))


def _both_ways(case: Case, aspects: Rewrites) -> Asked | str:
    answer = case.answer or ""
    references = {number: text for number, text in enumerate(case.expected_answers, 1) if text.strip()}
    if not references:
        return "every expected answer is blank"
    if not answer.strip():
        return "the answer is empty"
    return {
        number: {
            name: [
                (REWRITE.format(how=how, text=answer), f" {reference}"),
                (REWRITE.format(how=how, text=reference), f" {answer}"),
            ]
            for name, (how, _) in aspects.items()
        }
        for number, reference in references.items()
    }
