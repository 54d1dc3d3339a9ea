"""The report's section on perturbations: which ones flip cases over a threshold more often than copies do."""

from typing import Any

from metrics.analysis.findings.flips import flip_rates
from metrics.core.registry import title_of
from metrics.presentation.format import interval, number, p_value, plural
from metrics.presentation.names import metric_name
from metrics.reports.report import Section, Table
from metrics.store import Run

MOST_ROWS = 40
METHOD = (
    "A flip: a perturbed case lies on the other side of a metric's threshold than its original. Copies change nothing,"
    " so their flips show how much model and evaluator vary on their own. “More than copies” = significant in an exact"
    " test of each original's variants against its own copies, after Holm correction over all tests (5 %)."
)


def flips_section(run: Run) -> Section | None:
    """Return the rates of flips, those above the copies' first; None for a suite without perturbed cases."""
    rates = flip_rates(run)
    if rates.empty:
        return None
    rows = rates.assign(less=~rates["exceeds"].eq(True)).sort_values(
        ["less", "control", "rate"], ascending=[True, True, False], kind="stable"
    ).to_dict("records")  # fmt: skip
    shown = rows[:MOST_ROWS]
    table = Table(
        "How often a perturbation flips a case",
        ("Model", "Metric", "Perturbation", "Flips", "Rate", "95 % interval", "Copies", "Adjusted p", "Result"),
        tuple(_row(row) for row in shown), (3, 4, 5, 6, 7),
    )  # fmt: skip
    notes = [METHOD]
    if len(rows) > len(shown):
        notes.append(
            f"{plural(len(rows) - len(shown), 'row')} with fewer flips not shown; export --what flip_rates has all."
        )
    return Section(
        "perturbations", "Perturbations", "Do small changes of the input change the result?", (table,), tuple(notes)
    )


def _row(row: Any) -> tuple[str, ...]:
    if row["control"]:
        result = "control"
    elif row["exceeds"] is None:
        result = "no copies to compare with"
    else:
        result = "more than copies" if row["exceeds"] else "no significant difference"
    copies = f"{row['control_flips']:,} of {row['control_pairs']:,}" if row["control_pairs"] else ""
    metric = metric_name(row["metric"], row["evaluator"])
    return (
        row["model"], f"{title_of(row['evaluator'])}: {metric}", row["perturbation"],
        f"{row['flips']:,} of {row['pairs']:,}", number(row["rate"]), interval(row["low"], row["high"]), copies,
        p_value(row["adjusted"]), result,
    )  # fmt: skip
