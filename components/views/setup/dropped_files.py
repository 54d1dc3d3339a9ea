"""The files of a new evaluation: one place to drop them, a line for each that says what it is, and its corrections."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import count
from typing import TYPE_CHECKING

import streamlit as st

from components.data import inspected_files, uploaded_files
from components.widgets import column_mapping, uploads, url
from components.widgets.controls import agreed, is_gone, place
from components.widgets.literal import literal
from metrics.core.file_kinds import upload_of
from metrics.core.receipt import by_file, joins_of
from metrics.presentation.format import middle, plural

if TYPE_CHECKING:
    from components.data import FileRole, Roles, SeenFile
    from metrics.core.errors import InputProblem
    from metrics.core.receipt import Receipt

HINT = (
    "Any number of files at once, in any order: test cases, what models answered, both in one, images, files of "
    "agents. CSV, JSONL, JSON, YAML, Parquet, Excel, COCO JSON or a zip; also as .gz. Logs of Inspect and exports of "
    "lm-eval, LangSmith, Langfuse, Phoenix, Braintrust, promptfoo … are understood, and the names of ragas, DeepEval "
    "and MLflow."
)
ROLES = {
    "suite": "Test cases", "outputs": "Answers", "both": "Cases and answers", "images": "Images",
    "files": "Agents' files",
}  # fmt: skip
OF_VISION = {"suite": "Ground truth", "outputs": "Predictions", "images": "Images"}
NAME = 40  # characters of a file's, beyond which its middle is left out
LINES = 7  # of files, beyond which their list scrolls, so that the start stays in sight


def take_old_address() -> None:
    """Write an address that names suite, outputs, images and files apart as one of files with their roles."""
    if not (named := {name: url.params(name) for name in ("suite", "outputs", "images", "files")}):
        return
    if url.param("from", "upload") != "upload":
        del named["suite"]
    roles = {"suite": "both" if url.flag("together") else "suite"}
    tokens = {token: roles.get(name, name) for name, found in named.items() for token in found}
    if not tokens:
        return
    readings = url.params("read")
    for token, role in tokens.items():
        said = uploaded_files.choices_of(token, readings) | {"role": role}
        readings = uploaded_files.with_pairs(token, readings, [f"{name}={value}" for name, value in said.items()])
    files = list(dict.fromkeys([*url.params("file"), *tokens]))
    url.put(**dict.fromkeys(named), file=files, read=readings, together=None)


def choose_files(stored: bool) -> dict[str, SeenFile]:
    """Draw where files are dropped or a table is pasted; return what each of them looks like, by token."""
    zone = st.container(key="drop" if url.params("file") else "drop-empty")
    with zone, st.container(horizontal=True, vertical_alignment="center"):
        with st.container():
            tokens = uploads.draw_uploads(
                "Drop the answers" if stored else "Drop your files", "file", uploaded_files.TABLES, many=True,
                hint=HINT, listed=False,
            )  # fmt: skip
        pasting = st.popover("Paste a table", icon=":material/content_paste:", type="tertiary", width="content")
    with pasting, st.form("paste", clear_on_submit=True, border=False):
        text = st.text_area(
            "A table with its header", key="pasted", height=160, placeholder="from a spreadsheet, or CSV or JSON"
        )
        name = st.text_input("Name", key="pasted-name", placeholder="a model's name, if these are its answers")
        if st.form_submit_button("Add it") and text:
            _take_pasted(text, name or "pasted", tokens)
    uploads.draw_refused()
    pairs = (*url.params("smap"), *url.params("omap"))
    task, readings = url.param("task", "") or "", tuple(url.params("read"))
    return {token: inspected_files.see(token, task, pairs, readings) for token in tokens}


def _take_pasted(text: str, name: str, tokens: Sequence[str]) -> None:
    """Store a pasted table as a file, and draw the page again."""
    start, first = text.lstrip()[:1], text.strip().partition("\n")[0]
    kind = "jsonl" if start == "{" else "json" if start == "[" else "tsv" if "\t" in first else "csv"
    try:
        token = uploaded_files.receive(io.BytesIO(text.strip().encode()), f"{name}.{kind}", uploaded_files.TABLES)
    except ValueError as failure:
        st.text(f"✗ {failure}")
        return
    url.put(file=list(dict.fromkeys([*tokens, token])))
    st.rerun()


def name_models(seen: Mapping[str, SeenFile], tokens: Sequence[str]) -> tuple[str, ...]:
    """Return the model of each file: as somebody said, else as the file is named; "" where it names its models."""
    models: list[str] = []
    for token in tokens:
        if inspected_files.names_its_models(seen[token]):
            models.append("")
            continue
        name = uploaded_files.model_name(seen[token].name)
        names = (name if number == 1 else f"{name} {number}" for number in count(1))
        guess = next(each for each in names if each not in models)
        models.append(uploaded_files.choices_of(token, url.params("called")).get("model", guess))
    return tuple(models)


def draw_files(
    seen: Mapping[str, SeenFile], roles: Roles, models: Mapping[str, str], problems: Sequence[InputProblem],
    findings: Mapping[str, int], receipt: Receipt,
) -> None:  # fmt: skip
    """Draw a line for each file: what it is, how much of it is wrong, its model and its role, to be corrected."""
    tokens = uploaded_files.tokens_of(list(seen))
    joined: dict[str, list[str]] = {}
    for name, lines in by_file(receipt).items():
        joined.setdefault(tokens.get(name, ""), []).extend(joins_of(lines))
    vision = any(each.is_vision for each in seen.values())
    wrong: Counter[str] = Counter()
    for problem in problems:
        wrong[tokens.get(upload_of(problem.file), "")] += problem.rows
    whole = any(problem.row is None for problem in problems)
    with st.container(border=True, gap="xsmall", height=330 if len(seen) > LINES else "content", key="files"):
        for token, each in sorted(seen.items(), key=lambda pair: pair[0] != roles.suite):  # which comes first
            role = roles.role_of(token)
            said = inspected_files.words_of_file(each, role)
            found = wrong[token]
            doubts = findings.get(models.get(token, ""), 0)
            more = [plural(found, "problem" if whole else "bad row")] * bool(found) + [
                plural(doubts, "finding")
            ] * bool(doubts)
            is_read = not each.problems or role in ("images", "files")  # which are no table, and need to be none
            mark = "✗" if more or not is_read else "✓"
            with st.container(horizontal=True, vertical_alignment="center", gap="small"):
                short = middle(each.name, NAME)
                line = ", ".join([f"{mark} {short}: {said}", *(by for by in joined.get(token, ()) if by not in said)])
                full = literal(each.name) if short != each.name else None
                st.text(" · ".join([line, *more]), width="stretch", help=full)
                with st.container(horizontal=True, vertical_alignment="center", gap="small", width="content"):
                    if models.get(token):
                        _draw_model(token, each.name, models[token])
                    _draw_role(token, each, role, vision)
                    if st.button("✕", key=f"remove-{token}", type="tertiary", help=f"Remove {each.name}"):
                        url.put(file=[kept for kept in seen if kept != token])
                        st.rerun()


def _draw_model(token: str, name: str, model: str) -> None:
    key = f"called-{token}"
    st.text_input(
        f"Model that made {name}",
        agreed(key, model),
        key=key,
        width=170,
        label_visibility="collapsed",
        icon=":material/edit:",
        on_change=_call,
        args=(key, token),
    )


def _call(key: str, token: str) -> None:
    if not is_gone(key):
        name = st.session_state[key].strip()
        url.put(called=uploaded_files.with_pairs(token, url.params("called"), [f"model={name}"] if name else []))


def _draw_role(token: str, seen: SeenFile, role: FileRole | None, vision: bool) -> None:
    titles = OF_VISION if vision else ROLES
    options = list(titles) if role in titles or role is None else [*titles, role]
    key = f"role-{token}"
    st.selectbox(
        f"What {seen.name} is", options, None if role is None else place(options, agreed(key, role)), key=key,
        width=165, format_func={**ROLES, **titles}.__getitem__, label_visibility="collapsed", on_change=_take_role,
        args=(key, token), placeholder="What is it?",
    )  # fmt: skip


def _take_role(key: str, token: str) -> None:
    if not is_gone(key):
        column_mapping.take(token, "role", st.session_state[key])


def draw_columns_of_models(seen: SeenFile, token: str) -> None:
    """Ask which columns of a file without answers are a model's each, where there may be some."""
    columns = list(seen.preview.candidates) if seen.preview else []
    if len(columns) < 2:
        return
    with st.container(border=True):
        st.text(f"{plural(len(columns), 'column')} of {seen.name} may be the answers of a model each.")
        taken = st.multiselect("Answers", columns, columns, key=f"models-{token}", label_visibility="collapsed")
        if st.button("Use them", key=f"use-models-{token}", disabled=not taken):
            column_mapping.take(token, "models", ",".join(taken))
            st.rerun()
