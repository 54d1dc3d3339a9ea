"""A run and its cases as notebooks show them: HTML without a script, an outside request or a rule for other cells."""

from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from metrics.presentation.blocks import WorstCase
from metrics.presentation.format import plural
from metrics.presentation.heatmap_parts import heatmap_parts
from metrics.presentation.question import short_answers
from metrics.presentation.safe_text import shown_tree
from metrics.reports import report_texts as texts
from metrics.reports.build import build
from metrics.reports.renderers.html import Html, blocks_html, case_view, inks_of, tag, theme
from metrics.store import Run

STYLE = Path(__file__).with_name("notebook.css")
VIEW = ".assay-view"
DARK = ('[data-jp-theme-light="false"]', ".vscode-dark", ".vscode-high-contrast", 'html[theme="dark"]')
LIGHT = ('[data-jp-theme-light="true"]', ".vscode-light", ".vscode-high-contrast-light", 'html[theme="light"]')
WAYS_ON = {
    "queued": "it has not begun; metrics.engine.start(run) begins it",
    "interrupted": "it stopped before its end; metrics.engine.resume(run) continues it",
    "cancelled": "it was cancelled; metrics.engine.resume(run) continues it",
    "failed": "metrics.engine.resume(run) tries again",
}


def run_html(run: Run) -> str:
    """Return the leaderboard of a finished run, or in what state an unfinished one is."""
    if run.state != "finished":
        return _view([_title(run), tag("p", _unfinished(run), _class="muted")])
    report = build(run, ["leaderboard"])
    parts = [part for one in report.sections for part in blocks_html(one, inks_of(report))]
    remarks = [tag("p", remark, _class="muted small") for remark in report.remarks]
    said = tag("ul", *(tag("li", sentence.text) for sentence in short_answers(run)))
    return _view([_title(run), tag("p", report.headline), said, *parts, *remarks])


def run_text(run: Run) -> str:
    """Return the same as a table of plain text: value, interval and n of each model and metric."""
    head = f"Run {run.id} · {shown_tree(run.name)} · {run.state}"
    if run.state != "finished":
        return f"{head}\n{_unfinished(run)}"
    report = build(run, ["leaderboard"])
    lines = [head, report.headline, *(shown_tree(sentence.text) for sentence in short_answers(run))]
    for part in [] if report.heatmap is None else heatmap_parts(report.heatmap):
        heads = [f"{title}, {note}" if note else title for title, note in part.columns]
        cells = zip(*(row for _, row in part.rows), strict=True)
        grid = [["", *(part.names[model] for model, _ in part.rows)]]
        grid += [
            [head, *(" ".join([cell.value, *cell.small]) for cell in row)]
            for head, row in zip(heads, cells, strict=True)
        ]
        lines += ["", *_aligned(grid)]
    return "\n".join(lines)


def case_html(cases: Iterable[WorstCase]) -> str:
    """Return a case as each model answered it: texts with verdicts and evidence, or the image with its boxes."""
    return _view(map(case_view, shown_tree(list(cases))))


def case_text(cases: Iterable[WorstCase]) -> str:
    """Return the same as plain text, without the image."""
    return "\n\n".join("\n".join(_case_lines(case)) for case in shown_tree(list(cases)))


def _case_lines(case: WorstCase) -> Iterator[str]:
    yield f"{case.case_id} · {texts.model_text(case)}"
    for metric in (*case.because, *case.scores):
        row = texts.metric_row(metric)
        yield f"  {row['title']} {row['value']}" + (f" · {row['reason']}" if row["reason"] else "")
    yield from (f"  {passage.name}: {passage.text}" for passage in case.passages)
    yield from (f"  {glyph} {text}".rstrip() for glyph, text in case.evidence)
    if case.boxes:
        yield f"  {plural(len(case.boxes), 'object')} drawn in the notebook's picture"


def _title(run: Run) -> Html:
    return tag(
        "h3", shown_tree(run.name), " ", tag("span", f"{run.id} · {run.state}", _class="muted small"), dir="auto"
    )


def _unfinished(run: Run) -> str:
    progress = run.progress()
    reason = shown_tree(run.failure or "") or WAYS_ON.get(run.state, "")
    return f"{run.state}, {progress.share:.0%} done" + (f": {reason}" if reason else "")


def _view(parts: Iterable[str]) -> str:
    return tag("div", Html(f"<style>{_style()}</style>"), *parts, _class=VIEW.removeprefix("."))


@cache
def _style() -> str:
    """Return the rules of a view: the notebook's own theme decides, else what the reader's system prefers."""
    light, dark = theme(False), theme(True)
    rules = [f"{VIEW}{{{light}}}", f"@media (prefers-color-scheme:dark){{{VIEW}{{{dark}}}}}"]
    rules += [f"{place} {VIEW}{{{colours}}}" for places, colours in ((LIGHT, light), (DARK, dark)) for place in places]
    return "".join(rules) + STYLE.read_text(encoding="utf-8")


def _aligned(grid: list[list[str]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*grid, strict=True)]
    return ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in grid)
