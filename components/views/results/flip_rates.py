"""Perturbation flips: how often each kind moves cases over a threshold compared with plain copies, and which."""

from collections.abc import Hashable, Mapping
from typing import Any

import pandas as pd
import streamlit as st

from components.data import run_reads
from components.viewers import blocks
from components.widgets import controls, filters, url
from components.widgets.frame import empty
from components.widgets.literal import literal
from metrics.analysis.findings.problems import flip_evidence
from metrics.core.registry import title_of
from metrics.presentation import format
from metrics.presentation.questions import do_small_changes_matter

LISTS = {"rates": "By metric and perturbation", "cases": "By test case"}


def show_flips(run: str) -> None:
    """Draw the rates and the flips behind the selected one, or every flip."""
    rates = run_reads.flip_rates(run)
    if rates.empty:
        empty(
            "This suite has no perturbed cases",
            "A perturbed case is a variant of another one, such as with a typo or a synonym; a flip is a verdict that "
            "changes with it. Make variants on the page Suites, then evaluate the suite again.",
            "Perturb a suite",
            "suites",
        )
        return
    models = filters.many("Models", list(rates["model"].unique()), "model")
    kinds = filters.many("Perturbations", list(rates["perturbation"].unique()), "perturbation")
    named = {name: title_of(name) for name in rates["evaluator"].unique()}
    evaluators = filters.many("Evaluators", named, "evaluator")
    filters.reset(["model", "perturbation", "evaluator"])
    every = run_reads.flips(run)
    for name, chosen in (("model", models), ("perturbation", kinds), ("evaluator", evaluators)):
        rates, every = (frame[frame[name].isin(chosen)] if chosen else frame for frame in (rates, every))
    if rates.empty:
        st.info("No perturbation fits the filters in the sidebar. Clear them to see all.")
        return
    rates = do_small_changes_matter.in_order(rates)
    st.text(do_small_changes_matter.answer(rates))
    st.caption(do_small_changes_matter.method(rates))
    if controls.choice("List", LISTS, "list") == "cases":
        _show_cases(run, every)
        return
    blocks.draw_table(do_small_changes_matter.flips_table(rates), run, "problems", 36 + 35 * 7, "flip-rates")
    asked = tuple(url.param(f"of_{name}") for name in do_small_changes_matter.KEY)
    known = [tuple(key) for key in rates[list(do_small_changes_matter.KEY)].itertuples(index=False, name=None)]
    flipped = [key for key, count in zip(known, rates["flips"], strict=True) if count]
    if asked not in known:
        asked = flipped[0] if flipped else known[0]
    _show_rate(run, rates.iloc[known.index(asked)].to_dict())


def _show_rate(run: str, row: Mapping[Hashable, Any]) -> None:
    metric = f"{title_of(row['evaluator'])}: {row['metric']}"
    st.subheader(
        f"{literal(format.shorten(row['model'], 40))} · {metric} · {row['perturbation']}: "
        f"{format.plural(int(row['flips']), 'flip')}",
        anchor=False,
    )
    evidence = flip_evidence(row)
    st.text(f"{evidence[:1].upper()}{evidence[1:]}.")
    _show_cases(run, run_reads.flips(run, **{name: row[name] for name in do_small_changes_matter.KEY}))


def _show_cases(run: str, found: pd.DataFrame) -> None:
    """Draw flips, a row for each perturbed case, model and metric."""
    if found.empty:
        st.text("No case of this kind is on the other side.")
        return
    texts = run_reads.case_texts(run, tuple(dict.fromkeys(found["case_id"])))
    table = do_small_changes_matter.cases_table(
        found, texts.set_index("case_id")["preview"].reindex(found["case_id"]).tolist()
    )
    blocks.draw_table(table, run, "problems", 36 + 35 * 8, "flip-cases")
    st.caption("Click a row to open its case.")
