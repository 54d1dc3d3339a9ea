"""How scores spread over the questions, for runs and Open RAG Eval's result CSVs side by side: the data of a plot."""

import json
import math
from collections import ChainMap, Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple, cast

import numpy as np
import pandas as pd

from metrics.analysis.leaderboard.distributions import distribution, edges_of
from metrics.core.array_types import Floats
from metrics.core.errors import InputError, InputProblem, one_of
from metrics.core.evaluator import Evaluator, Metric
from metrics.core.registry import evaluators
from metrics.core.rounding import none_if_nan
from metrics.ingest.formats.open_rag_eval import (
    ADJUSTED,
    ANSWERED,
    CONSISTENCY,
    QUESTIONS_ANSWERED,
    SCALARS,
    Key,
    read_rag_results,
)
from metrics.presentation.blocks import ScoreBox, ScorePanel
from metrics.presentation.format import metric_name, title
from metrics.presentation.phrases import directed
from metrics.reports.renderers.rag_results import rag_results
from metrics.stats.intervals import mean_intervals
from metrics.store import Run

ToolEvaluator = Literal["trec", "consistency"]
TREC: tuple[Key, ...] = (  # what Open RAG Eval plots of its TREC evaluator
    ("umbrela", "umbrela"), ("autonuggetizer", "vital"), ("hallucination_hhem", "hallucination_hhem"),
    ("citation", "citation_f1"), ("no_answer", "no_answer"),
)  # fmt: skip
GRADED = ("mean_umbrela_score",)  # scores from 0 to 3


class _Scores(NamedTuple):
    """The values of a metric, one a question; mean and ends of its interval where they are known already."""

    values: Floats
    stated: tuple[float, float, float] | None


def score_panels(
    sources: Sequence[Run | Path], metrics: Sequence[str] = (), evaluator: ToolEvaluator | None = None
) -> list[ScorePanel]:
    """Return a panel a metric with a box for each file and each model of each run.

    A value is that of one question: the mean of its repeats. `metrics` are names as evaluator.metric, an evaluator's
    for its primary metric, or a column of a result CSV; without them, what Open RAG Eval plots of `evaluator`, or of
    the first of its two that is there, else the primary metrics. Raises InputError listing the names that no source
    has, or files that cannot be read.
    """
    series = _series(sources, consistency=evaluator == "consistency" or any(map(_is_consistency, metrics)))
    there = list(dict.fromkeys(key for values in series.values() for key in values))
    known = _evaluators_of(sources)
    keys = _named(metrics, there, known) if metrics else _usual(evaluator, there, known)
    if not keys:
        expected = "scores per question" if evaluator is None else f"scores that the {evaluator} evaluator plots"
        raise InputError([InputProblem(", ".join(map(str, series)), "none", expected)])
    return [_panel(key, {name: values.get(key) for name, values in series.items()}, known) for key in keys]


def _evaluators_of(sources: Sequence[Run | Path]) -> Mapping[str, Evaluator]:
    """Return every evaluator by id; those of the runs as the parameters of their first run make them."""
    runs = [source for source in reversed(sources) if isinstance(source, Run)]
    own = {id: entry for run in runs for id in run.evaluators if (entry := run.evaluator(id)) is not None}
    return ChainMap(own, cast(dict[str, Evaluator], evaluators()))


def _series(sources: Sequence[Run | Path], consistency: bool) -> dict[str, dict[Key, _Scores]]:
    """Return for each file and model the scores of each metric."""
    found: list[tuple[str, str, dict[Key, _Scores]]] = []
    problems: list[InputProblem] = []
    for source in sources:
        if isinstance(source, Run):
            for model in source.models:
                scores = _scores(_run_rows(source, model, consistency), _stated(source, model))
                found.append((model, source.name or source.id, scores))
            continue
        try:
            found.append((source.stem, str(source.parent), _scores(read_rag_results(source).to_pandas(), {})))
        except InputError as error:
            problems += error.problems
    if problems:
        raise InputError(problems)
    names = Counter(name for name, _, _ in found)
    labelled = [name if names[name] == 1 else f"{name} · {where}" for name, where, _ in found]
    again = Counter(labelled)
    return {
        label if again[label] == 1 else f"{label} ({place})": scores
        for place, (label, (_, _, scores)) in enumerate(zip(labelled, found, strict=True), 1)
    }


def _scores(rows: pd.DataFrame, stated: Mapping[Key, tuple[float, float, float]]) -> dict[Key, _Scores]:
    """Return the scores of each metric: of each question the mean of its repeats."""
    means = rows.groupby(["evaluator", "metric", "case_id"], sort=False)["value"].mean()
    grouped = ((cast(Key, key), own) for key, own in means.groupby(level=[0, 1], sort=False))
    return {key: _Scores(own.to_numpy(np.float64), stated.get(key)) for key, own in grouped}


def _stated(run: Run, model: str) -> dict[Key, tuple[float, float, float]]:
    """Return mean and interval of each metric as the run's aggregates have them."""
    rows = run.query(
        "SELECT evaluator, metric, value, low, high FROM aggregates WHERE model = ? AND label IS NULL "
        "AND slice IS NULL AND run IS NULL AND value IS NOT NULL AND low IS NOT NULL AND high IS NOT NULL",
        [model],
    )
    found = rows.itertuples(index=False, name=None)
    return {(evaluator, metric): (value, low, high) for evaluator, metric, value, low, high in found}


def _run_rows(run: Run, model: str, consistency: bool) -> pd.DataFrame:
    """Return case_id, evaluator, metric and value of each score of a model; of consistency, where asked for, too."""
    rows = run.query(
        "SELECT case_id, evaluator, metric, value FROM scores WHERE model = ? AND value IS NOT NULL", [model]
    )
    if not consistency:
        return rows
    table = rag_results(run, model)
    columns = [name for name in table.columns if name.startswith(CONSISTENCY)]
    spread = [
        (case_id, name, ADJUSTED, json.loads(cell)["stats"][ADJUSTED])
        for name in columns
        for case_id, cell in zip(table["query_id"], table[name], strict=True)
        if isinstance(cell, str)
    ]
    return pd.concat([rows, pd.DataFrame(spread, columns=rows.columns)], ignore_index=True)


def _is_consistency(name: str) -> bool:
    return name.startswith(CONSISTENCY) and name.partition(".")[0] not in evaluators()


def _named(metrics: Sequence[str], there: Sequence[Key], known: Mapping[str, Evaluator]) -> list[Key]:
    columns = SCALARS | {QUESTIONS_ANSWERED: TREC[-1], ANSWERED: TREC[-1]}
    found, problems = [], []
    for name in metrics:
        evaluator, _, metric = name.partition(".")
        if name in columns:
            key = columns[name]
        elif evaluator in known:
            key = evaluator, metric or known[evaluator].primary.name
        else:
            key = evaluator, metric or (ADJUSTED if name.startswith(CONSISTENCY) else "value")
        found.append(key)
        if key not in there:
            listed = [f"{evaluator}.{metric}" for evaluator, metric in there]
            problems.append(InputProblem("--metrics", repr(name), one_of(name, listed)))
    if problems:
        raise InputError(problems)
    return list(dict.fromkeys(found))


def _usual(evaluator: ToolEvaluator | None, there: Sequence[Key], known: Mapping[str, Evaluator]) -> list[Key]:
    trec = [key for key in TREC if key in there]
    spread = [key for key in there if key[1] == ADJUSTED]
    if evaluator is not None:
        return trec if evaluator == "trec" else spread
    return trec or spread or [key for key in there if key[0] not in known or known[key[0]].primary.name == key[1]]


def _panel(key: Key, series: Mapping[str, _Scores | None], known: Mapping[str, Evaluator]) -> ScorePanel:
    every = np.concatenate([scores.values for scores in series.values() if scores is not None])
    entry = known.get(key[0])
    declared = next((one for one in entry.metrics if one.name == key[1]), None) if entry else None
    name, about, low, high = _axis(key, every, entry, declared)
    share = declared is not None and declared.binary and bool(np.isin(every, (0.0, 1.0)).all())
    boxes = tuple(
        ScoreBox(one) if scores is None else _box(one, scores, (low, high), share) for one, scores in series.items()
    )
    return ScorePanel(name, about, low, high, share, boxes)


def _box(series: str, scores: _Scores, bounds: tuple[float, float], share: bool) -> ScoreBox:
    values, stated = scores
    mean, low, high = stated or (float(values.mean()), None, None)
    if stated is None:
        lows, highs, _ = mean_intervals(values[:, None], low=bounds[0], high=bounds[1], shares=share)
        low, high = map(none_if_nan, (lows[0], highs[0]))
    return ScoreBox(series, tuple(values.tolist()), distribution(series, values, edges_of(*bounds)), mean, low, high)


def _axis(key: Key, values: Floats, entry: Evaluator | None, declared: Metric | None) -> tuple[str, str, float, float]:
    """Return title and description of a metric, and the ends of its axis: those of its range, or of the values."""
    evaluator, metric = key
    low, high = min(0.0, float(values.min())), max(1.0, float(values.max()))
    if metric == ADJUSTED:
        about = "mean / (1 + standard deviation) over the repeats of a question: high where answers are good and alike"
        name = evaluator.removeprefix(CONSISTENCY)
        return directed(f"Consistency · {title(name)}", "higher"), about, low, 3.0 if name in GRADED else high
    if entry is None or declared is None:
        return title(evaluator if metric == "value" else f"{evaluator} {metric}"), "", low, high
    if math.isfinite(declared.high - declared.low):
        low, high = declared.low, declared.high
    name = f"{entry.title} · {metric_name(metric, evaluator)}"
    if key == TREC[-1]:
        name = title(QUESTIONS_ANSWERED)
    elif metric.startswith(evaluator):
        name = metric_name(metric, evaluator)
    return directed(name, declared.direction), declared.description, low, high
