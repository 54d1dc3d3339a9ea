"""Several sealed runs of one suite, read as one: a view in which models stand side by side. Nothing is copied."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from metrics.core.arrow import text_column
from metrics.core.suite import OUTPUTS, PREDICTIONS, Outputs, conform
from metrics.store.own_files import INPUTS
from metrics.store.run import Run, cache_by_run
from metrics.store.run_files import State
from metrics.store.run_notes import About
from metrics.store.run_spec import OutputsFacts
from metrics.store.run_tables import Names, StoredTable, TableFile

BOARD = "board:"  # how the address of a board begins: board:SUITE, board:SUITE:all
STAMP = 12  # hex digits that tell one state of a board from another
Part = tuple[Names, tuple[str, ...] | None, bool]  # of a run: what counts, as TableFile has it
BY_EVALUATOR = ("curves/", "matches/")  # tables of one evaluator each


def is_board(address: str | None) -> bool:
    """Return whether an address is that of a board, not the id of a run: `board`, `board:SUITE` …"""
    return f"{address or ''}:".startswith(BOARD)


class Source(NamedTuple):
    """A model of a run."""

    run: Run
    model: str


class Apart(NamedTuple):
    """Numbers that are shown but not ranked, as they were made otherwise: `why`, in words."""

    source: Source
    why: tuple[str, ...]


class Entry(NamedTuple):
    """A model in a view: the name that it is shown by, whose answers they are, and where each evaluator's numbers of
    them come from, by id.
    """

    name: str
    answers: Source
    scores: Mapping[str, Source]

    @property
    def reference(self) -> str:
        """The run and the model, `run:model`: how people and settings name it beside its shown name."""
        return f"{self.answers.run.id}:{self.answers.model}"


class Board(Run):
    """Entries from sealed runs of one suite, as they arrived, as if one run had evaluated them; see analysis.boards.

    references: by evaluator the run that used it as the board does; baseline: the entry that people measure the others
    against, by its shown name, None where they pinned none. Reads only: there is nothing to resume, verify or delete.
    """

    def __init__(
        self,
        address: str,
        entries: Sequence[Entry],
        references: Mapping[str, Run],
        apart: Mapping[tuple[str, str], Apart],
        pinned: str | None = None,
    ):
        self.entries, self.references, self.apart = tuple(entries), dict(references), dict(apart)
        self.newest = entries[-1].answers.run
        told: list[object] = [
            (entry.name, entry.reference, sorted((id, one.run.id, one.model) for id, one in entry.scores.items()))
            for entry in entries
        ]
        told += [(key, one.source.run.id, one.why) for key, one in sorted(apart.items())]
        told += [(id, run.id) for id, run in references.items()]
        self.baseline = self.shown_name(pinned or "")
        told.append(self.baseline)  # pages keep by the stamp what they read
        digest = sha256(repr(told).encode()).hexdigest()
        super().__init__(self.newest.workspace.path / "cache" / "boards" / digest[:STAMP])
        self.home = self.newest.home  # its time and progress
        self.address, self.id = address, f"{address}@{digest[:STAMP]}"
        names, rows = tuple(entry.name for entry in entries), sum(_rows(entry.answers) for entry in entries)
        self.spec = self.newest.spec.model_copy(
            update={
                "id": self.id,
                "name": f"All models of {self.newest.spec.suite.name}",
                "evaluators": tuple(
                    one for id, run in references.items() for one in run.spec.evaluators if one.id == id
                ),
                "resources": {kind: one for run in references.values() for kind, one in run.spec.resources.items()},
                "sample": None,
                "receipt": (),
                "outputs": OutputsFacts(fingerprint=digest, models=names, rows=rows),
            }
        )

    @property
    def sources(self) -> tuple[Run, ...]:
        """The runs that anything comes from, each once."""
        every = (one.run for entry in self.entries for one in (entry.answers, *entry.scores.values()))
        return tuple(dict.fromkeys([*every, *(one.source.run for one in self.apart.values())]))

    def shown_name(self, entry: str) -> str | None:
        """Return the name by which an entry is shown: of `run:model`, of a model, or its own; None for none."""
        names = {name: one.name for one in self.entries for name in (one.answers.model, one.reference, one.name)}
        return names.get(entry)

    def behind(self, model: str, evaluator: str = "") -> Run:
        """Return the run that made an entry's numbers of an evaluator, else its answers."""
        entry = next(one for one in self.entries if one.name == model)
        return entry.scores.get(evaluator, entry.answers).run

    @property
    def seal_digest(self) -> str:
        """A sha256 of the seals of its runs and of what of them counts."""
        return sha256(" ".join([self.folder.name, *(run.seal_digest for run in self.sources)]).encode()).hexdigest()

    @property
    def about(self) -> About:
        """Nothing: people name and note runs."""
        return About()

    @property
    def state(self) -> State:
        """Finished, as its runs are."""
        return "finished"

    @cached_property
    def manifest(self) -> Mapping[str, Any]:
        """What the seals of its runs say: the tables there are with their rows, when the newest was sealed, seconds."""
        seals = [run.manifest or {"tables": {}} for run in self.sources]
        tables: dict[str, dict[str, Any]] = {}
        for name, facts in (one for seal in seals for one in seal["tables"].items()):
            tables.setdefault(name, {"rows": 0})["rows"] += facts.get("rows") or 0
        seconds = sum(seal.get("seconds", 0.0) for seal in seals)
        kept = {name: table for name, table in tables.items() if self._files(name)}
        own = {name: said for name, said in (self.newest.manifest or {}).items() if name != "reused"}
        return {**own, "tables": kept, "seconds": round(seconds, 3)}

    @property
    def spend(self) -> dict[str, Any] | None:
        """What the judges of its runs have cost together; None where none asked one."""
        spent = [run.spend for run in self.sources if run.spend is not None]
        if not spent:
            return None
        known = {name: value for one in reversed(spent) for name, value in one.items()}
        counted = [name for name, value in known.items() if isinstance(value, int | float)]
        total = known | {name: sum(one.get(name) or 0 for one in spent) for name in counted}
        return total | ({"usd": None} if any(one.get("usd") is None for one in spent) else {})

    def stored(self, name: str) -> StoredTable | None:
        """Return a table of its runs, the rows of its entries; None where none of them has it."""
        if name.startswith("suite/"):
            return super().stored(name)
        files = self._files(name)
        return StoredTable(files) if files else None

    def stored_table(
        self, name: str, columns: Sequence[str] | None = None, filters: list[Any] | None = None
    ) -> pa.Table:
        """Return a table of its runs as `Run.stored_table`; aggregates by evaluator and entry, as one run has them."""
        if name != "aggregates":
            return super().stored_table(name, columns, filters)
        more = [one for one in ("evaluator", "model") if columns is not None and one not in columns]
        found = super().stored_table(name, None if columns is None else [*columns, *more], filters)
        places = {
            of: pc.index_in(found[of], text_column(order))
            for of, order in (("evaluator", [*self.evaluators]), ("model", self.models))
        }
        found = found.take(pc.sort_indices(pa.table(places), [(of, "ascending") for of in places]))  # it is stable
        return found if columns is None else found.select(columns)

    def stored_input(self, name: str) -> Path | None:
        """Return a table of the suite as the newest run has it: the others' tables are not looked at for it."""
        return self.newest.stored_input(name)

    @property
    def outputs(self) -> Outputs:
        """The outputs of its entries."""
        predictions = self.stored("outputs/predictions.parquet")
        return Outputs(
            conform(self.needed("outputs/outputs.parquet").rows(), OUTPUTS),
            None if predictions is None else conform(predictions.rows(), PREDICTIONS),
            targets=self.targets,
        )

    @property
    def targets(self) -> dict[str, dict[str, Any]]:
        """The descriptions of the models that Assay itself asked, by the name of the entry."""
        found = {entry.name: entry.answers.run.targets.get(entry.answers.model) for entry in self.entries}
        return {name: own for name, own in found.items() if own is not None}

    def _files(self, name: str) -> tuple[TableFile, ...]:
        """Return the files with rows of its entries, each as far as it counts."""
        only = name.partition("/")[2] if name.startswith(BY_EVALUATOR) else None
        return tuple(
            TableFile(file.path, *part)
            for run, parts in self._parts("" if name in INPUTS else only).items()
            if (table := run.stored(name)) is not None
            for file in table.files
            for part in parts
        )

    @cache_by_run(maxsize=64)
    def _parts(self, only: str | None) -> Mapping[Run, list[Part]]:
        """Return by run what counts of its tables.

        only: of one evaluator, of the answers (""), or of every evaluator (None).
        """
        chosen: dict[Run, dict[str, dict[str, str]]] = {}  # run → evaluator → stored name → shown name
        for entry in self.entries:
            for id, source in ({"": entry.answers} if only == "" else entry.scores).items():
                if only in (None, id):
                    chosen.setdefault(source.run, {}).setdefault(id, {})[source.model] = entry.name
        return {run: list(_parts_of(run, names)) for run, names in chosen.items()}


def _parts_of(run: Run, names: Mapping[str, Mapping[str, str]]) -> Iterator[Part]:
    """Yield what counts of a run's tables: once for the evaluators of which the same models do.

    names: by evaluator (or "" for what is of none) the models that count and the names that they are shown by.
    """
    alike: dict[Names, list[str]] = {}
    for evaluator, own in names.items():
        alike.setdefault(tuple(own.items()), []).append(evaluator)
    for pairs, ids in alike.items():
        whole = dict(pairs) == {model: model for model in run.models}
        every = {*ids} in ({""}, {entry.id for entry in run.spec.evaluators})
        yield pairs, None if every else tuple(ids), whole


def _rows(source: Source) -> int:
    own = source.run.spec.outputs
    if own.rows and own.models == (source.model,):
        return own.rows
    facts = source.run.workspace.outputs_facts(own.fingerprint)
    return int(facts["models"][source.model]["rows"])
