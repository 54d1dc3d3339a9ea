from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pandas as pd
import streamlit as st

from components import data
from components.views.setup import evaluator_offers, local_model_fields, run_judge, target_form
from components.widgets import column_mapping, controls, uploads, url
from components.widgets.frame import frame
from metrics.presentation import format

SOURCES = {"upload": "Upload a suite", "stored": "A stored suite", "sample": "A bundled sample"}
ANSWERS = {"upload": "Upload answers", "model": "Run a model"}
TASKS = {
    "": "as the columns say", "text": "text: questions and answers", "classification": "classification",
    "detection": "detection: boxes in images", "segmentation": "segmentation: a label for every pixel",
    "agent": "agent: tasks, traces and files",
}  # fmt: skip
SUITE_HINT = (
    "CSV, JSONL, JSON, Parquet, COCO JSON or a zip of masks. The names of ragas, DeepEval, promptfoo, MLflow … are "
    "understood."
)
OUTPUTS_HINT = "One file with a column model, or a file for each model. COCO results are understood too."
FILES_HINT = (
    "The files that the agents made, as CASE/… (CASE the case's id; MODEL/CASE/… for several models) or under the "
    "names in the traces. They are checked by type; nothing in them is run."
)
IMAGES_HINT = "File names as in the suite. Without images everything is computed, and boxes are drawn without them."
EXAMPLES = {  # what to bring: suite, outputs
    "Text": (
        "case_id,question,expected_answer\n1,Capital of Peru?,Lima\n2,What is 6 × 7?,42",
        "case_id,model,answer\n1,small,Lima\n1,large,The capital is Lima.",
    ),
    "Classification": ("case_id,question,label\n1,I am so glad!,joy", "case_id,model,label,score\n1,small,joy,0.83"),
    "Detection, beside COCO JSON": (
        "image,label,x,y,w,h\na.jpg,cat,10,20,64,48",
        "image,label,score,x,y,w,h\na.jpg,cat,0.9,11,19,60,50",
    ),
    "Agents, also OpenTelemetry and OpenAI": (
        "case_id,question,expected_answer\n1,Plot the sales,1. Load the data 2. Plot it",
        '{"case_id": "1", "model": "small",\n "messages": [{"role": "user", …}, …]}',
    ),
    "Segmentation, zips of indexed PNG": ("masks.zip\n  a.png  b.png  labels.txt", "small.zip\n  a.png  b.png"),
}  # fmt: skip


def choose_suite(source: str) -> tuple[str, str]:
    """Choose the suite (name of an upload, fingerprint or sample id) and the zip of images; "" if not yet chosen."""
    if source == "upload":
        suites = uploads.draw_uploads("Test cases", "suite", data.TABLES, hint=SUITE_HINT)
        images = []
        if suites and data.wants_images(suites[0]):
            images = uploads.draw_uploads("Images, a zip", "images", data.ARCHIVES, hint=IMAGES_HINT)
        return next(iter(suites), ""), next(iter(images), "")
    options = data.stored_suites() if source == "stored" else data.sample_titles()
    if not options:
        st.info("No suite is stored yet: every evaluated suite is stored. Upload one to begin.")
        return "", ""
    asked = url.param("suite", "") or ""
    names = list(options)
    place = names.index(asked) if asked in options else 0
    chosen = st.selectbox("Test cases", names, place, format_func=options.__getitem__, key=f"suite-{source}")
    if chosen != asked:
        url.put(suite=chosen, smap=None, omap=None)
    return str(chosen), ""


def choose_outputs(source: str) -> tuple[tuple[str, ...], tuple[str, ...], bool]:
    """Choose the files of outputs and the model of each ("": from a column); and whether the suite has the answers."""
    if source == "sample":
        st.text("What the models answered")
        st.text("✓ included in the sample")
        return (), (), False
    together = source == "upload" and url.flag("together")
    tokens = []
    if together:
        st.text("What the models answered")
    else:
        tokens = uploads.draw_uploads("What the models answered", "outputs", data.TABLES, many=True, hint=OUTPUTS_HINT)
    if source == "upload" and not tokens:
        st.checkbox(
            "My suite file already has the answers", value=together, key=f"together-{together}",
            on_change=lambda: url.put(together=not together),
        )  # fmt: skip
    asked = url.params("called")
    models = []
    for index, token in enumerate(tokens):
        file = data.upload_name(token)
        guess = data.model_name(file)
        if data.names_its_models(token):
            models.append("")
            continue
        model = asked[index] if index < len(asked) else guess
        models.append(st.text_input(f"Model that made {file}", model, key=f"called-{token}").strip() or guess)
    if any(models):
        url.put(called=models)
    return tuple(tokens), tuple(models), together


def choose_files(suite: str, outputs: tuple[str, ...], together: bool) -> str:
    """Choose the zip of files that agents made, if the outputs refer to any; "" without one."""
    combined = together and bool(suite)
    tokens = (suite,) if combined else outputs
    agents = url.param("task") == "agent"
    if not tokens or not (agents or data.wants_files(tokens, "combined" if combined else "outputs")):
        return ""
    chosen = uploads.draw_uploads("Files the agents made, a zip (if any)", "files", data.ARCHIVES, hint=FILES_HINT)
    return next(iter(chosen), "")


def show_examples() -> None:
    """Draw examples of files, before anything is chosen."""
    for title, examples in EXAMPLES.items():
        with st.container(gap="xsmall"):
            st.caption(title)
            for place, example in zip(st.columns(2), examples, strict=True):
                place.code(example, language=None)


def show_columns(inputs: data.Inputs) -> str:
    """Draw how each file was read; return what is in the way: `question`, `problem`, or nothing."""
    files = data.previews(inputs)
    obstacles = [column_mapping.draw_file(file, mapping_of(file)) for file in files]
    if files:
        with st.expander("Columns, lists and first rows"):
            if inputs.source == "upload":
                names = list(TASKS)
                place = names.index(inputs.task) if inputs.task in names else 0
                task = st.selectbox("Task", names, place, format_func=TASKS.__getitem__)
                if task != inputs.task:
                    url.put(task=task)
                    st.rerun()
            for file in files:
                show_file(file)
    return "problem" if "problem" in obstacles else "question" if "question" in obstacles else ""


def mapping_of(file: data.InspectedFile) -> str:
    """Return the query parameter with the corrections of a file's columns."""
    return "omap" if file.preview is not None and file.preview.role == "outputs" else "smap"


def show_file(file: data.InspectedFile) -> None:
    """Draw the mapping of a file, to be corrected; how its lists were read; its first rows."""
    seen = file.preview
    if seen is None:
        return
    st.text(f"{file.name}: " + (" ".join(seen.notes) or "which column is which"))
    if file.canonical:
        column_mapping.draw_mapping(seen.mapping, file.canonical, seen.columns, mapping_of(file))
    if seen.lists:
        st.text("How list cells were read")
        cells = [
            {"row": cell.row, "column": cell.column, "read as": cell.rule, "items": list(cell.items or ()),
             "cell": cell.text[:200]}
            for cell in seen.lists
        ]  # fmt: skip
        st.dataframe(pd.DataFrame(cells), hide_index=True, height="auto")
    st.text("First rows of the file")
    st.dataframe(pd.DataFrame(list(seen.first)), hide_index=True, height=min(260, 38 + 35 * len(seen.first)))


def show_problems(facts: data.ReadInputs, inputs: data.Inputs) -> None:
    """Draw all problems of the files, and the choice to skip the bad rows."""
    problems = facts.problems
    if problems.empty:
        return
    count = format.plural(len(problems), "problem")
    st.subheader(f"{count} in the files", anchor=False)
    st.dataframe(problems, hide_index=True, height="auto" if len(problems) < 7 else 260)
    with st.container(horizontal=True, vertical_alignment="center"):
        if facts.understood is not None:
            good, bad = format.plural(facts.understood.good, "good row"), format.count(facts.understood.left_out)
            keep = f"Keep the {good}, skip {bad}"
            if st.checkbox(keep, value=inputs.keep, key=f"keep-{inputs.keep}") != inputs.keep:
                url.put(keep=not inputs.keep)
                st.rerun()
        else:
            st.text("Skipping rows cannot fix these: correct the file and upload it again.")
        st.download_button(
            "Download the list", data=lambda: data.problems_csv(problems), file_name="problems.csv", mime="text/csv",
            on_click="ignore", icon=":material/download:",
        )  # fmt: skip


def choose_judge(offered: Sequence[evaluator_offers.Offer]) -> dict[str, Any]:
    """Return the settings of the run's judge if an evaluator on offer needs one; {} without one."""
    waiting = sum(not offer.lacks and data.uses_judge(offer.id, {}) for offer in offered)
    if not waiting:
        return {}
    return run_judge.draw_judge(data.judge_chosen(), data.judge_schemas().budget, waiting)


def summarise(
    facts: data.ReadInputs | None, missing: str, chosen: list[str], skipped: list[str], given: dict[str, Any],
    inputs: data.Inputs, resources: dict[str, Any],
) -> None:  # fmt: skip
    """Draw the card at the right: what is ready, what is missing, and the start button."""
    name, understood = "", facts.understood if facts is not None and facts.complete else None
    with st.container(border=True):
        st.subheader("Ready to start" if not missing else "Not ready yet", anchor=False)
        if understood is not None:
            models = understood.models
            st.text(f"{understood.suite}: {format.plural(understood.cases, 'case')}, {understood.task}")
            st.text(f"{format.plural(len(models), 'model')}: {format.shorten(', '.join(models), 90)}")
            left_out = understood.left_out if inputs.keep else 0
            if left_out:
                st.text(f"{format.plural(left_out, 'row')} skipped; the run records the count")
            if understood.missing:
                masks = understood.task == "segmentation"
                what = "all their pixels count as wrong" if masks else "those cases are not scored"
                st.text(f"{format.plural(understood.missing, 'answer')} missing: {what}")
            for note in understood.notes:
                st.text(note)
            st.text(f"{format.plural(len(chosen), 'evaluator')} chosen")
            if skipped:
                st.text(f"{format.plural(len(skipped), 'evaluator')} will be skipped; the list says why")
            expected = st.container(gap="xsmall")
            name = st.text_input("Name of the run", key="run_name", placeholder=understood.suite)
        if missing:
            st.text(missing)
        if st.button("Start", type="primary", icon=":material/play_arrow:", disabled=bool(missing), width="stretch"):
            with st.spinner("Storing the suite and the outputs"):
                run, refused = data.start(inputs, tuple(chosen), given, name.strip() or None, resources)
            if run:
                url.go("runs", run=run)
            st.text(refused)
    # last, as it takes a while and everything else can be used meanwhile
    if not missing and resources.get("judge") and any(data.uses_judge(each, given.get(each, {})) for each in chosen):
        with expected, st.spinner("Estimating what the judge will be asked"):
            found = data.estimate(inputs, tuple(chosen), given, resources)
            st.text("\n".join(run_judge.estimate_lines(found)) if found else "")


frame("Evaluate", "What should be evaluated?", needs_run=False)
left, right = st.columns([7, 4], gap="large")
with left:
    source = controls.choice("Suite", SOURCES, "from")
    first, second = st.columns(2)
    with first:
        suite, images = choose_suite(source)
    with second:
        asking = source != "sample" and controls.choice("Answers", ANSWERS, "by", clears=("job",)) == "model"
        outputs, models, together = ((), (), False) if asking else choose_outputs(source)
        files = choose_files(suite, outputs, together)
    uploads.draw_refused()
    obstacle, facts = "", None
    chosen: list[str] = []
    skipped: list[str] = []
    given: dict[str, dict[str, Any]] = {}
    resources: dict[str, Any] = {}
    inputs = data.Inputs(
        source, suite, images, outputs, models, together, url.param("task", "") or "", tuple(url.params("smap")),
        tuple(url.params("omap")), url.flag("keep"), files,
    )  # fmt: skip
    if not suite and not outputs:
        show_examples()
    elif suite and source != "sample":
        obstacle = show_columns(inputs)
    if asking and suite and not obstacle:
        st.subheader("The model to run", anchor=False)
        inputs = replace(inputs, job=target_form.draw_target(inputs))
    complete = bool(suite) and (bool(outputs or inputs.job) or together or source == "sample")
    if complete and not obstacle:
        with st.spinner("Reading and checking the files"):
            facts = data.read_inputs(inputs)
        show_problems(facts, inputs)
        if facts.complete and facts.understood is not None:
            st.subheader("Evaluators", anchor=False)
            offered = evaluator_offers.offers(data.catalogue(), facts.understood.task, facts.understood.present)
            needed = local_model_fields.needed(offer.entry for offer in offered)
            resources = dict(local_model_fields.draw_models(needed, data.model_kinds()))
            judge = choose_judge(offered)
            prompts = st.container()
            if judge:
                resources["judge"] = judge
            chosen, given, skipped = evaluator_offers.draw_offers(
                offered, lambda name, values: data.unavailable(name, values, resources),
                lambda name, values: "needs a judge" if not judge and data.uses_judge(name, values) else "",
            )  # fmt: skip
            if hint := data.inference_hint(chosen, resources):
                st.text(hint)
            with prompts:
                texts = run_judge.draw_prompts(run_judge.prompts_of(chosen, data.catalogue(), bool(judge)))
            if texts:
                given, resources = data.place_prompts(texts, chosen, given, resources)
with right:
    missing = (
        "Choose the suite." if not suite
        else "Run the model on the cases first." if asking and not complete
        else "Add what the models answered." if not complete
        else "Answer the question about a column." if obstacle == "question"
        else "Fix the problems, or skip the bad rows." if facts is None or not facts.complete
        else "Choose at least one evaluator." if not chosen
        else "No chosen evaluator can run: the list says what each needs." if len(skipped) == len(chosen)
        else ""
    )  # fmt: skip
    summarise(facts, missing, chosen, skipped, given, inputs, resources)
