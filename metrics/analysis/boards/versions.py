"""Boards over the versions of a suite: their models on the cases that all of these have unchanged."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from metrics.analysis.boards.board import Board, board
from metrics.analysis.comparison.shared_cases import SharedCases, shared_cases
from metrics.core.errors import InputError, RunCorrupt
from metrics.core.suite import Outputs, Suite
from metrics.store import Run, Workspace
from metrics.store.run_spec import FilterFacts, SubsetFacts

MIN_SHARED = 0.5  # of the cases of the smaller of two suites, from which on they are compared on those they share


@dataclass(frozen=True, eq=False, slots=True)
class SharedBoard:
    """What the boards of a suite and of its other versions have in common.

    suite: of the shared cases; whole: of how many they are; boards: that of the suite, then the others, the newest
    first; absent: the models that the suite's own board lacks.
    """

    suite: Suite
    whole: int
    boards: tuple[Board, ...]
    absent: tuple[str, ...]

    @property
    def words(self) -> str:
        """What is compared, in a sentence."""
        others = len(self.boards) - 1
        have = "versions of the suite have" if others > 1 else "version of the suite has"
        return f"{len(self.suite):,} of {self.whole:,} cases, which {others} other {have} unchanged"


def shared_board(workspace: Workspace, fingerprint: str) -> SharedBoard | None:
    """Return the cases that a suite shares with its versions of which models are missing on its board; None for none.

    Versions are suites of one task that share MIN_SHARED of their cases, of one id and one content.
    """
    finished = workspace.finished_runs()
    own = board(workspace, fingerprint, finished=finished)
    suite, shared, boards = own.suite, np.ones(len(own.suite), bool), [own]
    known = {*own.models}
    for version, cases in _versions(finished, own.newest):
        found = board(workspace, version.spec.suite.fingerprint, finished=finished)
        if not known.issuperset(found.models):
            boards.append(found)
            known.update(found.models)
            shared &= np.isin(np.arange(len(suite)), cases.after)
    if len(boards) == 1 or not shared.any():
        return None
    ids = suite.cases["case_id"].combine_chunks().filter(pa.array(shared))
    absent = tuple(model for one in boards[1:] for model in one.models if model not in own.models)
    return SharedBoard(suite.restricted(ids), len(suite), tuple(boards), tuple(dict.fromkeys(absent)))


def create_shared_run(workspace: Workspace, fingerprint: str) -> Run:
    """Create the run that compares the models of a suite's versions on the cases they share, or return it, sealed.

    What its runs have scored is taken from them, see engine.reuse. Raises InputError where nothing is shared.
    """
    found = shared_board(workspace, fingerprint)
    if found is None:
        raise InputError(f"no other version of the suite {fingerprint[:12]} has models that its board lacks")
    from metrics import engine  # on use: pages say what is shared without it

    outputs, ids = _outputs(found), {id: run for one in reversed(found.boards) for id, run in one.references.items()}
    for run in workspace.finished_runs(found.suite.fingerprint):
        if run.spec.outputs.fingerprint == outputs.fingerprint and {*run.evaluators} >= {*ids}:
            return run
    own = found.boards[0].spec
    where = f"unchanged in {len(found.boards)} versions of the suite"
    facts = FilterFacts(where=(where,), cases=found.whole, met=len(found.suite))
    return engine.create(
        workspace,
        found.suite,
        outputs,
        list(ids),
        {id: run.spec.parameters(id) for id, run in ids.items()},
        resources={kind: of for one in reversed(found.boards) for kind, of in one.spec.resources.items()},
        seed=own.seed,
        duplicates="group" if own.groups_equal_inputs else "keep",
        subset=SubsetFacts(filter=facts, label_map=own.suite.label_map),
        reuse=True,
    )


def _versions(finished: Sequence[Run], own: Run) -> Iterator[tuple[Run, SharedCases]]:
    """Yield the newest whole run of every other suite that shares enough cases with that of a run, newest first."""
    newest: dict[str, Run] = {}
    for run in finished:
        suite = run.spec.suite
        if suite.task == own.spec.suite.task and not suite.filter and not suite.budget:
            newest.setdefault(suite.fingerprint, run)
    newest.pop(own.spec.suite.fingerprint, None)
    if not newest:
        return
    ids = own.case_columns(["case_id"])["case_id"].combine_chunks()
    for run in newest.values():
        least = max(1.0, MIN_SHARED * min(run.spec.suite.cases, own.spec.suite.cases))
        with suppress(RunCorrupt):  # a damaged run does not hide the others
            others = run.case_columns(["case_id"])["case_id"].combine_chunks()
            if pc.is_in(ids, others).true_count < least:  # so most suites are ruled out without reading their cases
                continue
            cases = shared_cases(run, own)
            if cases is not None and len(cases) >= least:
                yield run, cases


def _outputs(found: SharedBoard) -> Outputs:
    """Return the answers to the shared cases: of each model those of the newest version that it has answered."""
    ids, taken, parts = found.suite.cases["case_id"].combine_chunks(), set[str](), list[Outputs]()
    for one in found.boards:
        outputs = one.outputs.restricted(case_ids=ids)
        parts += [outputs.restricted(model) for model in one.models if model not in taken]
        taken.update(one.models)
    objects = [part.predictions for part in parts if part.predictions is not None]
    tables = [part.outputs for part in parts]
    predictions = pa.concat_tables(objects, promote_options="permissive") if objects else None
    return replace(parts[0], outputs=pa.concat_tables(tables, promote_options="permissive"), predictions=predictions)
