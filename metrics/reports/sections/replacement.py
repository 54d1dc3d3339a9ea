"""The report's section on replacing one model by another: not worse than what is allowed, metric by metric."""

from collections.abc import Sequence

from metrics.presentation.blocks import Answer, Block, Note, Sentence, Table, table
from metrics.presentation.format import MISSING, exact, interval
from metrics.presentation.phrases import metric_title, signed
from metrics.presentation.questions.is_it_better import share_text
from metrics.reports.baseline import Differences

HOW = (
    "A metric allows the replacement where the 95 % interval of the paired difference lies above the allowed loss: a "
    "one-sided test of non-inferiority at 2.5 %, equivalence where it lies on both sides within it (TOST). All metrics "
    "must pass, so their number needs no correction; “better” and “worse” do ({tests}, Holm). Missing cases are for an "
    "answer in 80 % of evaluations if the true difference is the one found. P(within): the share of cases on which it "
    "is at most the allowed loss worse, with its 95 % interval; it decides nothing."
)


def replacement_section(against: Sequence[Differences]) -> Answer | None:
    """Return whether each model may replace its counterpart, in sentences; None where no metric has a margin."""
    made = [each for each in against if each.decisions]
    if not made:
        return None
    tests = max(each.tested.tested for each in against)
    notes = dict.fromkeys(note for each in against for note in (*each.footnotes, *each.tested.notes))
    blocks: tuple[Block, ...] = (
        *(Sentence(f"{each.answer}.") for each in made),
        *map(_table, made),
        *map(Note, (HOW.format(tests=f"{tests} test{'' if tests == 1 else 's'}"), *notes)),
    )
    return Answer("comparison", "May it replace the other?", "Is it better, or not worse than allowed?", blocks)


def _table(each: Differences) -> Table:
    rows = tuple(
        (
            metric_title(made.row.column), exact(made.margin), signed(made.row.difference),
            interval(made.row.low, made.row.high) or MISSING, share_text(made.within), f"{made.row.n:,}",
            made.sentence(each.before, each.model),
        )
        for made in each.decisions
    )  # fmt: skip
    heads = ("Metric", "Allowed loss", "Difference", "95 % interval", "P(within)", "n", "Answer")
    return table("Metric by metric", heads, rows, (1, 2, 3, 4, 5))
