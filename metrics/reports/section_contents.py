"""What each section of a report holds, in a few words: what a reader chooses from."""

from collections.abc import Iterator

from metrics.presentation.format import plural
from metrics.reports.report import Report


def section_contents(report: Report) -> dict[str, str]:
    """Return what the sections hold, by name, in their order; those that this run has nothing for are left out."""
    return {name: holds for name, holds in _contents(report) if holds}


def _contents(report: Report) -> Iterator[tuple[str, str]]:
    yield "summary", "one page for whoever decides" if report.summary else ""
    models, metrics = plural(len(report.models), "model"), plural(len(report.columns), "metric")
    yield "leaderboard", f"{models} × {metrics}" if report.columns else ""
    tables = {section.name: section.tables for section in (*report.sections, *report.appendices)}
    rows = {name: sum(len(table.rows) for table in found) for name, found in tables.items()}
    yield "comparison", plural(rows["comparison"], "tested difference") if "comparison" in rows else ""
    found = [plural(len(report.problems), "missed threshold"), plural(len(report.insights), "finding")]
    yield "problems", ", ".join(found) if report.problems or report.insights else ""
    yield "slices", plural(rows["slices"], "slice") + " worse than the rest" if "slices" in rows else ""
    yield "perturbations", plural(rows["perturbations"], "rate") + " of flips" if "perturbations" in rows else ""
    yield "defects", plural(rows["defects"], "defect") if "defects" in rows else ""
    charts = sum(len(group.charts) for group in report.charts)
    yield "charts", plural(charts, "chart") if charts else ""
    images = sum(case.image is not None for case in report.worst)
    pictures = f", {plural(images, 'image')} with objects drawn" if images else ""
    yield "worst-cases", plural(len(report.worst), "case") + pictures if report.worst else ""
    yield "agreement", plural(len(tables["agreement"]), "table") if "agreement" in tables else ""
    yield "compliance", plural(rows["compliance"], "metric") + " as evidence" if "compliance" in rows else ""
    yield (
        "methods",
        f"{plural(len(report.methods), 'evaluator')}: formula, parameters, sources" if report.methods else "",
    )
    facts = sum(len(group.facts) for group in report.facts)
    yield "data", f"{plural(facts, 'fact')}, with fingerprints and versions" if facts else ""
