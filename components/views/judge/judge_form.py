"""The form in which a judge is set up. Keys are never typed: they stay in the environment."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from components.views.judge.judge_calls import dollars
from metrics.presentation.format import duration, plural

WAYS = {"hosted": "A model and its key", "server": "A server of your own", "local": "The local judge"}
MODELS = "gpt-4o-mini, anthropic/claude-3-5-haiku-latest, gemini/gemini-2.0-flash, mistral/mistral-small-latest …"
SERVERS = "http://localhost:8000/v1 (vLLM), http://localhost:11434/v1 (Ollama), http://localhost:8080/v1 (llama.cpp)"
LOCAL = "local"
AT = " at "  # between a model and the address of its server, as in a judge's name


def way_of(setting: Mapping[str, Any] | None) -> str:
    """Return which of WAYS a judge is reached by."""
    if not setting:
        return "hosted"
    if setting["base_url"]:
        return "server"
    return LOCAL if setting["model"].partition(":")[0] == LOCAL else "hosted"


def setting_of(
    way: str, model: str, base_url: str, limits: Mapping[str, Any], budget: Mapping[str, Any],
    panel: Sequence[Mapping[str, Any]] = (), kept: Mapping[str, Any] | None = None,
) -> dict[str, Any] | None:  # fmt: skip
    """Return the settings that a filled form means, None while it is not complete; other prompts as `kept` has them."""
    model, base_url = model.strip(), base_url.strip()
    if way == LOCAL:
        model = model or LOCAL
    if not model or (way == "server" and not base_url):
        return None
    others: dict[str, Any] = {"prompts": kept["prompts"]} if kept and kept["prompts"] else {}
    if panel:
        others["panel"] = [dict(judge) for judge in panel]
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
    """Return which variables the key is taken from, and whether they are set; never what they hold."""
    absent = (
        "✗ not set: set it where the studio is started" if needed else "– not set; fine if the server asks for none"
    )
    return [f"{name}: {'✓ set' if there else absent}" for name, there in keys.items()]


def trial_lines(trial: Mapping[str, Any]) -> list[str]:
    """Return what came of a test call, in lines: whether it will do, how long it took, tokens, cost."""
    if trial["failure"] and not trial["reply"]:
        return ["✗ No reply."]
    verdict = (
        "✓ It replied, in the form asked for, and was right." if trial["right"]
        else "– It replied in the form asked for, but was wrong on an easy question: do not trust it much."
        if trial["understood"]
        else "✗ It replied, but not in the form asked for: its verdicts would be parse failures."
    )  # fmt: skip
    tokens = [trial["prompt_tokens"], trial["completion_tokens"]]
    counted = "tokens unknown" if tokens == [None, None] else plural(sum(part or 0 for part in tokens), "token")
    return [verdict, f"{duration(trial['seconds'])} · {counted} · {dollars(trial['cost_usd'])}"]


def trust_lines(measured: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return the figures of how far a judge agrees with people, a line each, with what they were measured on."""
    return [
        f"{row['what']}: {row['value']:.2f} (95 % interval {row['low']:.2f} to {row['high']:.2f}); {row['metric']}, "
        f"{plural(row['n'], 'answer')}, {row['data']}"
        for row in measured
    ]


def draw_trial(trial: Mapping[str, Any]) -> None:
    """What came of a test call, with the reply as it was given."""
    import streamlit as st

    with st.container(border=True, gap="xsmall"):
        for line in trial_lines(trial):
            st.text(line)
        if trial["reply"]:
            st.code(trial["reply"], language="json", wrap_lines=True)
        if trial["failure"]:
            st.code(trial["failure"], language=None, wrap_lines=True)
