"""The report as one HTML file: no script, no external resource, light and dark as the reader's system prefers.

Every text is escaped where its element is made, and the page's own policy allows nothing but embedded images.
"""

from collections.abc import Iterator, Sequence
from html import escape
from itertools import groupby
from pathlib import Path

from metrics.presentation.blocks import Answer, CaseMetric, Chart, Heatmap, Table, WorstCase
from metrics.presentation.format import short_names
from metrics.presentation.heatmap_parts import HeatmapCell, HeatmapPart, heatmap_parts
from metrics.presentation.palette import ACCENT, INK, LINE, MARKS, MUTED, SERIES, STEPS, SURFACE, ramp, text_colour
from metrics.presentation.safe_text import is_code, shown_tree
from metrics.reports import report_texts as texts
from metrics.reports.renderers.box_plots import coloured_models, figure_of
from metrics.reports.renderers.figures import legend, picture, svg
from metrics.reports.renderers.plots import Inks, is_wide
from metrics.reports.report import Fact, Method, Report, Summary

POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
STYLE = Path(__file__).with_name("report.css")


class Html(str):
    """Text that is already markup: made by `tag`, never from input."""

    __slots__ = ()


def html(report: Report) -> bytes:
    """Return the report as one self-contained HTML page in UTF-8."""
    report = shown_tree(report)
    head = tag(
        "head",
        Html('<meta charset="utf-8">'),
        Html(f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'),
        Html('<meta name="viewport" content="width=device-width,initial-scale=1">'),
        Html('<meta name="color-scheme" content="light dark">'),
        tag("title", report.title),
        Html(f"<style>{colours()}{STYLE.read_text(encoding='utf-8')}</style>"),
    )
    page = tag("html", head, tag("body", *_body(report)), lang="en")
    return f"<!doctype html>{page}".encode()


def tag(name: str, *inner: str, **attributes: str | int) -> Html:
    """Return an element; texts in it and its attributes are escaped, `Html` is kept. `_class` is written `class`."""
    written = "".join(f' {key.lstrip("_")}="{escape(str(value))}"' for key, value in attributes.items() if value != "")
    return Html(f"<{name}{written}>{''.join(one if isinstance(one, Html) else escape(one) for one in inner)}</{name}>")


def theme(dark: bool) -> str:
    """Return the custom properties of a theme, as CSS declarations."""
    values = {
        "surface": SURFACE[dark], "ink": INK[dark], "muted": MUTED[dark], "line": LINE[dark],
        "accent": ACCENT[dark], "panel": "#1d232a" if dark else "#f4f6f8", "warning": MARKS["fp"].colour,
    }  # fmt: skip
    values |= {f"series{index}": colour for index, colour in enumerate(SERIES[dark])}
    values |= {f"good{step}": colour for step, colour in enumerate(ramp(dark))}
    values |= {f"on{step}": text_colour(colour) for step, colour in enumerate(ramp(dark))}
    return "".join(f"--{name}:{value};" for name, value in values.items())


def colours() -> str:
    """Return the CSS custom properties of both themes; paper is light."""
    return f":root{{{theme(False)}}}@media screen and (prefers-color-scheme:dark){{:root{{{theme(True)}}}}}"


def inks_of(report: Report) -> Inks:
    """Return the inks of a report's charts: the custom properties of `colours`."""
    own = {model: f"var(--series{place})" for place, model in enumerate(coloured_models(report))}
    return Inks(
        "var(--ink)", "var(--muted)", "var(--line)", "var(--surface)", "var(--accent)", "var(--series1)", own,
        short_names(report.models),
    )  # fmt: skip


def _body(report: Report) -> Iterator[str]:
    yield tag("div", texts.KICKER, _class="kicker small")
    yield tag("h1", report.title, dir="auto")
    yield tag("div", texts.subtitle(report), _class="muted")
    yield tag("div", ", ".join(report.evaluators), _class="muted small line")
    kicker = tag("span", texts.question(report), _class="muted small")
    yield tag("div", kicker, tag("strong", report.headline), _class="answer")
    if report.summary is not None:
        yield from _summary(report.summary)
    sections = [section for section in _sections(report) if section[2]]
    if len(sections) > 1:
        links = (tag("a", title, href=f"#{_anchor(title)}") for title, _, _ in sections)
        yield tag("nav", tag("h3", texts.CONTENTS), *links)
    if report.remarks:
        yield tag("p", " ".join(report.remarks), _class="muted small")
    for title, asked, parts in sections:
        heading = tag("h2", title, id=_anchor(title))
        yield tag("section", tag("header", heading, tag("p", asked, _class="muted")), *parts)


def _summary(summary: Summary) -> Iterator[str]:
    if summary.table.rows:
        yield from _titled(summary.table)
    lists = {"sure": summary.sure, "fails": summary.fails, "steps": summary.steps}
    for name, title in texts.SUMMARY_HEADINGS.items():
        if lists[name]:
            yield tag("h3", title)
            yield tag("ul", *(tag("li", sentence) for sentence in lists[name]))


def _anchor(title: str) -> str:
    return title.casefold().replace(" ", "-")


def _sections(report: Report) -> Iterator[tuple[str, str, Sequence[str]]]:
    """Yield title, question and parts of each section, in the order of the PDF."""
    inks = inks_of(report)
    yield from _answered(report.sections, inks)
    for group in report.charts:
        yield group.title, group.question, list(blocks_html(group, inks))
    yield *texts.HEADINGS["worst"], [case_view(case) for case in report.worst]
    yield from _answered(report.appendices, inks)
    yield *texts.HEADINGS["methods"], [part for method in report.methods for part in _method(method)]
    facts = [part for group in report.facts for part in (tag("h3", group.title), _facts(group.facts))]
    yield *texts.HEADINGS["data"], facts


def _answered(answers: Sequence[Answer], inks: Inks) -> Iterator[tuple[str, str, Sequence[str]]]:
    """Yield a section for the answers of each name: the first is the section's, the others have headings in it."""
    for _, own in groupby(answers, key=lambda one: one.name):
        first, *others = own
        parts = list(blocks_html(first, inks))
        for other in others:
            parts += [tag("h3", other.title), *blocks_html(other, inks)]
        yield first.title, first.question, parts


def blocks_html(answer: Answer, inks: Inks) -> Iterator[Html]:
    """Yield the elements of an answer's blocks."""
    for kind, run in answer.runs:
        if kind == "sentence" and len(run) == 1:
            yield tag("p", run[0].text, " ", tag("span", run[0].detail, _class="muted small"))
        elif kind == "sentence":
            yield tag("ul", *(tag("li", one.text, " ", tag("span", one.detail, _class="muted small")) for one in run))
        elif kind == "note":
            yield from (tag("p", one.text, _class="muted small") for one in run)
        elif kind == "table":
            yield from (part for one in run for part in _titled(one))
        elif kind == "heatmap":
            yield from (part for one in run for part in heatmap(one))
        elif kind == "chart":
            yield tag("div", *(_chart(one, inks) for one in run), _class="charts")
        else:
            yield from (case_view(case) for one in run for case in one.cases)


def _chart(chart: Chart, inks: Inks) -> Html:
    figure = figure_of(chart, inks)
    drawn = Html(svg(figure, True, "var(--muted)"))
    return tag("div", tag("h3", chart.title, dir="auto"), drawn, _class="wide" if is_wide(figure) else "")


def _titled(table: Table) -> Iterator[Html]:
    yield tag("h3", table.title)
    places = texts.told_columns(table)
    right = [at for at, place in enumerate(places) if table.heads[place].right]
    rows = [_row([row[place] for place in places], right) for row in table.rows]
    bodies, start = [], 0
    for title, count in table.groups:
        head = tag("tr", tag("th", tag("b", title), colspan=len(places), _class="row-head"))
        bodies.append(tag("tbody", head, *rows[start : start + count]))
        start += count
    heads = _row([table.heads[place].title for place in places], right, "th")
    yield tag("table", tag("thead", heads), *(bodies or [tag("tbody", *rows)]))


def _row(cells: Sequence[str], right: Sequence[int], name: str = "td") -> Html:
    return tag("tr", *(tag(name, text, _class="right" if place in right else "") for place, text in enumerate(cells)))


def _facts(facts: tuple[Fact, ...]) -> Html:
    pairs = ((tag("dt", fact.name), tag("dd", tag("code", fact.value) if fact.code else fact.value)) for fact in facts)
    return tag("dl", *(part for pair in pairs for part in pair))


def heatmap(drawn: Heatmap) -> Iterator[Html]:
    """Yield the key of the colours, then the leaderboard in tables of at most heatmap_parts.MOST columns."""
    parts = list(heatmap_parts(drawn))
    if not parts:
        return
    steps = (Html(f'<i style="background:var(--good{step})"></i>') for step in range(STEPS + 1))
    text = f" better · ● {texts.BEST} · hatched: {texts.UNSCORED} · {texts.SMALL_PRINT}"
    yield tag("p", "worse ", *steps, text, _class="ramp muted small")
    yield from (tag("div", _heat_table(part), _class="scroll") for part in parts)


def _heat_table(part: HeatmapPart) -> Html:
    groups = (tag("th", title, _class="group", colspan=span) for title, span in part.groups)
    columns = (tag("th", tag("b", title), tag("small", note)) for title, note in part.columns)
    rows = (
        tag("tr", tag("th", part.names[model], dir="auto", title=model), *(_heat_cell(cell) for cell in cells))
        for model, cells in part.rows
    )
    head = tag("thead", tag("tr", tag("th"), *groups), tag("tr", tag("th", tag("small", part.prefix)), *columns))
    wide = f"--column:{part.column_width:.1f}mm"  # in print, as in the PDF
    return tag("table", head, tag("tbody", *rows), _class="heat close" if part.close else "heat", style=wide)


def _heat_cell(cell: HeatmapCell) -> Html:
    colours = "" if cell.step is None else f"background:var(--good{cell.step});color:var(--on{cell.step})"
    parts = [tag("span", cell.value + (" ●" if cell.best else "")), *(tag("small", line) for line in cell.small)]
    return tag("td", *parts, _class="none" if cell.hatched else "best" if cell.best else "", style=colours)


def case_view(case: WorstCase) -> Html:
    """Return one case: the metrics it is shown for, its image, texts, evidence and other scores."""
    parts = [tag("h3", case.case_id, " ", tag("span", texts.model_text(case), _class="muted"))]
    if case.tags:
        parts.append(tag("div", ", ".join(case.tags), _class="muted small"))
    for because in case.because:
        row = texts.metric_row(because)
        reason = tag("span", f" · {row['reason']}", _class="muted") if row["reason"] else ""
        parts.append(tag("div", tag("span", f"{row['title']} {row['value']}", _class="because"), reason))
    drawn, note = picture(case)
    if drawn is not None:
        parts.append(Html(svg(drawn, True, "var(--ink)", f"min(100%,{round(420 * drawn.width / drawn.height)}px)")))
        key = (tag("span", Html(svg(entry)), entry.alternative) for entry in legend(case))
        parts.append(tag("div", *key, _class="key small"))
    if note:
        parts.append(tag("p", note, _class="muted small"))
    rows = [(passage.name, passage.text) for passage in case.passages]
    rows += [
        ("" if index else "Evidence", f"{glyph} {text}".strip()) for index, (glyph, text) in enumerate(case.evidence)
    ]
    if rows:
        pairs = ((tag("dt", name), tag("dd", text, _class="text", dir="auto")) for name, text in rows)
        parts.append(tag("dl", *(part for pair in pairs for part in pair)))
    parts.append(tag("div", *(_chip(score) for score in case.scores)))
    return tag("div", *parts, _class="case")


def _chip(score: CaseMetric) -> Html:
    row = texts.metric_row(score)
    return tag(
        "span",
        tag("span", row["title"] + " ", _class="muted"),
        tag("b", row["value"]),
        _class="chip",
        title=row["reason"],
    )


def _method(method: Method) -> Iterator[str]:
    version = tag("span", f"{method.evaluator}, version {method.version}", _class="muted small")
    yield tag("h3", method.title, " ", version)
    yield tag("p", method.definition)
    for part in method.details:
        yield tag("pre", part) if is_code(part) else tag("p", part, _class="text small")
    rows = [texts.method_metric_row(metric) for metric in method.metrics]
    names = ("description", "range", "better", "threshold")
    body = (_row([tag("b", row["name"]), *(row[name] for name in names)], (4,)) for row in rows)
    yield tag("table", tag("thead", _row(texts.METHOD_HEADS, (4,), "th")), tag("tbody", *body))
    for line in texts.method_lines(method):
        yield tag("p", line, _class="muted small")
