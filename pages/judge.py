import streamlit as st

from components import data
from components.views.judge import judge_form, prompt_playground, reply_cache
from components.widgets import controls, url
from components.widgets.frame import frame
from components.widgets.parameter_form import parameter_form

VIEWS = {"setup": "Set up", "cache": "Cache", "prompts": "Your own prompts"}
NO_JUDGE = (
    "Claims, relevance, toxicity and the like can only be judged by a language model. Without one, these evaluators "
    "are offered but not run, and nothing stands in for them. Three ways to get a judge:"
)
TRUST = (
    "How far to trust it: it is a small model. Against people's verdicts it was measured as below; on your data, hold "
    "it against labels of your own before you decide anything by it."
)


def teach() -> None:
    """What to do where no judge is chosen."""
    command, installed = data.local_judge()
    with st.container(border=True):
        st.subheader("No judge, no number", anchor=False)
        st.text(NO_JUDGE)
        third = "it is installed, choose it below." if installed else f"install it once by `{command}`."
        st.text(
            "1. A model and its key: put the key into the environment of this studio, name the model below.\n"
            "2. A server of your own (vLLM, Ollama, llama.cpp …): give its address; nothing leaves your network.\n"
            f"3. The local judge, in this process, without a network: {third}"
        )


def fill_in(way: str, kept: dict | None) -> dict | None:
    """Return the form; the settings it means, None while something is missing."""
    start = kept if judge_form.way_of(kept) == way else None
    model = base_url = ""
    if way == "server":
        base_url = st.text_input(
            "Base URL", (start or {}).get("base_url") or "", key="judge-url", placeholder="http://localhost:8000/v1",
            help=f"For example {judge_form.SERVERS}",
        )  # fmt: skip
    if way != judge_form.LOCAL:
        model = st.text_input(
            "Model", (start or {}).get("model") or "", key=f"judge-model-{way}",
            help=f"As litellm names it: {judge_form.MODELS}" if way == "hosted" else "As the server names it.",
            placeholder="gpt-4o-mini" if way == "hosted" else "the model's name",
        )  # fmt: skip
    limits, budget = data.judge_schemas()
    with st.expander("Sampling, limits, budget"):
        chosen = parameter_form(limits, "judge-limits", start=kept)
        st.text("Most that a run may spend; empty: no limit. A run can be given another budget when it is started.")
        most = parameter_form(budget, "judge-budget", start=(kept or {}).get("budget"))
    with st.expander("Panel: further judges"):
        st.text("Each of them judges every case too: scores are their mean, yes or no goes by the majority.")
        lines = st.text_area(
            "One judge a line", judge_form.panel_lines((kept or {}).get("panel") or []), key="judge-panel",
            placeholder="anthropic/claude-3-5-haiku-latest\nqwen2.5-7b at http://localhost:8000/v1",
        )  # fmt: skip
    return judge_form.setting_of(way, model, base_url, chosen, most, judge_form.panel_of(lines), kept)


def set_up() -> None:
    """The workspace's judge: what it is, the form, a test call."""
    now = data.judge_chosen()
    kept = now["settings"]
    if now["problem"]:
        st.text(f"✗ The judge of this workspace cannot be read: {now['problem']}")
    if kept is None:
        teach()
    left, right = st.columns([3, 2], gap="large")
    with left:
        first = judge_form.way_of(kept)  # the default, which the address leaves out
        way = controls.choice("Kind of judge", {first: judge_form.WAYS[first], **judge_form.WAYS}, "way")
        setting = fill_in(way, kept)
    facts = data.judge_facts(setting) if setting else None
    with right, st.container(border=True):
        saved = facts is not None and facts["settings"] is not None and facts["settings"] == kept
        summarise(way, facts, saved, now)
        actions(setting if facts and facts["settings"] else None, saved, kept is not None)
    trial = st.session_state.get("judge-trial")
    if trial and trial["of"] == setting:
        with right:
            judge_form.draw_trial(trial)


def summarise(way: str, facts: dict | None, saved: bool, now: dict) -> None:
    """What the form means so far."""
    st.subheader("Judge of this workspace" if saved else "Not saved yet", anchor=False)
    if facts is None:
        st.text("Give the address and the model." if way == "server" else "Name the model.")
    elif facts["problem"]:
        st.text(f"✗ {facts['problem']}")
    else:
        st.text(facts["name"])
        for line in judge_form.key_lines(facts["keys"], needed=way == "hosted"):
            st.text(line)
        if way == "hosted" and not facts["keys"]:
            st.text("Its key: in the environment, under the name that litellm documents for this provider.")
        if facts["lacks"]:
            st.text(f"✗ {facts['lacks']}")
    if way == judge_form.LOCAL:
        st.text(TRUST)
        for line in judge_form.trust_lines(data.local_judge_measured().to_dict("records")):
            st.text(line)
    if now["name"] and not saved:
        st.text(f"Runs are judged by {now['name']} until you save.")


def actions(setting: dict | None, saved: bool, chosen: bool) -> None:
    """Test call, save, forget."""
    with st.container(horizontal=True):
        if st.button("Test call", icon=":material/call:", disabled=setting is None, help="Asks one small question."):
            with st.spinner("Asking the judge"):
                st.session_state["judge-trial"] = data.try_judge(setting) | {"of": setting}
        if st.button(
            "Save", type="primary", disabled=setting is None or saved, help="Runs are judged by it from now on."
        ):
            refused = data.choose_judge(setting)
            if refused:
                st.text(f"✗ {refused}")
            else:
                st.rerun()
        if chosen and st.button(
            "Forget", type="tertiary", help="The workspace has no judge then; nothing else is lost."
        ):
            data.choose_judge(None)
            st.rerun()
    if saved and st.button("Evaluate a suite", icon=":material/arrow_forward:"):
        url.go("evaluate")


frame("Judge", "Who judges what no formula can, and what does it cost?", needs_run=False)
view = controls.choice("View", VIEWS, "view")
if view == "setup":
    set_up()
elif view == "cache":
    reply_cache.draw()
else:
    prompt_playground.draw()
