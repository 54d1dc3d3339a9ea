"""The judge of a run in the wizard: who it is, what it may spend, its prompts, what it will cost."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from components.views.judge.judge_calls import dollars
from components.widgets import url
from components.widgets.parameter_form import parameter_form
from metrics.presentation.format import count, plural

TALLEST = 320


def prompts_of(chosen: Sequence[str], catalogue: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return the prompts of the chosen evaluators by id, each once: text, and `used_by`, the titles of those that ask
    it.
    """
    found: dict[str, dict[str, Any]] = {}
    for name in chosen:
        for prompt, text in catalogue[name]["prompts"].items():
            found.setdefault(prompt, {"text": text, "used_by": []})["used_by"].append(catalogue[name]["title"])
    return found


def estimate_lines(estimate: Mapping[str, Any]) -> list[str]:
    """Return what a run would ask, in lines: calls and what the cache holds of them; tokens; dollars."""
    if estimate["problem"]:
        return [f"No estimate: {estimate['problem']}"]
    calls, cached = estimate["calls"], estimate["cached"]
    lines = [f"About {plural(calls, 'judge call')}" if calls else "No judge call: the cache holds every reply"]
    if cached and calls:
        lines[0] += f"; the cache holds {count(cached)} more"
    if calls:
        lines.append(f"About {plural(estimate['tokens'], 'token')} · {dollars(estimate['usd'])}")
    if estimate["walked"] < estimate["cases"]:
        lines.append(f"Taken from {count(estimate['walked'])} of {plural(estimate['cases'], 'case')}.")
    return lines


def in_address(name: str) -> dict[str, Any]:
    """Return the JSON object that the address keeps under `name`; empty where it is none."""
    try:
        found = json.loads(url.param(name) or "{}")
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def draw_judge(judge: Mapping[str, Any], budget_schema: Mapping[str, Any], waiting: int) -> dict[str, Any]:
    """Who judges this run and what it may spend at most; the judge's settings, {} where there is none.

    `judge` is as components.data.judge_chosen gives it; `waiting` evaluators need one.
    """
    import streamlit as st

    setting = judge["settings"]
    with st.container(border=True):
        if setting is None:
            st.text(
                f"{plural(waiting, 'evaluator')} need{'s' * (waiting == 1)} a judge, and this workspace has none: "
                "name a model and its key, a server of your own, or install the local judge."
            )
            url.link("Set up a judge", "judge", icon=":material/gavel:")
            return {}
        st.text(f"Judge: {judge['name']}")
        with st.container(horizontal=True, vertical_alignment="center"):
            with st.popover("Budget", icon=":material/payments:"):
                st.text("Most that this run may spend. Cases beyond it are skipped, and counted as skipped.")
                start = in_address("budget") if url.param("budget") else setting["budget"]
                budget = parameter_form(budget_schema, "run-budget", start=start)
            url.link("Change the judge", "judge")
        url.put(budget=json.dumps(budget) if budget != _without_none(setting["budget"]) else None)
        if judge["lacks"]:
            st.text(f"✗ {judge['lacks']}")
    return {**setting, "budget": budget}


def draw_prompts(prompts: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """Return every prompt of the chosen evaluators in a field of its own; the texts of those that were changed, by id."""
    import streamlit as st

    if not prompts:
        return {}
    before = {name: text for name, text in in_address("prompts").items() if name in prompts and isinstance(text, str)}
    edited = {}
    title = f"Prompts ({len(prompts)}" + (f", {len(before)} edited)" if before else ")")
    with st.expander(title, icon=":material/edit_note:", key="prompts"):
        st.text("What the judge is asked, above the case's texts. A changed one is asked anew and saved with the run.")
        for name, prompt in prompts.items():
            mark = " · ✎ edited for this run" if name in before else ""
            st.text(f"{name} · {', '.join(prompt['used_by'])}{mark}")
            text = st.text_area(
                name, before.get(name, prompt["text"]), key=f"prompt-{name}", label_visibility="collapsed",
                height=min(TALLEST, 60 + 23 * (len(prompt["text"]) // 95)),
            ).strip()  # fmt: skip
            if text and text != prompt["text"]:
                edited[name] = text
    if edited != before:
        url.put(prompts=json.dumps(edited, ensure_ascii=False) if edited else None)
        st.rerun()
    return edited


def _without_none(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}
