"""The cases that a report shows in full: the worst of each evaluator, merged where one output fails in several;
and one case as each model answered it: what `run.show` draws.
"""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from itertools import islice, zip_longest
from typing import Any, NamedTuple

import pandas as pd

from metrics import analysis
from metrics.analysis.cases.case_pages import chosen_scores, column_of_cases
from metrics.analysis.cases.case_table import case_table
from metrics.core.errors import InputError, InputProblem
from metrics.core.evidence import Evidence
from metrics.core.registry import title_of
from metrics.core.rounding import none_if_nan
from metrics.core.suite import METADATA
from metrics.presentation.blocks import Box, CaseMetric, Passage, WorstCase
from metrics.presentation.format import metric_name, plural
from metrics.presentation.palette import MARKS
from metrics.presentation.phrases import context_titles, metric_title
from metrics.presentation.safe_text import ending, shown
from metrics.presentation.verdict_rows import VerdictRow, fact_text, verdict_groups
from metrics.presentation.viewers import object_panels, panoptic_panels, segment_panels
from metrics.presentation.viewers.case_texts import case_facts, case_labels
from metrics.presentation.why_words import NOTE, why
from metrics.store import Run, keep_by_run

Key = tuple[str, str, int]  # case, model, repeat
MOST_CASES = 6  # unless there are more models
MOST_REASONS = 4  # metrics that a case is shown for
MOST_TEXT = 1_200  # characters of an answer
MOST_QUESTION = 700  # or of an expected answer
MOST_CONTEXT = 280
MOST_CONTEXTS = 3
MOST_EVIDENCE = 6  # lines
MOST_LINE = 300
SHORT = 40  # characters of a fact that shares its line with others
MOST_SCORES = 12
MOST_BOXES = 80
PANOPTIC = "panoptic_quality"
MOST_AREAS = 16  # labels beyond would hide the image
SHOWN_FIRST = ("fn", "fp", "tp", "annotation", "ignored")  # where not all fit
THINGS: dict[analysis.Measured, str] = {
    "box": "Boxes", "mask": "Masks", "polygon": "Polygons", "keypoints": "Key points",
}  # fmt: skip
MOST_LINES = 80  # of evidence


class WorstRow(NamedTuple):
    """A row of a list of cases, see analysis.CasePage; None: it has none."""

    case_id: str
    run: int
    value: float | None
    errors: int | None
    reason: str | None


def worst_cases(
    run: Run, columns: Sequence[analysis.Column], models: Sequence[str]
) -> tuple[tuple[WorstCase, ...], int]:
    """Return the worst cases of each model, as many of each, and the number of candidates.

    The case that the page Cases puts first is the first of a model that has it among its bad ones. A model's are the
    worst of each evaluator's primary metric in turn, without perfect ones; cases that stand there for another model
    already come last.
    """
    first = {column.evaluator: column for column in reversed(columns) if column.direction != "none"}
    columns = [column_of_cases(run, column) for column in columns if first.get(column.evaluator) is column]
    models = models[:MOST_CASES]
    names = tuple((column.evaluator, column.metric) for column in columns)
    rows = _worst_rows(run, names, tuple(models), tuple(chosen_scores(run, *name) for name in names))
    each = max(1, MOST_CASES // max(1, len(models)))
    chosen: dict[Key, list[tuple[tuple[str, str], CaseMetric]]] = {}
    candidates = 0
    for model in models:
        bad = [list(_bad(column, model, own)) for column, own in zip(columns, rows[model], strict=True)]
        in_turn = [one for rank in zip_longest(*bad) for one in rank if one is not None]
        keys = list(dict.fromkeys(key for key, _ in in_turn))
        candidates += len(keys)
        there = {key[0] for key in chosen}
        for key in sorted(keys, key=lambda key: key[0] in there)[:each]:
            because = [(name, metric) for name, own in zip(names, bad, strict=True) for k, metric in own if k == key]
            chosen[key] = because[:MOST_REASONS]
    ids = list(dict.fromkeys(key[0] for key in chosen))
    views = dict(zip(ids, analysis.examples(run, ids), strict=True)) if ids else {}
    shown = (
        case_of(run, views[key[0]], key, because, list(dict.fromkeys(evaluator for (evaluator, _), _ in because)))
        for key, because in chosen.items()
    )
    return tuple(shown), candidates


@keep_by_run(maxsize=16)
def _worst_rows(
    run: Run,
    metrics: tuple[tuple[str, str], ...],
    models: tuple[str, ...],
    lows: tuple[tuple[tuple[str, float], ...], ...],  # noqa: ARG001 - chosen beside the run
) -> dict[str, list[list[WorstRow]]]:
    """Return by model the worst rows in each metric, those of the case that the page Cases puts first before all."""
    first = [str(row["case_id"]) for row in case_table(run, *metrics[0], limit=1).cases] if metrics else []

    def worst(model: str, metric: tuple[str, str]) -> list[WorstRow]:
        def listed(**choice: Any) -> list[WorstRow]:
            found = analysis.cases(run, *metric, MOST_CASES, model=model, **choice).rows
            known = found[list(WorstRow._fields)].astype(object).where(found.notna(), None)
            return [WorstRow(*row) for row in known.itertuples(index=False)]

        before = first if metric == metrics[0] else []
        rows = [row for row in listed() if row.case_id not in before]
        return [*(listed(only=before) if before else ()), *rows]

    return {model: [worst(model, metric) for metric in metrics] for model in models}


def _bad(column: analysis.Column, model: str, rows: Sequence[WorstRow]) -> Iterator[tuple[Key, CaseMetric]]:
    """Yield the outputs among a model's worst rows that are not perfect."""
    perfect = column.low if column.direction == "lower" else column.high
    title = metric_title(column, arrow=False)
    for row in rows:
        key = (row.case_id, model, row.run)
        if row.errors is not None:
            if row.errors > 0:
                yield key, CaseMetric(column.evaluator_title, float(row.errors), "lower", unit="error")
        elif row.value is not None and row.value != perfect:
            yield key, CaseMetric(title, row.value, column.direction, "ok", _reason(row.reason))


def case_of(
    run: Run, view: analysis.ExampleView, key: Key, because: Sequence[tuple[tuple[str, str], CaseMetric]],
    evaluators: Sequence[str], lines: int = MOST_EVIDENCE,
) -> WorstCase:  # fmt: skip
    """Return one output of a case in full.

    `because`: the metrics (evaluator, name) that it is shown for, each with its value; the others are listed beside.
    `evaluators`: those whose evidence is told, in at most so many `lines`; the first says how boxes are matched.
    """
    case_id, model, repeat = key
    output = next((row for row in view.outputs if (row["model"], row["run"]) == (model, repeat)), {})
    scores = records(view.scores[view.scores["model"].eq(model) & view.scores["run"].eq(repeat)])
    image = view.image if view.image is not None and view.image.exists() else None
    size = view.case["image_width"], view.case["image_height"]
    boxes: tuple[Box, ...] = ()
    note = ""
    if image is None:
        note = "The image is not part of the suite." if view.case["image"] else ""
    elif run.suite.task == "segmentation":
        draw = _segments if PANOPTIC in evaluators else _areas
        boxes, note = draw(run, case_id, model, repeat)
    elif run.suite.task == "detection":
        compared = analysis.compared(run, model, repeat, evaluators[0])
        point = analysis.operating_point(run, model)
        boxes, note = _boxes(view, model, repeat, compared, analysis.rules(run, evaluators[0]), point)
    evidence = (line for row in scores if row["evaluator"] in evaluators for line in _evidence(row["evidence"]))
    return WorstCase(
        case_id,
        model,
        repeat,
        tuple(_merged([metric for _, metric in because])),
        tuple(_passages(view.case, output, _are_answered(run))),
        tuple(case_labels(view.case)),
        tuple(islice(other_scores(run, scores, [name for name, _ in because]), MOST_SCORES)),
        tuple(islice(evidence, lines)),
        image,
        boxes,
        note,
        None if None in size else size,
    )


def _merged(because: Sequence[CaseMetric]) -> Iterator[CaseMetric]:
    """Yield the reasons, those that count the same errors as one."""
    counted: dict[float | None, list[str]] = {}
    for metric in because:
        if metric.unit:
            counted.setdefault(metric.value, []).append(metric.title)
        else:
            yield metric
    for value, titles in counted.items():
        yield CaseMetric(", ".join(titles), value, "lower", unit="error")


def records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of a data frame as records."""
    return [{str(name): value for name, value in row.items()} for row in frame.to_dict("records")]


def _are_answered(run: Run) -> bool:
    """Return whether a run's outputs are answers in words: then one without any is empty, not of another kind."""
    return run.spec.suite.task == "text" and "answer" in run.needed("outputs/outputs.parquet").columns


def _passages(case: Mapping[str, Any], output: Mapping[str, Any], are_answered: bool) -> Iterator[Passage]:
    name = case.get(METADATA + "image_name")
    if name and name != case["case_id"]:
        yield Passage("File", name)
    if case["question"]:
        yield Passage("Question", ending(_dense(case["question"]), MOST_QUESTION))
    for name, text in case_facts(case):
        yield Passage(name, shown(_flat(text), MOST_CONTEXT))
    yield from _numbered("Expected", case["expected_answers"], MOST_QUESTION)
    contexts = output.get("retrieved_contexts") or ()
    ids = output.get("context_ids")
    yield from _numbered("Context", contexts or case["reference_contexts"], MOST_CONTEXT, ids if contexts else None)
    if output.get("answer") is not None or (are_answered and output and not output.get("error")):
        yield Passage("Answer", shown(_dense(output["answer"] or ""), MOST_TEXT) or "(no answer)")


def _numbered(
    name: str, texts: Sequence[str] | None, limit: int, ids: Sequence[str | None] | None = None
) -> Iterator[Passage]:
    texts = texts or ()
    for title, text in zip(context_titles(len(texts), ids)[:MOST_CONTEXTS], texts, strict=False):
        yield Passage(f"{name} {title}" if len(texts) > 1 or ids else name, shown(_flat(text), limit))
    if len(texts) > MOST_CONTEXTS:
        yield Passage("", f"… and {len(texts) - MOST_CONTEXTS:,} more")


def _flat(text: str) -> str:
    return " ".join(text.split())


def _dense(text: str) -> str:
    """`text` without its blank lines and outer white space."""
    return "\n".join(line.rstrip() for line in text.strip().splitlines() if line.strip())


def other_scores(
    run: Run, scores: Sequence[Mapping[str, Any]], named: Sequence[tuple[str, str]]
) -> Iterator[CaseMetric]:
    """Yield the scores that are neither among the `named` nor of a minor metric."""
    for row in scores:
        evaluator, name = row["evaluator"], row["metric"]
        entry = run.evaluator(evaluator)
        metric = next((one for one in entry.metrics if one.name == name), None) if entry else None
        if (evaluator, name) in named or (metric is not None and metric.minor):
            continue
        title = title_of(evaluator) if name in (evaluator, "passes") else metric_name(name, evaluator)
        value = none_if_nan(row["value"])
        direction = metric.direction.value if metric else "none"
        yield CaseMetric(title, value, direction, row["status"], _reason(row["reason"]))


def _reason(value: Any) -> str | None:
    return shown(value, MOST_LINE) if isinstance(value, str) else None


def _evidence(evidence: Evidence | None) -> Iterator[tuple[str, str]]:
    """Yield the lines of an evidence: one for each verdict with its glyph, failures first; then the facts."""
    if evidence is None:
        return
    if said := why(evidence):
        yield "", said
    for group in verdict_groups(evidence):
        for row in sorted(group.rows, key=lambda row: row.holds != "no"):
            yield row.glyph, shown(_line(row), MOST_LINE)
    facts = {name: value for name, value in evidence.facts.items() if name != NOTE}
    short = [name for name, value in facts.items() if isinstance(value, int | float) or _is_word(value)]
    if texts := [f"{name.replace('_', ' ')}: {fact_text(facts.pop(name))}" for name in short]:  # these share a line
        yield "", shown(" · ".join(texts), MOST_LINE)
    for name, value in facts.items():
        if isinstance(value, list) and value and all(isinstance(record, Mapping) for record in value):
            for record in value:
                told = {key: part for key, part in record.items() if part is not None and not isinstance(part, bool)}
                yield "", shown(" · ".join((f"{key}: {fact_text(part)}" for key, part in told.items())), MOST_LINE)
        elif value not in (None, [], {}, ""):
            yield "", shown(f"{name.replace('_', ' ')}: {fact_text(value)}", MOST_LINE)


def _is_word(value: Any) -> bool:
    return isinstance(value, str) and 0 < len(value) <= SHORT and "\n" not in value


def _line(row: VerdictRow) -> str:
    """Return a verdict in one line: the item, the verdict, what it rests on, why."""
    expected = f"expected: {row.expected}" if row.expected else ""
    return " · ".join(part for part in (row.text, expected, row.label, row.links, row.reason, *row.notes) if part)


def _boxes(
    view: analysis.ExampleView, model: str, repeat: int, compared: analysis.Measured, rules: analysis.Rules,
    point: analysis.OperatingPoint,
) -> tuple[tuple[Box, ...], str]:  # fmt: skip
    """Return what to draw on the image of one model at a point, and the sentence that says how it was matched."""
    predictions = view.predictions
    if not predictions.empty:
        predictions = predictions[predictions["model"].eq(model) & predictions["run"].eq(repeat)].reset_index(drop=True)
    size = view.case["image_height"], view.case["image_width"]
    predicted, annotated = analysis.match_objects(
        view.annotations, predictions, point.iou, point.score, compared, size, rules, view.case
    )
    boxes = []
    for row, kind in zip(view.annotations.to_dict("records"), annotated, strict=True):
        boxes.append(_box(row, "annotation" if kind == "tp" else _drawn(kind), compared))
    hidden = 0
    for row, kind in zip(predictions.to_dict("records"), predicted, strict=True):
        if kind == "below_score":
            hidden += 1
            continue
        boxes.append(_box(row, _drawn(kind), compared))
    boxes = sorted((box for box in boxes if box.rings), key=lambda box: SHOWN_FIRST.index(box.kind.partition("_")[0]))
    measure = "OKS" if compared == "keypoints" else "IoU"
    note = f"{THINGS[compared]} matched at {measure} ≥ {point.iou:g}"
    if hidden:
        note += f"; {plural(hidden, 'prediction')} with a score below {point.score:g} not drawn"
    return _fitting(boxes, note, "object")


def _box(row: Mapping[Hashable, Any], kind: str, compared: analysis.Measured) -> Box:
    """Return one object as it was compared: a pose that was, without its box, which would hide it."""
    score, bones = row.get("score"), tuple(map(tuple, row.get("bones") or ()))
    return Box(
        kind, object_panels.rings(row, compared), str(row["label"]), none_if_nan(score),
        filled=compared == "mask", bones=bones, outlined=not bones or compared != "keypoints",
    )  # fmt: skip


def _areas(run: Run, case_id: str, model: str, repeat: int) -> tuple[tuple[Box, ...], str]:
    """Return the areas that one model gives a wrong class or none, and the sentence that says so."""
    kinds = {"mistaken": "fp", "missed": "fn"}
    wrong = [part for part in analysis.segments(run, case_id, model, repeat) if part.kind in kinds]
    boxes = [
        Box(kinds[part.kind], tuple(map(tuple, part.rings)), part.predicted or "no label", filled=True)
        for part in wrong[:MOST_AREAS]
        if part.rings
    ]
    hidden = sum(part.pixels for part in wrong[MOST_AREAS:])
    note = "Areas of a wrong class, named by the predicted one"
    return tuple(boxes), note + (f"; {hidden:,} more pixels not drawn." if hidden else ".")


def _segments(run: Run, case_id: str, model: str, repeat: int) -> tuple[tuple[Box, ...], str]:
    """Return a model's segments in the colours of their classes and the true ones that it missed; and the sentence."""
    colours = segment_panels.class_colours(run.suite.labels)
    shown = panoptic_panels.model_segments(*analysis.segment_outcomes(run, case_id, model, repeat))
    boxes = [
        Box(kind, tuple(map(tuple, each.rings)), each.label, filled=kind != "fn",
            colour=panoptic_panels.shaded(colours[each.label], place))
        for each, kind, place in shown
        if each.rings
    ]  # fmt: skip
    boxes.sort(key=lambda box: SHOWN_FIRST.index(box.kind))
    return _fitting(boxes, "Segments in the colours of their classes, matched at IoU > 0.5", "segment")


def _fitting(boxes: Sequence[Box], note: str, noun: str) -> tuple[tuple[Box, ...], str]:
    """Return the boxes that are drawn, and the sentence that says how many are not."""
    if len(boxes) > MOST_BOXES:
        note += f"; the first {MOST_BOXES} of {plural(len(boxes), noun)} are drawn, mistakes before what is right"
    return tuple(boxes[:MOST_BOXES]), note + "."


def _drawn(kind: str) -> str:
    """Return the kind that a match kind is drawn and counted as: its own mark, or that of its family."""
    return kind if kind in MARKS else kind.partition("_")[0]


def case_in_full(run: Run, case_id: str, evaluator: str | None = None, model: str | None = None) -> list[WorstCase]:
    """Return a case with the output of each model, or of one `model`, a repeat each.

    With `evaluator`, its metrics come first and only its evidence is told; else the evidence of all. Raises InputError
    listing every name that the run does not have.
    """
    known = {"evaluator": (evaluator, list(run.evaluators)), "model": (model, list(run.models))}
    problems = [
        InputProblem(f"run {run.id}", f"the {kind} {name!r}", "one of " + ", ".join(names))
        for kind, (name, names) in known.items()
        if name is not None and name not in names
    ]
    if problems:
        raise InputError(problems)
    view = analysis.example(run, case_id)
    told = [evaluator] if evaluator else list(run.evaluators)
    return [
        case_of(run, view, key, list(_named(run, view, key, evaluator)) if evaluator else (), told, MOST_LINES)
        for key in _keys(view, model)
    ]


def _keys(view: analysis.ExampleView, model: str | None) -> Iterator[Key]:
    """Yield case, model and repeat of every output and of every score: a case may have scores without an output."""
    found = dict.fromkeys((str(row["model"]), int(row["run"])) for row in [*view.outputs, *records(view.scores)])
    return ((str(view.case["case_id"]), name, repeat) for name, repeat in found if model in (None, name))


def _named(
    run: Run, view: analysis.ExampleView, key: Key, evaluator: str
) -> Iterator[tuple[tuple[str, str], CaseMetric]]:
    """Yield the scores of one evaluator, minor metrics left out."""
    scores = [
        row for row in records(view.scores) if (row["evaluator"], row["model"], row["run"]) == (evaluator, *key[1:])
    ]
    for row in scores:
        for metric in other_scores(run, [row], ()):
            name = metric_name(row["metric"], evaluator)
            title = name if name.startswith(title_of(evaluator)) else f"{title_of(evaluator)}: {name}"
            made = CaseMetric(title, metric.value, metric.direction, metric.status, metric.reason)
            yield (evaluator, row["metric"]), made
