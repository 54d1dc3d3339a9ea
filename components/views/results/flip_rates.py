"""Perturbation flips: how often each kind moves cases over a threshold compared with plain copies, and which."""

from collections.abc import Hashable, Mapping
from typing import Any

import pandas as pd
import streamlit as st

from components import data
from components.widgets import filters, url
from components.widgets.frame import empty
from components.widgets.literal import literal
from components.widgets.tables import header, numeric, records
from metrics.presentation import format, phrases

KEY = ("model", "evaluator", "metric", "perturbation")
CHANGES = {"worse": "now on the wrong side", "better": "now on the good side"}


def show_flips(run: str) -> None:
    """Draw the rates, and the flips behind the selected one."""
    rates = data.flip_rates(run)
    if rates.empty:
        empty(
            "This suite has no perturbed cases",
            "A perturbed case is a variant of another one, such as with a typo or a synonym; a flip is a verdict that "
            "changes with it. Make variants on the page Suites, then evaluate the suite again.",
            "Perturb a suite", "suites",
        )  # fmt: skip
        return
    models = filters.many("Models", list(rates["model"].unique()), "model")
    kinds = filters.many("Perturbations", list(rates["perturbation"].unique()), "perturbation")
    named = {name: data.title_of(name) for name in rates["evaluator"].unique()}
    evaluators = filters.many("Evaluators", named, "evaluator")
    filters.reset(["model", "perturbation", "evaluator"])
    for name, chosen in (("model", models), ("perturbation", kinds), ("evaluator", evaluators)):
        rates = rates[rates[name].isin(chosen)] if chosen else rates
    if rates.empty:
        st.info("No perturbation fits the filters in the sidebar. Clear them to see all.")
        return
    st.text(headline(rates))
    st.caption(method(rates))
    rates = rates.assign(more=rates["exceeds"].eq(True)).sort_values(
        ["more", "control", "rate"], ascending=[False, True, False], kind="stable"
    ).reset_index(drop=True)  # fmt: skip
    asked = tuple(url.param(f"of_{name}") for name in KEY)
    clicked = records(_table(rates), _columns(), "flip-rates", tallest=36 + 35 * 7)
    if clicked is not None:
        url.put(**{f"of_{name}": rates[name].iloc[clicked] for name in KEY})
        asked = tuple(str(rates[name].iloc[clicked]) for name in KEY)
    known = [tuple(key) for key in rates[list(KEY)].itertuples(index=False, name=None)]
    flipped = [key for key, count in zip(known, rates["flips"], strict=True) if count]
    if asked not in known:
        asked = flipped[0] if flipped else known[0]
    _show_cases(run, rates.iloc[known.index(asked)].to_dict())


def headline(rates: pd.DataFrame) -> str:
    """Return the rates in a sentence."""
    tried, controls = rates[~rates["control"]], rates[rates["control"]]
    more = tried[tried["exceeds"].eq(True)]
    flips = format.plural(int(tried["flips"].sum()), "flip")
    base = (
        f"Copies flip in {format.count(int(controls['flips'].sum()))} of {format.count(int(controls['pairs'].sum()))}."
        if len(controls)
        else "Without copies it is unknown which of them are chance."
    )
    if more.empty:
        return f"{flips}; no perturbation flips significantly more than copies. {base}"
    kinds, models = ", ".join(more["perturbation"].unique()), format.plural(more["model"].nunique(), "model")
    return f"{flips}; significantly more than copies: {kinds}, in {models}. {base}"


def method(rates: pd.DataFrame) -> str:
    """Return the definition of a flip, the test and the correction, in plain words."""
    tests = int(rates["p"].notna().sum())
    found = (
        f"{phrases.significance(tests, 'holm')}, by an exact test against the copies of the same originals"
        if tests
        else "not tested, because nothing but copies flipped"
    )
    return f"A flip: the variant is on the other side of the threshold than its original. “More than copies” = {found}."


def _table(rates: pd.DataFrame) -> pd.DataFrame:
    rows = rates.to_dict("records")
    return pd.DataFrame(
        {
            "model": [row["model"] for row in rows],
            "metric": [f"{data.title_of(row['evaluator'])}: {row['metric']}" for row in rows],
            "perturbation": [row["perturbation"] for row in rows],
            "flips": [f"{format.count(row['flips'])} of {format.count(row['pairs'])}" for row in rows],
            "rate": format.aligned([row["rate"] for row in rows]),
            "interval": [format.interval(row["low"], row["high"]) for row in rows],
            "worse": [row["worse"] for row in rows],
            "copies": [
                f"{format.count(row['control_flips'])} of {format.count(row['control_pairs'])}"
                if row["control_pairs"]
                else format.MISSING
                for row in rows
            ],
            "verdict": [_comparison(row) for row in rows],
            "p": [format.p_value(row["adjusted"]) for row in rows],
            "unscored": [row["unscored"] for row in rows],
        }
    )


def _comparison(row: Mapping[Hashable, Any]) -> str:
    if row["control"]:
        return "the control"
    if row["exceeds"] is None:
        return "no copies to compare with"
    return "more than copies" if row["exceeds"] else "not significantly more"


def _columns() -> dict[str, Any]:
    return {
        "model": header("Model", 130),
        "metric": header("Metric", 190),
        "perturbation": header("Perturbation", 110),
        "flips": numeric("Flips", 90, "variants on the other side of the threshold than their original, of all pairs"),
        "rate": numeric("Rate", 60, "flips / pairs"),
        "interval": numeric("95 % interval", 110, "Wilson interval of the rate; n is the number of originals"),
        "worse": numeric("Worse", 60, "flips to the wrong side"),
        "copies": numeric("Copies", 90, "flips of plain copies of the same originals: the base rate"),
        "verdict": header("Against copies", 160, "more: the adjusted p is at most 0.05"),
        "p": numeric("Adjusted p", 76, "chance of so many flips if the kind flipped no more than copies, after Holm"),
        "unscored": numeric("Unscored", 76, "variants that have no value, or whose original has none"),
    }


def _show_cases(run: str, row: Mapping[Hashable, Any]) -> None:
    """Draw the flips that a rate counts."""
    metric = f"{data.title_of(row['evaluator'])}: {row['metric']}"
    st.subheader(
        f"{literal(format.shorten(row['model'], 40))} · {metric} · {row['perturbation']}: "
        f"{format.plural(int(row['flips']), 'flip')}",
        anchor=False,
    )
    evidence = data.flip_evidence(row)
    st.text(f"{evidence[:1].upper()}{evidence[1:]}.")
    found = data.flips(run, **{name: row[name] for name in KEY})
    if found.empty:
        st.text("No case of this kind is on the other side.")
        return
    texts = data.case_texts(run, tuple(found["case_id"]))["preview"]
    table = found.assign(
        before=format.aligned(found["before"].tolist()), after=format.aligned(found["after"].tolist()),
        change=found["change"].map(CHANGES), preview=texts.to_numpy(),
    )  # fmt: skip
    columns = {
        "case_id": header("Variant", 130),
        "original": header("Original", 110),
        "before": numeric("Original's value", 104),
        "after": numeric("Variant's value", 100),
        "change": header("Change", 160),
        "preview": header("Text of the variant", "large"),
    }
    clicked = records(table, columns, f"flips-{'-'.join(str(row[name]) for name in KEY)}", tallest=36 + 35 * 8)
    with st.container(horizontal=True):
        variant = st.button("Open the first variant", type="primary", icon=":material/arrow_forward:")
        original = st.button("Open its original")
    if variant or original or clicked is not None:
        name = found["original" if original else "case_id"].iloc[0 if clicked is None else clicked]
        url.go("example", run=run, case=name, **{key: row[key] for key in ("evaluator", "metric", "model")})
