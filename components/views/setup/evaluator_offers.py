"""The evaluators on offer for the inputs of a run: which can run, what the others lack, and which are chosen."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

from components.data.model_needs import held_by
from components.views.setup.run_judge import in_address
from components.widgets import url

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
    "scored_predictions": "for predictions with scores",
    "cited_passages": "for answers that cite passages",
    "source_text": "for cases with a source text; without any, the question is read as the source",
}  # fmt: skip
NONE = "none"  # in the address: nothing is chosen, which is not the same as what is chosen unasked


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
    """The evaluators that are chosen; the presets that are ticked; and the evaluators of each preset that can run."""

    chosen: tuple[str, ...]
    ticked: tuple[str, ...]
    held: Mapping[str, tuple[str, ...]]


def offers(catalogue: Mapping[str, Evaluator], task: str, present: Collection[str]) -> list[Offer]:
    """Return the evaluators for a task, in the order of the catalogue. A question may be read as a source text."""
    has = {*present, *({"source_text"} if "question" in present else ())}
    return [
        Offer(
            entry,
            tuple(map(entry.in_words, entry.lacking(has.__contains__))),
            tuple(RESOURCES.get(name, name) for name in entry.needs),
            " and ".join(
                USEFUL.get(name, name)
                for name in (*entry.default_needs, *entry.inputs)
                if name not in present and (name in has or name in entry.default_needs)
            ),
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


def choice(
    suited: Sequence[Preset],
    task: str,
    present: Collection[str],
    shelf: Shelf,
    usual: Callable[[], Mapping[str, Sequence[str]]],
) -> Choice:
    """Return what the address chooses: the evaluators it names, else those of its presets, else the `usual` ones.

    A preset whose evaluators all wait for a judge can be ticked, too; one that can never run is left out.
    """
    ready, waiting = ({offer.id for offer in part} for part in (shelf.ready, shelf.waiting))
    fed = {preset.id: preset.runnable(task, present) for preset in suited}
    able = {name: ids for name, ids in fed.items() if not (ready | waiting).isdisjoint(ids)}
    held = {name: tuple(id for id in ids if id in ready) for name, ids in able.items()}
    named, asked = url.params("evaluator"), url.params("preset")
    if not named and not asked:
        chosen = usual()
        return Choice(tuple(dict.fromkeys(id for ids in chosen.values() for id in ids)), tuple(chosen), held)
    ticked = tuple(name for name in held_by(asked) if name in held)
    if not named:
        return Choice(tuple(dict.fromkeys(id for name in ticked for id in held[name])), ticked, held)
    full = (name for name, ids in held.items() if ids and set(ids).issubset(named))
    return Choice(tuple(id for id in named if id in ready), (*full, *(name for name in ticked if not held[name])), held)


def choose(chosen: Collection[str], ticked: Collection[str], held: Mapping[str, Collection[str]]) -> None:
    """Write to the address that these evaluators are chosen and these presets ticked."""
    same = set(chosen) == {id for name in ticked for id in held[name]}
    url.put(preset=list(ticked) or NONE, evaluator=None if same else list(chosen) or NONE)


def tick_presets(ticked: Collection[str], found: Choice) -> None:
    """Write to the address that these presets are ticked: what they add to, and take from, what was chosen."""
    gone = {id for name in found.ticked if name not in ticked for id in found.held[name]}
    added = [id for name in ticked if name not in found.ticked for id in found.held[name]]
    stays = {id for name in ticked for id in found.held[name]}
    chosen = [id for id in found.chosen if id not in gone or id in stays]
    choose(list(dict.fromkeys([*chosen, *added])), ticked, found.held)


def own_parameters() -> dict[str, dict[str, Any]]:
    """Return the parameters that the address gives to evaluators, by id."""
    return {name: values for name, values in in_address("parameters").items() if isinstance(values, dict)}
