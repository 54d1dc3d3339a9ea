"""Running a model on the cases of a suite: the form, a try on one case, the estimate, progress and failed cases."""

import json
from collections.abc import Mapping
from typing import Any

import streamlit as st

from components.data import evaluation_inputs, judge_settings, target_runs
from components.views.judge import judge_form
from components.views.judge.judge_form import SERVERS
from components.views.setup.run_judge import in_address
from components.widgets import controls, run_progress, url
from components.widgets.literal import literal
from components.widgets.parameter_form import parameter_form
from metrics.presentation import format

KINDS = {"model": "A language model", "http": "An HTTP endpoint", "code": "A program or function"}
COMMAND = """python -m metrics evaluate suite.csv --target bot.py:answer
python -m metrics evaluate suite.csv --target "command:node bot.js" --repeats 3
python -m metrics complete suite.csv --target bot.py:answer -o outputs.jsonl"""
CODE = """# bot.py
def answer(case):  # or answer(question: str)
    return {"answer": "…", "retrieved_contexts": ["…"], "trace": [], "cost_usd": 0.01}"""
HEADERS_HINT = (
    "One per line, its value from the environment of this studio: Authorization: Bearer {BOT_KEY}. The studio must "
    "have been started with ASSAY_TARGET_KEYS=BOT_KEY@the.host, so that no visitor sends a key elsewhere."
)
PROMPT_NAMES = "ABCDEF"
MAX_TRIED = 10  # cases of a grid
ACROSS = 4  # answers beside one another
GOING = ("queued", "running")
STATES = {
    "cancelled": "Stopped. The answers so far are kept.", "failed": "Stopped by an error. The answers are kept.",
    "interrupted": "The process has ended early. The answers so far are kept.",
}  # fmt: skip


def draw_target(inputs: evaluation_inputs.Inputs) -> str:
    """Draw what is to answer the cases, and its progress; return the completion that has finished, "" before."""
    job = url.param("job", "") or ""
    facts = target_runs.completion(job, inputs) if job else None
    if facts is not None and facts.state in GOING:
        _draw_progress(job, inputs)
        return ""
    if facts is not None and facts.state == "finished" and facts.fits:
        _draw_finished(inputs, facts)
        return job
    if facts is not None:
        with st.container(border=True):
            st.text(STATES.get(facts.state, "These answers are to another suite: ask again."))
            if facts.failure:
                st.code(facts.failure, language=None, wrap_lines=True)
    _draw_form(inputs)
    return ""


def _draw_form(inputs: evaluation_inputs.Inputs) -> None:
    kind = controls.choice("Kind", KINDS, "kind", clears=("target",))
    if kind == "code":
        st.text(
            "A web page must not run programs, so these are for the command line. The outputs are stored in this "
            "workspace, and the run appears on the page Runs."
        )
        st.code(CODE, language=None, wrap_lines=True)
        st.code(COMMAND, language=None, wrap_lines=True)
        return
    schemas, before = target_runs.target_schemas(), in_address("target")
    described = _model(inputs, schemas, before) if kind == "model" else _http(inputs, schemas, before)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        repeats = st.number_input(
            "Repeats", 1, 100, int(url.number("repeats", 1, 1, 100)), key="target-repeats", width=130,
            help="How often each case is asked. Several show how much the answers vary.",
        )  # fmt: skip
        with st.popover("Budget", icon=":material/payments:"):
            st.text("Cases beyond these limits are not asked; they are asked when you start again.")
            budget = parameter_form(schemas["budget"], "target-budget", start=in_address("target_budget"))
    url.put(
        target=json.dumps(described, ensure_ascii=False) if described else None,
        repeats=None if repeats == 1 else repeats,
        target_budget=json.dumps(budget) if budget else None,
    )
    if not described:
        st.text("Name the model." if kind == "model" else "Give the address of the endpoint.")
        return
    with st.spinner("Estimating what will be asked"):
        plan = target_runs.plan_completion(inputs, described, repeats, budget)
    for line in plan.lines:
        st.text(line)
    if plan.problem:
        st.text(f"✗ {plan.problem}")
    if len(plan.lines) > 1:
        _draw_grid(inputs, described, len(plan.lines), bool(plan.problem))
    else:
        _draw_try(inputs, described, bool(plan.problem))
    label = f"Ask {format.plural(plan.calls, 'case')}" if plan.calls else "Use the recorded answers"
    if st.button(label, type="primary", icon=":material/play_arrow:", disabled=bool(plan.problem)):
        _start(inputs, described, repeats, budget)


def _model(inputs: evaluation_inputs.Inputs, schemas: Mapping[str, Any], before: Mapping[str, Any]) -> dict[str, Any]:
    """Draw the fields of language models; return their description, {} without a model."""
    first, second = st.columns(2)
    names = first.text_area(
        "Models, one per line", "\n".join(before.get("models", ())), key="target-models", height=80,
        placeholder="gpt-4o-mini\nanthropic/claude-3-5-haiku-latest",
        help="As litellm names them, with their keys in the environment of this studio; or local, or local:FILE.gguf. "
        "Several are asked the same and compared.",
    )  # fmt: skip
    base_url = second.text_input(
        "Server address, if it is your own", before.get("base_url", ""), key="target-base-url",
        placeholder=SERVERS.split(" (", maxsplit=1)[0], help=f"An OpenAI-compatible server: {SERVERS}",
    ).strip()  # fmt: skip
    system = st.text_area("System message", before.get("system", ""), key="target-system", height=68)
    wordings = _draw_prompts(before)
    known = ", ".join(f"{{{name}}}" for name in target_runs.target_placeholders(inputs))
    st.caption(f"Placeholders: {known}. Expected answers are never shown to the model." if known else "")
    with st.expander("More settings"):
        more = parameter_form(schemas["model"], "target-model", start=before)
    models = list(dict.fromkeys(line.strip() for line in (names or "").splitlines() if line.strip()))
    if not models:
        return {}
    if base_url:
        judge_form.draw_kept_back(judge_settings.judge_facts({"model": models[0], "base_url": base_url}).kept_back)
    texts = {"base_url": base_url, "system": (system or "").strip()}
    given = {name: text for name, text in texts.items() if text}
    prompts = {"prompts": wordings} if len(wordings) > 1 else {"prompt": next(iter(wordings.values()), "{question}")}
    return {"kind": "model", "models": models, **prompts, **given, **more}


def _draw_prompts(before: Mapping[str, Any]) -> dict[str, str]:
    """Draw the prompts, one or several to compare; return those with text by name."""
    start = list(before.get("prompts", {"A": before.get("prompt", "{question}")}).values())
    number = st.session_state.setdefault("target-prompts", len(start))
    names = PROMPT_NAMES[:number]
    texts = [
        st.text_area(
            "Prompt" if number == 1 else f"Prompt {name}", start[place] if place < len(start) else start[0],
            key="target-prompt" if place == 0 else f"target-prompt-{name}", height=100,
        )
        for place, name in enumerate(names)
    ]  # fmt: skip
    with st.container(horizontal=True):
        st.button(
            "Add a prompt", type="tertiary", icon=":material/add:", key="target-prompt-add", on_click=_count_prompts,
            args=(number + 1,), disabled=number == len(PROMPT_NAMES),
            help="Every model is asked with every prompt; each pair is a model of the evaluation.",
        )  # fmt: skip
        if number > 1:
            st.button(
                "Remove the last", type="tertiary", icon=":material/remove:", key="target-prompt-remove",
                on_click=_count_prompts, args=(number - 1,),
            )  # fmt: skip
    return {name: text.strip() for name, text in zip(names, texts, strict=True) if (text or "").strip()}


def _count_prompts(number: int) -> None:
    st.session_state["target-prompts"] = number


def _http(inputs: evaluation_inputs.Inputs, schemas: Mapping[str, Any], before: Mapping[str, Any]) -> dict[str, Any]:
    """Draw the fields of an endpoint; return its description, {} without an address."""
    first, second = st.columns([5, 1])
    address = first.text_input(
        "Address", before.get("url", ""), key="target-url", placeholder="https://bot.example/ask"
    ).strip()
    methods = ("POST", "GET", "PUT")
    method = second.selectbox("Method", methods, methods.index(before.get("method", "POST")), key="target-method")
    start = json.dumps(before.get("body", {"question": "{question}"}), ensure_ascii=False, indent=1)
    body_text = st.text_area("Body, JSON", start, key="target-body", height=110, disabled=method == "GET")
    known = ", ".join(f"{{{name}}}" for name in target_runs.target_placeholders(inputs))
    st.caption(f"Placeholders: {known}. They may also stand in the address." if known else "")
    lines = "\n".join(f"{name}: {value}" for name, value in before.get("headers", {}).items())
    header_text = st.text_area("Headers with keys", lines, key="target-headers", height=68, help=HEADERS_HINT)
    with st.expander("Where the answer is in the reply", expanded=True):
        st.caption(
            "Paths in the JSON reply, such as choices[0].message.content or docs[*].text. Without any, the names "
            "answer, contexts, trace … are understood, and a reply that is no JSON is the answer."
        )
        paths = parameter_form(schemas["paths"], "target-paths", start=before)
    with st.expander("More settings"):
        more = parameter_form(schemas["http"], "target-http", start=before)
    if not address:
        return {}
    try:
        body = json.loads(body_text or "null")
    except ValueError as failure:
        st.text(f"✗ The body is no JSON: {failure}")
        return {}
    pairs = (line.partition(":") for line in (header_text or "").splitlines() if line.strip())
    headers = {name.strip(): value.strip() for name, _, value in pairs}
    own: dict[str, Any] = {"kind": "http", "url": address, "method": method, **paths, **more}
    return own | ({"body": body} if method != "GET" else {}) | ({"headers": headers} if headers else {})


def _draw_try(inputs: evaluation_inputs.Inputs, described: Mapping[str, Any], disabled: bool) -> None:
    """Draw the choice of one case, the button that asks it, and the exchange."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        case = st.selectbox("Try one case", target_runs.triable_cases(inputs), key="target-case", width=220)
        if st.button("Try it", icon=":material/science:", disabled=disabled or not case):
            with st.spinner("Asking"):
                st.session_state["tried"] = target_runs.try_target(inputs, described, str(case))
    tried: target_runs.TriedTarget | None = st.session_state.get("tried")
    if tried is None:
        return
    with st.container(border=True, gap="xsmall"):
        if tried.sent:
            st.caption(f"Sent for case {literal(format.shorten(tried.case_id, 60))}")
            st.code(tried.sent, language=None, wrap_lines=True, height="content" if len(tried.sent) < 800 else 240)
        if tried.failure:
            st.text("✗ No answer")
            st.code(tried.failure, language=None, wrap_lines=True)
            return
        st.caption("Answer")
        st.code(format.shorten(tried.answer, 20_000), language=None, wrap_lines=True)
        if tried.reply:
            st.caption("With it")
            st.code(format.shorten(tried.reply, 20_000), language=None, wrap_lines=True)


def _draw_grid(inputs: evaluation_inputs.Inputs, described: Mapping[str, Any], targets: int, disabled: bool) -> None:
    """Draw the first cases answered by every model with every prompt, side by side, once it is asked for."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        cases = int(st.number_input("Try the first cases", 1, MAX_TRIED, 3, key="target-grid-cases", width=160))
        if st.button(f"Try {format.plural(cases * targets, 'answer')}", icon=":material/science:", disabled=disabled):
            with st.spinner("Asking"):
                st.session_state["grid"] = described, target_runs.try_grid(inputs, described, cases)
    of, grid = st.session_state.get("grid", (None, ()))
    for tried in grid if of == described else ():
        with st.container(border=True, gap="xsmall"):
            st.text(f"{format.shorten(tried.case_id, 60)} · {format.shorten(tried.question, 300)}")
            for first in range(0, len(tried.answers), ACROSS):
                part = list(tried.answers.items())[first : first + ACROSS]
                for column, (title, answer) in zip(st.columns(ACROSS), part, strict=False):
                    column.caption(literal(title))
                    column.text(format.shorten(answer, 2_000))


def _start(
    inputs: evaluation_inputs.Inputs,
    described: Mapping[str, Any],
    repeats: int,
    budget: Mapping[str, Any],
    again: bool = False,
) -> None:
    """Start asking, and keep the completion in the address."""
    job, refused = target_runs.start_completion(inputs, described, repeats, budget, again)
    if refused:
        st.text(f"✗ {refused}")
        return
    st.session_state.pop("tried", None)
    url.put(job=job)
    st.rerun()


@st.fragment(run_every=1)
def _draw_progress(job: str, inputs: evaluation_inputs.Inputs) -> None:
    """Draw how far the completion is; rerun the page when it ends."""
    facts = target_runs.completion(job, inputs)
    if facts is None or facts.state not in GOING:
        st.rerun()
    with st.container(border=True):
        entries = facts.progress.evaluators
        with st.container(horizontal=True, vertical_alignment="center"):
            st.text("Asking. You may close this page and come back.", width="stretch")
            st.button(
                "Stop",
                key="target-stop",
                icon=":material/stop_circle:",
                on_click=target_runs.cancel_completion,
                args=(job,),
            )
        st.progress(run_progress.share(entries), text=run_progress.summary(facts.progress))
        for entry in entries if len(entries) > 1 else ():
            st.progress(run_progress.share([entry]), text=run_progress.line(entry))


def _draw_finished(inputs: evaluation_inputs.Inputs, facts: target_runs.CompletionFacts) -> None:
    described = in_address("target")
    with st.container(border=True):
        failed = 0 if facts.failed is None else len(facts.failed)
        st.text(f"✓ {format.plural(facts.answers, 'answer')}" + (f", {format.count(failed)} failed" if failed else ""))
        if failed:
            st.text("A failed case has no answer: evaluators count it as an error.")
            with st.expander(f"The {format.plural(failed, 'failed case')}"):
                st.dataframe(facts.failed, hide_index=True, height="auto" if failed < 8 else 260)
        with st.container(horizontal=True):
            if failed and described and st.button("Ask the failed ones again", icon=":material/replay:"):
                repeats = int(url.number("repeats", 1, 1, 100))
                _start(inputs, described, repeats, in_address("target_budget"), again=True)
            if st.button("Change the model", icon=":material/edit:"):
                url.put(job=None)
                st.rerun()
