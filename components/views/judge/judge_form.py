"""The form that sets up a judge. A key is in the environment, or given until the studio ends; it is never written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import streamlit as st

from components.data import judge_settings, visitors
from components.views.judge.judge_calls import dollars
from components.widgets import tables
from components.widgets.literal import literal
from metrics.presentation.format import duration, metric_name, number, plural
from metrics.presentation.phrases import with_interval

if TYPE_CHECKING:
    from components.data import Trial
    from metrics.core.calibration import Calibration

WAYS = {"hosted": "Hosted model", "server": "Your own server", "local": "Local judge"}
MODELS = "gpt-4o-mini, anthropic/claude-3-5-haiku-latest, gemini/gemini-2.0-flash, mistral/mistral-small-latest …"
SERVERS = "http://localhost:8000/v1 (vLLM), http://localhost:11434/v1 (Ollama), http://localhost:8080/v1 (llama.cpp)"
LOCAL = "local"
SHARED = ("temperature", "repeats", "probabilities")  # settings that the judges of a panel have from the first
AT = " at "  # between a model and the address of its server, as in a judge's name
KEY_HELP = (
    "Until this studio ends. A server that needs no key needs none of this. At the start: ASSAY_TARGET_KEYS={}@{}"
)
AGREEMENT = {
    "evaluator": tables.header("Evaluator", 140),
    "n": tables.numeric("n", 50, "Cases with label and score."),
    "auc": tables.numeric("AUC", 140, "The chance that a good case scores better than a bad one; 0.5 is chance."),
    "balanced": tables.numeric(
        "Balanced accuracy", 140, "Mean of the shares of good cases that pass and of bad ones that fail."
    ),
    "threshold": tables.numeric(
        "Threshold", 85, "What labels set: scores from here on pass. Empty: none was set, 0.5 counts in this table."
    ),
    "labels": tables.header("Labels", None, "The data, and which of them should pass; other halves set thresholds."),
}


def way_of(setting: Mapping[str, Any] | None) -> str:
    """Return the key in WAYS of how a judge is reached."""
    if not setting:
        return "hosted"
    if setting.get("base_url"):
        return "server"
    return LOCAL if setting["model"].partition(":")[0] == LOCAL else "hosted"


def setting_of(
    way: str, model: str, base_url: str, limits: Mapping[str, Any], budget: Mapping[str, Any],
    panel: Sequence[Mapping[str, Any]] = (), kept: Mapping[str, Any] | None = None,
) -> dict[str, Any] | None:  # fmt: skip
    """Return the settings of a filled form, None while it is incomplete; edited prompts are taken over from `kept`."""
    model, base_url = model.strip(), base_url.strip()
    if not model or (way == "server" and not base_url):
        return None
    others: dict[str, Any] = {"prompts": kept["prompts"]} if kept and kept["prompts"] else {}
    if panel:
        shared = {name: limits[name] for name in SHARED if name in limits}
        others["panel"] = [{**(shared if way_of(judge) != LOCAL else {}), **judge} for judge in panel]
    address = {"base_url": base_url} if way == "server" else {}
    return {"model": model, **address, **limits, "budget": dict(budget), **others}


def panel_of(text: str) -> list[dict[str, str]]:
    """Return the judges of a panel from lines of `model` or `model at address`."""
    judges = []
    for line in text.splitlines():
        model, _, address = line.strip().partition(AT)
        if model:
            judges.append({"model": model.strip()} | ({"base_url": address.strip()} if address else {}))
    return judges


def panel_lines(panel: Sequence[Mapping[str, Any]]) -> str:
    """Return the judges of a panel as `panel_of` reads them."""
    return "\n".join(judge["model"] + (f"{AT}{judge['base_url']}" if judge.get("base_url") else "") for judge in panel)


def key_lines(keys: Mapping[str, bool], needed: bool) -> list[str]:
    """Return which environment variables hold the key, and whether they are set; never their values."""
    absent = "✗ not set: set it before starting the studio" if needed else "– not set; fine if the server needs no key"
    return [f"{name}: {'✓ set' if there else absent}" for name, there in keys.items()]


def draw_key(names: Iterable[str]) -> None:
    """Draw a field for each key that is not set; what is given stays in memory until the studio ends."""
    for name in names:
        key = f"session-key-{name}"
        st.text_input(
            f"{name}, for this session", type="password", key=key, on_change=_give_key, args=(name, key),
            autocomplete="off", placeholder="kept in memory until the studio ends, never saved",
        )  # fmt: skip


def _give_key(name: str, key: str) -> None:
    given = st.session_state.pop(key, "")
    if given.strip():
        judge_settings.give_key(name, given)


def trial_lines(trial: Trial) -> list[str]:
    """Return the result of a test call in lines: whether it is usable, time, tokens, cost."""
    if trial.failure and not trial.reply:
        return ["✗ No reply."]
    result = (
        "✓ The reply has the right form and is correct."
        if trial.right
        else "– The reply has the right form, but is wrong on an easy question: use this judge with care."
        if trial.understood
        else "✗ The reply does not have the requested form: its verdicts would be parse failures."
    )
    tokens = [trial.prompt_tokens, trial.completion_tokens]
    counted = "tokens unknown" if tokens == [None, None] else plural(sum(part or 0 for part in tokens), "token")
    sent = [f"– Asked without {', '.join(trial.left_out)}, which the model does not take."] * bool(trial.left_out)
    return [result, *sent, f"{duration(trial.seconds)} · {counted} · {dollars(trial.cost_usd)}"]


def draw_agreement(measured: Iterable[Calibration]) -> None:
    """Draw a table of how well a judge tells good from bad, a row for each set of labels."""
    rows = [
        {
            "evaluator": metric_name(one.metric, one.evaluator),
            "n": part["n"],
            "auc": with_interval(part["auc"], part["auc_low"], part["auc_high"]),
            "balanced": with_interval(part["balanced"], part["balanced_low"], part["balanced_high"]),
            "threshold": "" if one.threshold is None else number(one.threshold),
            "labels": f"{part['data']}; good: {part['good']}",
        }
        for one in measured
        for part in one.sets
    ]
    st.subheader("Measured with this judge", anchor=False)
    st.dataframe(rows, hide_index=True, column_config=AGREEMENT, height="content", key="agreement")


def draw_trial(trial: Trial) -> None:
    """Draw the result of a test call with the raw reply."""
    with st.container(border=True, gap="xsmall"):
        for line in trial_lines(trial):
            st.text(line)
        if trial.reply:
            st.code(trial.reply, language=None, wrap_lines=True)
        if trial.failure:
            st.code(trial.failure, language=None, wrap_lines=True)


def draw_kept_back(kept_back: Iterable[tuple[str, str]]) -> None:
    """Draw, for each variable and address that its key is not sent to, that it is not, and a button to allow it."""
    for name, address in kept_back:
        host = str(urlsplit(address).hostname)
        st.text(f"– {name} is not sent to {host}." + ("" if visitors.may("admin") else " Ask who runs this studio."))
        if visitors.may("admin"):
            hint, act = literal(KEY_HELP.format(name, host)), partial(judge_settings.let_key_go, name, address)
            label, key = f"Send {name} to {literal(host)}", f"leave-{name}-{host}"
            st.button(label, icon=":material/key:", key=key, help=hint, on_click=act)
