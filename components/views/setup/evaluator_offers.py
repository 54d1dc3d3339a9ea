"""The evaluators on offer for the inputs of a run: which can run, what the others lack, and which are chosen."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

from components.views.setup.run_judge import in_address
from components.widgets import url
from metrics.presentation.families import FAMILIES

if TYPE_CHECKING:
    from components.data import Preset
    from metrics.core.evaluator import Evaluator

RESOURCES = {
    "judge": "a judge", "embedder": "an embedding model", "classifier": "a classifier model",
    "language_model": "a language model", "token_encoder": "a token encoder",
}  # fmt: skip
USEFUL = {  # what an evaluator can do without, but then says little
    "repeats": "for several outputs of a case", "few_answers": "for expected answers that recur, like labels",
    "short_answers": "for short expected answers",
    "ordered_labels": "for classes in an order, such as grades: numbers, or name it in `levels`",
    "class_parents": "for classes in a hierarchy", "fairness_groups": "once you name the column of groups",
    "json_schema": "for cases with a JSON schema", "own_scores": "for outputs with columns of scores",
    "choice_logprobs": "for outputs with the log-likelihoods of the choices",
    "context_ids": "for outputs with the ids of what they retrieved",
    "trace": "for outputs whose trace is a conversation",
    "code_tests": "for cases with tests of code",
}  # fmt: skip
NONE = "none"  # in the address: no evaluator is chosen, which is not the same as the preset's


class Offer(NamedTuple):
    """An evaluator for the task: the columns it lacks in words (nothing: it can run), and the resources it asks.

    `hint` says for what data it is meant, where this data is not such.
    """

    entry: Evaluator
    lacks: tuple[str, ...]
    asks: tuple[str, ...]
    hint: str = ""

    @property
    def id(self) -> str:
        """The evaluator's id."""
        return self.entry.id

    def matches(self, wanted: str) -> bool:
        """Return whether all the words that are `wanted` are in its names, metrics or definition."""
        entry = self.entry
        known = (
            f"{entry.id} {entry.title} {entry.doc} {FAMILIES[entry.family]} {' '.join(entry.standards)} "
            + " ".join(f"{metric.name} {metric.description}" for metric in entry.metrics)
        )
        known = known.casefold()
        return all(word in known for word in wanted.casefold().split())


class Shelf(NamedTuple):
    """The evaluators of a task: those that can be chosen, and what the others lack.

    `waiting` could run with a judge, `modelless` with a local model; these with the reason, in words.
    """

    ready: tuple[Offer, ...]
    columnless: tuple[Offer, ...]
    waiting: tuple[Offer, ...]
    modelless: tuple[tuple[Offer, str], ...]

    @property
    def families(self) -> Mapping[str, list[Offer]]:
        """Those that can be chosen, by family, in the order of the catalogue."""
        return {name: list(offers) for name, offers in groupby(self.ready, key=lambda offer: offer.entry.family)}


class Choice(NamedTuple):
    """The evaluators that are chosen; those of the preset, if one was chosen, from which `chosen` may differ."""

    chosen: tuple[str, ...]
    preset: str = ""
    usual: tuple[str, ...] = ()

    @property
    def change(self) -> tuple[int, int]:
        """How many evaluators were added to the preset's, and how many taken away."""
        mine, usual = set(self.chosen), set(self.usual)
        return len(mine - usual), len(usual - mine)


def offers(catalogue: Mapping[str, Evaluator], task: str, present: Collection[str]) -> list[Offer]:
    """Return the evaluators for a task, in the order of the catalogue."""
    return [
        Offer(
            entry,
            tuple(map(entry.in_words, entry.lacking(present.__contains__))),
            tuple(RESOURCES.get(name, name) for name in entry.needs),
            " and ".join(USEFUL.get(name, name) for name in entry.default_needs if name not in present),
        )
        for entry in catalogue.values()
        if task in entry.tasks
    ]


def shelved(
    offered: Iterable[Offer], asked: Collection[str], barred: Callable[[str], bool], unavailable: Callable[[str], str]
) -> Shelf:
    """Sort the evaluators by whether they can run.

    One that was `asked` for by name stays where it can be chosen, though its model is missing. `barred` tells whether
    an evaluator asks for a judge and there is none, `unavailable` why one cannot have its model, else "".
    """
    ready: list[Offer] = []
    columnless: list[Offer] = []
    waiting: list[Offer] = []
    modelless: list[tuple[Offer, str]] = []
    for offer in offered:
        if offer.lacks:
            columnless.append(offer)
        elif barred(offer.id):
            waiting.append(offer)
        elif offer.id not in asked and (reason := unavailable(offer.id)):
            modelless.append((offer, reason))
        else:
            ready.append(offer)
    return Shelf(tuple(ready), tuple(columnless), tuple(waiting), tuple(modelless))


def choice(suited: Sequence[Preset], task: str, present: Collection[str], ready: Collection[str]) -> Choice:
    """Return what the address chooses of the evaluators that are `ready`: those it names, else those of its preset.

    Without either, the first of the `suited` presets holds.
    """
    named, asked = url.params("evaluator"), url.param("preset", "")
    known = {preset.id: preset for preset in suited}
    preset = known.get(asked) or (None if named else next(iter(suited), None))
    usual = tuple(name for name in preset.runnable(task, present) if name in ready) if preset else ()
    chosen = tuple(name for name in named if name in ready) if named else usual
    return Choice(chosen, preset.id if preset else "", usual)


def choose(chosen: Collection[str], preset: str) -> None:
    """Write to the address that these evaluators are chosen, beginning from a preset."""
    url.put(evaluator=list(chosen) or NONE, preset=preset)


def own_parameters() -> dict[str, dict[str, Any]]:
    """Return the parameters that the address gives to evaluators, by id."""
    return {name: values for name, values in in_address("parameters").items() if isinstance(values, dict)}
