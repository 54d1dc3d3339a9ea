"""Running a monitor: lines are sampled, judged in batches, and committed together with how far was read."""

import hashlib
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa

from metrics.core.errors import InputError, InputProblem
from metrics.core.suite import Case
from metrics.engine.live_scorer import LiveScorer
from metrics.judge.budget import Spend
from metrics.judge.keys import redact_start
from metrics.monitoring import alerts
from metrics.monitoring.evidence import Evidence, with_bands
from metrics.monitoring.line_reader import (
    Place,
    Record,
    Sampler,
    file_blocks,
    id_names,
    mark,
    pipe_blocks,
    sampled,
    spellings,
)
from metrics.monitoring.monitor_checks import check_weights
from metrics.monitoring.monitor_status import (
    MAX_WINDOW_SAMPLES,
    Chosen,
    Judged,
    Recent,
    judged_metrics,
    passed_in_all,
    passes,
)
from metrics.monitoring.monitor_store import BAD_LINES, CHANGES, SAMPLES, SCORES, SOURCES, Monitor, State
from metrics.monitoring.sampled_cases import PREVIEW, cases_of, previews
from metrics.monitoring.sessions import NAMES, session_of
from metrics.monitoring.windows import TIMES, time_of

BATCH = 100  # samples judged and committed together
WAIT_SECONDS = 5.0  # that a sample from a pipe waits for others, at most
SEEN = 100_000  # the latest samples among which duplicates are recognised
HOOK_FAILURES = 10  # that are listed
STANDARD_INPUT = "standard input"

Say = Callable[[str], None]


def feed(
    monitor: Monitor,
    source: Path | None,
    *,
    resources: Mapping[str, Any] | None = None,
    reference: Mapping[str, str] | None = None,
    hook: list[str] | None = None,
    say: Say = lambda _: None,
    warn: Say = lambda _: None,
    batch: int = BATCH,
) -> State:
    """Read a file from where the monitor left it, or standard input (None) to its end; return the state reached.

    A file is recognised by its content, so a killed process loses nothing and no line counts twice: a renamed file
    continues, a rewritten one starts from the beginning. Standard input cannot be read again: what was judged is kept;
    what was read but not yet committed (at most a batch of samples, or five seconds' lines) is lost when the process is
    killed. `resources` may change the pace or budget of the same judge; `hook` is called once for each change of
    status, and again if the process was killed while it ran; `say` receives progress, `warn` what failed.
    """
    with monitor.hold():
        run = Feeder(monitor, source, resources, hook, say, warn, batch)
        with run.scorer:
            return run.read_all(dict(reference) if reference else None)


class Feeder:
    """The work of one process that holds a monitor."""

    def __init__(
        self,
        monitor: Monitor,
        source: Path | None,
        resources: Mapping[str, Any] | None = None,
        hook: list[str] | None = None,
        say: Say = lambda _: None,
        warn: Say = lambda _: None,
        batch: int = BATCH,
        name: str = STANDARD_INPUT,
    ):
        monitor.check_origin()
        self.monitor, self.spec, self.state = monitor, monitor.spec, monitor.state
        self.chosen: Chosen = self.spec.chosen_evaluators
        self.window = monitor.window
        settings = dict(resources) if resources else self.spec.resources
        check_weights(monitor, settings)
        spend = Spend.of(self.state.spend)
        self.scorer = LiveScorer(self.chosen, settings, monitor.folder.parent.parent / "cache", spend)
        self._source, self._hook, self._say, self._warn = source, hook, say, warn
        self._name = name if source is None else source.name
        self._batch = min(batch, self.window.cases or batch)
        self._sessions = (self.spec.session,) if self.spec.session is not None else spellings(NAMES)
        self._recent = Recent({key: metric for key, (metric, _) in judged_metrics(self.chosen).items()}, self.window)
        keys, known = self._recent.keys, self.state.evidence
        self._evidence = Evidence(keys, self.spec.limits, known)
        for tables in monitor.latest(MAX_WINDOW_SAMPLES if known is None else self.window.cases or MAX_WINDOW_SAMPLES):
            judged = Judged.of(keys, *tables)
            self._recent.add(judged)
            if known is None:  # an earlier version fed it: its samples are the first evidence
                self._evidence.add(judged)
        self._seen = dict.fromkeys(monitor.keys(SEEN))
        self._place = Place()
        self._entry: dict[str, Any] | None = None  # of the file, in the state's sources
        self._read = self.state.read
        self._pending: list[Record] = []
        self._since = time.monotonic()

    def read_all(self, reference: dict[str, str] | None) -> State:
        """Read to the end of the source."""
        state = self.state
        state.reference = reference or state.reference
        self._notify()  # of changes that a killed process did not report
        regular = self._source is not None and self._source.is_file()
        if self._source is None:
            self._read_from(pipe_blocks(sys.stdin.fileno()), ends=True)
        else:
            with self._source.open("rb") as stream:
                if regular:
                    self._place = self._known_place()
                    self._read_from(file_blocks(stream, self._place.offset), ends=False)
                else:
                    self._read_from(pipe_blocks(stream.fileno()), ends=True)
        return state

    def _known_place(self) -> Place:
        """Return where reading stopped, if the file was read before."""
        assert self._source is not None
        known = [entry for entry in self.state.sources if mark(self._source, entry["offset"]) == entry["mark"]]
        if not known:
            return Place()
        self._entry = entry = max(known, key=lambda entry: int(entry["offset"]))
        return Place(entry["offset"], entry["line"], 0, entry["open"])

    def take(self, line: bytes) -> tuple[pa.Table, pa.Table] | None:
        """Judge and commit one line, if it is sampled; return its sample and scores, None where it was not or before.

        Raises InputError where it is no interaction that can be judged.
        """
        bad = self.state.bad
        sampler = Sampler(self.spec.rate, self.spec.seed)
        block = iter([line + b"\n"])
        lines = sampled(block, self._place, sampler, id_names(self.spec.id), self._add_bad_line, ends=True)
        self._pending = [record for record in lines if record is not None]
        made = self._commit(file=False) if self._pending or self.state.bad > bad else None
        if self.state.bad > bad:
            raise InputError([InputProblem(**self.state.bad_lines[-1])])
        return made if made and len(made[0]) else None

    def _read_from(self, blocks: Any, *, ends: bool) -> None:
        sampler = Sampler(self.spec.rate, self.spec.seed)
        lines = sampled(blocks, self._place, sampler, id_names(self.spec.id), self._add_bad_line, ends=ends)
        try:
            for record in lines:
                if record is not None:
                    self._pending.append(record)
                late = ends and time.monotonic() - self._since > WAIT_SECONDS
                news = self._pending or self._read + self._place.read > self.state.read
                if len(self._pending) >= self._batch or (late and news):
                    self._commit(file=not ends)
        except KeyboardInterrupt:
            if ends:
                self._commit(file=False)
            raise
        self._commit(file=not ends)
        if self._place.left:
            left = f"{self._place.left:,} bytes"
            self._warn(f"{self._name}: the last line is not finished ({left}); it will be read next time")

    def _add_bad_line(self, line: int, found: str, expected: str) -> None:
        problem = InputProblem(self._name, redact_start(found, PREVIEW), expected, line)
        self.state.bad += 1
        self.state.bad_lines = [*self.state.bad_lines, problem.as_row()][-BAD_LINES:]

    def _commit(self, *, file: bool) -> tuple[pa.Table, pa.Table] | None:
        """Judge the pending samples, store them with the position in the log; return them and their scores, if any."""
        records, self._pending = self._pending, []
        samples = scores = None
        if records:
            pairs, wrong = cases_of(self._name, records, self.spec.mapping)
            for problem in wrong:
                where = f"{problem.column}: " if problem.column else ""
                self._add_bad_line(problem.row or 0, where + problem.found, problem.expected)
            samples, scores = self._with_evidence(*self._judged(self._new(pairs)))
        state = self.state
        state.read = self._read + self._place.read
        if samples is not None:
            state.sampled += len(samples)
            state.unscored += samples["passed"].null_count
        if file:
            self._note_place()
        self._note_changes(samples)
        state.standings = [asdict(standing) for standing in self._recent.standings(self._evidence.rates)]
        state.lately, state.evidence = len(self._recent), self._evidence.as_json()
        state.spend = self.scorer.spend.as_row()
        self.monitor.commit(state, samples, scores)
        self._notify()
        self._since = time.monotonic()
        self._say(f"{state.read:,} lines read, {state.sampled:,} sampled: {state.health}")
        return None if samples is None or scores is None else (samples, scores)

    def _note_changes(self, samples: pa.Table | None) -> None:
        """Note each change of status of all together, with the sample after which it was seen."""
        state = self.state
        seen: list[tuple[int, datetime | None, str]] = [(state.sampled - 1, None, self._evidence.health)]
        if samples is not None and len(samples):
            seen = list(zip(*(samples[name].to_pylist() for name in ("number", "at", "health")), strict=True))
        before = state.health
        for number, line_at, health in seen:
            if health == before:
                continue
            change = {
                "sequence": 1 + (state.changes[-1]["sequence"] if state.changes else 0),
                "status": health,
                "previous": before,
                "sampled": number + 1,
                "at": datetime.now(UTC).isoformat(timespec="seconds"),
                "line_at": None if line_at is None else line_at.isoformat(timespec="seconds") + "+00:00",
                "told": None if self._hook is None else False,
            }
            state.changes, before = [*state.changes, change][-CHANGES:], health

    def _note_place(self) -> None:
        assert self._source is not None
        place = self._place
        seen = mark(self._source, place.offset) if place.offset else None
        if seen is None:  # nothing was read, or the file was truncated meanwhile: it is read from the start next time
            return
        entry = {"name": self._name, "offset": place.offset, "line": place.line, "open": place.open, "mark": seen}
        others = [other for other in self.state.sources if other != self._entry]
        self.state.sources = [*others, entry][-SOURCES:]
        self._entry = entry

    def _new(self, pairs: Sequence[tuple[Record, Case]]) -> list[tuple[Record, Case, int | None]]:
        """Return those not sampled before, with the key by which a duplicate is recognised."""
        found: list[tuple[Record, Case, int | None]] = []
        for record, case in pairs:
            key = _key(record, case) if record.named else None
            if key is not None and key in self._seen:
                self.state.duplicates += 1
                continue
            if key is not None:
                self._seen[key] = None
                if len(self._seen) > SEEN:
                    del self._seen[next(iter(self._seen))]
            found.append((record, case, key))
        return found

    def _judged(self, found: Sequence[tuple[Record, Case, int | None]]) -> tuple[pa.Table, pa.Table]:
        """Return the rows to store."""
        first = self.state.sampled
        cases = [case._replace(case_id=str(first + place), position=place) for place, (_, case, _) in enumerate(found)]
        made = self.scorer.scores(cases)
        scores = [
            row | {"number": int(row["case_id"]), "passed": passed}
            for row, passed in zip(made.drop_columns("evidence").to_pylist(), passes(self.chosen, made), strict=True)
        ]
        by_case: dict[int, list[dict[str, Any]]] = defaultdict(list)
        for row in scores:
            by_case[row["number"]].append(row)
        samples: list[dict[str, Any]] = []
        for number, (record, case, key) in enumerate(found, first):
            at = self._time(record)
            samples.append(
                {
                    "number": number,
                    "window": self.window.of(number, at),
                    "source": self._name,
                    "line": record.line,
                    "id": record.id,
                    "key": key,
                    "model": case.model,
                    "at": None if at is None else datetime.fromtimestamp(at, UTC).replace(tzinfo=None),
                    "question": case.question,
                    "answer": case.answer,
                    "passed": passed_in_all(self.chosen, by_case[number]),
                    "session": session_of(record.fields, self._sessions),
                }
            )
        for rows, names in ((samples, ("id", "model", "question", "answer")), (scores, ("reason",))):
            for name in names:
                for row, shown in zip(rows, previews([row[name] for row in rows]), strict=True):
                    row[name] = shown
        return pa.Table.from_pylist(samples, schema=SAMPLES), pa.Table.from_pylist(scores, schema=SCORES)

    def _with_evidence(self, samples: pa.Table, scores: pa.Table) -> tuple[pa.Table, pa.Table]:
        """Let samples count; return their rows with what is known after each."""
        keys = self._recent.keys
        judged = Judged.of(keys, samples, scores)
        self._recent.add(judged)
        known = dict(zip(judged.number.tolist(), self._evidence.add(judged), strict=True))
        columns = {key: column for column, key in enumerate(keys)}
        of_scores = [
            (None, None, None)
            if (column := columns.get((row["evaluator"], row["metric"]))) is None
            else known[row["number"]][column]
            for row in scores.select(["number", "evaluator", "metric"]).to_pylist()
        ]
        return with_bands(samples, [one[0] for one in known.values()]), with_bands(scores, of_scores)

    def _time(self, record: Record) -> float | None:
        """Return when the line's event happened; for windows of time, when it was read where the line does not say."""
        names = TIMES if self.spec.time is None else (self.spec.time,)
        stated = next((at for name in names if (at := time_of(record.fields.get(name))) is not None), None)
        return time.time() if stated is None and self.window.seconds is not None else stated

    def _notify(self) -> None:
        """Call the hook for the changes it was not called for yet. A failed call is reported and not repeated."""
        waiting = [change for change in self.state.changes if change["told"] is False]
        if not waiting or self._hook is None:
            return
        for change in waiting:
            overall, *others = self.state.standings
            message = {
                "monitor": self.monitor.name,
                **{name: change[name] for name in ("sequence", "status", "previous", "at")},
                "window": self.window.words,
                "overall": overall,
                "metrics": others,
            }
            failure = alerts.call(self._hook, message)
            change["told"] = True
            if failure is not None:
                self._warn(failure)
                self.state.hook_failures = [*self.state.hook_failures, failure][-HOOK_FAILURES:]
        self.monitor.commit(self.state)


def _key(record: Record, case: Case) -> int:
    text = f"{record.id}\x1f{case.model}\x1f{case.run}".encode()
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "big")
