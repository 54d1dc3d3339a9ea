"""The first page of a report, for whoever decides: which model, by how much, how sure, what fails, what to do."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import islice

import pandas as pd
import pyarrow.compute as pc

from metrics import analysis
from metrics.analysis import Comparison, Leaderboard
from metrics.analysis.cases.case_pages import ANSWERED
from metrics.analysis.labels.human_labels import criteria
from metrics.analysis.leaderboard.resources import Resource, resources
from metrics.core.evaluator import Status
from metrics.presentation.blocks import Table, table
from metrics.presentation.format import MISSING, STATUSES, amount, interval, number, p_value, plural
from metrics.presentation.noise_words import noise_sentence
from metrics.presentation.phrases import metric_title, named, signed, skipped_line, with_interval
from metrics.presentation.questions.is_it_better import answer, leader_against_next, method, names, result, tested
from metrics.presentation.questions.what_went_wrong import Problem, ProblemGroup, problem_groups
from metrics.presentation.questions.where_is_it_worse import worse_slices
from metrics.reports.report import Summary
from metrics.store import Run, keep_by_run

MOST_METRICS = 8
MAX_MODELS = 5
MOST_FAILING = 5
MOST_NOISES = 2  # metrics whose noise is parted
MOST_STEPS = 5
MANY_UNSCORED = 0.05  # share of the scores
SPENT = {"cost_usd": "the cheapest", "duration_s": "the fastest"}
NO_THRESHOLDS = "You get values and the weakest cases. To see what fails, set thresholds (Problems → Set thresholds)."
UNSCORED = tuple(status.value for status in Status if status is not Status.OK)
STEPS = {
    "retrieval_cause": "Look at retrieval first: {}.",
    "generation_cause": "Look at the answers first, not at retrieval: {}.",
    "weakest_tag": "Look at the weakest cases: {}.",
}  # the finding of a kind that is severe gives a step


def summary(run: Run, board: Leaderboard, problems: Sequence[Problem], insights: pd.DataFrame) -> Summary:
    """Return the first page of a finished run's report; its answer is the headline of the leaderboard."""
    head = analysis.headline(board)
    groups = problem_groups(problems, len(board.models))
    pair = next(iter(leader_against_next(run)), None)
    ranked = head.ranked if pair is None else (pair.model_b, pair.model_a)
    of_two = _differences(board, ranked, pair) if len(ranked) > 1 else _value(board, ranked[0])
    return Summary(
        table=_values(board) if len(board.models) > 2 else of_two,
        sure=(*_left_out(run), *_sure(run, board, pair)),
        fails=tuple(_fails(board, groups, insights)),
        steps=tuple(_steps(run, board, head, groups, insights))[:MOST_STEPS],
    )


def _differences(board: Leaderboard, ranked: Sequence[str], pair: Comparison | None) -> Table:
    """Return the leading model and the next one in the primary metrics, and their difference."""
    leader, other = ranked[:2]
    rows = {} if pair is None else {row.column.key: row for row in tested(pair)}
    lines = []
    for column in analysis.primary_columns(board)[:MOST_METRICS]:
        values, row = _cells(board, column, (leader, other)), rows.get(column.key)
        if row is None:
            lines.append((metric_title(column), *values, MISSING, MISSING, "not tested"))
            continue
        difference = signed(row.difference) + (f" ({bounds})" if (bounds := interval(row.low, row.high)) else "")
        lines.append((metric_title(column), *values, difference, p_value(row.adjusted), result(row, leader, other)))
    return table("By how much?", ("Metric", leader, other, "Difference", "Adjusted p", "Result"), lines, (1, 2, 3, 4))


def _cells(board: Leaderboard, column: analysis.Column, models: Sequence[str]) -> list[str]:
    """Return the models' values in a metric with their 95 % intervals."""
    cells = [board.cells.get((model, column.key)) for model in models]
    return ["not evaluated" if cell is None else with_interval(cell.value, cell.low, cell.high) for cell in cells]


def _values(board: Leaderboard) -> Table:
    """Return the leading models' values in the primary metrics."""
    models, lines = board.models[:MAX_MODELS], []
    for column in analysis.primary_columns(board)[:MOST_METRICS]:
        wanted = column.limit
        lines.append((metric_title(column) + (f" ({wanted})" if wanted else ""), *_cells(board, column, models)))
    of = f", the first {len(models)} of {len(board.models):,} models" if len(board.models) > len(models) else ""
    return table(f"Values with 95 % intervals{of}", ("Metric", *models), lines, range(1, len(models) + 1))


def _value(board: Leaderboard, model: str) -> Table:
    """Return a single model's values in the primary metrics, and whether they meet their thresholds."""
    lines = []
    for column in analysis.primary_columns(board)[:MOST_METRICS]:
        cell = board.cells.get((model, column.key))
        if cell is None:
            continue
        met = MISSING if column.threshold is None else "missed" if cell.problem else "met"
        (value,) = _cells(board, column, [model])
        lines.append((metric_title(column), value, column.limit or MISSING, met, f"{cell.n:,}"))
    return table("How good is it?", ("Metric", model, "Threshold", "Result", "n"), lines, (1, 2, 4))


def _sure(run: Run, board: Leaderboard, pair: Comparison | None) -> Iterator[str]:
    """Yield what the answer rests on: tests, smallest detectable difference, noise, cases without a value."""
    columns = analysis.primary_columns(board)
    if pair is not None:
        yield f"{answer(pair, *names(pair))}. {method(pair)}"
    untested = [metric_title(column, arrow=False) for column in columns if column.key not in board.ranks]
    if untested and len(board.models) > 1:
        yield f"Not tested, as nothing is stored to pair the models on: {named(untested)}."
    known = [(column, board.ranks[column.key]) for column in columns if column.key in board.ranks]
    if power := next(((column, own) for column, own in known if own.detectable is not None), None):
        column, own = power
        yield (
            f"With {plural(own.cases, 'case')}, a difference of {number(own.detectable)} in "
            f"{metric_title(column, arrow=False)} would be detected 80 % of the time; smaller ones are often missed."
        )
    yield from islice(_noise(run, columns), MOST_NOISES)
    yield from (*board.made_of, *board.cautions)
    yield _scored(board)
    if judged := analysis.judged_evaluators(run):
        yield f"{plural(len(judged), 'evaluator')} judged by {named(analysis.judge_names(run))}, an LLM that can err."


def _left_out(run: Run) -> Iterator[str]:
    """Yield which rows were not read, and which models left answers empty, a sentence each."""
    if line := skipped_line(run.spec.suite.left_out, run.spec.outputs.left_out):
        yield line
    if counts := Counter(_empty_answers(run)):
        each = named([f"{model} {counts[model]:,}" for model in run.models if counts[model]])
        yield f"{plural(counts.total(), 'answer is', 'answers are')} empty: {each}."


@keep_by_run(maxsize=16, reads=(ANSWERED,))
def _empty_answers(run: Run) -> Mapping[str, int]:
    """Return how many answers of each model are empty or were not given; nothing where all are, or none is in words."""
    counts, asked, outputs = Counter[str](), 0, run.needed(ANSWERED)
    if run.spec.suite.task != "text" or "answer" not in outputs.columns:
        return {}
    for rows in outputs.pieces(["model", "answer"]):  # never all texts at once
        size = pc.utf8_length(pc.utf8_trim_whitespace(pc.fill_null(rows["answer"], "")))
        counts.update(rows["model"].filter(pc.equal(size, 0)).to_pylist())
        asked += len(rows)
    return counts if counts.total() < asked else {}


def _noise(run: Run, columns: Sequence[analysis.Column]) -> Iterator[str]:
    """Yield how much of the noise of a metric's means comes from where, where something is repeated."""
    for column in columns if analysis.is_repeated(run) else ():
        found = analysis.noise(run, column.evaluator, column.metric) if column.label_key is None else None
        if found is not None and (sentence := noise_sentence(found, metric_title(column, arrow=False))):
            yield sentence


def _scored(board: Leaderboard) -> str:
    """Return how many scores of the primary metrics have no value, and why."""
    counts, scored = _counts(board)
    missing = sum(counts.values())
    if not missing:
        return f"Every one of {plural(scored, 'score')} of the primary metrics has a value."
    why = ", ".join(f"{STATUSES.get(status, status)} {count:,}" for status, count in counts.items() if count)
    return f"{missing:,} of {plural(scored + missing, 'score')} of the primary metrics have no value ({why})."


def _counts(board: Leaderboard) -> tuple[dict[str, int], int]:
    """Return how many scores of the primary metrics have no value, by status, and how many have one."""
    columns = analysis.primary_columns(board)
    cells = [board.cells.get((model, column.key)) for column in columns for model in board.models]
    there = [cell for cell in cells if cell is not None]
    counts = {status: sum(cell.counts.get(status, 0) for cell in there) for status in UNSCORED}
    return counts, sum(cell.n for cell in there)


def _fails(board: Leaderboard, groups: Sequence[ProblemGroup], insights: pd.DataFrame) -> Iterator[str]:
    """Yield the thresholds that models miss, a sentence for an evaluator's; then what fails for every model."""
    causes: dict[tuple[str, frozenset[str]], list[ProblemGroup]] = {}
    for group in groups:
        causes.setdefault((group.problems[0].evaluator, frozenset(group.models)), []).append(group)
    for first, *others in list(causes.values())[:MOST_FAILING]:
        also = named([other.title.rpartition(": ")[2] for other in others])
        yield f"{first.sentence}{f' So are its thresholds in {also}.' if others else ''}"
    if len(causes) > MOST_FAILING:
        yield f"{plural(len(causes) - MOST_FAILING, 'more cause')} of missed thresholds: see Problems."
    if not groups and any(cell.value is not None for cell in board.cells.values()):
        judged = any(column.threshold is not None for column in board.columns)
        yield "No model misses a threshold." if judged else NO_THRESHOLDS
    hardest = insights[insights["kind"].eq("hardest_case") & insights["severity"].eq("high")]
    hard = set(zip(hardest["evaluator"], hardest["metric"], strict=True))
    titles = [metric_title(one, arrow=False) for one in board.columns if (one.evaluator, one.metric) in hard]
    if titles and len(board.models) > 1:
        yield f"Some cases fail for every model, at {named(list(dict.fromkeys(titles)))}: see What stands out."


def _steps(
    run: Run, board: Leaderboard, head: analysis.Headline, groups: Sequence[ProblemGroup], insights: pd.DataFrame
) -> Iterator[str]:
    """Yield what to do, the choice of a model first; every step follows from a finding."""
    picked = head.ranked if head.leader is None else (head.leader,)
    missed = [group.title for group in groups if picked[0] in group.models] if len(picked) == 1 else []
    yield _choice(head, missed, [] if len(picked) == 1 else list(_cheap(picked, board, resources(run))))
    largest = max(
        (problem for group in groups for problem in group.problems if problem.model in picked and problem.affected),
        key=lambda problem: problem.affected or 0,
        default=None,
    )
    if largest is not None:
        yield (
            f"Read the {plural(largest.affected or 0, 'case')} of {largest.model} that miss "
            f"{metric_title(largest, arrow=False)} {largest.limit}."
        )
    severe = insights[insights["severity"].eq("high") & insights["model"].isin(picked)]
    for kinds in (("retrieval_cause", "generation_cause"), ("weakest_tag",)):
        found = severe[severe["kind"].isin(kinds)].sort_values("affected", ascending=False, kind="stable")
        for row in found.head(1).to_dict("records"):
            yield STEPS[row["kind"]].format(row["message"])
    weak = [line for line in worse_slices(run) if line.search.model in picked]
    for line in weak[:1]:
        yield f"Look at where {line.search.model} is worse than elsewhere: {line.each.value.words} ({line.numbers})."
    counts, scored = _counts(board)
    wanting = sum(count for status, count in counts.items() if status != Status.NOT_APPLICABLE.value)
    if wanting > MANY_UNSCORED * (scored + wanting):
        yield f"Resume or repeat the run: {plural(wanting, 'score')} without a value could change the order."
    if analysis.judged_evaluators(run) and not criteria(run):
        yield "Label some cases by hand: nobody has checked the judge's verdicts of this run."


def _choice(head: analysis.Headline, missed: Sequence[str], spent: Sequence[str]) -> str:
    """Return which model to choose, as far as the headline says."""
    also = f": {'; '.join(spent)}" if spent else ""
    fix = f" once it meets its threshold in {named(missed)}" if missed else ""
    if not head.scored:
        return "Find out why no metric has a value: see Problems and Data and run."
    if len(head.models) == 1:
        only = head.models[0]
        return (
            f"Use {only}{fix}." if fix or head.judged else f"Set thresholds: none says whether {only} is good enough."
        )
    if head.leader is not None:
        own = head.tallies[head.leader]
        against = ", ".join([*([f"behind in {own.worst}"] if own.worst else []), *filter(None, [own.doubt])])
        first = f"{against[:1].upper()}{against[1:]}; unless that decides, choose" if against else "Choose"
        return f"{first} {head.leader}{fix}."
    how = "Mark the metrics that decide" if head.differing else "Add cases to tell the models apart"
    return f"Do not choose by these metrics alone. {how}, or choose by price and speed{also}."


def _cheap(models: Collection[str], board: Leaderboard, found: Sequence[Resource]) -> Iterator[str]:
    """Yield which of the models is the cheapest and which the fastest, significantly less than every other of them."""
    for quantity, word in SPENT.items():
        pairs = board.spent[quantity].significant if quantity in board.spent else []
        for one in found:
            others = [model for model in models if model != one.model]
            if one.quantity == quantity and others and all((one.model, other) in pairs for other in others):
                yield f"{one.model} is {word} (median {amount(one.median.value)} {one.unit} per case)"
