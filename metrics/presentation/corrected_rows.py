"""Two models' corrected differences, and ranks by corrected means, as tables and words."""

from collections.abc import Sequence

from metrics.analysis.labels.corrected_differences import CorrectedDifference, corrected_ranks
from metrics.presentation.blocks import Head, Table, table_of
from metrics.presentation.format import MISSING, count, p_value
from metrics.presentation.phrases import metric_title, signed, too_few
from metrics.presentation.questions.can_the_judge_be_trusted import signed_estimate

CORRECTED = (
    "B − A by people's labels and the judge's scores (prediction-powered inference, PPI++) on the cases that both have "
    "a score of. Only labels of outputs drawn with a known chance count. It takes out what the judge adds to one model."
)
RANKS = "Rank by corrected means: 1 + how many models are significantly better by people's labels (Holm, 5 %)"


def corrected_pair_table(rows: Sequence[CorrectedDifference]) -> Table:
    """Return two models' corrected differences beside those that the judge gives, a metric and criterion a row."""
    shown = [too_few(row.needs) if row.needs else signed_estimate(row.corrected) for row in rows]
    labels = [f"{count(row.labelled_a)} / {count(row.labelled_b)}" for row in rows]
    return table_of(
        "Corrected by people's labels",
        (Head("Metric"), [metric_title(row.column) for row in rows]),
        (Head("Criterion"), [row.criterion for row in rows]),
        (Head("As judged", True, "B − A of the judge's means", 100), [signed(row.judged) for row in rows]),
        (Head("Corrected", True, CORRECTED, 190), shown),
        (Head("Adjusted p", True, "By Holm over the rows", 90), [p_value(row.adjusted) for row in rows]),
        (Head("Labels of A / B", True, "Outputs drawn with a known chance", 110), labels),
        (Head("Result"), [_result(row) for row in rows]),
    )


def ranks_line(rows: Sequence[CorrectedDifference]) -> str:
    """Return the ranks of the models by their corrected means, in a line; "" with fewer than two of them."""
    ranks = sorted(corrected_ranks(rows).items(), key=lambda one: one[1])
    if len(ranks) < 2:
        return ""
    return "Ranks by corrected means: " + ", ".join(f"{rank} {model}" for model, rank in ranks) + "."


def _result(row: CorrectedDifference) -> str:
    if row.adjusted is None:
        return MISSING
    return "no significant difference" if row.better is None else f"{row.better} is better"
