"""New suites made from a suite: a sample, two parts, perturbed variants; and an upload. Each is stored on its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import streamlit as st

from components.data import judge_settings, suite_drafts
from components.viewers import browser_parts
from components.views.setup.suite_saving import open_suite
from components.widgets import column_mapping, controls, problem_list, url
from metrics.presentation import format
from metrics.presentation.marked_text import changed
from metrics.presentation.viewers import prose_blocks

if TYPE_CHECKING:
    from components.data import Kind
    from components.data.suite_drafts import SuiteFacts

HOW = {"sample": "Sample", "split": "Split in two"}
INTENSITIES = {"low": "Low", "medium": "Medium", "high": "High"}
FIELDS = {"question": "Question", "contexts": "Reference contexts", "source": "Source text"}
FIRST = ["copy", "keyboard", "synonym"]
PREVIEWED = 3  # cases
MOST_SEED = 2**31 - 1
SEED_HELP = "The same seed gives the same cases and texts on every machine."
HINT = (
    "CSV, JSONL, JSON, YAML, Parquet, an export of another tool, COCO JSON or a zip. The suite is stored as it was "
    "read; the file is not changed."
)


def _seed() -> int:
    asked = int(url.number("seed", 0, 0, MOST_SEED))
    seed = int(st.number_input("Seed", 0, MOST_SEED, asked, key="maker-seed", help=SEED_HELP))
    url.put(seed=seed or None)
    return seed


def draw_divide(suite: str, draft: str, facts: SuiteFacts) -> None:
    """Draw the form for a sample or a split: sizes, contents, and the button that stores the new suites."""
    left, right = st.columns([3, 4], gap="large")
    with left:
        do = controls.choice("What", HOW, "do")
        how: dict[str, Any] = {"do": do}
        if do == "sample":
            most = max(1, facts.originals)
            asked = int(url.number("size", max(1, most // 5), 1, most))
            how["size"] = int(
                st.number_input(
                    "Cases",
                    1,
                    most,
                    asked,
                    key=f"divide-size-{suite}",
                    help="Variants are included with their originals.",
                )
            )
            url.put(size=how["size"])
        else:
            asked = int(url.number("share", 80, 1, 99))
            how["share"] = int(st.number_input("Per cent in part 1", 1, 99, asked, key="divide-share")) / 100
            url.put(share=round(how["share"] * 100))
            st.caption("Cases of one group, and originals with their variants, stay together.")
        how["seed"] = _seed()
        how["stratified"] = st.toggle(
            "Stratify by tag", True, key="divide-stratified",
            help="Each part gets its share of every tag, as far as whole cases allow; otherwise the split is random.",
        )  # fmt: skip
    counts, refused = suite_drafts.parts_of(suite, draft, how)
    with right:
        if refused:
            st.text(f"✗ {refused}")
            return
        titles = {name: format.title(name) for name in counts.columns}
        st.dataframe(counts.rename(columns=titles), hide_index=True, height="content" if len(counts) < 7 else 250)
        parts = ["sample"] if do == "sample" else ["development", "held out"]
        names = [
            st.text_input(f"Name of {'the sample' if do == 'sample' else f'part {number}'}",
                          f"{facts.name}, {part}", key=f"divide-name-{suite}-{part}").strip()
            for number, part in enumerate(parts, 1)
        ]  # fmt: skip
        label = "Store the sample" if do == "sample" else "Store both parts"
        if st.button(label, type="primary", disabled=not all(names)):
            stored = suite_drafts.divide_suite(suite, draft, how, names)
            open_suite(stored[0][0], "\n".join(said for _, said in stored))
            st.rerun()


def draw_perturb(suite: str, draft: str, facts: SuiteFacts) -> None:
    """Draw the choice of variants, a preview, and the button that stores the suite with them."""
    if not facts.textual:
        st.text("Perturbations change texts; the cases of this suite are images.")
        return
    kinds = suite_drafts.perturbation_kinds()
    left, right = st.columns([3, 5], gap="large")
    with left:
        how = _choose(kinds)
    if not how["kinds"] or not how["fields"]:
        with right:
            st.text("Choose a kind and what to change.")
            st.dataframe([{"Kind": each.title, "What it does": each.says} for each in kinds.values()], height="content")
        return
    judged = [name for name in how["kinds"] if kinds[name].is_judged]
    with right:
        _preview(suite, draft, kinds, how, judged)
        if turned := [kinds[name].title for name in how["kinds"] if not kinds[name].keeps_meaning]:
            st.caption(f"{', '.join(turned)}: the correct answer changes too, so flips are expected.")
        if "copy" not in how["kinds"]:
            st.caption("Without Copy, the control, it is unknown how much flips by chance.")
    with left:
        name = st.text_input("Name of the new suite", f"{facts.name}, perturbed", key=f"perturb-name-{suite}").strip()
        judge = judge_settings.judge_chosen()
        if judged and judge.settings is None:
            st.text("A judge writes these variants, and none is set up.")
            url.link("Set up a judge", "judge", icon=":material/gavel:")
        elif judged:
            calls = format.plural(len(judged) * facts.originals * len(how["fields"]), "question")
            st.text(f"{judge.name} is asked up to {calls}, once; the cache keeps its replies.")
        blocked = not name or (bool(judged) and judge.settings is None)
        if st.button("Store the suite with its variants", type="primary", disabled=blocked, width="stretch"):
            with st.spinner("Making the variants"):
                stored, said = suite_drafts.perturb_draft(suite, draft, how, name)
            if not stored:
                st.text(f"✗ {said}")
                return
            open_suite(stored, said)
            st.rerun()


def _choose(kinds: Mapping[str, Kind]) -> dict[str, Any]:
    asked = [name for name in url.params("kind") if name in kinds] or FIRST
    chosen = st.multiselect(
        f"Kinds ({len(kinds)})", list(kinds), asked, lambda name: kinds[name].title, key="perturb-kinds",
        help="\n".join(f"- {each.title}: {each.says}" for each in kinds.values()),
    )  # fmt: skip
    first, second = st.columns(2)
    with first:
        start = url.param("intensity", "medium")
        names = list(INTENSITIES)
        intensity = st.selectbox(
            "Intensity", names, names.index(start) if start in names else 1, INTENSITIES.__getitem__,
            key="perturb-intensity", help="How many letters or words are changed; at least one.",
        )  # fmt: skip
    with second:
        seed = _seed()
    fields = st.multiselect(
        "What is changed", list(FIELDS), [name for name in url.params("of") if name in FIELDS] or ["question"],
        FIELDS.__getitem__, key="perturb-fields",
    )  # fmt: skip
    url.put(kind=chosen, intensity=None if intensity == "medium" else intensity, of=fields)
    return {"kinds": chosen, "intensity": intensity, "seed": seed, "fields": fields}


def _preview(suite: str, draft: str, kinds: Mapping[str, Kind], how: dict[str, Any], judged: list[str]) -> None:
    """Draw the first cases before and after; variants that a judge writes only on request."""
    ask = bool(judged) and st.button(
        "Preview the judge's variants", icon=":material/gavel:", help="Asks it a few questions."
    )
    shown = how if ask else how | {"kinds": [name for name in how["kinds"] if name not in judged]}
    if not shown["kinds"]:
        st.text("Variants written by a judge are previewed on request.")
        return
    with st.spinner("Making a few"):
        rows, refused = suite_drafts.perturb_preview(suite, draft, shown, PREVIEWED)
    if refused:
        st.text(f"✗ {refused}")
        return
    texts = rows.loc[rows["kind"] == "", ["case_id", "text"]].set_index("case_id")["text"]
    drawn = []
    for row in rows.to_dict("records"):
        kind = kinds[row["kind"]].title if row["kind"] else "Original"
        before = texts[row["case_id"]] if row["is_made"] else row["text"]
        drawn.append(prose_blocks.block(changed(before, row["text"]), f"{row['case_id']} · {kind}"))
    browser_parts.prose(drawn, "perturb-preview")


def draw_upload() -> None:
    """Draw the upload of a suite, and store it."""
    if (found := column_mapping.draw_cases_file("Test cases", "file", "smap", HINT)) is None:
        return
    token, fits = found
    if st.button("Store the suite", type="primary", disabled=not fits):
        stored, message, problems = suite_drafts.store_upload(token, "", url.params("smap"), url.params("read"))
        if not stored:
            st.text(f"✗ Not stored: {problem_list.words(problems)} in the file")
            problem_list.draw_problems(problems, "store")
            return
        open_suite(stored, message)
        st.rerun()
