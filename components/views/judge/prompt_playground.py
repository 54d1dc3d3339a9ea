"""The user's own prompts: written, tried on five cases, saved, exported as files."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from components.data import judge_settings, prompts, workspace_runs
from components.data.prompts import TriedCase
from components.widgets import uploads, url
from components.widgets.controls import download
from components.widgets.frame import empty
from metrics.core.registry import evaluators as catalogue
from metrics.presentation import run_names
from metrics.presentation.format import MISSING, number, shorten
from metrics.presentation.palette import GLYPHS

NEW = "A new prompt"
MODES = {"boolean": "true or false", "graded": "graded, 0 to 1", "levels": "graded by levels of your own"}
EXAMPLE = "Is {actual_answer} polite, given how {question} was put?"
LEVELS = "good = 1 : it greets and thanks\nfair = 0.5 : it is plain\npoor = 0 : it blames or commands"
LEVEL = re.compile(r"(?P<label>.+?)\s*=\s*(?P<grade>[-+]?\d*\.?\d+)\s*(?::\s*(?P<meaning>.*))?")
CASES = 5
WIDE = 110  # characters of a text in the table


def parse_levels(text: str) -> tuple[dict[str, float], dict[str, str]]:
    """Return levels and their meanings from lines `label = grade : meaning`, the meaning optional.

    Raises ValueError naming the first line of another form.
    """
    levels, meanings = {}, {}
    for line in text.splitlines():
        if not line.strip():
            continue
        found = LEVEL.fullmatch(line.strip())
        if found is None:
            raise ValueError(f"{shorten(line, 40)!r} is not of the form: good = 1 : what it means")
        levels[found["label"]] = float(found["grade"])
        if found["meaning"]:
            meanings[found["label"]] = found["meaning"]
    return levels, meanings


def level_lines(levels: Mapping[str, float], meanings: Mapping[str, str]) -> str:
    """Return the lines that parse_levels reads."""
    means = {label: f" : {meaning}" for label, meaning in meanings.items()}
    return "\n".join(f"{label} = {grade:g}{means.get(label, '')}" for label, grade in levels.items())


def result_table(rows: Sequence[TriedCase]) -> pd.DataFrame:
    """Return the results of a trial, a row per case."""
    return pd.DataFrame(
        [
            {
                "Case": row.case_id,
                "Verdict": MISSING if row.problem else GLYPHS[row.verdict],
                "Grade": number(row.grade),
                "Reason": row.problem or row.reason,
                "Answer": shorten(row.answer or "", WIDE),
                "Question": shorten(row.question or "", WIDE),
            }
            for row in rows
        ]
    )


def draw() -> None:
    """Draw the view of the judge page where prompts are written."""
    saved, problem = prompts.own_prompts()
    if problem:
        st.text(f"✗ {problem}")
    options = ["", *saved]
    asked = url.param("prompt", "")
    chosen = st.selectbox(
        f"Prompt ({len(saved)} saved)", options, options.index(asked) if asked in options else 0,
        format_func=lambda name: f"{saved[name]['title']} · version {saved[name]['version']}" if name else NEW,
    )  # fmt: skip
    if chosen != asked:
        url.put(prompt=chosen)
    left, right = st.columns([3, 2], gap="large")
    with left:
        prompt = _form(chosen, saved.get(chosen) or st.session_state.get("prompt-imported") or {})
    with right:
        _actions(prompt, chosen)
        uploads.draw_import("Import a prompt", "prompt", ["json"], _receive, 1)
    if prompt:
        _try(prompt)


def _form(chosen: str, start: Mapping[str, Any]) -> dict[str, Any] | None:
    """Draw the fields of a prompt and what is wrong with them; return the prompt, None while it is incomplete."""
    key = f"{chosen}-{start.get('version', 0)}-{start.get('id', '')}"
    title = st.text_input("Title", start.get("title", ""), key=f"own-title-{key}", placeholder="Politeness")
    name = chosen or st.text_input(
        "Id", start.get("id", ""), key=f"own-id-{key}", placeholder="politeness",
        help="Names its file: lower-case letters, digits, - and _.",
    )  # fmt: skip
    text = st.text_area(
        "Prompt", start.get("prompt", ""), key=f"own-prompt-{key}", height=150, placeholder=EXAMPLE,
        help="Your instruction to the judge. Each placeholder is replaced by the name of a block of data.",
    )  # fmt: skip
    st.text(f"Placeholders: {' '.join(prompts.placeholders())}")
    modes = list(MODES)
    begun = "levels" if start.get("levels") else start.get("mode", "boolean")
    mode = st.segmented_control(
        "The judge replies", modes, default=begun, format_func=MODES.__getitem__, key=f"own-mode-{key}", required=True
    )
    levels: dict[str, float] = {}
    meanings: dict[str, str] = {}
    if mode == "levels":
        shown = level_lines(start.get("levels") or {}, start.get("meanings") or {}) or LEVELS
        given = st.text_area(
            "Levels, each with its grade and what it means", shown, key=f"own-levels-{key}", height=100,
            help="A judge agrees with people more often where every level is described.",
        )  # fmt: skip
        try:
            levels, meanings = parse_levels(given)
        except ValueError as failure:
            st.text(f"✗ {failure}")
            return None
    if not text.strip():
        return None
    prompt = {
        "id": name.strip() or "unnamed", "title": title.strip() or "Unnamed", "prompt": text.strip(),
        "mode": "boolean" if mode == "boolean" else "graded", "levels": levels, "meanings": meanings,
        "version": start.get("version", 1),
    }  # fmt: skip
    if wrong := prompts.checked_prompt(prompt):
        st.text(f"✗ {wrong}")
        return None
    return prompt


def _actions(prompt: dict[str, Any] | None, chosen: str) -> None:
    with st.container(border=True):
        title = catalogue()["byop"].title
        st.text(
            f"It runs as the evaluator “{title}”. True or false passes or fails; a grade passes from a threshold on.",
            help="byop on the command line",
        )
        if said := st.session_state.pop("prompt-said", ""):
            st.text(said)
        named = prompt is not None and prompt["id"] != "unnamed" and prompt["title"] != "Unnamed"
        with st.container(horizontal=True):
            if st.button("Save", type="primary", disabled=not named, help="Needs a title and an id."):
                kept, problem = prompts.save_prompt(prompt or {})
                st.session_state["prompt-said"] = f"✗ {problem}" if problem else f"✓ saved as version {kept['version']}"
                st.session_state.pop("prompt-imported", None)
                url.put(prompt=kept.get("id", chosen))
                st.rerun()
            data, file = json.dumps(prompt, ensure_ascii=False, indent=1), f"{(prompt or {}).get('id')}.json"
            download("Export", data, file, mime="application/json", disabled=not named)
            if st.button("Evaluate with it", disabled=prompt is None, icon=":material/arrow_forward:"):
                own = {name: (prompt or {})[name] for name in ("prompt", "mode", "levels", "meanings")}
                url.go("evaluate", evaluator="byop", parameters=json.dumps({"byop": own}, ensure_ascii=False))


def _receive(name: str, content: bytes) -> None:
    prompt, problem = prompts.prompt_of_file(name, content)
    st.session_state["prompt-said"] = f"✗ {problem}" if problem else "✓ imported; save it to keep it in this workspace"
    st.session_state["prompt-imported"] = prompt
    url.put(prompt=None)


def _try(prompt: dict[str, Any]) -> None:
    st.subheader("Try it on five cases", anchor=False)
    runs = {run.id: run for run in workspace_runs.runs() if run.state == "finished" and run.suite["task"] == "text"}
    if not runs:
        st.text("This needs a finished run of a text suite; the workspace has none yet.")
        return
    if judge_settings.judge_chosen().settings is None:
        empty("No judge set up", "It answers your prompt on five cases.", "Set up a judge", "judge")
        return
    first, second, third = st.columns([3, 2, 1], vertical_alignment="bottom")
    run = first.selectbox("Cases of the run", list(runs), format_func=run_names.labels(runs).__getitem__, key="try-run")
    model = second.selectbox("Answers of", runs[run].models, key=f"try-model-{run}")
    if third.button("Try it", icon=":material/science:", width="stretch"):
        with st.spinner("Asking the judge"):
            rows, problem = prompts.try_prompt(prompt, run, model, CASES)
        st.session_state["prompt-trial"] = {"of": (prompt, run, model), "rows": rows, "problem": problem}
    trial = st.session_state.get("prompt-trial")
    if not trial or trial["of"] != (prompt, run, model):
        return
    if trial["problem"]:
        st.code(trial["problem"], language=None, wrap_lines=True)
    else:
        st.dataframe(result_table(trial["rows"]), hide_index=True, height="content")
