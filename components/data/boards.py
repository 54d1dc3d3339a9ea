"""The runs of one suite, and its board, which has the models of all of them side by side."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple, TypeVar

from components.data.run_reads import of_run
from components.data.visitors import action, may
from components.data.workspace_runs import RunFacts, open_run, run_facts, runs, workspace
from metrics.analysis.boards.board import BOARD, DIGITS, EVERY, Board, change_settings
from metrics.core.errors import InputError, RunNotFound
from metrics.core.metric_names import list_names
from metrics.presentation import board_words, run_names
from metrics.store import Run
from metrics.store.board import is_board as is_board
from metrics.store.board_settings import Boards, BoardSettings, Factors, propose_factors

T = TypeVar("T")
MOST_CASES = 100_000  # of a suite whose pages say what it shares with others; beyond, `board --shared` does


def may_note(run_id: str) -> bool:
    """Return whether the visitor may note something about a run, such as tags and thresholds: of a board nobody may."""
    return not is_board(run_id) and may("editor")


def same_suite(run_id: str) -> dict[str, RunFacts]:
    """Return the finished runs of the run's suite by id: the run (or board) itself, then the others, newest first."""
    facts = run_facts(run_id)
    fingerprint = facts.suite["fingerprint"]
    others = [run for run in runs() if run.state == "finished" and run.suite["fingerprint"] == fingerprint]
    return {run_id: facts} | {run.id: run for run in others}


def board_of(run: RunFacts) -> str:
    """Return the address of the board of a run's suite."""
    return f"{BOARD}{run.suite['fingerprint'][:DIGITS]}"


def several_runs(found: Iterable[RunFacts]) -> dict[str, str]:
    """Return the board of each finished run, by its id, whose suite other finished runs are of, too."""
    finished = {run.id: board_of(run) for run in found if run.state == "finished"}
    times = Counter(finished.values())
    return {run_id: address for run_id, address in finished.items() if times[address] > 1}


def board_of_suite(fingerprint: str) -> str:
    """Return the board of a stored suite, "" where fewer than two finished runs are of it."""
    own = (run for run in runs() if run.suite["fingerprint"] == fingerprint)
    return next(iter(several_runs(own).values()), "")


def with_boards(found: Mapping[str, RunFacts], asked: str | None = None) -> dict[str, RunFacts]:
    """Return runs by id, above those of a suite that several finished ones are of its board, by its address.

    Of a board only name, suite, time and state are right. `asked`: a board that is among them in any case.
    """
    several, both = several_runs(found.values()), dict[str, RunFacts]()
    for run_id, run in found.items():
        of_asked = run.state == "finished" and asked is not None and asked.startswith(board_of(run))
        address = asked if of_asked else several.get(run_id)
        if address and address not in both:
            both[address] = run._replace(id=address, name=f"All models of {run.suite['name']}")
        both[run_id] = run
    return both


class BoardIds(NamedTuple):
    """The address by which pages know a board, the id that its numbers are read by now, and its newest run."""

    address: str
    id: str
    newest: str


def board_ids(asked: str) -> BoardIds | None:
    """Return what a board is known by; None where there is no such board."""
    try:
        found = open_run(asked)
    except RunNotFound:
        return None
    assert isinstance(found, Board)
    return BoardIds(found.address, found.id, found.newest.id)


def has_every(board: str) -> bool:
    """Return whether a board has every evaluation of a model, not only the latest."""
    return board.partition("@")[0].endswith(EVERY)


def other_address(board: str) -> str:
    """Return the address of the board of the same suite that has every evaluation, or only the latest."""
    address = board.partition("@")[0]
    return address.removesuffix(EVERY) if has_every(board) else address + EVERY


def _shared_words(run: Run) -> str:
    from metrics.analysis.boards.versions import shared_board

    is_told = run.state == "finished" and run.spec.suite.cases <= MOST_CASES
    found = shared_board(workspace(), run.spec.suite.fingerprint) if is_told else None
    if found is None:
        return ""
    return f"{list_names(found.absent)}: on another version of the suite. Compare on {found.words}."


def _boards_version(_: Run) -> object:
    """Return what changes with the finished runs, and with the settings of any board."""
    finished, kept = workspace().finished_runs(), Boards(workspace().path)
    suites = {run.spec.suite.fingerprint for run in finished}
    return [run.id for run in finished], {suite: kept.version(suite) for suite in suites}


# which models are on another version of a run's suite, and what they can be compared on; "" where none is
shared_words = of_run(_shared_words, version=_boards_version)


@action("editor", "compare the versions of a suite", "run_id")
def compare_versions(run_id: str) -> str:
    """Start the run that compares the models of a suite's versions, where there is none yet; return its id."""
    from metrics import engine
    from metrics.analysis.boards.versions import create_shared_run

    run = create_shared_run(workspace(), open_run(run_id).spec.suite.fingerprint)
    if run.state != "finished":
        engine.start(run)
    return run.id


baseline = of_run(lambda run: run.baseline if isinstance(run, Board) else None)
numbers_from = of_run(board_words.numbers_from)
lacks = of_run(board_words.lacks)
head_line = of_run(board_words.head_line)


@of_run
def apart(run: Run) -> Mapping[tuple[str, str], tuple[str, str]]:
    """Return of which run and model the numbers are that a board does not rank, by (model, evaluator)."""
    return {key: (one.source.run.id, one.source.model) for key, one in run.apart.items()}


class BoardRow(NamedTuple):
    """A model of a suite's runs as its board names and orders it; model, prompt: what it is made of."""

    entry: str
    name: str
    family: str
    model: str
    prompt: str
    hidden: bool


class BoardNames(NamedTuple):
    """What people set of a board: a row for each model, the baseline, the runs by id with their labels, archived ones.

    proposed: whether model and prompt were read from the names, and nobody has accepted them yet.
    """

    rows: tuple[BoardRow, ...]
    baseline: str | None
    runs: Mapping[str, str]
    archived: tuple[str, ...]
    proposed: bool


def board_names(run_id: str) -> BoardNames:
    """Return what people set of a board. Raises InputError for settings that cannot be read."""
    here, run = workspace(), open_run(run_id)
    suite = run.spec.suite.fingerprint
    found, of_suite = Boards(here.path).settings(suite), here.finished_runs(suite)
    entries = list(dict.fromkeys(model for run in reversed(of_suite) for model in run.models))
    factors = found.factors or propose_factors(entries)
    of_runs = {f"{one.id}:{model}" for one in of_suite for model in one.models}
    entries += dict.fromkeys([*_earlier_entries(run), *(entry for entry in found.hidden if entry in of_runs)])
    rows = [
        BoardRow(
            entry,
            found.aliases.get(entry, entry),
            found.families.get(entry, ""),
            *factors.get(entry, ("", "")),
            entry in found.hidden,
        )
        for entry in entries
    ]
    labels = run_names.labels({run.id: run for run in of_suite})
    archived = tuple(run_id for run_id in found.archived if run_id in labels)
    return BoardNames(tuple(rows), found.baseline, labels, archived, bool(factors) and not found.factors)


def _earlier_entries(run: Run) -> list[str]:
    """Return the entries of a board for earlier evaluations of a model, as RUN:MODEL: its name is the latest's."""
    if not isinstance(run, Board):
        return []
    latest = {entry.answers.model: entry for entry in run.entries}  # the oldest stands first
    return [one.reference for one in run.entries if latest[one.answers.model] is not one]


@action("editor", "name and order the models of a board", "run_id")
def keep_board_names(run_id: str, kept: BoardNames) -> str:
    """Store what people set of a board; return what is wrong with it, "" where it is stored."""
    if all(row.hidden for row in kept.rows) or {*kept.runs} == {*kept.archived}:
        return "Everything is hidden or archived: leave at least one model."
    if half := [row.entry for row in kept.rows if bool(row.model) != bool(row.prompt)]:
        return f"{list_names(half)}: a model and a prompt count only together. Fill in both, or neither."
    shown = {row.entry for row in kept.rows}

    def edit(before: BoardSettings) -> BoardSettings:
        def others(of: Mapping[str, T]) -> dict[str, T]:
            return {entry: value for entry, value in of.items() if entry not in shown}

        return BoardSettings(
            others(before.aliases) | {row.entry: row.name for row in kept.rows if row.name not in ("", row.entry)},
            others(before.families) | {row.entry: row.family for row in kept.rows if row.family},
            others(before.factors) | {row.entry: Factors(row.model, row.prompt) for row in kept.rows if row.model},
            kept.baseline,
            (
                *(entry for entry in before.hidden if entry not in shown),
                *(row.entry for row in kept.rows if row.hidden),
            ),
            (*(each for each in before.archived if each not in kept.runs), *kept.archived),
        )

    try:
        change_settings(workspace(), open_run(run_id).spec.suite.fingerprint, edit)
    except InputError as failure:
        return str(failure)
    return ""
