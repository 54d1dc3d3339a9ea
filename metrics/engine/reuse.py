"""Reusing what sealed runs of the workspace have: scores of equal cases and outputs, numbers of equal data sets.

A run names its sources when it is created (`find_sources`), all sealed on this machine by this user. When it is carried
out, a unit of cases is given the scores of the rows whose case and output are the same in a source, by an evaluator of
the same identity; what has no score for another reason than that it does not apply is scored again. A unit that is
given every row is done. A unit of a whole data set is done where a source has the same suite and the same outputs of
the model. The only model of a source may have another name. What comes out is what would be computed. A source that is
lost or damaged gives nothing.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from itertools import groupby, takewhile
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from metrics.core.array_types import Bools, Ints
from metrics.core.arrow import numbers
from metrics.core.cases import POSITION
from metrics.core.evaluator import Status
from metrics.core.registry import choose, plugin
from metrics.core.schema import SLICE
from metrics.core.suite import with_source
from metrics.core.suite_difference import UNSEEN, column_or_nulls, differ
from metrics.engine.identities import MAX_SOURCES, UNREADABLE, identities, sealed_identities
from metrics.engine.judge_worker import write_spend
from metrics.engine.parts import GIVEN, Parts, UnitResult
from metrics.engine.plan import Unit, judged
from metrics.engine.unit_work import Job, failed_unit
from metrics.judge.budget import Spend
from metrics.store import Run, Workspace
from metrics.store.manifest import FILE as MANIFEST
from metrics.store.origin import is_signed
from metrics.store.stored_inputs import StoredInputs, answers_digest

SPAN = 25 * SLICE  # rows that are compared, and whose scores are read, at once
REPEATS = 1 << 31  # more than a case can have: position and repeat are one number
FINAL = (Status.OK.value, Status.NOT_APPLICABLE.value)  # of a score that would come out the same
UNHEARD = r'"status":"(error|skipped|parse_failure)"'  # in the evidence: of a judge of a panel that gave no score
OUTSIDE = ("tags", "position")  # all that a plugin may read beside content


def reuse(run: Run, units: Sequence[Unit], parts: Parts) -> dict[str, int]:
    """Store what earlier runs have of these units of a run, and return how many rows of each, by name.

    What an earlier session has stored stays as it is.
    """
    if not run.spec.reused:
        return {}
    known = Known.of_run(run)
    there = {unit.name for unit in parts.stored(units)}
    todo = (unit for unit in units if unit.name not in there and not parts.file(unit.name, GIVEN).exists())
    for unit, given in known.of_units(todo):
        if known.chosen[unit.evaluator][0].shape == "dataset":
            parts.write(unit.name, given)
            continue
        if run.spend is None and len(given.tables.get("judgements", ())):
            write_spend(run, Spend().as_row())  # nothing yet, but a judge was asked
        if sum(given.reused.values()) < unit.rows or unit.last:
            parts.write(unit.name, given, GIVEN)
        if sum(given.reused.values()) == unit.rows:  # further columns than those of a part are passed over
            parts.write(unit.name, failed_unit(Job.of(run, unit), "") if unit.last else given)
    return {unit.name: sum(counts.values()) for unit in units if (counts := parts.reused(unit.name))}


def _span(unit: Unit) -> tuple[int, str, str]:
    return unit.start // SPAN, unit.model, unit.evaluator


class Known:
    """What sources have of the scores that a run makes of stored `inputs` by `evaluators` with their parameters."""

    def __init__(
        self,
        inputs: StoredInputs,
        suite: str,
        outputs: str,
        evaluators: Mapping[str, Mapping[str, Any]],
        resources: Mapping[str, Any],
        sources: Sequence[Run],
        seed: int,
        grouped: bool,
    ):
        self.chosen = choose(list(evaluators), evaluators)
        self._inputs, self._suite, self._outputs = inputs, suite, outputs
        self._seed, self._grouped = seed, grouped
        own = identities(evaluators, resources, (suite, outputs))
        self._sources = {
            id: [one for one in sources if id in own and sealed_identities(one).get(id) == own[id]]
            for id in self.chosen
        }
        self._cases = lru_cache(MAX_SOURCES)(self._same_cases)
        self._rows = lru_cache(2 * MAX_SOURCES)(self._same_rows)
        self._tables = lru_cache(MAX_SOURCES)(_table_of)

    @classmethod
    def of_run(cls, run: Run) -> "Known":
        """Return what the sources of a run have of it, those that are whole."""
        spec, workspace, sources = run.spec, Workspace(run.workspace.path), []
        for id in spec.reused:
            with suppress(*UNREADABLE):
                source = workspace.run(id)
                if source.state == "finished" and is_signed(source.folder / MANIFEST):
                    sources.append(source)
        inputs = spec.suite.fingerprint, spec.outputs.fingerprint
        return cls(workspace, *inputs, run.evaluators, spec.resources, sources, spec.seed, spec.groups_equal_inputs)

    def of_units(self, units: Iterable[Unit], replies: bool = True) -> Iterator[tuple[Unit, UnitResult]]:
        """Yield the units of which sources have something, with all of it.

        Of cases that may be some: their tables say the `place` of each row in the unit, and its `source`. `replies`:
        with the judge's replies that scores rest on.
        """
        for (_, _, evaluator), together in groupby(sorted(units, key=_span), key=_span):
            if self.chosen[evaluator][0].shape == "dataset":
                yield from ((unit, found) for unit in together if (found := self._whole(unit)) is not None)
            else:
                yield from self._of_cases(list(together), replies)

    def _of_cases(self, units: Sequence[Unit], replies: bool) -> Iterator[tuple[Unit, UnitResult]]:
        """Yield the same of units that follow each other, of one evaluator and model."""
        evaluator, model, start, stop = units[0].evaluator, units[0].model, units[0].start, units[-1].stop
        left = np.ones(stop - start, bool)
        scores, judgements = [], []
        for source, twin in _with_twin(self._sources[evaluator], model):
            with suppress(*UNREADABLE):
                keys = np.where(left, self._keys(source, evaluator, twin, start, stop), -1)
                if (keys < 0).all() or not len(table := self._scores(source, evaluator, twin, keys)):
                    continue
                if replies and judged(*self.chosen[evaluator]):
                    judgements.append(_replies(source, evaluator, twin, table))
                left[table["place"].to_numpy()] = False
                scores.append(table)
        if not scores:
            return
        found = pa.concat_tables(scores).sort_by("place")
        position = self._inputs.positions(self._outputs, self._suite, start, stop).take(found["place"])
        tables = {"scores": found.set_column(found.column_names.index("position"), POSITION, position)}
        tables |= {"judgements": pa.concat_tables(judgements).sort_by("place")} if judgements else {}
        tables = {name: _of_model(table, model) for name, table in tables.items()}
        width = len(self.chosen[evaluator][0].metrics)
        for unit in units:
            own = {name: _within(table, unit.start - start, unit.stop - start) for name, table in tables.items()}
            counts = Counter(own["scores"]["source"].to_pylist())
            if counts:
                yield unit, UnitResult(own, 0, 0.0, reused={id: count // width for id, count in counts.items()})

    def _whole(self, unit: Unit) -> UnitResult | None:
        """Return the numbers that a source has of a unit of a whole data set; None where none has them."""
        for source, twin in _with_twin(self._sources[unit.evaluator], unit.model):
            with suppress(*UNREADABLE):
                if self._same_data(source, twin, unit) and (tables := self._numbers(source, twin, unit)):
                    return UnitResult(tables, 0, 0.0, reused={source.id: unit.rows} if unit.rows else {})
        return None

    def _keys(self, source: Run, evaluator: str, model: str, start: int, stop: int) -> Ints:
        """Return the number of each row's equal in a source, see REPEATS; −1 where it has none."""
        entry, parameters = self.chosen[evaluator]
        (places, same_tags), (rows, position) = self._cases(source), self._rows(source, model, start, stop)
        # whether questions stand for source texts depends on all cases
        if len({with_source(one, entry.inputs) is one for one in (self._inputs.suite(self._suite), source.suite)}) > 1:
            return np.full(len(rows), -1)
        beside = parameters.reads_beside_content() if plugin(evaluator) is None else OUTSIDE
        same = np.ones(len(position), bool)
        if "tags" in beside:
            same &= same_tags[position]
        if "position" in beside:
            same &= places[position] == position
        return np.where(same, rows, -1)

    def _same_cases(self, source: Run) -> tuple[Ints, Bools]:
        """Return the place in the source's suite of each case that is the same there (−1), and whose tags are."""
        ours, theirs = self._inputs.suite(self._suite), source.suite
        if ours.fingerprint == theirs.fingerprint:
            return np.arange(len(ours)), np.ones(len(ours), bool)
        at = pc.index_in(ours.cases["case_id"].combine_chunks(), theirs.cases["case_id"].combine_chunks())
        places, found = numbers(pc.fill_null(at, -1)).astype(np.int64), numbers(pc.indices_nonzero(at.is_valid()))
        one, other = ours.cases.take(found), theirs.cases.take(at.drop_null())
        places[found[_changed(one, other, {*one.column_names, *other.column_names} - UNSEEN)]] = -1
        same_tags = np.zeros(len(ours), bool)
        same_tags[found] = ~_changed(one, other, {"tags"})
        return places, same_tags

    def _same_rows(self, source: Run, model: str, start: int, stop: int) -> tuple[Ints, Ints]:
        """Return the number in the source of each row's equal, −1 without one, and the places of their cases."""
        rows = self._inputs.placed_rows(self._outputs, self._suite, start, stop)
        position = numbers(rows[POSITION.name]).astype(np.int64)
        places = self._cases(source)[0][position]
        keys = np.where(places >= 0, places * REPEATS + numbers(rows["run"]), -1)
        theirs, inputs = source.workspace, (source.spec.outputs.fingerprint, source.spec.suite.fingerprint)
        counts = {name: facts["rows"] for name, facts in theirs.outputs_facts(inputs[0])["models"].items()}
        offset = sum(counts[name] for name in takewhile(model.__ne__, counts))
        stored = inputs[0], offset, offset + counts[model]
        _ = source.input_path("outputs/outputs.parquet")  # it is whole
        there = numbers(theirs.positions(inputs[0], inputs[1], *stored[1:])).astype(np.int64) * REPEATS
        there += numbers(theirs.outputs_rows(*stored)["run"])
        if len(np.unique(there)) < len(there):  # two outputs of a repeat: which one a score is of is not told
            return np.full(len(rows), -1), position
        at = pc.index_in(pa.array(keys), pa.array(there))
        equal, found = np.array(at.is_valid()), at.drop_null()
        if inputs[0] != self._outputs and len(found):
            first, last = pc.min_max(found).as_py().values()
            other = theirs.placed_rows(*inputs, offset + first, offset + last + 1).take(pc.subtract(found, first))
            one = rows.filter(pa.array(equal))
            changed = _changed(one, other, {*one.column_names, *other.column_names} - {POSITION.name})
            changed |= column_or_nulls(one, "artifacts").is_valid().to_numpy(zero_copy_only=False)  # files of their own
            equal[np.flatnonzero(equal)[changed]] = False
        return np.where(equal, keys, -1), position

    def _scores(self, source: Run, evaluator: str, model: str, keys: Ints) -> pa.Table:
        """Return the score rows of those rows whose number the source has a final score of, with place and source."""
        metrics = [metric.name for metric in self.chosen[evaluator][0].metrics]
        width, asked = len(metrics), keys[keys >= 0] // REPEATS
        own = [("evaluator", "==", evaluator), ("model", "==", model)]
        bounds = [("position", ">=", int(asked.min())), ("position", "<=", int(asked.max()))]
        table = source.stored_table("scores", None, [*own, *bounds])
        if table["metric"].to_pylist() != metrics * (len(table) // width):
            raise ValueError(f"the scores of {evaluator} in run {source.id} are not a row for each of its metrics")
        unheard = pc.fill_null(pc.match_substring_regex(table["evidence"], UNHEARD), False)
        final = np.array(pc.and_not(pc.is_in(table["status"], pa.array(FINAL)), unheard))
        good = np.flatnonzero(final.reshape(-1, width).all(axis=1)) * width  # the first row of each score
        there = numbers(table["position"])[good].astype(np.int64) * REPEATS + numbers(table["run"])[good]
        at = pc.index_in(pa.array(keys), pa.array(there))
        rows = (good[numbers(at.drop_null())][:, None] + np.arange(width)).ravel()
        places = pa.array(np.repeat(numbers(pc.indices_nonzero(at.is_valid())), width).astype(np.int64))
        found = table.take(pa.array(rows)).append_column("place", places)
        return found.append_column("source", pa.repeat(pa.scalar(source.id), len(found)))

    def _same_data(self, source: Run, twin: str, unit: Unit) -> bool:
        """Return whether a unit's suite, its model's outputs and what else its numbers depend on are the source's."""
        spec = source.spec
        if (spec.suite.fingerprint, spec.seed, spec.groups_equal_inputs) != (self._suite, self._seed, self._grouped):
            return False
        own = self._inputs.outputs_facts(self._outputs)["models"][unit.model]
        theirs = source.workspace.outputs_facts(spec.outputs.fingerprint)["models"][twin]
        if own != theirs or (unit.run is not None and len(own["runs"]) > 1):  # sealed with the mean over repeats
            return False
        _ = source.suite, source.stored_input("outputs/predictions.parquet")  # they are whole
        if (spec.outputs.fingerprint, twin) == (self._outputs, unit.model):
            return True
        digest = answers_digest(self._inputs.path, self._outputs, unit.model)
        return answers_digest(source.workspace.path, spec.outputs.fingerprint, twin) == digest

    def _numbers(self, source: Run, twin: str, unit: Unit) -> dict[str, pa.Table]:
        """Return the tables of a unit that a source has, none where it gave no number at all: it may have failed."""
        id, found = unit.evaluator, {}
        part = None if unit.tag is None else f"tag={unit.tag}"
        names = ["aggregates", "replicates"]
        names += [] if unit.tag is not None else ["scores", f"curves/{id}", f"matches/{id}"]
        for name in (name for name in names if name in (source.manifest or {"tables": ()})["tables"]):
            table = _of_model(self._tables(source, name, id, twin), unit.model)
            if "slice" in table.column_names:
                table = table.filter(table["slice"].is_null() if part is None else pc.equal(table["slice"], part))
            if name == "aggregates":
                place = table.column_names.index("run")
                table = table.set_column(place, "run", pa.repeat(pa.scalar(unit.run, pa.int32()), len(table)))
            if len(table) or "/" in name:
                found[name] = table
        numbers_there = "aggregates" in found and found["aggregates"]["value"].null_count < len(found["aggregates"])
        return found if numbers_there else {}


def _with_twin(sources: Sequence[Run], model: str) -> Iterator[tuple[Run, str]]:
    """Yield the sources that may have a model's outputs, with its name there; the only model may be named otherwise."""
    for source in sources:
        if model in source.models or len(source.models) == 1:
            yield source, model if model in source.models else source.models[0]


def _of_model(table: pa.Table, model: str) -> pa.Table:
    """Return rows of a source's model as rows of this one."""
    place = table.column_names.index("model")
    return table.set_column(place, table.schema.field("model"), pa.repeat(pa.scalar(model), len(table)))


def _within(table: pa.Table, start: int, stop: int) -> pa.Table:
    """Return the rows of the places from `start` until `stop`, their `place` counted from there."""
    first, end = np.searchsorted(table["place"].to_numpy(), [start, stop]).tolist()
    own = table.slice(first, end - first)
    place = pc.subtract(own["place"], pa.scalar(start, pa.int64()))
    return own.set_column(own.column_names.index("place"), "place", place)


def _changed(one: pa.Table, other: pa.Table, names: Collection[str]) -> Bools:
    """Return which rows of two tables [n] differ in one of these columns."""
    each = [differ(column_or_nulls(one, name), column_or_nulls(other, name)) for name in names]
    return np.any(each, axis=0) if each else np.zeros(len(one), bool)


def _replies(source: Run, evaluator: str, model: str, scores: pa.Table) -> pa.Table:
    """Return the judge's replies that reused scores rest on, as answered before, with place and source."""
    table = source.stored_table("judgements", None, [("evaluator", "==", evaluator), ("model", "==", model)])
    keys = [
        pc.binary_join_element_wise(one["case_id"], one["run"].cast(pa.string()), "\x1f") for one in (table, scores)
    ]
    at = pc.index_in(keys[0], keys[1].combine_chunks())
    own = table.filter(at.is_valid())
    cached = own.column_names.index("cached")
    own = own.set_column(cached, own.schema.field("cached"), pa.repeat(pa.scalar(True), len(own)))
    own = own.append_column("place", scores["place"].take(at.drop_null()))
    return own.append_column("source", pa.repeat(pa.scalar(source.id), len(own)))


def _table_of(source: Run, name: str, evaluator: str, model: str) -> pa.Table:
    """Return the rows of an evaluator and a model in a sealed table."""
    own = [("model", "==", model)] + [("evaluator", "==", evaluator)] * ("/" not in name)
    return source.stored_table(name, None, own)
