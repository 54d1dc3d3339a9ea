"""The charts of a report, from a sealed run: curves, calibration, confusion, what errors cost, numbers per class."""

import json
import math
from collections.abc import Iterable, Iterator, Sequence

import pandas as pd

from metrics.core.evaluator import Direction, Evaluator, Metric
from metrics.core.registry import evaluators
from metrics.presentation.style import ARROWS, plural
from metrics.reports.report import Bar, BarGroup, Bars, ChartGroup, Curve, Matrix, Series
from metrics.store import Run

MOST_CURVES = 12  # precision–recall charts: beyond, the labels with the most objects stand for the others
MOST_PANELS = 6  # charts of one other kind
MOST_MODELS = 6  # in a chart of bars
MOST_BARS = 40  # in a chart
MOST_LABELS = 20  # in a confusion matrix; the others are summed
CLOSE = 0.004  # of the axis: points closer than that to the last one drawn are left out
OTHERS, NONE = "(others)", "(none)"
HALLUCINATION, MISSED = "hallucination", "missed"
GAIN = "d_ap_"
ERRORS = {
    "classification": "wrong class", "localisation": "poorly placed", "both": "both wrong",
    "duplicate": "found twice", "background": "nothing there", "missed": "missed",
    "false_positives": "all false", "false_negatives": "all missed",
}  # fmt: skip


def chart_groups(run: Run) -> Iterator[ChartGroup]:
    """Yield the charts that the run's evaluators allow, in the order of the studio's views; a group says what it
    omits.
    """
    frames = {name: _first_repeat(run.curves(name)) for name in run.curve_names()}
    for title, question, charts in (
        ("Curves", "What is gained and lost as the threshold moves?", _curves(run, frames)),
        ("Calibration", "Is a model as often right as its scores say?", _reliabilities(run, frames)),
        ("Confusion", "What is taken for what?", _matrices(run, frames)),
        ("Errors", "Which kind of error costs the most?", _error_costs(run)),
        ("Classes", "Which classes is each model weak at?", _by_class(run)),
    ):
        made = list(charts)
        found = tuple(chart for chart in made if not isinstance(chart, str))
        if found:
            yield ChartGroup(title, question, found, " ".join(note for note in made if isinstance(note, str)))


def _title(name: str) -> str:
    entry = evaluators().get(name)
    return entry.title if entry else name


def _first_repeat(frame: pd.DataFrame) -> pd.DataFrame:
    """Of a model with several repeats the first one."""
    if "run" not in frame:
        return frame
    return frame[frame["run"] == frame.groupby("model")["run"].transform("min")]


# Lines


def _curves(run: Run, frames: dict[str, pd.DataFrame]) -> Iterator[Curve | str]:
    """Precision over recall a label, then F1 over the threshold and ROC."""
    ranked = {name: frame for name, frame in frames.items() if {"recall", "precision", "label"} <= set(frame)}
    most = max(2, MOST_CURVES // max(1, len(ranked)))
    omitted = 0
    for name, frame in ranked.items():
        note = ""
        if "iou" in frame and frame["iou"].nunique() > 1:
            iou = min(frame["iou"].dropna().unique(), key=lambda value: abs(value - 0.5))
            frame, note = frame[frame["iou"] == iou], f", IoU {iou:g}"
        labels = _frequent(frame)
        omitted += len(labels[most:])
        for label in labels[:most]:
            heading = f"{_title(name)}: {'all labels' if label is None else label}{note}"
            yield Curve(heading, "recall", "precision", tuple(_ranked(_of_label(frame, label), run.models)))
    for name, frame in frames.items():
        if {"label", "threshold", "f1"} <= set(frame):
            heading = f"{_title(name)}: F1, mean of labels; the best threshold is marked"
            yield Curve(heading, "score threshold", "F1", tuple(_f1(frame, run.models)))
        if {"label", "fpr", "tpr"} <= set(frame):
            labels = _frequent(frame)
            omitted += len(labels[MOST_PANELS:])
            for label in labels[:MOST_PANELS]:
                series = tuple(_roc(_of_label(frame, label), run.models))
                heading = f"{_title(name)}: {'all labels' if label is None else label}"
                yield Curve(heading, "false positive rate", "true positive rate", series, diagonal=True)
    if omitted:
        yield f"{plural(omitted, 'curve')} of rarer labels left out here; the exports have all of them."


def _of_label(frame: pd.DataFrame, label: str | None) -> pd.DataFrame:
    return frame[frame["label"].eq(label)] if label is not None else frame[frame["label"].isna()]


def _frequent(frame: pd.DataFrame) -> list[str | None]:
    """Return the labels, those with the most true objects first where the curve counts them, else in order."""
    labels = list(frame["label"].drop_duplicates())
    if {"tp", "fn"} <= set(frame.columns):
        present = (frame["tp"] + frame["fn"]).groupby(frame["label"], dropna=False).max()
        labels.sort(key=lambda label: -present.get(label, 0))
    return [None if pd.isna(label) else str(label) for label in labels]


def _ranked(frame: pd.DataFrame, models: Sequence[str]) -> Iterator[Series]:
    """Yield each model's points by falling threshold or else rising recall."""
    by_threshold = "threshold" in frame
    ordered = frame.sort_values("threshold" if by_threshold else "recall", ascending=not by_threshold, kind="stable")
    yield from _lines(ordered, models, "recall", "precision")


def _roc(frame: pd.DataFrame, models: Sequence[str]) -> Iterator[Series]:
    yield from _lines(frame.sort_values(["fpr", "tpr"], kind="stable"), models, "fpr", "tpr")


def _f1(frame: pd.DataFrame, models: Sequence[str]) -> Iterator[Series]:
    """Yield each model's F1, averaged over labels that have one, and where it is the largest."""
    means = frame.groupby(["model", "threshold"], sort=True)["f1"].mean().reset_index().dropna()
    for line in _lines(means, models, "threshold", "f1"):
        best = max(line.points, key=lambda point: (point[1], -point[0]), default=None)
        yield Series(line.model, line.points, mark=best)


def _lines(frame: pd.DataFrame, models: Sequence[str], x: str, y: str) -> Iterator[Series]:
    """One line a model in the order of the rows, without points too close to be told apart."""
    for model in models:
        mine = frame[frame["model"].eq(model)].dropna(subset=[x, y])
        if frame["model"].eq(model).any():
            points = zip(mine[x].astype(float), mine[y].astype(float), strict=True)
            yield Series(model, tuple(_thinned(list(points))))


def _thinned(points: Sequence[tuple[float, float]]) -> Iterator[tuple[float, float]]:
    last: tuple[float, float] | None = None
    for index, point in enumerate(points):
        if last is None or index == len(points) - 1 or math.dist(point, last) > CLOSE:
            last = point
            yield point


def _reliabilities(run: Run, frames: dict[str, pd.DataFrame]) -> Iterator[Curve | str]:
    """Yield a diagram a model: how often it is right over its mean score, with Wilson's intervals."""
    for name, frame in frames.items():
        if not {"bin_low", "mean_confidence", "accuracy", "low", "high"} <= set(frame):
            continue
        for model in run.models[:MOST_PANELS]:
            held = frame[frame["model"].eq(model) & (frame["n"] > 0)].sort_values("bin_low")
            columns = (held[column].astype(float) for column in ("mean_confidence", "accuracy", "low", "high"))
            rows = list(zip(*columns, strict=True))
            if rows:
                points = tuple((x, y) for x, y, _, _ in rows)
                series = Series(model, points, spans=tuple((x, low, high) for x, _, low, high in rows))
                yield Curve(f"{_title(name)}: {model}", "mean score", "share right", (series,), diagonal=True)
        if len(run.models) > MOST_PANELS:
            yield f"{plural(len(run.models) - MOST_PANELS, 'model')} left out here; the studio shows all."


# Confusion


def _matrices(run: Run, frames: dict[str, pd.DataFrame]) -> Iterator[Matrix | str]:
    """One matrix a model; of many labels the most frequent."""
    for name, frame in frames.items():
        if not {"label", "predicted", "count"} <= set(frame):
            continue
        entry = evaluators().get(name)
        margins = entry is not None and "detection" in entry.tasks
        for model in run.models[:MOST_PANELS]:
            counts = frame[frame["model"].eq(model)]
            if len(counts):
                yield _matrix(f"{_title(name)}: {model}", counts, margins)
        if len(run.models) > MOST_PANELS:
            yield f"{plural(len(run.models) - MOST_PANELS, 'model')} left out here; the studio shows all."


def _matrix(title: str, counts: pd.DataFrame, margins: bool) -> Matrix:
    truths, predicted = counts["label"].fillna(NONE), counts["predicted"].fillna(NONE)
    row, column = _margin(truths, HALLUCINATION), _margin(predicted, MISSED)
    frequency = pd.concat([truths, predicted]).to_frame("name").assign(n=[*counts["count"], *counts["count"]])
    sums = frequency.groupby("name")["n"].sum().sort_values(ascending=False, kind="stable")
    names = [name for name in sums.index if not (margins and name in (row, column))]
    kept = sorted(names[:MOST_LABELS]) + ([OTHERS] if len(names) > MOST_LABELS else [])
    rows, columns = [*kept, *([row] if margins else [])], [*kept, *([column] if margins else [])]
    place = {name: index for index, name in enumerate(rows)}, {name: index for index, name in enumerate(columns)}
    table = [[0] * len(columns) for _ in rows]
    for true, guess, n in zip(truths, predicted, counts["count"], strict=True):
        table[place[0].get(true, len(kept) - 1)][place[1].get(guess, len(kept) - 1)] += int(n)
    return Matrix(title, tuple(rows), tuple(columns), tuple(map(tuple, table)), margins)


def _margin(names: pd.Series, name: str) -> str:
    """Return what the evaluator calls a margin: in parentheses where a label has its name."""
    while f"({name})" in set(names):
        name = f"({name})"
    return name


# Bars


def _error_costs(run: Run) -> Iterator[Bars | str]:
    if "error_breakdown" not in run.evaluators:
        return
    numbers = _numbers(run, "error_breakdown", of_labels=False)
    gains = numbers[numbers["metric"].str.startswith(GAIN)]
    names = {GAIN + error: title for error, title in ERRORS.items()}
    models = [model for model in run.models if gains["model"].eq(model).any()][:MOST_MODELS]
    groups = [
        BarGroup(title, tuple(_bars(gains[gains["metric"].eq(metric)], models))) for metric, title in names.items()
    ]
    if models:
        yield Bars("Average precision gained without the error ↓", tuple(groups), tuple(models))
        yield "The gains do not add up: average precision is no sum over errors."
        yield from _left_out(len(run.models) - len(models), "model")


def _by_class(run: Run) -> Iterator[Bars | str]:
    """One chart for each evaluator with a number a label, the worst labels first; the same numbers are drawn once."""
    drawn: list[pd.Series] = []
    for name in run.evaluators:
        entry = evaluators().get(name)
        chosen = None if entry is None or name == "error_breakdown" else _label_metric(run, entry)
        if entry is None or chosen is None:
            continue
        metric, numbers = chosen
        values = numbers.set_index(["model", "label"])["value"].sort_index()
        if any(values.index.equals(other.index) and (values - other).abs().max() < 1e-9 for other in drawn):
            continue
        if len(drawn) == MOST_PANELS:
            yield "The studio shows the numbers per class of every evaluator."
            return
        drawn.append(values)
        yield from _class_chart(entry, metric, numbers, run.models)


def _class_chart(entry: Evaluator, metric: Metric, numbers: pd.DataFrame, models: Sequence[str]) -> Iterator[Bars]:
    shown = [model for model in models if numbers["model"].eq(model).any()][:MOST_MODELS]
    means = numbers.groupby("label", sort=False)["value"].mean()
    ordered = list(means.sort_values(ascending=metric.direction is not Direction.LOWER, kind="stable").index)
    most = max(4, MOST_BARS // max(1, len(shown)))
    title = f"{entry.title}: {metric.name} {ARROWS[metric.direction.value]}"
    if len(ordered) > most:
        title += f", the {most} worst of {len(ordered)} classes"
    groups = (
        BarGroup(str(label), tuple(_bars(numbers[numbers["label"].eq(label)], shown))) for label in ordered[:most]
    )
    high = metric.high if math.isfinite(metric.high) and metric.low == 0 else None
    yield Bars(title, tuple(groups), tuple(shown), high)


def _label_metric(run: Run, entry: Evaluator) -> tuple[Metric, pd.DataFrame] | None:
    """Return the first directed metric of an evaluator that has one value a label and model; F1 before its parts."""
    numbers = _numbers(run, entry.id, of_labels=True)
    for metric in sorted(entry.metrics, key=lambda metric: metric.name != "f1"):
        rows = numbers[numbers["metric"].eq(metric.name)]
        if len(rows) and metric.direction is not Direction.NONE and not rows.duplicated(["model", "label"]).any():
            return metric, rows
    return None


def _numbers(run: Run, evaluator: str, *, of_labels: bool) -> pd.DataFrame:
    """model, metric, label, value, low, high, n of the numbers that have a value, of the first repeat of each model."""
    rows = run.query(
        f"""SELECT model, run, metric, label, value, low, high, n, columns FROM aggregates
            WHERE evaluator = ? AND slice IS NULL AND value IS NOT NULL
            AND label IS {"NOT" if of_labels else ""} NULL""",
        [evaluator],
    )
    repeats = rows["run"].fillna(0)
    rows = rows[repeats == repeats.groupby(rows["model"]).transform("min")]
    whole = ["predicted" not in json.loads(text) for text in rows["columns"]]  # not a cell of a confusion matrix
    return rows[pd.Series(whole, rows.index, bool)]


def _bars(rows: pd.DataFrame, models: Iterable[str]) -> Iterator[Bar]:
    for model in models:
        mine = rows[rows["model"].eq(model)]
        if mine.empty:
            yield Bar(model, None)
            continue
        value, low, high = (None if pd.isna(each) else float(each) for each in mine.iloc[0][["value", "low", "high"]])
        yield Bar(model, value, low, high)


def _left_out(count: int, what: str) -> Iterator[str]:
    if count > 0:
        yield f"{plural(count, what)} left out here; the studio shows all."
