"""Is one model really better than another, or could the difference be chance?

A pair of models is tested in every metric that the Compare page shows unasked, one family for page and report.
"""

from collections.abc import Iterator, Mapping, Sequence

from metrics.analysis import Column, Difference, Resampled, Unpaired, headline, leaderboard
from metrics.analysis.comparison.compare import Comparison, compare, comparison_of_columns
from metrics.core.metric_names import column_name, full_name
from metrics.core.rounding import none_if_nan
from metrics.presentation.blocks import Block, Head, Link, Note, Sentence, Table, table, table_of
from metrics.presentation.format import ARROWS, MISSING, aligned, count, interval, number, p_value, plural, shorten
from metrics.presentation.phrases import better, metric_title, named, paired_on, signed, with_interval
from metrics.presentation.question import QUICK, question
from metrics.presentation.viewers.board_drawing import select_columns
from metrics.stats.paired_intervals import CaseShare
from metrics.store import Run, cache_by_run

Row = Difference | Resampled

MAX_OTHERS = 3  # models compared with the leader
MAX_LOSSES = 2  # metrics in which the other model is better that are named
MAX_ROWS = 8  # metrics that a report shows; all are counted
CORRECTIONS = {"holm": "Holm", "benjamini_hochberg": "Benjamini–Hochberg", "none": "none"}
TESTS = {"mcnemar": "McNemar", "sign_flips": "sign flips", "t": "paired t", "resamples": "resamples"}
TESTS_IN_WORDS = {
    "mcnemar": "McNemar's test for metrics that are right or wrong on a case",
    "sign_flips": "a sign-flip permutation test for few cases with values in between",
    "t": "a paired t test for many",
    "resamples": "the same resamples of the cases for metrics of the whole data set",
}
NO_EQUALITY = "No significant difference does not mean that two models are equal."


@question("comparison", "Is it really better?", "Or could the difference be chance?", "compare", short=QUICK)
def is_it_better(run: Run) -> list[Block]:
    """Return the leader against the next models, metric by metric; nothing unless two models can be compared."""
    found = leader_against_next(run)
    if not found:
        return []
    board = leaderboard(run)
    leader, others = found[0].model_b, [one.model_a for one in found]
    sentences = [Sentence(f"{answer(one, *names(one))}.", link=Link("compare", "Compare", pair(one))) for one in found]
    shown = [column for column in select_columns(board.columns, [], minor=False) if column.key in board.ranks]
    columns = sorted(shown, key=lambda column: not column.primary)
    rows = [
        (row.column, one.model_a, row)
        for column in columns[:MAX_ROWS]
        for one in found
        for row in tested(one)
        if row.column.key == column.key
    ]
    title = f"{leader} against {'the next ' + plural(len(others), 'model') if len(others) > 1 else others[0]}"
    heads = ("Metric", "Against", "Difference", "95 % interval", "Adjusted p", "n", "Result")
    lines = [
        (
            metric_title(column),
            other,
            signed(row.difference),
            interval(row.low, row.high),
            p_value(row.adjusted),
            count(row.n),
            result(row, leader, other),
        )
        for column, other, row in rows
    ]
    notes = [*board.cautions, how_tested(found), *_left_out(found, columns, len(board.models) - 1)]
    return [*sentences, table(title, heads, lines, (2, 3, 4, 5)), *map(Note, notes)]


def leader_against_next(run: Run) -> tuple[Comparison, ...]:
    """Return the leading model against each of the next ones in the metrics shown unasked; empty for one model."""
    leader, *others = headline(leaderboard(run)).ranked or ("",)
    return _against(run, leader, tuple(others[:MAX_OTHERS]))


@cache_by_run(maxsize=8)
def _against(run: Run, leader: str, others: tuple[str, ...]) -> tuple[Comparison, ...]:
    keys = frozenset(column.key for column in select_columns(leaderboard(run).columns, [], minor=False))
    found = (comparison_of_columns(compare(run, other, leader), keys) for other in others)
    return tuple(one for one in found if tested(one))


def tested(found: Comparison) -> tuple[Row, ...]:
    """Return what can be tested of a pair of models: metrics with values per case, then those of the data set."""
    return (*found.rows, *found.resampled)


def pair(found: Comparison) -> Mapping[str, str]:
    """Return a pair of models as the address of the Compare page names it."""
    return {"a": found.model_a, "b": found.model_b}


def names(found: Comparison) -> tuple[str, str]:
    """Return what the two models are called in a sentence: A and B where they are of two runs."""
    return ("A", "B") if found.run_a != found.run_b else (shorten(found.model_a, 44), shorten(found.model_b, 44))


def answer(found: Comparison, a: str = "A", b: str = "B") -> str:
    """Return whether b is better, in one sentence without its full stop: of all metrics shown, tested or not."""
    rows = [row for row in tested(found) if row.column.direction != "none" and row.significance != "none"]
    left = list(_uncounted(found, a, b))
    if not rows:
        told = "; ".join(left) or "not tested: no metric has a value of both"
        return told[:1].upper() + told[1:]
    shown = plural(len(tested(found)) + len(found.unpaired), "metric") + " shown"
    return "; ".join([*_verdict(rows, shown, a, b), *left])


def _uncounted(found: Comparison, a: str, b: str) -> Iterator[str]:
    """Yield which metrics shown decide nothing and why, in words: those not tested, those without a better end."""
    names = {"a": a, "b": b}
    untested = [column_name(row.column) for row in tested(found) if row.significance == "none"]
    for one in found.unpaired:
        end = f" ({one.column.direction} for {names[one.better]})" if one.better else ""
        untested.append(f"{column_name(one.column)}{end}")
    if untested:
        yield f"not tested: {named(untested)}"
    aimless = [row.column for row in tested(found) if row.column.direction == "none" and row.significance != "none"]
    if aimless:
        yield f"neither end is better: {named(list(map(column_name, aimless)))}"


def _verdict(rows: Sequence[Row], metrics: str, a: str, b: str) -> Iterator[str]:
    """Yield whether b is better in the tested metrics with a better end; `metrics`: of how many.

    Where the better model may be worse in some, before correction, they are named; in a main one it is no plain answer.
    """
    words = ("better", "worse")
    found = {word: [row for row in rows if row.significance == word] for word in words}
    decides = next((row for row in rows if row.column.first and row.column.primary), None)
    decides = decides if decides is not None and decides.significance in words else None
    is_b = bool(found["better"]) if decides is None else decides.significance == "better"
    (one, other), (ahead, behind) = ((b, a), words) if is_b else ((a, b), words[::-1])
    if not found[ahead]:
        yield f"No significant difference between {a} and {b} in any of {metrics}"
        return
    doubts = [row for row in rows if row.significance == "leaning" and row.tendency == behind]
    is_open = found[behind] or any(row.column.primary for row in doubts)
    answer = "It depends" if is_open and decides is None else "Yes" if is_b else "No"
    also = f"{column_name(decides.column)} and " if is_open and decides is not None else ""
    rest = f", {other} in {_in_which(found[behind])}" if found[behind] else "" if doubts else f", and {other} in none"
    yield f"{answer}: {one} is better in {also}{len(found[ahead])} of {metrics}{rest}"
    if doubts:
        gaps = [f"{column_name(row.column)} (by {number(abs(row.difference or 0.0))})" for row in doubts]
        yield f"{other} may be better in {named(gaps)}, uncorrected"


def _in_which(rows: Sequence[Row]) -> str:
    """Return how many differences these are, few of them by name."""
    names = " and ".join(column_name(row.column) for row in rows)
    return count(len(rows)) + (f" ({names})" if len(rows) <= MAX_LOSSES else "")


def method(found: Comparison) -> str:
    """Return what was paired and what "better" means, in two sentences."""
    n = [row.n for row in found.rows if row.n] or [found.cases]
    return f"{paired_on(n, found.clustered)}. {_better(found)}"


def how_tested(found: Sequence[Comparison]) -> str:
    """Return which tests and which correction several comparisons used, in sentences."""
    rows = [row for one in found for row in tested(one) if row.p is not None]
    kinds = {getattr(row, "test", "resamples") for row in rows}
    used = [text for name, text in TESTS_IN_WORDS.items() if name in kinds]
    if not used:
        return "Both models of each pair have the same value on every case, so there is nothing to test."
    cases = [row.n for one in found for row in one.rows if row.p is not None]
    paired = f"{paired_on(cases, found[0].clustered)}, by" if cases else "Paired on"
    most = max(found, key=lambda one: one.tested)
    return f"{paired} {' and by '.join(used)}. {_better(most)} {NO_EQUALITY}"


def _better(found: Comparison) -> str:
    return better(found.tested, found.correction, found.is_of_family, found.main_tests)


def result(row: Row, b: str = "B", a: str = "A") -> str:
    """Return what a difference comes to, in words, by the names of the models."""
    return {
        "better": f"{b} is better",
        "worse": f"{a} is better",
        "open": "no significant difference",
        "leaning": f"{a if row.tendency == 'worse' else b} may be better (uncorrected)",
        "equal": row.words,
    }.get(row.significance, "no case has values of both")


def _left_out(found: Sequence[Comparison], columns: Sequence[Column], others: int) -> Iterator[str]:
    """Yield why metrics are not tested, and what is counted but not in the table; `others`: models the leader has."""
    reasons: dict[str, dict[str, None]] = {}
    for one in found:
        for row in one.unpaired:
            reasons.setdefault(row.reason(*names(one)), {})[metric_title(row.column, arrow=False)] = None
    for reason, untested in reasons.items():
        yield f"Not tested: {named(list(untested))} ({reason})."
    drawn = {column.key for column in columns[:MAX_ROWS]}
    more = {
        "metric": max(sum(row.column.key not in drawn for row in tested(one)) for one in found),
        "model": others - len(found),
    }
    if left := " and ".join(plural(number, what) for what, number in more.items() if number):
        yield f"Not shown here: {left}; the studio's Compare page has every pair and metric."


# The tables of the Compare page


def pair_blocks(found: Comparison) -> Iterator[Table]:
    """Yield everything that is known of a pair of models, metric by metric; a row leads to the cases of its metric."""
    if rows := found.rows:
        labels = [metric_label(row.column, 36) for row in rows]
        outcomes = [f"{count(row.wins)} / {count(row.losses)} / {count(row.ties)}" for row in rows]
        left_out = [row.only_a + row.only_b + row.neither for row in rows]
        also = (Head("Left out", True, "cases without a value of A, of B or of both", 66), list(map(count, left_out)))
        yield table_of(
            "metrics",
            (Head("Metric", False, "↑ higher is better, ↓ lower is better", 206), labels),
            (Head("Verdict", False, VERDICT, 214), [row.words for row in rows]),
            *_numbers(rows, INTERVAL, "pairs: cases that both have a value for"),
            (Head("Adjusted p", True, ADJUSTED[found.correction], 76), [p_value(row.adjusted) for row in rows]),
            (Head("Wins / losses / ties", True, "cases on which B is better, worse, equal", 132), outcomes),
            (Head("P(B > A)", True, SUPERIORITY, 150), [share_text(row.superiority) for row in rows]),
            (Head("SE", True, ERROR, 62), aligned([none_if_nan(row.error) for row in rows])),
            (Head("Correlation", True, CORRELATION, 84), aligned([none_if_nan(row.correlation) for row in rows])),
            (Head("p", True, P, 62), [p_value(row.p) for row in rows]),
            (Head("Detectable", True, DETECTABLE, 84), aligned([row.detectable for row in rows])),
            (Head("Test", False, "how p was found", 80), [TESTS[row.test] for row in rows]),
            *([also] if any(left_out) else []),
            links=list(map(_cases_of, rows)),
        )
    if found.resampled:
        yield resampled_table(found.resampled, found.correction)


def share_text(share: CaseShare | None) -> str:
    """Return a share of cases with its interval; MISSING where there is none."""
    return MISSING if share is None else with_interval(share.value, share.low, share.high)


def resampled_table(rows: Sequence[Resampled], correction: str, by_label: bool = False) -> Table:
    """Return metrics of the whole data set, or one of its labels, paired over the same resamples of the cases."""
    adjusted = f"over the labels: {CORRECTIONS[correction]}" if by_label else ADJUSTED[correction]
    names = [metric_label(row.column, 34) if row.label is None else shorten(row.label, 34) for row in rows]
    return table_of(
        "labels" if by_label else "resampled",
        (Head("Label" if by_label else "Metric of the whole data set", width=258), names),
        (Head("Verdict", False, "better: the adjusted p is at most 0.05", 198), [row.words for row in rows]),
        *_numbers(rows, RESAMPLED, "what B's value rests on"),
        (Head("Adjusted p", True, adjusted, 76), [p_value(row.adjusted) for row in rows]),
        (Head("p", True, P_RESAMPLED, 60), [p_value(row.p) for row in rows]),
        links=() if by_label else list(map(_cases_of, rows)),
    )


def unpaired_table(rows: Sequence[Unpaired]) -> Table:
    """Return the metrics of the whole data set that cannot be paired: both values with their own intervals."""
    pairs = [(row.a.value, row.b.value) for row in rows]
    return table_of(
        "unpaired",
        (Head("Metric that is not tested", width=240), [metric_label(row.column, 60) for row in rows]),
        (Head("A", True, "", 62), aligned([row.a.value for row in rows])),
        (Head("95 % of A", True, "95 % interval", 100), [interval(row.a.low, row.a.high) or MISSING for row in rows]),
        (Head("B", True, "", 62), aligned([row.b.value for row in rows])),
        (Head("95 % of B", True, "95 % interval", 100), [interval(row.b.low, row.b.high) or MISSING for row in rows]),
        (Head("B − A", True, "", 66), [signed(None if a is None or b is None else b - a) for a, b in pairs]),
        (Head("n", True, "what B's value rests on", 56), [count(row.b.n) for row in rows]),
        (Head("Why it is not tested", False, "", 420), [row.reason() for row in rows]),
    )


def metric_label(column: Column, limit: int = 42) -> str:
    """Return evaluator, metric and its better end: `Classification · Accuracy ↑`; the evaluator is cut first."""
    names_both = full_name(column) == (name := column_name(column))
    title = shorten(name, limit if names_both else limit - 12)
    before = "" if names_both else f"{shorten(column.evaluator_title, limit - 3 - len(title))} · "
    return f"{before}{title} {ARROWS[column.direction]}".rstrip()


def _numbers(rows: Sequence[Row], about: str, n: str) -> tuple[tuple[Head, list[str]], ...]:
    """Return the columns of every table of differences; `about` says what the interval is, `n` what is counted."""
    return (
        (Head("A", True, "mean of A over the cases that both have a value for", 52), aligned([row.a for row in rows])),
        (Head("B", True, "mean of B over the same cases", 52), aligned([row.b for row in rows])),
        (Head("B − A", True, "mean of the differences", 60), [signed(row.difference) for row in rows]),
        (Head("95 % interval", True, about, 120), [interval(row.low, row.high) or MISSING for row in rows]),
        (Head("n", True, n, 52), [count(row.n) for row in rows]),
    )


def _cases_of(row: Row) -> Link:
    return Link("compare", "See its cases", {"key": row.column.key, "kind": None, "case": None, "page": None})


VERDICT = (
    "better: the adjusted p is at most 0.05. No significant difference does not mean equality: see the interval and "
    "the detectable difference."
)
INTERVAL = (
    "of B − A. 0 or 1 a case: Newcombe's for pairs; else the studentised bootstrap of pairs, clustered by the suite's "
    "groups. It ends at 0 where it would contradict p. Not widened for the number of metrics."
)
RESAMPLED = (
    "of B − A, by the bootstrap: the same cases are drawn again for both models, so what makes a case hard for both "
    "does not count"
)
STEPS = (
    "All tests in the order of p ÷ weight: adjusted p = p ÷ weight × the sum of the weights of this test and of those "
    "after it, at least the adjusted p before it, at most 1"
)
ADJUSTED = {name: f"for the metrics shown: {words}" for name, words in CORRECTIONS.items()} | {
    "holm": "Holm, of one run for all its metrics and pairs of models, as in its ranks; of two for the metrics shown. "
    f"{STEPS}"
}
SUPERIORITY = (
    "share of the cases on which B is better, ties half, with its 95 % interval (Tango's): the chance that B is better "
    "on a random case, not the chance that its mean is. 0.5: neither"
)
ERROR = "standard error of B − A, over the same cases"
CORRELATION = (
    "of A's and B's values over the cases (Pearson): where both find the same cases hard it is high, and the standard "
    "error of the difference small (Miller 2024, Adding error bars to evals)"
)
P_RESAMPLED = "how often drawing the cases again moves the difference as far as it lies from 0"
P = (
    "how often chance alone would make a difference as large, were the two models interchangeable. 0 or 1 a case: "
    "McNemar's mid-p; else by flipping the signs of up to 13 differences, or Student's t."
)
DETECTABLE = (
    "the true difference that this many such pairs detect 80 % of the time, in one test at 5 %: a smaller one may well "
    "be missed"
)
