"""The charts, the methods and the facts of a bundle: those of the run's report."""

from collections.abc import Iterator
from typing import Any
from xml.etree.ElementTree import Element as Node

from metrics.reports import report_texts as texts
from metrics.reports.renderers.charts import figure_of
from metrics.reports.renderers.figures import svg
from metrics.reports.renderers.html import inks_of
from metrics.reports.renderers.plots import is_wide
from metrics.reports.report import Method, Report

SECTIONS = ("leaderboard", "charts", "methods", "formulas", "data")  # of the report
SVG = "{http://www.w3.org/2000/svg}"

Element = list[Any]  # its name, its attributes, then what is in it: elements and texts


def chart_data(report: Report) -> dict[str, Any]:
    """Return the charts in groups; a chart has its title and its figure as elements of SVG."""
    inks = inks_of(report)
    groups = []
    for group in report.charts:
        figures = [(chart.title, figure_of(chart, inks)) for chart in group.charts]
        groups.append(
            {
                "title": group.title, "question": group.question, "note": " ".join(group.notes),
                "charts": [
                    {"title": title, "wide": is_wide(figure), "figure": _elements(svg(figure, True, "var(--muted)"))}
                    for title, figure in figures
                ],
            }
        )  # fmt: skip
    return {"groups": groups}


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


def _elements(written: str) -> Element:
    """Return SVG that a renderer wrote as elements, so that the page inserts no markup."""
    from defusedxml.ElementTree import fromstring  # type: ignore[import-untyped]

    return _element(fromstring(written))


def _element(node: Node) -> Element:
    return [node.tag.removeprefix(SVG), dict(node.attrib), *_inside(node)]


def _inside(node: Node) -> Iterator[Element | str]:
    if node.text:
        yield node.text
    for child in node:
        yield _element(child)
        if child.tail:
            yield child.tail
