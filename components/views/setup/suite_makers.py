"""New suites of a suite: a sample, two parts, perturbed variants; and an upload. Each is stored beside the others."""

from collections.abc import Mapping
from typing import Any

import streamlit as st

from components import data
from components.views.setup.suite_editor import open_suite
from components.widgets import column_mapping, controls, uploads, url
from metrics.presentation import format

HOW = {"sample": "Sample", "split": "Split in two"}
INTENSITIES = {"low": "Low", "medium": "Medium", "high": "High"}
FIELDS = {"question": "Question", "contexts": "Reference contexts", "source": "Source text"}
FIRST = ["copy", "keyboard", "synonym"]
PREVIEWED = 3  # cases
MOST_SEED = 2**31 - 1
SEED_HELP = "The same seed gives the same cases and texts, on every machine; another one others."
HINT = (
    "CSV, JSONL, JSON, Parquet, COCO JSON or a zip. It is stored as it is understood; the file itself stays as it is."
)


def _seed() -> int:
    asked = int(url.number("seed", 0, 0, MOST_SEED))
    seed = int(st.number_input("Seed", 0, MOST_SEED, asked, key="maker-seed", help=SEED_HELP))
    url.put(seed=seed or None)
    return seed


def draw_divide(suite: str, draft: str, facts: Mapping[str, Any]) -> None:
    """A sample or two parts: how large, what they will hold, and the button that stores them."""
    left, right = st.columns([3, 4], gap="large")
    with left:
        do = controls.choice("What", HOW, "do")
        how: dict[str, Any] = {"do": do}
        if do == "sample":
            most = max(1, facts["originals"])
            asked = int(url.number("size", max(1, most // 5), 1, most))
            how["size"] = int(
                st.number_input(
                    "Cases",
                    1,
                    most,
                    asked,
                    key=f"divide-size-{suite}",
                    help="Variants come along with their originals.",
                )
            )
            url.put(size=how["size"])
        else:
            asked = int(url.number("share", 80, 1, 99))
            how["share"] = int(st.number_input("Per cent in part 1", 1, 99, asked, key="divide-share")) / 100
            url.put(share=round(how["share"] * 100))
            st.caption("Cases of one group, and originals and their variants, are never torn apart.")
        how["seed"] = _seed()
        how["stratified"] = st.toggle(
            "Even over the tags", True, key="divide-stratified",
            help="Every tag has its share in each part, as nearly as whole cases allow; else chance alone decides.",
        )  # fmt: skip
    counts, refused = data.parts_of(suite, draft, how)
    with right:
        if refused:
            st.text(f"✗ {refused}")
            return
        titles = {name: format.title(name) for name in counts.columns}
        height = "content" if len(counts) < 7 else 250
        st.dataframe(counts.rename(columns=titles), hide_index=True, height=height)
        parts = ["sample"] if do == "sample" else ["development", "held out"]
        names = [
            st.text_input(f"Name of {'the sample' if do == 'sample' else f'part {number}'}",
                          f"{facts['name']}, {part}", key=f"divide-name-{suite}-{part}").strip()
            for number, part in enumerate(parts, 1)
        ]  # fmt: skip
        label = "Store the sample" if do == "sample" else "Store both parts"
        if st.button(label, type="primary", disabled=not all(names)):
            stored = data.divide_suite(suite, draft, how, names)
            open_suite(stored[0][0], "\n".join(said for _, said in stored))
            st.rerun()


def draw_perturb(suite: str, draft: str, facts: Mapping[str, Any]) -> None:
    """Which variants, a preview of a few before and after, and the button that stores the suite with them."""
    if not facts["textual"]:
        st.text("Perturbations change texts; the cases of this suite are images.")
        return
    kinds = data.perturbation_kinds()
    left, right = st.columns([3, 5], gap="large")
    with left:
        how = _choose(kinds)
    if not how["kinds"] or not how["fields"]:
        with right:
            st.text("Choose a kind and what is changed.")
            st.dataframe(
                [{"Kind": each["title"], "What it does": each["says"]} for each in kinds.values()], height="content"
            )
        return
    judged = [name for name in how["kinds"] if kinds[name]["judged"]]
    with right:
        _preview(suite, draft, kinds, how, judged)
        _caution(kinds, how["kinds"])
    with left:
        name = st.text_input(
            "Name of the new suite", f"{facts['name']}, perturbed", key=f"perturb-name-{suite}"
        ).strip()
        judge = data.judge_chosen() if judged else {}
        if judged and judge["settings"] is None:
            st.text("A judge writes these variants, and this workspace has none.")
            url.link("Set up a judge", "judge", icon=":material/gavel:")
        elif judged:
            calls = format.plural(len(judged) * facts["originals"] * len(how["fields"]), "question")
            st.text(f"{judge['name']} is asked about {calls} once; the cache keeps what it says.")
        blocked = not name or (bool(judged) and judge["settings"] is None)
        if st.button("Store the suite with its variants", type="primary", disabled=blocked, width="stretch"):
            with st.spinner("Making the variants"):
                stored, said = data.perturb_draft(suite, draft, how, name)
            if not stored:
                st.text(f"✗ {said}")
                return
            open_suite(stored, said)
            st.rerun()


def _choose(kinds: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    asked = [name for name in url.params("kind") if name in kinds] or FIRST
    chosen = st.multiselect(
        f"Kinds ({len(kinds)})", list(kinds), asked, lambda name: kinds[name]["title"], key="perturb-kinds",
        help="\n".join(f"- {each['title']}: {each['says']}" for each in kinds.values()),
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


def _caution(kinds: Mapping[str, Mapping[str, Any]], chosen: list[str]) -> None:
    """What to bear in mind when variants of these kinds are compared with their originals."""
    turned = [kinds[name]["title"] for name in chosen if not kinds[name]["keeps_meaning"]]
    if turned:
        st.caption(f"{', '.join(turned)}: the right answer changes too, so a flip there is what you want to see.")
    if "copy" not in chosen:
        st.caption("Without Copy, the control, nobody can tell how much flips by chance.")


def _preview(
    suite: str, draft: str, kinds: Mapping[str, Mapping[str, Any]], how: dict[str, Any], judged: list[str]
) -> None:
    """The first cases before and after. What a judge writes is shown when it is asked for."""
    ask = bool(judged) and st.button(
        "Preview the judge's too", icon=":material/gavel:", help="Asks it a few questions."
    )
    shown = how if ask else how | {"kinds": [name for name in how["kinds"] if name not in judged]}
    if not shown["kinds"]:
        st.text("What a judge writes is not previewed unasked.")
        return
    with st.spinner("Making a few"):
        rows, refused = data.perturb_preview(suite, draft, shown, PREVIEWED)
    if refused:
        st.text(f"✗ {refused}")
        return
    table = rows.assign(kind=[kinds[kind]["title"] if kind else "As it is" for kind in rows["kind"]])
    st.dataframe(
        table, hide_index=True, height="content" if len(table) < 10 else 340,
        column_config={
            "case_id": st.column_config.Column("Case", width=90),
            "kind": st.column_config.Column("Kind", width=130),
            "text": st.column_config.Column(FIELDS[how["fields"][0]], width="large"),
        },
    )  # fmt: skip


def draw_upload() -> None:
    """Store a suite from a file."""
    tokens = uploads.draw_uploads("Test cases", "file", data.upload_folder(), uploads.TABLES)
    uploads.draw_refused()
    if not tokens:
        st.caption(HINT)
        return
    seen = data.inspect(tokens[0], "suite", "", tuple(url.params("smap")))
    if "problems" in seen:
        st.text(f"{seen['name']} cannot be read")
        st.dataframe(seen["problems"], hide_index=True)
        return
    rows = "" if seen["rows"] is None else f": {format.plural(seen['rows'], 'row')}"
    st.text(f"{seen['name']}{rows} · {column_mapping.summary(seen) or ' '.join(seen['notes'])}")
    column_mapping.draw_questions(seen["questions"], "smap")
    with st.expander("Columns"):
        if seen["canonical"]:
            column_mapping.draw_mapping(seen, "smap")
    if st.button("Store the suite", type="primary", disabled=bool(seen["questions"])):
        stored, said, problems = data.store_upload(tokens[0], "", url.params("smap"))
        if not stored:
            st.text(f"✗ Not stored: {format.plural(len(problems), 'problem')} in the file")
            st.dataframe(problems, hide_index=True, height="auto" if len(problems) < 7 else 260)
            return
        open_suite(stored, said)
        st.rerun()
