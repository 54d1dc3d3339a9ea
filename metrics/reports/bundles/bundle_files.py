"""The files of a bundle, made one after the other from a sealed run, and written into a folder or a zip."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element as Node

from metrics import analysis
from metrics.analysis import Leaderboard
from metrics.core.errors import InputError, InputProblem
from metrics.core.files import EMPTY, folder_written_whole
from metrics.presentation.format import STATUSES, plural
from metrics.presentation.question import short_answers
from metrics.presentation.viewers.case_rows import colour_css
from metrics.presentation.viewers.case_texts import question_parts
from metrics.presentation.viewers.prose_blocks import TINTS
from metrics.presentation.viewers.viewer_files import WITH_CASES, viewer_parts
from metrics.reports import report_texts as texts
from metrics.reports.build import build
from metrics.reports.bundles import MOST_OF_NUMBER
from metrics.reports.bundles.board_data import ShownCases, board_data, case_lists, shown_cases, without_keys
from metrics.reports.bundles.case_data import case_data, image_data
from metrics.reports.bundles.data_file import clean, data_file
from metrics.reports.renderers.box_plots import figure_of
from metrics.reports.renderers.figures import Figure, svg
from metrics.reports.renderers.html import colours, inks_of
from metrics.reports.renderers.plots import is_wide
from metrics.reports.report import Method, Report
from metrics.reports.report_texts import subtitle
from metrics.reports.zip_files import pack
from metrics.store import Run

CHUNK = 300_000  # characters of the cases in one file, the last of which may reach beyond
BATCH = 100  # cases that are read together
SECTIONS = ("leaderboard", "charts", "methods", "formulas", "data")  # of the report
SVG = "{http://www.w3.org/2000/svg}"

Element = list[Any]  # its name, its attributes, then what is in it: elements and texts


@dataclass(frozen=True, slots=True)
class Written:
    """How many files and bytes a bundle has, and which cases it leaves out, in words; "" for none."""

    files: int
    size: int
    left_out: str


def write_bundle(run: Run, folder: Path, cases: int = MOST_OF_NUMBER, media: bool = True) -> Written:
    """Write the bundle of a finished run into a new or empty folder, and return what was written.

    `cases`: how many of each number are shown, the worst first; `media`: whether with images. The folder is there when
    all is written; equal runs give equal bytes. RunError where the run is not finished, InputError where `cases` is
    less than 1 or the folder has files.
    """
    problems = [InputProblem("cases of a bundle", str(cases), "1 or more for each number")] if cases < 1 else []
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        problems.append(InputProblem(str(folder), "a folder with files" if folder.is_dir() else "a file", EMPTY))
    if problems:
        raise InputError(problems)
    report, board = build(run, SECTIONS), analysis.leaderboard(run)
    shown = shown_cases(run, board, cases)
    sizes = []
    with folder_written_whole(folder) as unfinished:
        for name, content in _files(run, report, board, shown, media):
            path = unfinished / name
            path.parent.mkdir(parents=True, exist_ok=True)
            sizes.append(path.write_bytes(content))
    return Written(len(sizes), sum(sizes), shown.left_out)


def bundle_zip(run: Run) -> bytes:
    """Return the bundle of a finished run as a zip; RunError where the run is not finished."""
    report, board = build(run, SECTIONS), analysis.leaderboard(run)
    return pack(_files(run, report, board, shown_cases(run, board, MOST_OF_NUMBER), media=True))


def _files(run: Run, report: Report, board: Leaderboard, shown: ShownCases, media: bool) -> Iterator[tuple[str, bytes]]:
    yield from page_files(clean(report.title))
    index: list[list[Any]] = []
    answers: list[dict[tuple[str, int], str | None]] = []
    chunk: list[dict[str, Any]] = []
    number = size = 0
    previews = dict(analysis.case_texts(run, shown.ids).itertuples(index=False, name=None))
    batches = (shown.ids[start : start + BATCH] for start in range(0, len(shown.ids), BATCH))
    for place, view in enumerate(view for ids in batches for view in analysis.examples(run, ids)):
        file = f"images/{place}.jpg"
        drawn, picture = image_data(run, view, file, media)
        if picture:
            yield file, picture
        made = {**case_data(view), "image": drawn}
        answers.append({(one["model"], one["run"]): one["answer"] for one in view.outputs})
        preview = without_keys(previews[view.case["case_id"]], question_parts(view.case)[1][1])
        index.append([made["id"], preview, made["tags"], number])
        chunk.append(made)
        size += len(json.dumps(made))
        if size > CHUNK or place == len(shown.ids) - 1:
            yield data_file(f"cases/{number}", {"first": place - len(chunk) + 1, "cases": chunk})
            chunk, number, size = [], number + 1, 0
    for of_evaluator, evaluator in enumerate(dict.fromkeys(column.evaluator for column in board.columns)):
        for of_model, model in enumerate(board.models):
            yield data_file(f"lists/{of_evaluator}-{of_model}", case_lists(board, shown, evaluator, model, answers))
    yield data_file("charts", clean(chart_data(report)))
    yield data_file("about", clean(about_data(report)))
    yield data_file("run", _run_data(run, report, board_data(run, board), index, shown.left_out))


def _run_data(run: Run, report: Report, board: dict[str, Any], index: list[list[Any]], left_out: str) -> dict[str, Any]:
    suite = run.spec.suite
    leading = report.section("leaderboard")
    notes = [*(sentence.text for sentence in short_answers(run)), *(leading.notes if leading else ())]
    facts = f"{suite.name} · {plural(suite.cases, 'case')} · {subtitle(report)}"
    return clean(
        {
            "title": report.title, "facts": facts, "notes": notes, "leftOut": left_out,
            "models": list(run.models), "board": board, "cases": index, "statuses": dict(STATUSES),
            "charts": bool(report.charts),
        }
    )  # fmt: skip


# Modules cannot be loaded from a disk, so each viewer's script is put into a function of its own.
EXPORT = "export default function"
MUTED = "var(--muted)"  # the colour of labels
POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'"
VIEWERS: dict[str, tuple[Callable[[], str], tuple[str, ...]]] = {  # name: more style, what it shares with others
    "heatmap": (colour_css, WITH_CASES), "case_list": (colour_css, WITH_CASES), "prose": (lambda: TINTS, ()),
    "evidence_list": (str, ()), "image_viewer": (str, ()), "trace": (str, ()),
    "chat": (str, ()),
}  # fmt: skip
SCRIPTS = ("parts", "board", "cases", "case", "curves", "about", "bundle")
FOLDER = Path(__file__).parent


def page_files(title: str) -> Iterator[tuple[str, bytes]]:
    """Yield path and content of the page and of what it is drawn with."""
    templates, viewers = [], []
    for name, (more, shared) in VIEWERS.items():
        html, style, script = viewer_parts(name, more(), shared)
        if script.count(EXPORT) != 1:
            raise ValueError(f"{name}.js exports {script.count(EXPORT)} functions; 1 expected")
        templates.append(f'<template id="viewer-{name}">{html}</template>')
        body = script.replace(EXPORT, "return function")
        viewers.append(f"viewers.{name} = {{ style: {json.dumps(style)}, draw: (() => {{\n{body}}})() }};")
    page = (FOLDER / "page.html").read_text(encoding="utf-8")
    page = page.replace("{policy}", POLICY).replace("{templates}", "\n".join(templates))
    yield "index.html", page.replace("{title}", escape(title)).encode()
    yield "assets/page.css", (colours() + "\n" + (FOLDER / "page.css").read_text(encoding="utf-8")).encode()
    yield "assets/viewers.js", ("const viewers = {};\n" + "\n".join(viewers) + "\n").encode()
    yield "assets/page.js", "\n".join((FOLDER / f"{name}.js").read_text(encoding="utf-8") for name in SCRIPTS).encode()


def chart_data(report: Report) -> dict[str, Any]:
    """Return the charts in groups; a chart has its title and its figure as elements of SVG."""
    inks = inks_of(report)
    groups = [
        {
            "title": group.title,
            "question": group.question,
            "note": " ".join(group.notes),
            "charts": [_drawn(chart.title, figure_of(chart, inks)) for chart in group.charts],
        }
        for group in report.charts
    ]
    return {"groups": groups}


def _drawn(title: str, figure: Figure) -> dict[str, Any]:
    """Return a chart as elements of SVG, so that the page inserts no markup."""
    from defusedxml.ElementTree import fromstring  # type: ignore[import-untyped]

    return {"title": title, "wide": is_wide(figure), "figure": _element(fromstring(svg(figure, True, MUTED)))}


def about_data(report: Report) -> dict[str, Any]:
    """Return the methods with their metrics and the facts of the run."""
    return {
        "methods": [_method(method) for method in report.methods],
        "heads": list(texts.METHOD_HEADS),
        "facts": [
            {"title": group.title, "rows": [[fact.name, fact.value] for fact in group.facts]} for group in report.facts
        ],
    }


def _method(method: Method) -> dict[str, Any]:
    rows = [texts.method_metric_row(metric) for metric in method.metrics]
    names = ("name", "description", "range", "better", "threshold")
    return {
        "title": method.title, "version": f"{method.evaluator}, version {method.version}",
        "definition": method.definition, "details": list(method.details),
        "rows": [[row[name] for name in names] for row in rows], "lines": list(texts.method_lines(method)),
    }  # fmt: skip


def _element(node: Node) -> Element:
    return [node.tag.removeprefix(SVG), dict(node.attrib), *_inside(node)]


def _inside(node: Node) -> Iterator[Element | str]:
    if node.text:
        yield node.text
    for child in node:
        yield _element(child)
        if child.tail:
            yield child.tail
