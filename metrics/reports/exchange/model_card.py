"""The evaluation section of a Hugging Face model card: model-index as YAML front matter, and a table in Markdown."""

from collections.abc import Iterator, Mapping
from typing import Any

from metrics import analysis
from metrics.core.registry import title_of
from metrics.presentation.board_words import origin_lines
from metrics.presentation.format import MISSING, interval, moment, number, plural
from metrics.presentation.safe_text import shown
from metrics.reports.build import changes_of
from metrics.reports.exchange.contents import Number, file_name, numbers
from metrics.store import Run

TASKS = {
    "text": "text-generation", "agent": "text-generation", "classification": "image-classification",
    "detection": "object-detection", "segmentation": "image-segmentation", "regression": "tabular-regression",
}  # fmt: skip
HEADS = ("Model", "Metric", "Value", "95 % interval", "n", "Unscored")


def export(run: Run) -> bytes:
    """Return the section: a README.md may begin with it, or take over its parts. Metrics without a value are told."""
    import yaml

    found = numbers(run)
    front = yaml.safe_dump({"model-index": list(_index(run, found))}, sort_keys=False, allow_unicode=True)
    suite = run.spec.suite
    judges = (f" {_cell(title_of(id))} is judged by {_cell(judge)}." for id, judge in analysis.judged_by(run).items())
    changed = {title_of(id): changes_of(run, id) for id in run.evaluators}
    made_with = (f" {_cell(title)}: {_cell(text)}." for title, text in changed.items() if text)
    about = f"On {plural(suite.cases, 'case')} of {_cell(suite.name)} by Assay, run {run.id}, {moment(run.sealed)}."
    made_of = "\n".join(f"- {_cell(entry)}: {_cell(text)}" for entry, text in origin_lines(run))
    lines = [
        f"---\n{front}---",
        "## Evaluation results",
        about + "".join([*judges, *made_with]),
        *filter(None, [made_of]),
        *_tables(found),
    ]
    return ("\n\n".join(lines) + "\n").encode()


def _index(run: Run, found: list[Number]) -> Iterator[dict[str, Any]]:
    suite = run.spec.suite
    of_texts = suite.task == "classification" and run.suite.cases["image"].null_count == len(run.suite)
    task = "text-classification" if of_texts else TASKS[suite.task]
    judges = analysis.judged_by(run)
    for model in run.models:
        own = [one for one in found if one.model == model and one.cell.value is not None]
        if metrics := [_metric(run, one, judges) for one in own]:
            dataset = {"name": shown(suite.name), "type": file_name(suite.name), "revision": suite.fingerprint}
            yield {"name": shown(model), "results": [{"task": {"type": task}, "dataset": dataset, "metrics": metrics}]}


def _metric(run: Run, one: Number, judges: Mapping[str, str]) -> dict[str, Any]:
    cell, id = one.cell, one.column.evaluator
    behind = run.behind(one.model, id)
    counts = {
        "low": cell.low, "high": cell.high, "interval": cell.interval, "n": cell.n, "unscored": cell.unscored,
        "direction": one.column.direction, "run": behind.id, "date": behind.sealed, "judge": judges.get(id),
        "parameters": changes_of(run, id) or None,
    }  # fmt: skip
    args = {name: value for name, value in counts.items() if value is not None}
    return {"type": one.name, "value": cell.value, "name": one.title, "args": args, "verified": False}


def _tables(found: list[Number]) -> Iterator[str]:
    rows = [
        (
            one.model, one.title, number(one.cell.value), interval(one.cell.low, one.cell.high) or MISSING,
            f"{one.cell.n:,}", f"{one.cell.unscored:,}",
        )
        for one in found if one.column.primary or not one.column.minor
    ]  # fmt: skip
    yield "\n".join(f"| {' | '.join(map(_cell, row))} |" for row in (HEADS, ("---",) * len(HEADS), *rows))
    if silent := [one for one in found if one.cell.value is None]:
        lines = (f"- {_cell(one.model)}, {_cell(one.title)}: {_cell(one.cell.reason or 'no value')}" for one in silent)
        yield "Without a value:\n\n" + "\n".join(lines)


def _cell(text: str) -> str:
    """Return a text that stays a text in a cell of a Markdown table."""
    plain = " ".join(shown(text).split())
    if set(plain) <= {"-"}:
        return plain
    escaped = "".join(f"\\{sign}" if sign in "\\`*_{}[]<>|#!&" else sign for sign in plain)
    return escaped.replace("://", ":&#47;/")  # no address becomes a link
