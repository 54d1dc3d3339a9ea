"""The command palette: one box to go to any page, run, model, metric or evaluator, opened by Ctrl K or ⌘ K."""

from collections.abc import Iterator, Sequence

from components.data import boards, run_reads
from components.data.workspace_runs import RunFacts
from components.viewers.browser_component import draw_in_browser
from components.widgets import url
from metrics.analysis import Leaderboard
from metrics.core.errors import RunCorrupt
from metrics.core.other_names import names_elsewhere
from metrics.core.registry import evaluator_ids
from metrics.presentation import format
from metrics.presentation.format import in_words
from metrics.presentation.phrases import metric_title

Entry = tuple[str, str, str, str]  # kind, name, address, detail


def palette(runs: Sequence[RunFacts], run: str, of: str) -> None:
    """Draw the button that opens the palette, and listen to its keys; arguments as `entries`."""
    draw_in_browser("palette", {"entries": list(entries(runs, run, of))}, "palette", width="content")


def entries(runs: Sequence[RunFacts], run: str, of: str) -> Iterator[Entry]:
    """Yield what the palette offers, in this order: pages, the run's models and metrics, runs, evaluators.

    runs: those of the workspace; run: as addresses name it, "" for none; of: the id that its numbers are read by.
    """
    of_run = {"run": run or None}
    for name, (title, _) in url.PAGES.items():
        where = [part for part in url.place_of(name) if part and part != title]
        yield "Page", title, _address(name, **of_run), " › ".join(where)
    finished = [one for one in runs if one.state == "finished"]
    board = _board(of) if boards.is_board(run) or any(one.id == run for one in finished) else None
    if board is not None:
        for model in board.models:
            yield "Model", model, _address("cases", **of_run, model=model), "its cases"
        for column in board.columns:
            title = metric_title(column, arrow=False)
            code = f"{column.evaluator}.{column.metric}"
            yield "Metric", title, _address("leaderboard", **of_run, sort=column.key), code
    for one in finished:
        yield "Run", one.name or one.id, _address("leaderboard", run=one.id), format.moment(one.created)
    for name in evaluator_ids():  # their titles would import them all on every page
        names = ", ".join([name, *names_elsewhere(name)])
        yield "Evaluator", in_words(name), _address("evaluators", evaluator=name), names


def _board(run: str) -> Leaderboard | None:
    """Return the leaderboard of a run; None of a damaged one, of which the page says what is damaged."""
    try:
        return run_reads.leaderboard(run)
    except RunCorrupt:
        return None


def _address(name: str, **values: url.Value) -> str:
    """Return an address relative to the studio's root."""
    return url.href(name, **values).lstrip("/")
