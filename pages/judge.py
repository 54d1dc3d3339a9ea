from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from components.data import judge_settings, visitors
from components.views.judge import judge_form, machine_models
from components.widgets import controls, url
from components.widgets.frame import begin, editors_only, frame
from components.widgets.parameter_form import parameter_form

if TYPE_CHECKING:
    from collections.abc import Sequence

    from components.data import GgufFile

MOVED = {"cache": "cache", "prompts": "criteria", "rubrics": "criteria"}  # former views: the page of each
NO_JUDGE = (
    "Claims, relevance or toxicity need a language model as a judge. Without one, the evaluators that need it are "
    "skipped. Three ways to set one up:"
)
OTHER = (
    "Its agreement with human verdicts is not measured, and its probabilities are not calibrated. Compare it with your "
    "own labels before you rely on it."
)
CHANGED = (
    "It is measured with its default settings, not with these. Compare it with your own labels before you rely on it."
)
SMALL = (
    "It is a small model. The table below says how well it tells good from bad. On your data, compare it with your own "
    "labels before you rely on it."
)


def teach() -> None:
    """Draw how to set up a judge."""
    missing = judge_settings.local_judge()[-1]
    with st.container(border=True):
        st.subheader("No judge set up", anchor=False)
        st.text(NO_JUDGE)
        st.text(
            "1. A hosted model: put its key into the environment of this studio, and name the model below.\n"
            "2. Your own server (vLLM, Ollama, llama.cpp …): give its address; nothing leaves your network.\n"
            f"3. The local judge, in this process, without network access: {missing or 'it is here; choose it below.'}"
        )


def fill_in(way: str, kept: judge_settings.Setting | None, files: Sequence[GgufFile]) -> judge_settings.Setting | None:
    """Draw the form; return its settings, None while something is missing. `files` are offered as local models."""
    number, offer = machine_models.offered()
    start = next((one for one in (offer, kept) if one and judge_form.way_of(one) == way), None)
    model = base_url = ""
    if way == "server":
        base_url = st.text_input(
            "Base URL", (start or {}).get("base_url") or "", key=f"judge-url-{number}", placeholder="http://localhost:8000/v1",
            help=f"For example {judge_form.SERVERS}",
        )  # fmt: skip
    if way == judge_form.LOCAL:
        names = {judge_form.LOCAL: "The built-in local judge"}
        names |= {one.model: f"{one.name} ({one.place})" for one in files}
        here = (name for name in names if not judge_settings.judge_facts({"model": name}).lacks)
        before = start["model"] if start else next(here, None)  # what cannot judge is not chosen unasked
        names |= {before: names.get(before, before)} if before else {}
        chosen_file = st.selectbox(
            "Model", list(names), list(names).index(before) if before else None, names.__getitem__,
            key=f"judge-file-{number}", placeholder="None is here yet",
            help="The built-in local judge is measured and calibrated; the others are files found on this machine.",
        )  # fmt: skip
        model = chosen_file or ""
    else:
        model = st.text_input(
            "Model", (start or {}).get("model") or "", key=f"judge-model-{way}-{number}",
            help=f"As litellm names it: {judge_form.MODELS}" if way == "hosted" else "As the server names it.",
            placeholder="gpt-4o-mini" if way == "hosted" else "the model's name",
        )  # fmt: skip
    schemas = judge_settings.judge_schemas()
    with st.expander("Sampling, limits, budget"):
        chosen = parameter_form(schemas.limits, "judge-limits", start=kept)
        st.text("Budget of one run. A run can be started with its own.")
        most = parameter_form(schemas.budget, "judge-budget", start=(kept or {}).get("budget"), empty="no limit")
    with st.expander("More settings"):
        st.text("Sent to the model only where they are set. A model that does not take one says so on the test call.")
        chosen |= parameter_form(schemas.options, "judge-options", start=kept, empty="not sent")
    with st.expander("Panel and repeats"):
        st.text(
            "Every judge of a panel judges every case, each as often as Repeats says; their scores are combined into "
            "one. Page Agreement shows how far they agree, page Cases where they disagree most."
        )
        chosen |= parameter_form(schemas.panel, "judge-combined", start=kept)
        lines = st.text_area(
            "Further judges, one per line", judge_form.panel_lines((kept or {}).get("panel") or []), key="judge-panel",
            placeholder="anthropic/claude-3-5-haiku-latest\nqwen2.5-7b at http://localhost:8000/v1",
            help="They join the judge above: a model as litellm names it, or MODEL at ADDRESS of a server, or local.",
        )  # fmt: skip
    return judge_form.setting_of(way, model, base_url, chosen, most, judge_form.panel_of(lines), kept)


def set_up() -> None:
    """Draw the workspace's judge: the form, a summary, a test call."""
    now = judge_settings.judge_chosen()
    kept = now.settings
    if now.problem:
        st.text(f"✗ The judge of this workspace cannot be read: {now.problem}")
    if kept is None:
        teach()
    files = judge_settings.own_models()
    left, right = st.columns([3, 2], gap="large")
    with left:
        first = judge_form.way_of(kept)  # the default, which the address leaves out
        way = controls.choice("Kind of judge", {first: judge_form.WAYS[first], **judge_form.WAYS}, "way")
        setting = fill_in(way, kept, files)
    facts = judge_settings.judge_facts(setting) if setting else None
    measured = judge_settings.measured_agreement(facts.settings) if facts and facts.settings else []
    with right, st.container(border=True):
        saved = facts is not None and facts.settings is not None and facts.settings == kept
        summarise(way, facts, bool(measured), saved, now)
        actions(setting if facts and facts.settings else None, saved, kept is not None)
    of, trial = st.session_state.get("judge-trial", (None, None))
    if trial is not None and of == setting:
        with right:
            judge_form.draw_trial(trial)
    if measured:
        judge_form.draw_agreement(measured)


def summarise(
    way: str, facts: judge_settings.JudgeFacts | None, measured: bool, saved: bool, now: judge_settings.JudgeFacts
) -> None:
    """Draw what the form means so far; `measured`: a table says how far the judge agrees with labels."""
    st.subheader("Judge of this workspace" if saved else "Not saved yet", anchor=False)
    if facts is None:
        asks = {"hosted": "Enter the model.", "server": "Enter the address and the model."}
        st.text(asks.get(way, "Choose a model."))
    elif facts.problem:
        st.text(f"✗ {facts.problem}")
    else:
        st.text(facts.name)
        for line in judge_form.key_lines(facts.keys, needed=way == "hosted"):
            st.text(line)
        if way == "hosted" and not facts.keys:
            st.text("Its key is read from the environment, under the name that litellm documents for this provider.")
        if way == "hosted" and visitors.may("admin"):
            judge_form.draw_key(name for name, there in facts.keys.items() if not there)
        judge_form.draw_kept_back(facts.kept_back)
        if facts.lacks:
            st.text(f"✗ {facts.lacks}")
    if way == judge_form.LOCAL and facts is not None and facts.settings is not None:
        known = facts.settings["model"] == judge_form.LOCAL
        st.text(SMALL if measured else CHANGED if known else OTHER)
    if now.name and not saved:
        st.text(f"Runs are judged by {now.name} until you save.")


def actions(setting: judge_settings.Setting | None, saved: bool, chosen: bool) -> None:
    """Draw the buttons: test call, save, remove."""
    with st.container(horizontal=True):
        if st.button("Test call", icon=":material/call:", disabled=setting is None, help="Asks one small question."):
            assert setting is not None  # else the button is disabled
            with st.spinner("Asking the judge"):
                st.session_state["judge-trial"] = setting, judge_settings.try_judge(setting)
        if st.button(
            "Save", type="primary", disabled=setting is None or saved, help="Runs are judged by it from now on."
        ):
            if refused := judge_settings.choose_judge(setting):
                st.text(f"✗ {refused}")
            else:
                machine_models.forget()
                st.rerun()
        if chosen and st.button(
            "Remove", type="tertiary", help="The workspace then has no judge; nothing else is lost."
        ):
            judge_settings.choose_judge(None)
            machine_models.forget()
            st.rerun()
    back = url.param("back")  # the evaluation that asked for a judge, as it was
    label = "Back to the evaluation" if back else "Evaluate a suite"
    if (saved or back) and st.button(label, icon=":material/arrow_forward:", key="judge-back"):
        url.go("evaluate", **url.state_of(back or ""))


begin()
if (former := url.param("view", "")) in MOVED:
    url.go(MOVED[former], view=former if former == "rubrics" else None)
frame("judge", "Which LLM judges, and what does it cost?", needs_run=False)
if not visitors.may("editor"):
    st.text(f"Runs of this workspace are judged by {judge_settings.judge_chosen().name or 'no judge'}.")
    editors_only("choose a judge")
set_up()
