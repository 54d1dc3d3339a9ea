"""The user's own rubrics: edited as tables, checked as they are typed, saved, exported and imported as files."""

import json
from collections.abc import Mapping
from typing import Any

import pandas as pd
import streamlit as st

from components.data import prompts
from components.widgets import uploads, url
from components.widgets.controls import download
from metrics.presentation.format import in_words, plural

NEW = ""
DIMENSIONS = ["name", "weight", "description", "needs_any", "zero_if_missing"]
LEVELS = ["dimension", "level", "score", "meaning"]
BLANK = {"id": "", "title": "", "version": 1, "dimensions": [{"name": "", "weight": 1.0, "description": ""}]}


def dimension_table(rubric: Mapping[str, Any]) -> pd.DataFrame:
    """Return a row per dimension: columns DIMENSIONS."""
    rows = [
        {"needs_any": [], "zero_if_missing": False} | {name: one[name] for name in DIMENSIONS if name in one}
        for one in rubric["dimensions"]
    ]
    return pd.DataFrame(rows, columns=DIMENSIONS).astype({"weight": float, "zero_if_missing": bool})


def level_table(rubric: Mapping[str, Any], usual: Mapping[str, float]) -> pd.DataFrame:
    """Return a row per level of each dimension that has levels or meanings of its own: columns LEVELS."""
    rows = []
    for one in rubric["dimensions"]:
        meanings = one.get("meanings") or {}
        levels = one.get("levels") or (usual if meanings else {})
        rows += [(one["name"], label, score, meanings.get(label, "")) for label, score in levels.items()]
    return pd.DataFrame(rows, columns=LEVELS).astype({"score": float})


def rubric_of(begun: Mapping[str, Any], dimensions: pd.DataFrame, levels: pd.DataFrame) -> dict[str, Any]:
    """Return the rubric of two edited tables, with id, title and version of `begun`; nameless rows are dropped."""
    named = [row for row in dimensions.to_dict("records") if isinstance(row["name"], str) and row["name"].strip()]
    own: dict[str, dict[str, float]] = {}
    meanings: dict[str, dict[str, str]] = {}
    for row in levels.to_dict("records"):
        if not isinstance(row["dimension"], str) or not isinstance(row["level"], str) or pd.isna(row["score"]):
            continue
        own.setdefault(row["dimension"], {})[row["level"].strip()] = float(row["score"])
        if isinstance(row["meaning"], str) and row["meaning"].strip():
            meanings.setdefault(row["dimension"], {})[row["level"].strip()] = row["meaning"].strip()
    return {
        **{name: begun[name] for name in ("id", "title", "version")},
        "dimensions": [
            {
                "name": row["name"].strip(),
                "weight": 0.0 if pd.isna(row["weight"]) else float(row["weight"]),
                "description": row["description"].strip() if isinstance(row["description"], str) else "",
                "needs_any": list(row["needs_any"]) if isinstance(row["needs_any"], list | tuple) else [],
                "zero_if_missing": row["zero_if_missing"] is True,
                "levels": own.get(row["name"].strip(), {}),
                "meanings": meanings.get(row["name"].strip(), {}),
            }
            for row in named
        ],
    }


def shares(rubric: Mapping[str, Any]) -> str:
    """Return the weights as shares of their sum: `Tone 25 % · Completeness 75 %`; empty without a weight."""
    weights = {one["name"]: one["weight"] for one in rubric["dimensions"]}
    whole = sum(weights.values())
    return (
        " · ".join(f"{in_words(name)} {weight / whole:.0%}".replace("%", " %") for name, weight in weights.items())
        if whole
        else ""
    )


def draw() -> None:
    """Draw the view of the judge page where rubrics are edited."""
    kept, problem = prompts.own_rubrics()
    if problem:
        st.text(f"✗ {problem}")
    options = [*kept, NEW]
    asked = url.param("rubric", "usual")
    chosen = st.selectbox(
        f"Rubric ({len(kept) - 1} saved)", options, options.index(asked) if asked in options else 0,
        format_func=lambda id: _name(kept[id]) if id else "A new rubric",
    )  # fmt: skip
    if chosen != asked:
        url.put(rubric=chosen if chosen != "usual" else None)
        st.session_state.pop("rubric-imported", None)
    begun = st.session_state.get("rubric-imported") or (kept[chosen] if chosen else BLANK)
    rubric = _form(begun, f"{chosen}-{begun['id']}-{begun['version']}")
    wrong = prompts.checked_rubric(rubric) if rubric["dimensions"] else ["at least one dimension with a name"]
    left, right = st.columns([3, 2], gap="large")
    with left:
        _check(rubric, wrong)
    with right:
        _actions(rubric, not wrong, kept)


def _name(rubric: Mapping[str, Any]) -> str:
    return f"{rubric['title']} · {'default' if rubric['id'] == 'usual' else rubric['id']}, version {rubric['version']}"


def _form(begun: Mapping[str, Any], key: str) -> dict[str, Any]:
    """Draw the fields and the two tables; return the rubric as edited."""
    usual = prompts.usual_levels()
    first, second = st.columns([2, 1])
    title = first.text_input("Title", begun["title"], key=f"rubric-title-{key}", placeholder="Support answers")
    own = begun["id"] if begun["id"] != "usual" else ""
    id = second.text_input(
        "Id", own, key=f"rubric-id-{key}", placeholder="support-answers",
        help="Names its file and chooses it on the command line: lower-case letters, digits, - and _. The default "
        "rubric stays as it is: a changed one needs an id of its own.",
    )  # fmt: skip
    columns = st.column_config
    dimensions = st.data_editor(
        dimension_table(begun), key=f"rubric-dimensions-{key}", num_rows="dynamic", hide_index=True, width="stretch",
        column_config={
            "name": columns.TextColumn("Dimension", width=150, required=True, help="Its metric has this name: small "
                                       "letters, digits and _."),
            "weight": columns.NumberColumn("Weight", width=75, min_value=0.0, max_value=1000.0, required=True,
                                           help="The overall score is the mean weighted by these; they need not add "
                                           "up to 1."),
            "description": columns.TextColumn("What the judge rates", width=315, required=True),
            "needs_any": columns.MultiselectColumn("Needs one of", options=prompts.rubric_needs(), width=190,
                                                   help="Rated only where the case has one of these; none: always."),
            "zero_if_missing": columns.CheckboxColumn("0 if missing", width=105, help="Failed, 0, where the case has "
                                                      "none of what it needs; else the dimension is left out."),
        },
    )  # fmt: skip
    names = [name for name in dimensions["name"] if isinstance(name, str) and name]
    st.text(
        "Levels: a dimension without rows here has the default five, "
        + ", ".join(f"{label} {score:g}" for label, score in usual.items())
        + "."
    )
    levels = st.data_editor(
        level_table(begun, usual), key=f"rubric-levels-{key}", num_rows="dynamic", hide_index=True, width="stretch",
        height="content",
        column_config={
            "dimension": columns.SelectboxColumn("Dimension", options=names, width=150, required=True),
            "level": columns.TextColumn("Level", width=120, required=True, help="The label that the judge chooses."),
            "score": columns.NumberColumn("Score", width=75, min_value=0.0, max_value=1.0, step=0.01, required=True),
            "meaning": columns.TextColumn("What it means", width="large", help="Shown to the judge; may be empty."),
        },
    )  # fmt: skip
    named = {"id": id.strip() or begun["id"], "title": title.strip(), "version": begun["version"]}
    return rubric_of(named, dimensions, levels)


def _check(rubric: dict[str, Any], wrong: list[str]) -> None:
    """Draw the weights as shares, and what is wrong."""
    if said := shares(rubric):
        st.text(f"Weights: {said}", help="Where a dimension is left out, the others' weights are scaled to 1.")
    for line in wrong:
        st.text(f"✗ {line}")
    if not wrong:
        own = sum(bool(one["levels"]) for one in rubric["dimensions"])
        with_levels = f", {own} with levels of their own" if own else ""
        st.text(f"✓ {plural(len(rubric['dimensions']), 'dimension')}{with_levels}")
        if rubric["id"] == "usual":
            st.caption("To keep a changed rubric, give it an id of its own.")


def _actions(rubric: dict[str, Any], usable: bool, kept: Mapping[str, Any]) -> None:
    with st.container(border=True):
        if said := st.session_state.pop("rubric-said", ""):
            st.text(said)
        with st.container(horizontal=True):
            if st.button(
                "Save", type="primary", disabled=not usable or rubric["id"] == "usual",
                help="Needs a title and an id; a changed rubric becomes the next version.",
            ):  # fmt: skip
                made, problem = prompts.save_rubric(rubric)
                st.session_state["rubric-said"] = f"✗ {problem}" if problem else f"✓ saved as version {made['version']}"
                st.session_state.pop("rubric-imported", None)
                url.put(rubric=made.get("id"))
                st.rerun()
            if st.button(
                "Evaluate with it", disabled=rubric["id"] not in kept, icon=":material/arrow_forward:",
                help="Chooses evaluator rubric with the saved version.",
            ):  # fmt: skip
                own = {"rubric": prompts.rubric_parameters(rubric["id"])}
                url.go("evaluate", evaluator="rubric", parameters=json.dumps(own, ensure_ascii=False))
            for ending in (".yaml", ".json"):
                data, file = prompts.rubric_file(rubric, ending) if usable else "", f"{rubric['id']}{ending}"
                download(f"Export {ending[1:].upper()}", data, file, f"rubric-export-{ending}", disabled=not usable)
        about = "Dimensions by name, each with weight, description and levels."
        uploads.draw_import("Import a rubric", "rubric", ["json", "yaml", "yml"], _receive, 1, about)


def _receive(name: str, content: bytes) -> None:
    rubric, problem = prompts.rubric_of_file(name, content)
    st.session_state["rubric-said"] = f"✗ {problem}" if problem else "✓ imported; save it to keep it in this workspace"
    st.session_state["rubric-imported"] = rubric or None
