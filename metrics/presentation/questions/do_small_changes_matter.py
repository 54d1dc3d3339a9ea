"""Do small changes of the input matter: which perturbations flip cases over a threshold more often than copies do?"""

from collections.abc import Iterator, Sequence
from typing import Any

import pandas as pd

from metrics.analysis.findings.flips import flip_rates, flips
from metrics.analysis.findings.problems import problems
from metrics.core.registry import title_of
from metrics.presentation.blocks import Block, Head, Link, Note, Sentence, Table, table_of
from metrics.presentation.format import MISSING, aligned, count, interval, metric_name, p_value, plural
from metrics.presentation.phrases import significance
from metrics.presentation.question import QUICK, question
from metrics.store import Run

MAX_ROWS = 40  # in a report
MAX_CASES = 100  # the same, of flips by test case
CHANGES = {"worse": "now on the wrong side", "better": "now on the good side"}
WILSON = "Wilson interval of the rate; n is the number of originals"
ADJUSTED = "chance of so many flips if the kind flipped no more than copies, after Holm"
UNSCORED = "variants that have no value, or whose original has none"
KEY = ("model", "evaluator", "metric", "perturbation")
FLIPPED = "variants on the other side of the threshold than their original, of all pairs"


@question("perturbations", "Perturbations", "Do small changes of the input change the result?", "problems", short=QUICK)
def do_small_changes_matter(run: Run) -> list[Block]:
    """Return the rates of flips, those above the copies' first; nothing for a suite without perturbed cases."""
    rates = in_order(flip_rates(run))
    if rates.empty:
        return []
    link = Link("problems", "See the flips", {"view": "flips"})
    blocks: list[Block] = [Sentence(answer(rates), link=link), flips_table(rates[:MAX_ROWS]), Note(method(rates))]
    if (left := len(rates) - MAX_ROWS) > 0:
        blocks.append(Note(f"{plural(left, 'row')} with fewer flips not shown; export --what flip_rates has all."))
    if len(cases := flips(run)):
        blocks.append(cases_table(cases[:MAX_CASES]))
    if (left := len(cases) - MAX_CASES) > 0:
        blocks.append(Note(f"{plural(left, 'flip')} not shown; export --what flips has all."))
    return blocks


def flip_lines(run: Run, most: int) -> Iterator[str]:
    """Yield a line for each perturbed case and model whose metric flipped, worst first, and how many are not shown.

    None for a suite so large that no place answers unasked.
    """
    if run.spec.suite.cases > QUICK:
        return
    found = problems(run)
    messages = found.loc[found["kind"] == "flip", "message"]
    yield from messages[:most]
    if len(messages) > most:
        yield f"{plural(len(messages) - most, 'more flip')}; export --what flips has all"


def in_order(rates: pd.DataFrame) -> pd.DataFrame:
    """Return the rates of analysis.flip_rates, those significantly above the copies' first, the copies' own last."""
    order = rates.assign(less=~rates["exceeds"].eq(True)).sort_values(
        ["less", "control", "rate"], ascending=[True, True, False], kind="stable"
    )
    return rates.loc[order.index].reset_index(drop=True)


def count_flips(rates: pd.DataFrame) -> int:
    """Return how many flips there are, without those of copies."""
    return int(rates.loc[~rates["control"], "flips"].sum())


def answer(rates: pd.DataFrame) -> str:
    """Return what the rates come to, in two sentences."""
    tried, controls = rates[~rates["control"]], rates[rates["control"]]
    more = tried[tried["exceeds"].eq(True)]
    total = plural(count_flips(rates), "flip")
    base = (
        f"Copies flip in {count(int(controls['flips'].sum()))} of {count(int(controls['pairs'].sum()))}."
        if len(controls)
        else "Without copies it is unknown which of them are chance."
    )
    if more.empty:
        return f"{total}; no perturbation flips significantly more than copies. {base}"
    kinds, models = ", ".join(more["perturbation"].unique()), plural(more["model"].nunique(), "model")
    return f"{total}; significantly more than copies: {kinds}, in {models}. {base}"


def method(rates: pd.DataFrame) -> str:
    """Return the definition of a flip, the test and the correction, in plain words."""
    tests = int(rates["p"].notna().sum())
    found = (
        f"{significance(tests, 'holm')}, by an exact test against the copies of the same originals"
        if tests
        else "not tested, because nothing but copies flipped"
    )
    return (
        "A flip: the variant is on the other side of the threshold than its original. Copies change nothing, so their "
        f"flips show how much model and evaluator vary on their own. “More than copies” = {found}."
    )


def flips_table(rates: pd.DataFrame) -> Table:
    """Return the rates with all their numbers; a row leads to its flips."""
    rows = rates.to_dict("records")
    titles = [f"{title_of(row['evaluator'])}: {metric_name(row['metric'], row['evaluator'])}" for row in rows]
    flipped = [f"{count(row['flips'])} of {count(row['pairs'])}" for row in rows]
    copies = [
        f"{count(row['control_flips'])} of {count(row['control_pairs'])}" if row["control_pairs"] else MISSING
        for row in rows
    ]
    return table_of(
        "How often a perturbation flips a case",
        (Head("Model", width=130), [row["model"] for row in rows]),
        (Head("Metric", width=190), titles),
        (Head("Perturbation", width=110), [row["perturbation"] for row in rows]),
        (Head("Flips", True, FLIPPED, 90), flipped),
        (Head("Rate", True, "flips / pairs", 60), aligned([row["rate"] for row in rows])),
        (Head("95 % interval", True, WILSON, 110), [interval(row["low"], row["high"]) for row in rows]),
        (Head("Worse", True, "flips to the wrong side", 60, page_only=True), [count(row["worse"]) for row in rows]),
        (Head("Copies", True, "flips of plain copies of the same originals: the base rate", 90), copies),
        (Head("Against copies", False, "more: the adjusted p is at most 0.05", 160), list(map(_result, rows))),
        (Head("Adjusted p", True, ADJUSTED, 76), [p_value(row["adjusted"]) for row in rows]),
        (Head("Unscored", True, UNSCORED, 76, page_only=True), [count(row["unscored"]) for row in rows]),
        links=[Link("problems", "See the flips", {f"of_{name}": str(row[name]) for name in KEY}) for row in rows],
    )


def cases_table(found: pd.DataFrame, texts: Sequence[str] | None = None) -> Table:
    """Return rows of analysis.flips, each leading to its case; `texts`: the variants' own."""
    rows = found.to_dict("records")
    about = [{"case": row["case_id"]} | {name: row[name] for name in ("evaluator", "metric", "model")} for row in rows]
    titles = [f"{title_of(row['evaluator'])}: {metric_name(row['metric'], row['evaluator'])}" for row in rows]
    text = [] if texts is None else [(Head("Text of the variant", width=420, page_only=True), texts)]
    return table_of(
        "Flips by test case",
        (Head("Test case", width=130), [row["case_id"] for row in rows]),
        (Head("Model", width=130), [row["model"] for row in rows]),
        (Head("Metric", width=190), titles),
        (Head("Perturbation", width=110), [row["perturbation"] for row in rows]),
        (Head("Original", width=110), [row["original"] for row in rows]),
        (Head("Before", True, "value of the original", 64), aligned([row["before"] for row in rows])),
        (Head("After", True, "value of the variant", 64), aligned([row["after"] for row in rows])),
        (Head("Change", width=150), [CHANGES[row["change"]] for row in rows]),
        *text,
        links=[Link("case", "Open the case", where) for where in about],
    )


def _result(row: Any) -> str:
    if row["control"]:
        return "the control"
    if row["exceeds"] is None:
        return "no copies to compare with"
    return "more than copies" if row["exceeds"] else "not significantly more"
