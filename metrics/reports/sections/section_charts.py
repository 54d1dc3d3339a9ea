"""The charts of a report, from a sealed run: curves, calibration, confusion, the cost of errors, numbers per class."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import pandas as pd

from metrics import analysis
from metrics.analysis.leaderboard.headline import primary_columns
from metrics.core.evaluator import Direction, Evaluator, Metric
from metrics.core.label_keys import KEY
from metrics.core.registry import evaluators, title_of
from metrics.core.rounding import none_if_nan
from metrics.presentation.blocks import Answer, Bar, BarGroup, Bars, Block, Curve, Matrix, Note, ScorePanel, Series
from metrics.presentation.chart_data import curve_points, metric_bars
from metrics.presentation.chart_data.confusion_counts import confusion_matrix, margins_of
from metrics.presentation.chart_data.curve_points import ALL, best_threshold, filled_bins, mean_curve, mean_f1, nearest
from metrics.presentation.format import metric_name, plural
from metrics.presentation.guarantee_words import answer_only
from metrics.presentation.phrases import CHART_QUESTIONS, directed
from metrics.store import Run

MOST_CURVES = 2  # charts of one kind of curve
MOST_BOXES = 6  # box plots of one kind
MOST_PANELS = 6  # charts of one other kind
MOST_MODELS = 6  # in a chart of bars
MOST_DOTS = 200  # values of a model that are drawn one by one beside its box
MOST_BARS = 40  # in a chart
MOST_LABELS = 12  # in a confusion matrix; the others are summed
CLOSE = 0.004  # of the axis: points closer than that to the last one drawn are left out


def overview(board: analysis.Leaderboard) -> Iterator[Answer]:
    """Yield the primary metrics with a better end and a finite range as a radar, if there are enough of them."""
    columns = [one for one in primary_columns(board) if metric_bars.can_be_spoke(one.direction, one.low, one.high)]
    if len(columns) < metric_bars.LEAST_SPOKES:
        return
    models = board.models[:MOST_MODELS]
    charts: list[Block] = [metric_bars.radar_of(columns[: metric_bars.MOST_SPOKES], models, board.cells)]
    if len(board.models) > len(models):
        charts.append(Note(f"The {len(models)} leading of {len(board.models):,} models."))
    yield Answer("charts", "At a glance", "Where is each model strong and weak?", tuple(charts))


def chart_groups(run: Run, models: Sequence[str]) -> Iterator[Answer]:
    """Yield the charts that the run's evaluators allow, of `models` in their order, and notes on what is left out."""
    frames = {name: _points(run.curves(name)) for name in run.curve_names()}
    for title, topic, charts in (
        ("Curves", "curves", _curves(run, frames, models)),
        ("Risk and coverage", "risk", _risks(run, frames, models)),
        ("Calibration", "calibration", _reliabilities(frames, models)),
        ("Confusion", "confusion", _matrices(run, frames, models)),
        ("Residuals", "residuals", _residuals(frames, models)),
        ("Errors", "errors", _error_costs(run, models)),
        ("By rank", "cutoffs", _by_rank(run, models)),
        ("Classes", "classes", _by_class(run, models)),
        ("Grades", "grades", _boxes(run, _is_graded)),
        ("Consistency", "consistency", _boxes(run, _is_consistency)),
    ):
        made = list(charts)
        if drawn := [chart for chart in made if not isinstance(chart, str)]:
            note = " ".join(note for note in made if isinstance(note, str))
            yield Answer("charts", title, CHART_QUESTIONS[topic], (*drawn, *([Note(note)] if note else [])))


def _points(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a table of points with `series`, of each model its first repeat."""
    if "run" in frame:
        frame = frame[frame["run"] == frame.groupby("model")["run"].transform("min")]
    return frame.assign(series=frame["model"])


def _by_key(frames: dict[str, pd.DataFrame]) -> Iterator[tuple[str, str, pd.DataFrame]]:
    """Yield evaluator, title and points, apart for each key of labels where they have keys."""
    for name, frame in frames.items():
        parts = frame.groupby(KEY, sort=False) if KEY in frame else [("", frame)]
        for key, part in parts:
            yield name, ", ".join(filter(None, (title_of(name), str(key)))), part


# Lines


def _curves(run: Run, frames: dict[str, pd.DataFrame], models: Sequence[str]) -> Iterator[Curve | str]:
    """Yield precision over recall, F1 over the threshold and ROC, each the mean of the labels."""
    labelled = {name: own.assign(label=own["label"].fillna(ALL)) for name, own in frames.items() if "label" in own}
    curves = [(name, title, frame, _mean_of(frame)) for name, title, frame in _by_key(labelled)]
    ranked = [one for one in curves if {"recall", "precision"} <= set(one[2])]
    # of a detector, the interpolated curve whose area is AP says what the one by thresholds does
    for name, title, frame, mean in ([one for one in ranked if "threshold" not in one[2]] or ranked)[:MOST_CURVES]:
        note = mean
        if "iou" in frame and frame["iou"].nunique() > 1:
            iou = nearest(frame["iou"].dropna().unique().tolist(), 0.5)
            frame, note = frame[frame["iou"] == iou], f"{mean}, {analysis.rules(run, name).similarity} {iou:g}"
        series = tuple(_lines(mean_curve(frame, "recall", "precision"), models, "recall", "precision"))
        yield Curve(f"{title}{note}", "recall", "precision", series)
    for _, title, frame, mean in [one for one in curves if {"threshold", "f1", "tp"} <= set(one[2])][:MOST_CURVES]:
        yield Curve(f"{title}: F1{mean}", "score threshold; the best is marked", "F1", tuple(_f1(frame, models)))
    for _, title, frame, mean in [one for one in curves if {"fpr", "tpr"} <= set(one[2])][:MOST_CURVES]:
        lines = _lines(mean_curve(frame, "fpr", "tpr"), models, "fpr", "tpr")
        series = tuple(Series(line.model, ((0.0, 0.0), *line.points)) for line in lines)
        yield Curve(f"{title}{mean}", "false positive rate", "true positive rate", series, diagonal=True)


def _mean_of(frame: pd.DataFrame) -> str:
    count = frame["label"].nunique()
    return f", mean of {count:,} classes" if count > 1 else ""


def _f1(frame: pd.DataFrame, models: Sequence[str]) -> Iterator[Series]:
    """Yield each model's F1, averaged over the labels that have one, with its maximum marked."""
    means = mean_f1(frame, ALL).sort_values("threshold", kind="stable")
    best = best_threshold(means)
    for line in _lines(means, models, "threshold", "f1"):
        top = best[best.index.get_level_values("series") == line.model]
        marks = [(float(x), float(y)) for x, y in zip(top["threshold"], top["f1"], strict=True)]
        yield Series(line.model, line.points, marks[0] if marks else None)


def _lines(frame: pd.DataFrame, models: Sequence[str], x: str, y: str) -> Iterator[Series]:
    """Yield a line per model in the order of the rows, without points that are too close to see."""
    for model in models:
        own = frame[frame["series"].eq(model)]
        if len(own):
            points = own[[x, y]].dropna().astype(float).itertuples(index=False, name=None)
            yield Series(model, tuple(_thinned(list(points))))


def _thinned(points: Sequence[tuple[float, float]]) -> Iterator[tuple[float, float]]:
    last: tuple[float, float] | None = None
    for index, point in enumerate(points):
        if last is None or index == len(points) - 1 or math.dist(point, last) > CLOSE:
            last = point
            yield point


def _risks(run: Run, frames: dict[str, pd.DataFrame], models: Sequence[str]) -> Iterator[Curve | str]:
    """Yield the share of wrong answers over the share of cases answered, and the guarantees in sentences."""
    for _, title, frame in _by_key(frames):
        if {"coverage", "risk", "answered"} <= set(frame):
            series = tuple(_lines(frame.sort_values("coverage", kind="stable"), models, "coverage", "risk"))
            yield Curve(title, "share of cases answered", "share of answers wrong", series)
    for one in analysis.score_guarantees(run):
        yield f"{', '.join(filter(None, (one.series, one.key)))}: {answer_only(one)}"


def _reliabilities(frames: dict[str, pd.DataFrame], models: Sequence[str]) -> Iterator[Curve]:
    """Yield the share right over the mean score: of two models a diagram each, with Wilson intervals, else a line."""
    columns = ["mean_confidence", "accuracy", "low", "high"]
    for _, title, frame in _by_key(frames):
        if not {"bin_low", *columns} <= set(frame):
            continue
        bins = {model: filled_bins(frame, model)[columns].astype(float) for model in models}
        rows = {model: list(own.itertuples(index=False, name=None)) for model, own in bins.items() if len(own)}
        spans = len(rows) <= MOST_CURVES
        lines = [
            Series(model, tuple((x, y) for x, y, _, _ in own),
                   spans=tuple((x, low, high) for x, _, low, high in own) if spans else ())
            for model, own in rows.items()
        ]  # fmt: skip
        if spans:
            for line in lines:
                yield Curve(f"{title}: {line.model}", "mean score", "share right", (line,), diagonal=True)
        elif lines:
            yield Curve(title, "mean score", "share right", tuple(lines), diagonal=True)


def _residuals(frames: dict[str, pd.DataFrame], models: Sequence[str]) -> Iterator[Curve | str]:
    """Yield the predicted over the true values of each model, up to MOST_DOTS cases, an even selection."""
    for name, frame in frames.items():
        if not {"case_id", "truth", "predicted"} <= set(frame):
            continue
        values = frame[["truth", "predicted"]].to_numpy(float)
        if not len(values):
            continue
        ticks = _round_ticks(float(values.min()), float(values.max()))
        for model in models[:MOST_PANELS]:
            own = frame[frame["series"].eq(model)]
            own = own.iloc[:: max(1, math.ceil(len(own) / MOST_DOTS))]
            if points := tuple(own[["truth", "predicted"]].astype(float).itertuples(index=False, name=None)):
                series = (Series(model, points),)
                yield Curve(f"{title_of(name)}: {model}", "true", "predicted", series, True, ticks, dots=True)
        yield from _not_shown(len(models) - MOST_PANELS, "model")


def _round_ticks(low: float, high: float) -> tuple[float, ...]:
    """Return three to seven round numbers that span low … high."""
    width = (high - low) or abs(high) or 1.0
    power = 10.0 ** math.floor(math.log10(width / 4))
    step = next(power * times for times in (1, 2, 2.5, 5, 10) if power * times * 4 >= width)
    first, last = math.floor(low / step), math.ceil(high / step)
    return tuple(round(step * place, 12) for place in range(first, max(last, first + 1) + 1))


# Confusion


def _matrices(run: Run, frames: dict[str, pd.DataFrame], models: Sequence[str]) -> Iterator[Matrix | str]:
    """Yield a matrix per model, of objects at the run's operating point; of many labels the most frequent."""
    for name, title, frame in _by_key(frames):
        if not {"label", "predicted", "count"} <= set(frame):
            continue
        entry = evaluators().get(name)
        of_objects = name in analysis.match_evaluators(run)
        for model in models[:MOST_PANELS]:
            counts, at = frame[frame["series"].eq(model)], ""
            if of_objects and entry is not None and "detection" in entry.tasks and len(counts):
                point = analysis.operating_point(run, model)
                counts = analysis.confusion_at(run, model, point)
                at = f", score ≥ {point.score:g}, IoU ≥ {point.iou:g}"
            if len(counts):
                table = confusion_matrix(counts, margins_of(counts) if of_objects else None, MOST_LABELS)
                cells = tuple(map(tuple, table.to_numpy().astype(int).tolist()))
                yield Matrix(f"{title}: {model}{at}", tuple(table.index), tuple(table.columns), cells, of_objects)
        yield from _not_shown(len(models) - MOST_PANELS, "model")


# Boxes


def _is_consistency(entry: Evaluator) -> bool:
    return entry.family == "consistency"


def _is_graded(entry: Evaluator) -> bool:
    """Return whether Open RAG Eval, which draws its grades as boxes, has the evaluator."""
    return not _is_consistency(entry) and any("Open RAG Eval" in source for source in entry.sources)


def _boxes(run: Run, has_boxes: Callable[[Evaluator], bool]) -> Iterator[ScorePanel | str]:
    """Yield a chart per number of some evaluators on the leaderboard that is no yes or no: a box a model."""
    there = analysis.metrics_by_case(run)
    shown = [
        (entry, metric)
        for entry in filter(None, map(run.evaluator, run.evaluators))
        for metric in entry.metrics
        if has_boxes(entry) and (entry.id, metric.name) in there and not metric.minor and not metric.binary
    ]
    shown.sort(key=lambda one: not one[1].primary)
    if shown:  # few runs have any, and this brings the readers of uploads with it
        from metrics.reports.score_boxes import score_panels
    for entry, metric in shown[:MOST_BOXES]:
        (panel,) = score_panels([run], [f"{entry.id}.{metric.name}"])
        boxes = tuple(replace(box, values=box.values if len(box.values) <= MOST_DOTS else ()) for box in panel.boxes)
        title = entry.title if metric.name == entry.id else f"{entry.title}: {metric_name(metric.name, entry.id)}"
        yield replace(panel, title=directed(title, metric.direction.value), about=metric.description, boxes=boxes)
    yield from _not_shown(len(shown) - MOST_BOXES, "metric")


# Bars


def _error_costs(run: Run, models: Sequence[str]) -> Iterator[Bars | str]:
    if "error_breakdown" not in run.evaluators:
        return
    gains = _numbers(run, "error_breakdown", [metric_bars.GAIN + error for error in metric_bars.ERROR_TITLES])
    gains = gains[gains["label"].isna()]
    shown = [model for model in models if gains["model"].eq(model).any()][:MOST_MODELS]
    for key, part in gains.groupby([own.get(KEY, "") for own in gains["columns"]], sort=False):
        groups = [
            BarGroup(title, tuple(_bars(part[part["metric"].eq(metric_bars.GAIN + error)], shown)))
            for error, title in metric_bars.ERROR_TITLES.items()
        ]
        title = "Average precision gained without the error" + (f", {key}" if key else "")
        yield Bars(directed(title, "lower"), tuple(groups), tuple(shown))
    if shown:
        yield "The gains do not add up, because average precision is not a sum over errors."
        yield from _not_shown(len(models) - len(shown), "model")


def _by_rank(run: Run, models: Sequence[str]) -> Iterator[Bars | str]:
    """Yield a chart per measure that an evaluator gives at several ranks."""
    for name in run.evaluators:
        entry = run.evaluator(name)
        declared = {metric.name: metric for metric in entry.metrics} if entry else {}
        for measure, by_rank in curve_points.measures(declared).items():
            numbers = _numbers(run, name, list(by_rank.values()))
            shown = [model for model in models if numbers["model"].eq(model).any()][:MOST_MODELS]
            groups = [
                BarGroup(f"k = {k}", tuple(_bars(numbers[numbers["metric"].eq(metric)], shown)))
                for k, metric in by_rank.items()
            ]
            if shown:
                title = f"{title_of(name)}: {metric_name(measure)} of the first k"
                direction = declared[next(iter(by_rank.values()))].direction.value
                yield Bars(directed(title, direction), tuple(groups), tuple(shown), 1.0)
                yield from _not_shown(len(models) - len(shown), "model")


def _by_class(run: Run, models: Sequence[str]) -> Iterator[Bars | str]:
    """Yield a chart of the first evaluator with numbers per label, the worst labels first."""
    found = [
        (entry, *chosen)
        for name, metrics in analysis.label_metrics(run).items()
        if name != "error_breakdown"
        and (entry := run.evaluator(name)) is not None
        and (chosen := _label_metric(run, entry, metrics)) is not None
    ]
    for entry, metric, numbers in found[:1]:
        yield from _class_chart(entry, metric, numbers, models)
    if found[1:]:
        yield "The studio shows the numbers per class of every evaluator."


def _class_chart(entry: Evaluator, metric: Metric, numbers: pd.DataFrame, models: Sequence[str]) -> Iterator[Bars]:
    shown = [model for model in models if numbers["model"].eq(model).any()][:MOST_MODELS]
    ordered = metric_bars.worst_first(numbers.assign(name=numbers["label"]), metric.direction.value)
    most = max(4, MOST_BARS // max(1, len(shown)))
    title = entry.title if metric.name == entry.id else f"{entry.title}: {metric_name(metric.name, entry.id)}"
    title = directed(title.removesuffix(" macro"), metric.direction.value)
    if len(ordered) > most:
        title += f", the {most} worst of {len(ordered)} classes"
    groups = (BarGroup(str(name), tuple(_bars(numbers[numbers["label"].eq(name)], shown))) for name in ordered[:most])
    high = metric.high if math.isfinite(metric.high) and metric.low == 0 else None
    yield Bars(title, tuple(groups), tuple(shown), high)


def _label_metric(run: Run, entry: Evaluator, metrics: Sequence[str]) -> tuple[Metric, pd.DataFrame] | None:
    """Return the first metric with a better end and one value per label and model; F1 before precision and recall."""
    numbers = _numbers(run, entry.id, metrics)
    for metric in sorted(map(entry.metric, metrics), key=lambda metric: metric.name != "f1"):
        rows = numbers[numbers["metric"].eq(metric.name) & numbers["label"].notna()]
        if len(rows) and metric.direction is not Direction.NONE and not rows.duplicated(["model", "label"]).any():
            return metric, rows
    return None


def _numbers(run: Run, evaluator: str, metrics: Sequence[str]) -> pd.DataFrame:
    """Return the numbers with a value, of several repeats their mean; see analysis.label_numbers."""
    rows = analysis.label_numbers(run, evaluator, metrics)
    return rows[rows["series"].eq(rows["model"]) & rows["value"].notna()]


def _bars(rows: pd.DataFrame, models: list[str]) -> Iterator[Bar]:
    first = rows.drop_duplicates("model").set_index("model").reindex(models)
    for model, *numbers in first[["value", "low", "high"]].itertuples(name=None):
        yield Bar(model, *map(none_if_nan, numbers))


def _not_shown(count: int, what: str) -> Iterator[str]:
    if count > 0:
        yield f"{plural(count, what)} not shown here; the studio shows all."
