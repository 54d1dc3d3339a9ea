"""The judge of a new run: which one, its budget, its prompts, the estimated cost."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import streamlit as st

from components.views.judge.judge_calls import dollars
from components.widgets import url
from components.widgets.parameter_form import parameter_form
from metrics.presentation.format import count, plural

if TYPE_CHECKING:
    from components.data import Estimate, Evaluator, JudgeFacts

TALLEST = 320


class UsedPrompt(NamedTuple):
    """The text of a prompt, and the titles of the evaluators that use it."""

    text: str
    used_by: tuple[str, ...]


def prompts_of(chosen: Sequence[str], catalogue: Mapping[str, Evaluator]) -> dict[str, UsedPrompt]:
    """Return the prompts of the chosen evaluators by id, each once."""
    found: dict[str, UsedPrompt] = {}
    for name in chosen:
        for prompt in catalogue[name].prompts:
            before = found.get(prompt.id, UsedPrompt(prompt.text, ()))
            found[prompt.id] = before._replace(used_by=(*before.used_by, catalogue[name].title))
    return found


def estimate_lines(estimate: Estimate | str) -> list[str]:
    """Return what a run would ask, in lines: calls, and how many the cache answers; tokens; dollars."""
    if isinstance(estimate, str):
        return [f"No estimate: {estimate}"]
    calls, cached = estimate.calls, estimate.cached
    lines = [f"About {plural(calls, 'judge call')}" if calls else "No judge call: the cache has every reply"]
    if cached and calls:
        lines[0] += f"; the cache has {count(cached)} more"
    if calls:
        tokens = estimate.prompt_tokens + estimate.completion_tokens
        lines.append(f"About {plural(tokens, 'token')} · {dollars(estimate.usd)}")
    if estimate.walked < estimate.cases:
        lines.append(f"Estimated from {count(estimate.walked)} of {plural(estimate.cases, 'case')}.")
    return lines


def in_address(name: str) -> dict[str, Any]:
    """Return the JSON object that the address keeps under `name`; {} if there is none."""
    try:
        found = json.loads(url.param(name) or "{}")
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def draw_judge(judge: JudgeFacts, budget_schema: Mapping[str, Any], waiting: int) -> dict[str, Any]:
    """Draw who judges this run and its budget; return the judge's settings, {} if there is none.

    `waiting` evaluators need a judge.
    """
    setting = judge.settings
    with st.container(border=True):
        if setting is None:
            st.text(
                f"{plural(waiting, 'evaluator needs', 'evaluators need')} a judge, and none is set up: use a hosted "
                "model with its key, your own server, or the local judge."
            )
            url.link("Set up a judge", "judge", icon=":material/gavel:")
            return {}
        st.text(f"Judge: {judge.name}")
        with st.container(horizontal=True, vertical_alignment="center"):
            with st.popover("Budget", icon=":material/payments:"):
                st.text("Limits for this run. Cases beyond them are skipped and counted as skipped.")
                start = in_address("budget") if url.param("budget") else setting["budget"]
                budget = parameter_form(budget_schema, "run-budget", start=start)
            url.link("Change the judge", "judge")
        url.put(budget=json.dumps(budget) if budget != _without_none(setting["budget"]) else None)
        if judge.lacks:
            st.text(f"✗ {judge.lacks}")
    return {**setting, "budget": budget}


def draw_prompts(prompts: Mapping[str, UsedPrompt]) -> dict[str, str]:
    """Draw a field for every prompt of the chosen evaluators; return the texts of the edited ones, by id."""
    if not prompts:
        return {}
    before = {name: text for name, text in in_address("prompts").items() if name in prompts and isinstance(text, str)}
    edited = {}
    title = f"Prompts ({len(prompts)}" + (f", {len(before)} edited)" if before else ")")
    with st.expander(title, icon=":material/edit_note:", key="prompts"):
        st.text("The instruction to the judge, above the texts of the case. Edited prompts are saved with the run.")
        for name, prompt in prompts.items():
            mark = " · ✎ edited for this run" if name in before else ""
            st.text(f"{name} · {', '.join(prompt.used_by)}{mark}")
            text = st.text_area(
                name, before.get(name, prompt.text), key=f"prompt-{name}", label_visibility="collapsed",
                height=min(TALLEST, 60 + 23 * (len(prompt.text) // 95)),
            ).strip()  # fmt: skip
            if text and text != prompt.text:
                edited[name] = text
    if edited != before:
        url.put(prompts=json.dumps(edited, ensure_ascii=False) if edited else None)
        st.rerun()
    return edited


def _without_none(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}
