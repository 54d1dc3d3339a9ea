"""Insights: what stands out in a run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from metrics.analysis.cases.case_pages import failing
from metrics.analysis.cases.threshold_outcomes import shares_passed
from metrics.analysis.findings.data_insights import chosen_data, equal_inputs, in_share, silent_images, unscored_cases
from metrics.analysis.findings.failure_attribution import Attribution, attribute_failures, least_grounded
from metrics.analysis.findings.model_insights import (
    Insight,
    dear_cases,
    hardest_of_one,
    in_numbers,
    insight_row,
    metric_margins,
    weakest_tags,
)
from metrics.analysis.findings.object_insights import confused_classes, object_insights
from metrics.analysis.leaderboard.case_sums import open_scores, score_blocks
from metrics.analysis.leaderboard.headline import headline, primary_columns
from metrics.analysis.leaderboard.leaderboard import Column, Leaderboard, leaderboard
from metrics.analysis.leaderboard.resources import Resource, resources
from metrics.core.array_types import Bools
from metrics.core.metric_names import full_name
from metrics.core.number_text import amount, interval, number
from metrics.core.registry import title_of
from metrics.core.rounding import at_least, at_most
from metrics.stats.bootstrap import bootstrap_means
from metrics.stats.float_tolerance import falling_order, ratio, weighted_mean
from metrics.stats.model_ranking import compare_pairs, rank_bounds
from metrics.store import Run, keep_by_run

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = [
    "kind", "evaluator", "metric", "model", "case_id", "value", "message", "severity", "evidence", "affected",
    "case_ids", "standards",
]  # fmt: skip
ORDER = {"high": 0, "low": 1, "info": 2}
EXTREMES = (("duration_s", "fastest", "slowest"), ("cost_usd", "cheapest", "most expensive"))
SENTENCE = 240  # characters of a sentence that are shown


def insights(run: Run) -> pd.DataFrame:
    """Return what stands out, most severe first: columns COLUMNS.

    The leading_model over all primary metrics (metrics.analysis.leaderboard.headline).
    For each evaluator's primary metric the best_model and worst_model, significantly better or worse than every other
    one; else the tied_models and the worse_model, or no_difference; untested_model where nothing can be tested; and the
    hardest_case, the one that most models fail. Over all thresholds the most_accurate and least_accurate model;
    fastest_model, slowest_model, cheapest_model and most_expensive_model if the outputs have the numbers and the
    difference from every other model is significant; best_retrieval and worst_retrieval; retrieval_cause and
    generation_cause: what failing answers are attributed to; least_grounded: the sentence or claim that the contexts
    support the least; weakest_tag: whose cases are worse than the rest; slowest_case and dearest_case; where and
    label_map: the cases and classes that were asked for; budget_cases and full_score: how the cases were chosen of
    a larger suite, and the score of all of it; equal_inputs: cases that ask the same; shifted_boxes: boxes that all
    lie to one side, or are too large or small; confused_classes: the two classes whose confusion costs a model the
    most, and what it would gain without; unscored: a model that lacks a score of many cases, what its value may be
    with them, and whether its lead survives that; silent_images: how many images a detector has no predictions on.

    Of a single model: the hardest_case of each metric, the best_metric and worst_metric against their thresholds,
    total_time and total_cost.

    severity: `high` for values on the wrong side of a threshold, cases that fail for every model and failures with one
    main cause; `low` for other failures; `info` for the rest. evidence: what it rests on, in words. affected: number of
    cases it is about (None: a model as a whole), case_ids: which. standards: those that its evaluators give evidence
    for.
    """
    import pandas as pd

    board = leaderboard(run)
    primary = [column for column in board.columns if column.primary and not column.minor and column.direction != "none"]
    rows: list[Insight] = [*_leader(board), *chosen_data(run), *equal_inputs(run), *unscored_cases(board, primary)]
    rows += silent_images(run)
    for column in primary:
        rows += _extremes(run, board, column)
        rows += _hardest(run, column)
        rows += hardest_of_one(run, column)
    rows += metric_margins(board, primary)
    rows += weakest_tags(run, primary)
    rows += _accuracy(run, board, primary)
    rows += _resources(run, board)
    rows += dear_cases(run)
    rows += _retrieval(board)
    rows += _causes(run, board)
    rows += _least_grounded(run, board)
    rows += object_insights(run, board)
    rows += confused_classes(run)
    frame = pd.DataFrame(rows, columns=COLUMNS).astype({"affected": "Int64"})
    order = frame["severity"].map(ORDER).sort_values(kind="stable").index
    return frame.loc[order].reset_index(drop=True)


def _leader(board: Leaderboard) -> Iterator[Insight]:
    """Yield the headline, where there are two models and a metric to compare them by."""
    found = headline(board)
    if len(board.models) > 1 and found.compared:
        evidence = f"paired tests in {_joined(found.compared)}, Holm-corrected over all metrics and pairs of models"
        yield insight_row(
            "leading_model", found.sentence, model=found.leader,
            evidence=evidence, of=[column.evaluator for column in primary_columns(board)],
        )  # fmt: skip


def _extremes(run: Run, board: Leaderboard, column: Column) -> Iterator[Insight]:
    values = {
        model: cell.value
        for model in board.models
        if (cell := board.cells.get((model, column.key))) is not None and cell.value is not None
    }
    if len(values) < 2:
        return
    ranked = _by_falling(values if column.direction != "lower" else {model: -value for model, value in values.items()})
    top, last = ranked[0], ranked[-1]
    cells = {model: board.cells[model, column.key] for model in ranked}
    name, own = full_name(column), board.ranks.get(column.key)
    spread = _spread(board, column, top, last)
    if own is None:
        if cells[top].untested is not None:
            message = f"{top} has the highest value of {name} ({number(values[top])}), the difference is not tested"
            message = message.replace("highest", "lowest") if column.direction == "lower" else message
            yield insight_row("untested_model", message, column=column, model=top, value=values[top], evidence=spread)
        return
    if not own.significant:
        message = f"{name}: no significant difference between the models"
        yield insight_row("no_difference", message, column=column, evidence=spread)
        return
    tied = [model for model in ranked if cells[model].best]
    unscored = f"; {in_share(cells[top])} of its cases are unscored" if cells[top].is_partial else ""
    if cells[top].last_rank == 1:
        message = f"{top} is best at {name} ({number(values[top])}){unscored}"
        yield insight_row("best_model", message, column=column, model=top, value=values[top], evidence=spread)
    elif len(tied) > 1:
        message = f"{name}: {_joined(tied)} are tied for best"
        yield insight_row("tied_models", message, column=column, evidence=spread)
    better = [one for one in ranked if (one, last) in own.significant]
    if not better:
        return
    wrong = cells[last].problem
    affected, ids = failing(run, column.evaluator, column.metric).get(last, (None, [])) if wrong else (None, [])
    alone = cells[last].rank == len(ranked)
    worse = "worst" if alone else f"worse than {_joined(better)}"
    yield insight_row(
        "worst_model" if alone else "worse_model", f"{last} is {worse} at {name} ({number(values[last])})",
        column=column, model=last, value=values[last], severity="high" if wrong else "info", affected=affected,
        case_ids=ids, evidence=_spread(board, column, last, top)
        + (f"; the threshold is {column.mark}" if wrong and column.threshold is not None else ""),
    )  # fmt: skip


def _spread(board: Leaderboard, column: Column, one: str, other: str) -> str:
    """Return the numbers of two models with their intervals."""
    cells = {model: board.cells[model, column.key] for model in (one, other)}
    return "; ".join(in_numbers(model, cell.value, cell.low, cell.high, cell.n) for model, cell in cells.items())


def _hardest(run: Run, column: Column) -> Iterator[Insight]:
    """Yield the case that most models fail: by how many are on the wrong side of the threshold, then by its mean."""
    if column.threshold is None or len(run.models) < 2:
        return
    hardest = _hardest_case(run, column.evaluator, column.metric, column.threshold, column.direction == "lower")
    if hardest is None:
        return
    case_id, mean, most, models, alike = hardest
    message = f"Case {case_id} is the hardest: {most} of {models} models fail it at {full_name(column)}"
    yield insight_row(
        "hardest_case", message, column=column, case_id=case_id, value=mean,
        severity="high" if most == models else "low", affected=1, case_ids=[case_id],
        evidence=f"the mean over the models is {number(mean)}, the threshold {column.mark}"
        + (f"; cases that {most} of {models} models fail: {alike:,}" if alike > 1 else ""),
    )  # fmt: skip


@keep_by_run(maxsize=256)
def _hardest_case(
    run: Run, evaluator: str, metric: str, threshold: float, is_lower: bool
) -> tuple[str, float, int, int, int] | None:
    """Return the case that most models fail: its id, its mean, how many fail it of how many, and how many cases so."""
    sign = 1.0 if is_lower else -1.0
    size = run.spec.suite.cases
    failed, scored = (np.zeros((size, len(run.models)), bool) for _ in range(2))
    sums, counts = np.zeros(size), np.zeros(size)
    with open_scores(run) as file:
        for block in score_blocks(file, evaluator, [metric], run.models):
            there = ~np.isnan(block.value)
            position, model, value = block.position[there], block.model[there], block.value[there]
            wrong = ~at_most(sign * value, sign * threshold)
            scored[position, model] = True
            failed[position[wrong], model[wrong]] = True
            np.add.at(sums, position, value)
            np.add.at(counts, position, 1.0)
    failing = failed.sum(axis=1)
    most = int(failing.max(initial=0))
    if most < 2:
        return None
    means = ratio(sums, counts)
    worst = np.where(failing == most, sign * means, -np.inf)
    places = np.flatnonzero(at_least(worst, float(worst.max())))
    ids = run.case_columns(["case_id"])["case_id"].take(pa.array(places))
    case_id = pc.min(ids).as_py()
    place = places[pc.index(ids, case_id).as_py()]
    models = int(scored[place].sum())
    alike = int(((failing == most) & (scored.sum(axis=1) == models)).sum())
    return case_id, float(means[place]), most, models, alike


def _accuracy(run: Run, board: Leaderboard, columns: Sequence[Column]) -> Iterator[Insight]:
    """Yield who passes most: the share of primary metrics on the good side of their thresholds, averaged over cases.

    Tested only after the headline, so that it adds no false finding: of a model that is ahead of all others there.
    """
    names = list(dict.fromkeys(column.evaluator for column in columns if column.threshold is not None))
    if len(run.models) < 2 or len(names) < 2:  # for a single metric best_model says the same
        return
    passed = _checks_passed(run)
    if passed is None:
        return
    means, ends, cases, first, last = passed
    ranked = _by_falling(means)
    evidence = "; ".join(
        f"{model} {number(100 * means[model])} % ({interval(100 * ends[model][0], 100 * ends[model][1])})"
        for model in (ranked[0], ranked[-1])
    ) + f"; {cases:,} cases, thresholds of {_listed(names)}"  # fmt: skip
    ahead = headline(board).ahead
    said = (
        ("most_accurate", first, "most", all((first, other) in ahead for other in means if other != first)),
        ("least_accurate", last, "least", all((other, last) in ahead for other in means if other != last)),
    )
    for kind, model, word, follows in said:
        if model is not None and follows:
            message = (
                f"{model} is the {word} accurate: it passes {number(100 * means[model])} % of the checks of a case"
            )
            yield insight_row(kind, message, model=model, value=means[model], evidence=evidence, of=names)


class ChecksPassed(NamedTuple):
    """The models' mean shares of checks passed with their 95 % intervals, of how many cases; the best and the worst."""

    means: Mapping[str, float]
    ends: Mapping[str, tuple[float, float]]
    cases: int
    first: str | None
    last: str | None


@keep_by_run(maxsize=32)
def _checks_passed(run: Run) -> ChecksPassed | None:
    """Return the shares of primary metrics on the good side of their thresholds; None of fewer than two models."""
    shares = shares_passed(run, lambda column: column.primary and not column.minor)
    there = ~np.isnan(shares)
    scored = sorted(np.flatnonzero(there.any(axis=0)).tolist(), key=run.models.__getitem__)
    if len(scored) < 2:
        return None
    models, cases = [run.models[place] for place in scored], np.flatnonzero(there.any(axis=1))
    values = shares[cases][:, scored]
    weights, clusters = run.sampling_design().of_part(cases)
    means = {model: weighted_mean(own, weights) for model, own in zip(models, values.T, strict=True)}
    low, high = bootstrap_means(values, weights, clusters, low=0.0, high=1.0)
    ends = dict(zip(models, zip(low.tolist(), high.tolist(), strict=True), strict=True))
    best, worst = rank_bounds(compare_pairs(values, weights, clusters), len(models))
    first, last = (models[place] if (place := _only(at)) >= 0 else None for at in (worst == 1, best == len(models)))
    return ChecksPassed(means, ends, len(cases), first, last)


def _only(holds: Bools) -> int:
    """Return the place of the one that holds; −1 unless there is exactly one."""
    return int(np.argmax(holds)) if holds.sum() == 1 else -1


def _by_falling(values: Mapping[str, float]) -> list[str]:
    """Return the models from the highest value on, equal ones in their order."""
    models = list(values)
    return [models[place] for place in falling_order([*values.values()])]


def _joined(names: Sequence[str], most: int = 6) -> str:
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def _listed(names: Sequence[str]) -> str:
    return _joined([title_of(name) for name in names])


def _resources(run: Run, board: Leaderboard) -> Iterator[Insight]:
    """Yield which model is significantly faster or cheaper than every other one, and which is the reverse."""
    found = resources(run)
    for quantity, least, most in EXTREMES:
        own = {one.model: one for one in found if one.quantity == quantity}
        ranges = board.spent[quantity].ranges if quantity in board.spent else {}
        first = next((own[model] for model, (_, worst) in ranges.items() if worst == 1), None)
        last = next((own[model] for model, (best, _) in ranges.items() if best == len(ranges)), None)
        for kind, one in ((least, first), (most, last)) if len(own) > 1 else ():
            if one is None:
                continue
            others = [other for other in own.values() if other is not one]
            next_one = (min if kind == least else max)(others, key=lambda other: other.median.value)
            yield insight_row(
                f"{kind.replace(' ', '_')}_model",
                f"{one.model} is the {kind}: median {amount(one.median.value)} {one.unit} per case",
                metric=quantity,
                model=one.model,
                value=one.median.value,
                evidence="; ".join(map(_usage, (one, next_one))),
            )


def _usage(one: Resource) -> str:
    """Return a model's median and 95 % point with their intervals in words."""
    ends = (interval(of.low, of.high, amount) for of in (one.median, one.p95))
    median, p95 = (
        f"{amount(of.value)} {one.unit}{f' ({bounds})' if bounds else ''}"
        for of, bounds in zip((one.median, one.p95), ends, strict=True)
    )
    return f"{one.model} median {median}, p95 {p95}, n = {one.n:,}"


def _retrieval(board: Leaderboard) -> Iterator[Insight]:
    """Yield who retrieves best: significantly better than every other model in some metric of contexts, worse in none.

    Its number is the mean goodness (0 … 1) over the metrics of contexts, or without any over the checks of contexts.
    """
    context = [column for column in board.columns if column.family == "retrieval" and column.primary]
    context = context or [column for column in board.columns if column.metric == "retrieval_failures"]
    goodness: dict[str, list[float]] = {}
    for model in board.models:
        cells = [board.cells.get((model, column.key)) for column in context]
        own = [cell.goodness for cell in cells if cell is not None and cell.goodness is not None]
        if context and len(own) == len(context):  # a model that lacks one would be compared on fewer metrics
            goodness[model] = own
    if len(goodness) < 2:
        return
    tested = [board.ranks[column.key] for column in context if column.key in board.ranks]
    wins = Counter(pair for ranks in tested for pair in ranks.significant)
    names = list(dict.fromkeys(column.evaluator for column in context))
    for kind, word, better in (("best_retrieval", "best", True), ("worst_retrieval", "worst", False)):
        for model in goodness:
            pairs = [(model, other) if better else (other, model) for other in goodness if other != model]
            if all(wins[one, other] and not wins[other, one] for one, other in pairs):
                yield _retrieves(board, context, model, kind, word, float(np.mean(goodness[model])), names)


def _retrieves(
    board: Leaderboard, context: Sequence[Column], model: str, kind: str, word: str, mean: float, names: Sequence[str]
) -> Insight:
    missed = [column.evaluator_title for column in context if board.cells[model, column.key].problem]
    than = "better" if word == "best" else "worse"
    evidence = f"over {_listed(names)}; significantly {than} than every other model, never the reverse"
    if missed:
        evidence += f"; {model} misses the threshold of {', '.join(missed)}"
    message = f"{model} retrieves {word}: its contexts reach {number(100 * mean)} % of the metrics' ranges"
    severity = "high" if word == "worst" and missed else "info"
    return insight_row(kind, message, model=model, value=mean, evidence=evidence, severity=severity, of=names)


def _causes(run: Run, board: Leaderboard) -> Iterator[Insight]:
    columns = {column.evaluator: column for column in board.columns if column.primary}
    for found in attribute_failures(run, board.columns):
        column = None if found.evaluator is None else columns.get(found.evaluator)
        of = [name for names in found.by for name in names] or [found.evaluator or ""]
        yield insight_row(
            f"{found.cause}_cause", _attributed(found, column), column=column, model=found.model,
            value=found.attributed / found.failing, severity="high" if found.mostly else "low",
            affected=found.attributed, case_ids=list(found.case_ids), evidence=_why(found), of=of,
        )  # fmt: skip


def _attributed(found: Attribution, column: Column | None) -> str:
    where = "" if column is None else f" of {column.evaluator_title}"
    share = f"{found.model}: {found.attributed:,} of {found.failing:,} failing answers{where}"
    if found.cause == "retrieval":
        return f"{share} have contexts that fail too"
    return f"{share} fail although their contexts pass"


def _why(found: Attribution) -> str:
    if found.evaluator is not None:
        return f"{found.n:,} cases whose contexts were also checked"
    return (
        f"{found.n:,} cases; an answer fails if at least half of {_listed(found.by[1])} are on the wrong side of their"
        f" thresholds, its contexts fail if at least half of {_listed(found.by[0])} are"
    )


def _least_grounded(run: Run, board: Leaderboard) -> Iterator[Insight]:
    for found in least_grounded(run, board.columns):
        column, text = found.column, " ".join(found.text.split())
        excerpt = text if len(text) <= SENTENCE else text[: SENTENCE - 1] + "…"
        yield insight_row(
            "least_grounded", f"Least grounded, by {found.model} on case {found.case_id}: “{excerpt}”", column=column,
            model=found.model, case_id=found.case_id, value=found.value, severity="high", affected=1,
            case_ids=[found.case_id],
            evidence=f"{column.evaluator_title} of the answer is {number(found.value)}, "
            f"the threshold {column.mark}",
        )  # fmt: skip
