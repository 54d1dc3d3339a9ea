"""What was tested in a run, how many times and with which correction, counted by what the tests themselves returned."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from metrics.analysis.comparison.compare import Comparison
from metrics.analysis.comparison.factors import TwoFactors
from metrics.analysis.comparison.head_to_head import HeadToHead
from metrics.analysis.findings.flips import flip_rates
from metrics.analysis.labels.judgements import judged_evaluators
from metrics.analysis.labels.labelled_scores import metric_columns
from metrics.analysis.labels.manipulations import Check, has_manipulations, manipulation_checks
from metrics.analysis.leaderboard.family import count_main_tests, repeated_keys, weigh_tests
from metrics.analysis.leaderboard.leaderboard import Leaderboard, leaderboard
from metrics.analysis.trend import Trend
from metrics.core.metric_names import full_name
from metrics.store import Run

if TYPE_CHECKING:
    from metrics.analysis.labels.judge_bias import BiasHint
    from metrics.analysis.slices.find_slices import SliceSearch

CLEAR = ("better", "worse", "higher", "lower")
CORRECTIONS = {"holm": "Holm", "benjamini_hochberg": "Benjamini–Hochberg", "none": "none"}


@dataclass(frozen=True, slots=True)
class CorrectedTests:
    """The tests of one question: how many, in how many `families` that are corrected each by itself, how corrected.

    found: how many are significant after the correction, None where only ranks come of them.
    """

    question: str
    tests: int
    families: int
    correction: str
    found: int | None


def corrected_tests(run: Run) -> list[CorrectedTests]:
    """Return what every look at a run tests: its ranks, the perturbations and judge's variants that its suite has.

    What is tested when someone asks for it (a comparison, a search of slices, a trend) comes from its own result.
    """
    found = [of_ranks(leaderboard(run))]
    rates = flip_rates(run)
    if rates["p"].notna().any():
        more = int(rates["exceeds"].eq(True).sum())
        question = "Which perturbations flip cases more often than copies do?"
        found.append(CorrectedTests(question, int(rates["p"].notna().sum()), 1, "Holm, over all of them", more))
    if has_manipulations(run):
        found.append(_of_variants(run))
    return [one for one in found if one.tests]


def of_ranks(board: Leaderboard, tag: str | None = None) -> CorrectedTests:
    """Return the one family of tests behind a leaderboard's ranks, headline and comparisons, of all cases or a tag."""
    tested = {**board.ranks, **board.spent}
    twins = repeated_keys(board.columns, tested)
    where = f" on “{tag}”" if tag else ""
    better = sum(len(own.significant) for key, own in tested.items() if key not in twins)
    how = f"Holm, over all metrics and pairs of models{_weights(board)}"
    return CorrectedTests(f"Which models are better in a metric{where}?", board.tests, 1, how, better)


def _weights(board: Leaderboard) -> str:
    """Return what the tests of a run weigh in Holm's method, in words; empty where all weigh the same."""
    main = count_main_tests(board.columns, board.ranks)
    heavy, light = weigh_tests(board.tests, main)
    if heavy == light:
        return ""
    return f"; weight {heavy:g} for the {main:,} of main metrics, {light:.3g} for the {board.tests - main:,} others"


def of_comparison(found: Comparison, tag: str | None = None) -> list[CorrectedTests]:
    """Return the tests of two models over the metrics shown; none where they are among those of the ranks."""
    if found.is_of_family and not found.anytime:
        return []
    rows = [*found.rows, *found.resampled]
    keys = {row.column.key for row in rows}
    better = sum(row.significance in CLEAR for row in rows if not row.is_twin(keys))
    runs = "" if found.run_a == found.run_b else " of another run"
    where = f" on “{tag}”" if tag else ""
    question = f"Is {found.model_b} better than {found.model_a}{runs}{where}?"
    over = "all metrics and pairs of models" if found.is_of_family else "the metrics shown"
    return [CorrectedTests(question, found.tested, *_over(found.correction, found.tested, over), better)]


def of_factors(found: TwoFactors) -> CorrectedTests:
    """Return the tests of what models and prompts change, and of their interaction."""
    clear = sum(one.is_clear for metric in found.metrics for one in metric.effects)
    return CorrectedTests("What does the prompt change?", found.tested, 1, "Holm, over all effects and metrics", clear)


def of_trend(found: Trend) -> CorrectedTests:
    """Return the tests of a metric's changes between runs."""
    changed = sum(stop.change is not None and stop.change.significance in CLEAR for stop in found.stops)
    question = f"Has {full_name(found.column)} changed between runs?"
    return CorrectedTests(question, found.tested, *_over(found.correction, found.tested, "the changes shown"), changed)


def of_searches(found: Sequence[SliceSearch]) -> CorrectedTests:
    """Return the tests of one or more searches of slices."""
    from metrics.analysis.slices.find_slices import significant_slices  # on use: pages without slices do not load it

    [first, *others] = found
    many = f" and {len(others)} more searches" if others else ""
    tests, worse = sum(one.searched for one in found), len(significant_slices(found))
    question = f"Where is {first.model} worse in {first.measure.title}{many}?"
    how = f"{'permutation' if first.draws else 'Bonferroni'}, over all slices of a search"
    how += f", times {len(found)} searches" if others else ""
    return CorrectedTests(question, tests, 1, how, worse)


def of_matches(found: HeadToHead, metric: str) -> CorrectedTests:
    """Return the tests behind the ranks of a metric's matches."""
    pairs = len(found.outcomes) // 2
    return CorrectedTests(f"Which models win head to head in {metric}?", pairs, 1, "Holm, over the pairs", None)


def of_hints(hints: Sequence[BiasHint], metric: str) -> CorrectedTests:
    """Return the tests of what goes with a judge's scores at equal labels."""
    kinds = len({hint.kind for hint in hints})
    question = f"What goes with {metric} at equal labels?"
    return CorrectedTests(question, len(hints), kinds, "Holm, over the models", sum(hint.is_biased for hint in hints))


def _over(correction: str, tests: int, what: str) -> tuple[int, str]:
    """Return the number of families, and the correction in words; without one every test is its own family."""
    return (tests, "none") if correction == "none" else (1, f"{CORRECTIONS[correction]}, over {what}")


def _of_variants(run: Run) -> CorrectedTests:
    checks = [[one for one in found if one.p is not None] for found in _checked(run)]
    swayed = sum(one.verdict == "swayed" for found in checks for one in found)
    tests, families = sum(map(len, checks)), sum(map(bool, checks))
    return CorrectedTests("What sways the judge?", tests, families, "Holm, over the variants of a metric", swayed)


def _checked(run: Run) -> Iterator[list[Check]]:
    judged = judged_evaluators(run)
    for column in metric_columns(run).values():
        if column.primary and column.evaluator in judged:
            yield manipulation_checks(run, (column.evaluator, column.metric))
