"""Short phrases that pages, reports and the terminal share: titles of metrics, limits, lists, p values."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

from metrics.analysis import Cell, Leaderboard
from metrics.analysis.leaderboard.family import weigh_tests
from metrics.core.metric_names import TitledColumn, full_name, list_names
from metrics.presentation.format import ARROWS, MISSING, count, interval, number, plural

CHART_QUESTIONS = {
    "curves": "How do precision and recall change with the threshold?",
    "risk": "How often is it right if it answers only when it is sure?",
    "calibration": "Is a model right as often as its scores say?",
    "confusion": "Which classes are confused?",
    "residuals": "Where are predictions too high or too low?",
    "groups": "Are all groups treated alike?",
    "errors": "Which kind of error costs the most?",
    "grades": "How do grades spread over the questions?",
    "consistency": "How much do answers and scores of a case vary between repeats?",
    "cutoffs": "How much is found among the first k, and how well is it ranked?",
    "classes": "On which classes is each model weak?",
}
MOST_REASONS = 3  # of a metric, why its numbers have no whole interval
MOST_NAMED = 6  # names in a row before "and 12 more"


class Estimated(Protocol):
    """A number with its 95 % interval; None where it is not known. `needs`, if any: how many more labels it takes."""

    @property
    def value(self) -> float | None:
        """The number."""

    @property
    def low(self) -> float | None:
        """The lower end."""

    @property
    def high(self) -> float | None:
        """The upper end."""


class MetricColumn(TitledColumn, Protocol):
    """What a metric's title is made of: a column of the leaderboard or of a report."""

    @property
    def direction(self) -> str:
        """Its better end: higher, lower or none."""


def metric_title(column: MetricColumn, arrow: bool = True) -> str:
    """Return `Looping detection: Longest repeat ↓`; `ROUGE-L ↑` where the metric's name begins with the evaluator's."""
    return directed(full_name(column), column.direction) if arrow else full_name(column)


def directed(title: str, direction: str) -> str:
    """Return a metric's name and the arrow of its better end, joined by a space that does not break."""
    return f"{title}\u00a0{ARROWS[direction]}" if ARROWS[direction] else title


def unscored_words(cell: Cell) -> str:
    """Return how many cases are unscored, and where they are many what the value is if they were the worst or the best.

    Empty where none is.
    """
    if not cell.unscored:
        return ""
    text = f"{count(cell.unscored)} unscored"
    if not cell.is_partial:
        return text
    bounds = f"{interval(*cell.bounds)} with them at worst or best" if cell.bounds else "no bounds"
    return f"{text} ({100 * cell.missing_share:.0f} %, {bounds})"


def board_notes(board: Leaderboard) -> Iterator[str]:
    """Yield what the run was made of, if not of all the data and in Assay's own way; then why numbers shown have no
    95 % interval, or one that ends on one side only (≥, ≤), a sentence a metric.
    """
    yield from board.made_of
    for column in board.columns:
        reasons: dict[str, list[str]] = {}
        marks: dict[str, None] = {}
        for model in board.models:
            cell = board.cells.get((model, column.key))
            if (
                column.minor
                or cell is None
                or cell.value is None
                or not cell.reason
                or None not in (cell.low, cell.high)
            ):
                continue
            reasons.setdefault(cell.reason.rstrip("."), []).append(model)
            marks |= {" ≥": None} if cell.low is not None else {" ≤": None} if cell.high is not None else {}
        whose = [f"{why} ({named(models)})" for why, models in reasons.items()]
        more = f"; {plural(len(whose) - MOST_REASONS, 'more reason')}" if len(whose) > MOST_REASONS else ""
        if whose:
            yield f"{metric_title(column, arrow=False)}{''.join(marks)}: {'; '.join(whose[:MOST_REASONS])}{more}."


def context_titles(count: int, ids: Sequence[str | None] | None = None) -> list[str]:
    """Return what each of `count` retrieved contexts is called: `2`, or `2 · id doc-3` if it has an id."""
    known = [*(ids or ())[:count], *[None] * (count - len(ids or ()))]
    return [f"{number} · id {id}" if id else f"{number}" for number, id in enumerate(known, 1)]


def with_interval(value: float | None, low: float | None, high: float | None) -> str:
    """Return `0.620 (0.550–0.690)`; the value alone where there is no interval, MISSING where there is no value."""
    bounds = interval(low, high) if value is not None else ""
    return number(value) + (f" ({bounds})" if bounds else "")


def estimated(found: Estimated | None) -> str:
    """Return a number with its interval as `with_interval` does; `too few: 4 more` where it takes more labels."""
    if found is None:
        return MISSING
    needs = getattr(found, "needs", 0)
    return too_few(needs) if needs else with_interval(found.value, found.low, found.high)


def too_few(needs: int) -> str:
    """Return what stands in place of a number that takes so many more labels."""
    return f"too few: {needs:,} more"


def signed(value: float | None) -> str:
    """Return a difference with its sign: `+0.012`, `−0.300`, `<+0.001`; MISSING for None and NaN."""
    text = number(value)
    if value is None or not value > 0:
        return text
    return text.replace("<", "<+") if text.startswith("<") else f"+{text}"


def significance(tests: int, correction: str) -> str:
    """Return what "significant" means for so many tests under holm, benjamini_hochberg or none."""
    return {
        "holm": f"significant after Holm correction ({plural(tests, 'test')}, 5 %)",
        "benjamini_hochberg": f"significant after Benjamini–Hochberg correction ({plural(tests, 'test')}, 5 %)",
        "none": f"significant at 5 % without correction ({plural(tests, 'test')})",
    }[correction]


def better(tests: int, correction: str, is_of_family: bool = False, main: int = 0) -> str:
    """Return what "better" means beside so many tests of two models; of the family: as in the run's ranks.

    main: how many of the family's tests are of main metrics.
    """
    ranked = ": all metrics and pairs of models of the run together, as in the ranks" if is_of_family else ""
    weighed = f"; {weights_in_words(tests, main)}" if is_of_family else ""
    return f"“Better” = {significance(tests, correction)}{ranked}{weighed.rstrip('; ')}."


def weights_in_words(tests: int, main: int) -> str:
    """Return how a run's family shares the 5 % between main metrics and others, in words; empty where all are equal."""
    if weigh_tests(tests, main)[1] == 1.0:
        return ""
    return f"main metrics ({plural(main, 'test')}) have 4/5 of the 5 %, others ({plural(tests - main, 'test')}) 1/5"


def paired_on(cases: Sequence[int], grouped: bool) -> str:
    """Return what a paired comparison is based on: `Paired on 44–75 shared cases, in the suite's groups`.

    `cases` are the numbers of cases with both values, one per test.
    """
    low, high = min(cases), max(cases)
    n = f"{low:,}" if low == high else f"{low:,}–{high:,}"
    return f"Paired on {n} shared {'case' if high == 1 else 'cases'}" + (", in the suite's groups" if grouped else "")


def skipped_line(suite: int, outputs: int) -> str:
    """Return how many invalid rows of the suite and of the outputs were skipped; "" for none."""
    parts = [f"{count:,} of the {name}" for count, name in ((suite, "suite"), (outputs, "outputs")) if count]
    return f"{plural(suite + outputs, 'invalid row')} skipped: {', '.join(parts)}" if parts else ""


def change_lines(changes: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return each change of predictions in a line: `B: scores divided by 100 (8 predictions)`."""
    return [f"{each['model']}: {each['text']} ({plural(each['predictions'], 'prediction')})" for each in changes]


def named(names: Sequence[str]) -> str:
    """Return names as a list in words, the first MOST_NAMED of them: `a, b and 12 more`."""
    return list_names(names, MOST_NAMED)


def paragraphs(text: str) -> Iterator[str]:
    """Yield the paragraphs of a docstring as running text; indented lines and list items keep their line breaks."""
    for block in text.strip("\n").split("\n\n"):
        joined = ""
        for line in block.split("\n"):
            own_line = line.startswith((" ", "- ", "* ", "|"))
            joined += ("\n" if own_line and joined else " " if joined else "") + (line if own_line else line.strip())
        if joined.strip():
            yield joined.rstrip()
