"""Several sealed runs of one suite, read as one: a view in which models stand side by side. Nothing is copied."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from metrics.core.suite import OUTPUTS, PREDICTIONS, Outputs, conform
from metrics.store.own_files import INPUTS
from metrics.store.run import Run
from metrics.store.run_files import State
from metrics.store.run_notes import About
from metrics.store.run_progress import Progress
from metrics.store.run_spec import OutputsFacts, RunSpec
from metrics.store.run_tables import StoredTable, TableFile

if TYPE_CHECKING:
    from metrics.store.stored_inputs import StoredInputs
BOARD = "board:"  # how the address of a board begins: board:SUITE, board:SUITE:all
STAMP = 12  # hex digits that tell one state of a board from another
BY_EVALUATOR = ("curves/", "matches/")  # tables of one evaluator each


def is_board(address: str) -> bool:
    """Return whether an address is that of a board, not the id of a run: `board`, `board:SUITE` …"""
    return f"{address}:".startswith(BOARD)


@dataclass(frozen=True, slots=True)
class Source:
    """A model of a run."""

    run: Run
    model: str


@dataclass(frozen=True, slots=True)
class Apart:
    """Numbers that are shown but not ranked, as they were made otherwise: `why`, in words."""

    source: Source
    why: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Entry:
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


class JoinedRun(Run):
    """Entries from sealed runs of one suite as if one run had evaluated them.

    What the runs have in common (suite, seed, parameters, models used) is `spec`'s; see analysis.boards for what may be
    joined. Reads only: there is nothing to resume, verify or delete.
    """

    def __init__(self, address: str, entries: Sequence[Entry], spec: RunSpec, apart: Mapping[tuple[str, str], Apart]):
        self.entries = tuple(entries)
        self.apart = dict(apart)
        self.newest = max(self.sources, key=lambda run: run.began)
        rows = sum(_rows(entry.answers) for entry in entries)
        told: list[object] = [
            (entry.name, entry.reference, sorted((id, one.run.id, one.model) for id, one in entry.scores.items()))
            for entry in entries
        ]
        told += [(key, one.source.run.id, one.why) for key, one in sorted(self.apart.items())]
        digest = sha256(repr((told, spec.model_dump(mode="json", exclude={"receipt"}))).encode()).hexdigest()
        super().__init__(self.newest.workspace.path / "cache" / "boards" / digest[:STAMP])
        self.address = address
        self.id = f"{address}@{digest[:STAMP]}"
        names = tuple(entry.name for entry in entries)
        self.spec = spec.model_copy(
            update={"id": self.id, "outputs": OutputsFacts(fingerprint=digest, models=names, rows=rows)}
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

    @property
    def seal_digest(self) -> str:
        """A sha256 of the seals of its runs and of what of them counts."""
        return sha256(" ".join([self.folder.name, *(run.seal_digest for run in self.sources)]).encode()).hexdigest()

    @property
    def workspace(self) -> StoredInputs:
        """The workspace of the runs."""
        return self.newest.workspace

    @property
    def about(self) -> About:
        """Nothing: people name and note runs."""
        return About()

    @property
    def state(self) -> State:
        """Finished, as its runs are."""
        return "finished"

    @property
    def damage(self) -> None:
        """None: a damaged run is no part of it."""
        return

    @property
    def began(self) -> tuple[int, int, str]:
        """That of the newest run."""
        return self.newest.began

    def progress(self) -> Progress:
        """Return that of the newest run."""
        return self.newest.progress()

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
        total: dict[str, Any] = dict(spent[0])
        for other in spent[1:]:
            for name, value in other.items():
                if isinstance(value, int | float) and isinstance(total.get(name, 0), int | float):
                    total[name] = total.get(name, 0) + value
        if any(one.get("usd") is None for one in spent):
            total["usd"] = None
        return total

    def stored(self, name: str) -> StoredTable | None:
        """Return a table of its runs, the rows of its entries; None where none of them has it."""
        if name.startswith("suite/"):
            return self.newest.stored(name)
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
            f"by {of}": pc.index_in(found[of], pa.array(order, pa.string()))
            for of, order in (("evaluator", list(self.evaluators)), ("model", self.models))
        }
        order = pc.sort_indices(
            pa.table(places | {"at": range(len(found))}), [(key, "ascending") for key in [*places, "at"]]
        )
        found = found.take(order)
        return found if columns is None else found.select(columns)

    def stored_input(self, name: str) -> Path | None:
        """Return a table of the suite. Of the outputs there are several, see `stored`."""
        assert name.startswith("suite/"), name
        return self.newest.stored_input(name)

    @property
    def suite_folder(self) -> Path:
        """The folder of the stored suite."""
        return self.newest.suite_folder

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
        of_inputs = name in INPUTS
        only = next((name.removeprefix(kind) for kind in BY_EVALUATOR if name.startswith(kind)), None)
        chosen: dict[Run, dict[str, dict[str, str]]] = {}  # run → evaluator → stored name → shown name
        for entry in self.entries:
            of = (
                {"": entry.answers}
                if of_inputs
                else {id: one for id, one in entry.scores.items() if only in (None, id)}
            )
            for id, source in of.items():
                chosen.setdefault(source.run, {}).setdefault(id, {})[source.model] = entry.name
        return tuple(file for run, names in chosen.items() for file in _files_of(run, name, names))


def _files_of(run: Run, name: str, names: Mapping[str, Mapping[str, str]]) -> Iterator[TableFile]:
    """Yield a table of a run as far as it counts: once for the evaluators of which the same models do.

    names: by evaluator (or "" for what is of none) the models that count and the names that they are shown by.
    """
    table = run.stored(name)
    alike: dict[tuple[tuple[str, str], ...], list[str]] = {}
    for evaluator, own in names.items():
        alike.setdefault(tuple(own.items()), []).append(evaluator)
    for path in [file.path for file in table.files] if table else []:
        for pairs, ids in alike.items():
            whole = dict(pairs) == {model: model for model in run.models}
            every = len(alike) == 1 and ({*ids} == {*run.evaluators} or "" in ids)
            yield TableFile(path, None if whole else pairs, None if every or "" in ids else tuple(ids))


def _rows(source: Source) -> int:
    facts = source.run.workspace.outputs_facts(source.run.spec.outputs.fingerprint)
    return int(facts["models"][source.model]["rows"])
