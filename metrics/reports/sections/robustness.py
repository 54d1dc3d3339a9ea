"""The report's section on perturbations: what flips cases over a threshold, and whether more than mere copies do."""

from typing import Any

from metrics.analysis.findings.flips import flip_rates
from metrics.core.registry import evaluators
from metrics.presentation.style import interval, number, plural
from metrics.reports.report import Section, Table
from metrics.reports.sections.comparisons import chance
from metrics.store import Run

MOST_ROWS = 40
METHOD = (
    "A flip: a perturbed case lies on the other side of a metric's threshold than its original. Copies change nothing,"
    " so their flips are what chance alone does: none where model and evaluator always answer alike. A perturbation is"
    " said to flip more than copies by an exact test that compares each original's variants with its own copies; over"
    " all tests together the chance of even one false finding is at most 5 % (Holm's correction)."
)


def flips_section(run: Run) -> Section | None:
    """Return the rates of flips, those beyond the copies first; None for a suite without perturbed cases."""
    rates = flip_rates(run)
    if rates.empty:
        return None
    rows = rates.assign(less=~rates["exceeds"].eq(True)).sort_values(
        ["less", "control", "rate"], ascending=[True, True, False], kind="stable"
    ).to_dict("records")  # fmt: skip
    shown = rows[:MOST_ROWS]
    table = Table(
        "How often a perturbation flips a case",
        ("Model", "Metric", "Perturbation", "Flips", "Rate", "95 % interval", "Copies", "p corrected", "Verdict"),
        tuple(_row(row) for row in shown), (3, 4, 5, 6, 7),
    )  # fmt: skip
    notes = [METHOD]
    if len(rows) > len(shown):
        notes.append(
            f"{plural(len(rows) - len(shown), 'row')} with fewer flips left out; `export --what flips` has all."
        )
    return Section("Perturbations", "Do small changes of the input change the verdict?", (table,), tuple(notes))


def _row(row: Any) -> tuple[str, ...]:
    entry = evaluators()[row["evaluator"]]
    if row["control"]:
        verdict = "the control"
    elif row["exceeds"] is None:
        verdict = "no copies to compare with"
    else:
        verdict = "more than copies" if row["exceeds"] else "not shown to be more"
    copies = f"{row['control_flips']:,} of {row['control_pairs']:,}" if row["control_pairs"] else ""
    return (
        row["model"], f"{entry.title}: {row['metric']}", row["perturbation"], f"{row['flips']:,} of {row['pairs']:,}",
        number(row["rate"]), interval(row["low"], row["high"]), copies,
        chance(None if row["adjusted"] != row["adjusted"] else row["adjusted"]), verdict,
    )  # fmt: skip
