"""The runs of one suite, and its board, which has the models of all of them side by side."""

from collections import Counter
from collections.abc import Mapping

from components.data.workspace_runs import RunFacts, open_run, run_facts, runs
from metrics.analysis.boards.board import BOARD, DIGITS, Board
from metrics.core.errors import RunNotFound


def is_board(run_id: str | None) -> bool:
    """Return whether the `run` of an address is a board, which is read only: there is nothing to stop or to mark."""
    return run_id is not None and (run_id == BOARD.rstrip(":") or run_id.startswith(BOARD))


def same_suite(run_id: str) -> dict[str, RunFacts]:
    """Return the finished runs of the run's suite by id: the run (or board) itself, then the others, newest first."""
    facts = run_facts(run_id)
    fingerprint = facts.suite["fingerprint"]
    others = [run for run in runs() if run.state == "finished" and run.suite["fingerprint"] == fingerprint]
    return {run_id: facts} | {run.id: run for run in others}


def board_of(run: RunFacts) -> str:
    """Return the address of the board of a run's suite."""
    return f"{BOARD}{run.suite['fingerprint'][:DIGITS]}"


def with_boards(found: Mapping[str, RunFacts], asked: str | None = None) -> dict[str, RunFacts]:
    """Return runs by id, above those of a suite that several finished ones are of its board, by its address.

    Of a board only name, suite, time and state are right. `asked`: a board that is among them in any case.
    """
    finished = Counter(board_of(run) for run in found.values() if run.state == "finished")
    both: dict[str, RunFacts] = {}
    for run_id, run in found.items():
        address = board_of(run)
        is_asked = asked is not None and asked.startswith(address)
        shown = asked if is_asked and asked else address
        if run.state == "finished" and (finished[address] > 1 or is_asked) and shown not in both:
            both[shown] = run._replace(id=shown, name=f"All models of {run.suite['name']}")
        both[run_id] = run
    return both


def address_of(asked: str, whole: bool = True) -> str:
    """Return the address by which pages know a board, or the id of its newest run; "" where there is no such board."""
    try:
        found = open_run(asked)
    except RunNotFound:
        return ""
    assert isinstance(found, Board)
    return found.address if whole else found.newest.id


def id_of(run_id: str) -> str:
    """Return the id by which a run is read: that of a board as it is now, which ends in a stamp of its content."""
    return open_run(run_id).id if is_board(run_id) else run_id
