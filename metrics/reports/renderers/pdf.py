"""The report as a PDF, typeset by typst: no browser, no network, the same bytes for the same report everywhere.

Fonts come from packages, never from the system. Latin, Greek, Cyrillic, Arabic, Armenian, Bengali, Devanagari,
Ethiopic, Georgian, Gujarati, Gurmukhi, Hebrew, Kannada, Khmer, Lao, Malayalam, Myanmar, Oriya, Sinhala, Tamil, Telugu,
Thai, Chinese, Japanese, Korean, symbols and (in one colour) emoji show; other scripts show as empty boxes.
"""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from itertools import accumulate
from pathlib import Path
from typing import Any

from metrics.presentation.blocks import Answer, Heatmap, Table, WorstCase
from metrics.presentation.format import short_names
from metrics.presentation.heatmap_parts import FEW_MODELS, HeatmapCell, HeatmapPart, heatmap_parts, metric_rows
from metrics.presentation.palette import ACCENT, INK, LINE, MARKS, MUTED, SERIES, SURFACE, ramp
from metrics.presentation.safe_text import is_code, is_rtl, shown_tree
from metrics.reports import report_texts as texts
from metrics.reports.renderers.box_plots import coloured_models, figure_of
from metrics.reports.renderers.figures import legend, picture
from metrics.reports.renderers.plots import Inks, is_wide
from metrics.reports.renderers.typesetting import FIRST_FONTS, figure_data, fonts, typeset
from metrics.reports.report import Method, Report

TEMPLATE = Path(__file__).with_name("template.typ")
MONO = ("DejaVu Sans Mono", *FIRST_FONTS)
COMPACT, LINE_WIDTH = 2_400, 100  # characters: a shorter case is kept on one page
SHORT_COLUMN, WIDEST_COLUMN = 22, 40  # characters
LONG_TOKEN = re.compile("[!-~\u00a1-\u02b8]{22,}")
ARABIC = re.compile("[\u0600-\u08ff\ufb50-\ufdff\ufe70-\ufefc]")
BREAK = "\u200b"
KEPT_WHOLE = frozenset({"running", "figure", "legend", "fonts", "mono"})  # by their names for the template


def pdf(report: Report) -> bytes:
    """Return the report as PDF 1.7, A4, tagged and bookmarked. MissingResource without typst or its fonts."""
    data = json.dumps(_breakable_tree(_payload(shown_tree(report))), ensure_ascii=False)
    return typeset(TEMPLATE, {"report": data}, "pdf", _timestamp(report.created))


def _timestamp(created: str) -> int:
    try:
        when = datetime.fromisoformat(created)
    except ValueError:
        return 0
    return int((when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp())


def _payload(report: Report) -> dict[str, Any]:
    own = dict(zip(coloured_models(report), SERIES[False], strict=False))
    short = short_names(report.models)
    inks = Inks(INK[False], MUTED[False], LINE[False], SURFACE[False], ACCENT[False], SERIES[False][1], own, short)
    payload: dict[str, Any] = {
        "title": report.title,
        "kicker": texts.KICKER,
        "running": report.title,
        "subtitle": texts.subtitle(report),
        "evaluators": texts.evaluators_line(report),
        "contents": texts.CONTENTS,
        "question": texts.question(report),
        "headings": {name: {"title": title, "question": asked} for name, (title, asked) in texts.HEADINGS.items()},
        "method_heads": texts.METHOD_HEADS,
        "legend": {"best": texts.BEST, "unscored": texts.UNSCORED, "small": texts.SMALL_PRINT},
        "headline": report.headline,
        "summary": None if report.summary is None else asdict(report.summary) | {"table": _table(report.summary.table)},
        "summary_headings": texts.SUMMARY_HEADINGS,
        "remarks": report.remarks,
        "groups": [asdict(group) for group in report.facts],
        "sections": _answered(report.sections, inks),
        "charts": _charts(report.charts, inks),
        "worst": [_worst(case) for case in report.worst],
        "appendices": _answered(report.appendices, inks),
        "methods": [_method(method) for method in report.methods],
    }
    payload["arabic"] = ARABIC.search(json.dumps(payload, ensure_ascii=False)) is not None
    colours = {
        "ink": INK[False], "muted": MUTED[False], "line": LINE[False], "accent": ACCENT[False],
        "panel": "#f4f6f8", "warning": MARKS["fp"].colour,
    }  # fmt: skip
    return {**payload, "colours": colours, "ramp": ramp(), "fonts": fonts()[1], "mono": MONO}


def breakable(text: str, every: int = 12) -> str:
    """Return `text` with invisible break opportunities in words too long for a line."""
    return LONG_TOKEN.sub(lambda found: BREAK.join(_pieces(found[0], every)), text)


def _breakable_tree(value: Any) -> Any:
    """Return `value` with `breakable` applied to the texts in it, but for those of KEPT_WHOLE."""
    if isinstance(value, str):
        return breakable(value)
    if isinstance(value, dict):
        return {name: part if name in KEPT_WHOLE else _breakable_tree(part) for name, part in value.items()}
    return [_breakable_tree(part) for part in value] if isinstance(value, list | tuple) else value


def _pieces(token: str, every: int) -> Iterable[str]:
    for part in re.split("(?<=[-_/.,:;=?&])", token):
        yield from (part[start : start + every] for start in range(0, len(part), every))


def _answered(answers: Sequence[Answer], inks: Inks) -> list[dict[str, Any]]:
    """Return the answers with their blocks; one that shares the section of the answer before it has no question."""
    return [
        {
            "title": one.title,
            "question": None if place and one.name == answers[place - 1].name else one.question,
            "blocks": [{"kind": kind, "parts": _parts(kind, run, inks)} for kind, run in one.runs],
        }
        for place, one in enumerate(answers)
    ]


def _charts(answers: Sequence[Answer], inks: Inks) -> list[dict[str, Any]]:
    """Return the charts of all answers as one section: wide ones first, then two abreast, then what is left out."""
    charts = [chart for one in answers for chart in _parts("chart", one.charts, inks)]
    notes = [note for one in answers for note in one.notes]
    if not charts:
        return []
    blocks = [{"kind": "chart", "parts": sorted(charts, key=lambda chart: not chart["wide"])}]
    title, asked = texts.HEADINGS["charts"]
    return [{"title": title, "question": asked, "blocks": [*blocks, {"kind": "note", "parts": notes}]}]


def _parts(kind: str, run: Sequence[Any], inks: Inks) -> list[Any]:
    """Return neighbouring blocks of one kind as the template reads them."""
    if kind == "sentence":
        return [{"text": one.text, "detail": one.detail} for one in run]
    if kind == "note":
        return [one.text for one in run]
    if kind == "table":
        return list(map(_table, run))
    if kind == "heatmap":
        return [
            part
            for one in run
            for part in ([_by_metric(one)] if len(one.models) <= FEW_MODELS else map(_heatmap_part, heatmap_parts(one)))
        ]
    if kind == "chart":
        figures = [(chart, figure_of(chart, inks)) for chart in run]
        return [{"title": chart.title, "figure": figure_data(one), "wide": is_wide(one)} for chart, one in figures]
    return [_worst(case) for one in run for case in one.cases]


def _heatmap_part(part: HeatmapPart) -> dict[str, Any]:
    colours = ramp()
    return {
        "turned": False,
        "width": part.column_width,
        "close": part.close,
        "prefix": _narrow(part.prefix),
        "groups": [{"title": breakable(title, 8), "span": span} for title, span in part.groups],
        "columns": [{"title": breakable(title, 8), "note": note} for title, note in part.columns],
        "rows": [
            {"model": _narrow(part.names[model]), "cells": [_heat_cell(cell, colours) for cell in cells]}
            for model, cells in part.rows
        ],
    }


def _by_metric(drawn: Heatmap) -> dict[str, Any]:
    colours = ramp()
    rows = [row._asdict() | {"cells": [_heat_cell(one, colours) for one in row.cells]} for row in metric_rows(drawn)]
    return {"turned": True, "models": list(map(_narrow, drawn.models)), "rows": rows}


def _heat_cell(cell: HeatmapCell, colours: Sequence[str]) -> dict[str, Any]:
    fill = None if cell.hatched else "" if cell.step is None else colours[cell.step]
    return {"value": cell.value, "small": cell.small, "best": cell.best, "ink": cell.ink(colours), "fill": fill}


def _narrow(text: str) -> str:
    """Return `text` with break opportunities for the narrow columns of the heatmap."""
    return re.sub("[!-~\u00a1-\u02b8]{9,}", lambda found: BREAK.join(_pieces(found[0], 9)), text)


def _worst(case: WorstCase) -> dict[str, Any]:
    drawn, note = picture(case)
    return {
        "case_id": case.case_id,
        "model": texts.model_text(case),
        "tags": ", ".join(case.tags),
        "because": [texts.metric_row(metric) for metric in case.because],
        "passages": [asdict(passage) | {"rtl": is_rtl(passage.text)} for passage in case.passages],
        "evidence": [{"glyph": glyph, "text": text, "rtl": is_rtl(text)} for glyph, text in case.evidence],
        "scores": [texts.metric_row(metric) for metric in case.scores],
        "figure": None if drawn is None else figure_data(drawn),
        "glyphs": any(glyph for glyph, _ in case.evidence),
        "tile": drawn is not None and not (case.passages or case.evidence or case.scores),
        "compact": drawn is None and _length(case) < COMPACT,
        "legend": [figure_data(entry) for entry in legend(case)],
        "image_note": note,
    }


def _table(table: Table) -> dict[str, Any]:
    """Return a table, with the share of the width that each column's longest text asks for; 0: as wide as its text."""
    places = texts.told_columns(table)
    heads, rows = [table.heads[place] for place in places], [[row[place] for place in places] for row in table.rows]
    if not table.groups:
        rows = [_without_repeats(row, rows[place - 1] if place else ()) for place, row in enumerate(rows)]
    longest = [max(map(len, column)) for column in zip([head.title for head in heads], *rows, strict=True)]
    short = [head.right or length <= SHORT_COLUMN for head, length in zip(heads, longest, strict=True)]
    bodies = [{"title": "", "rows": rows}]
    if table.groups:
        ends = list(accumulate(count for _, count in table.groups))
        starts = zip(table.groups, ends, strict=True)
        bodies = [{"title": title, "rows": rows[end - count : end]} for (title, count), end in starts]
    weights = [0 if alone else min(WIDEST_COLUMN, length) for alone, length in zip(short, longest, strict=True)]
    return {
        "title": table.title, "heads": [head.title for head in heads], "bodies": bodies,
        "right": [place for place, head in enumerate(heads) if head.right],
        "weights": weights if any(weights) else [1, *weights[1:]],
    }  # fmt: skip


def _without_repeats(row: list[str], before: Sequence[str]) -> list[str]:
    """Return a row without its first text where the row before it has the same one and other cells differ."""
    return ["", *row[1:]] if before and row[0] == before[0] and len(row[0]) > SHORT_COLUMN / 2 else row


def _length(case: WorstCase) -> int:
    """Return roughly how many characters a case takes, a line break counting as a full line."""
    written = [*(passage.text for passage in case.passages), *(text for _, text in case.evidence)]
    return sum(len(text) + LINE_WIDTH * (text.count("\n") + 1) for text in written)


def _method(method: Method) -> dict[str, Any]:
    rows = [texts.method_metric_row(metric) for metric in method.metrics]
    return {
        "id": f"{method.evaluator}, version {method.version}",
        "title": method.title,
        "definition": method.definition,
        "details": [{"text": part, "code": is_code(part)} for part in method.details],
        "metrics": rows,
        "lines": list(texts.method_lines(method)),
    }
