"""The judge of a new run: which one, its budget, its prompts, the estimated cost."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import streamlit as st

from components.widgets import url
from components.widgets.parameter_form import parameter_form
from metrics.core.prompt import wording

if TYPE_CHECKING:
    from components.data.judge_settings import JudgeFacts
    from metrics.core.evaluator import Evaluator
    from metrics.core.prompt import Prompt

TALLEST = 320


class UsedPrompt(NamedTuple):
    """A prompt, and the titles of the evaluators that use it."""

    prompt: Prompt
    used_by: tuple[str, ...]


def prompts_of(chosen: Sequence[str], catalogue: Mapping[str, Evaluator], judged: bool) -> dict[str, UsedPrompt]:
    """Return the prompts of the chosen evaluators by id, each once; those to a judge only if the run is `judged`."""
    found: dict[str, UsedPrompt] = {}
    for name in chosen:
        entry = catalogue[name]
        for prompt in entry.prompts if judged or "judge" not in entry.resources else ():
            before = found.get(prompt.id, UsedPrompt(prompt, ()))
            found[prompt.id] = before._replace(used_by=(*before.used_by, entry.title))
    return found


def in_address(name: str) -> dict[str, Any]:
    """Return the JSON object that the address keeps under `name`; {} if there is none."""
    try:
        found = json.loads(url.param(name) or "{}")
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def draw_judge(judge: JudgeFacts, budget_schema: Mapping[str, Any]) -> dict[str, Any]:
    """Draw who judges this run and its budget; return the judge's settings."""
    setting = judge.settings or {}
    with st.container(border=True):
        st.text(f"Judge: {judge.name}")
        with st.container(horizontal=True, vertical_alignment="center"):
            with st.popover("Budget", icon=":material/payments:"):
                st.text("Limits for this run. Cases beyond them are skipped and counted as skipped.")
                start = in_address("budget") if url.param("budget") else setting["budget"]
                budget = parameter_form(budget_schema, "run-budget", start=start, empty="no limit")
            url.link("Change the judge", "judge", back=url.state())
        usual = {name: value for name, value in setting["budget"].items() if value is not None}
        url.put(budget=json.dumps(budget) if budget != usual else None)
        if judge.lacks:
            st.text(f"✗ {judge.lacks}")
    return {**setting, "budget": budget}


def draw_prompts(prompts: Mapping[str, UsedPrompt]) -> dict[str, str]:
    """Draw a field for every prompt of the chosen evaluators; return the usable texts of the edited ones, by id."""
    if not prompts:
        return {}
    before = {name: text for name, text in in_address("prompts").items() if name in prompts and isinstance(text, str)}
    edited = {}
    title = f"Prompts ({len(prompts)}" + (f", {len(before)} edited)" if before else ")")
    with st.expander(title, icon=":material/edit_note:", key="prompts"):
        st.text(
            "The judge's instructions, above the texts of the case, and the templates of language models. A wording of "
            "your own is saved with the run, and its sha256 is shown beside its numbers."
        )
        for name, (prompt, used_by) in prompts.items():
            mark = f" · ✎ your own, sha256 {wording(before[name])}" if name in before else ""
            st.text(
                f"{name} · {', '.join(used_by)}{mark}",
                help=f"Placeholders: {' '.join(f'{{{one}}}' for one in prompt.placeholders)}",
            )
            text = st.text_area(
                name, before.get(name, prompt.text), key=f"prompt-{name}", label_visibility="collapsed",
                height=min(TALLEST, 60 + 23 * (len(prompt.text) // 95)),
            ).strip()  # fmt: skip
            if not text or text == prompt.text:
                continue
            if complaint := prompt.complaint(text):
                st.text(f"✗ Not used: it needs {complaint}.")
            else:
                edited[name] = text
    if edited != before:
        url.put(prompts=json.dumps(edited, ensure_ascii=False) if edited else None)
        st.rerun()
    return edited
