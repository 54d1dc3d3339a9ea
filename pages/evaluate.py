from collections.abc import Sequence
from dataclasses import replace
from itertools import count

import pandas as pd
import streamlit as st

from components.data import evaluation_inputs, target_runs, uploaded_files, workspace_runs
from components.views.results import what_was_read
from components.views.setup import evaluator_chooser, object_findings, run_start, target_form
from components.widgets import column_mapping, controls, problem_list, uploads, url
from components.widgets.frame import editors_only, frame
from metrics.presentation import format

SOURCES = {
    "upload": "Upload a suite",
    "stored": "A stored suite",
    "sample": "A bundled sample",
    "run": "An earlier run",
}
WITH_OUTPUTS = {"sample": "✓ included in the sample", "run": "✓ the outputs of that run"}
ANSWERS = {"upload": "Upload answers", "model": "Run a model"}
TASKS = {
    "": "as the columns say", "text": "text: questions and answers",
    "classification": "classification: one class or several",
    "regression": "regression: numbers to be predicted",
    "detection": "detection: boxes in images", "segmentation": "segmentation: a label for every pixel",
    "agent": "agent: tasks, traces and files",
}  # fmt: skip
SUITE_HINT = (
    "CSV, JSONL, JSON, YAML, Parquet, Excel, COCO JSON or a zip; also as .gz. Logs of Inspect and exports of lm-eval, "
    "LangSmith, Langfuse, Phoenix, Braintrust, promptfoo … are understood, and the names of ragas, DeepEval and MLflow."
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
    "Regression, with or without intervals": (
        "case_id,true_value\n1,412.5\n2,377.0",
        "case_id,model,predicted_value,predicted_low,predicted_high\n1,small,405,380,430",
    ),
    "Detection, or COCO JSON": (
        "image,label,x,y,w,h\na.jpg,cat,10,20,64,48",
        "image,label,score,x,y,w,h\na.jpg,cat,0.9,11,19,60,50",
    ),
    "Agents, or OpenTelemetry, or OpenAI messages": (
        "case_id,question,expected_answer\n1,Plot the sales,1. Load the data 2. Plot it",
        '{"case_id": "1", "model": "small",\n "messages": [{"role": "user", …}, …]}',
    ),
    "Segmentation: zips of indexed PNGs": ("masks.zip\n  a.png  b.png  labels.txt", "small.zip\n  a.png  b.png"),
}


def choose_suite(source: str) -> tuple[str, str]:
    """Choose the suite (name of an upload, fingerprint or sample id) and the zip of images; "" if not yet chosen."""
    if source == "upload":
        suites = uploads.draw_uploads("Test cases", "suite", uploaded_files.TABLES, hint=SUITE_HINT)
        images = []
        if suites and evaluation_inputs.wants_images(suites[0], tuple(url.params("read"))):
            images = uploads.draw_uploads("Images, a zip", "images", uploaded_files.ARCHIVES, hint=IMAGES_HINT)
        return next(iter(suites), ""), next(iter(images), "")
    offered = {
        "stored": evaluation_inputs.stored_suites,
        "sample": workspace_runs.sample_titles,
        "run": evaluation_inputs.runs_to_clone,
    }
    options = offered[source]()
    if not options:
        st.info("Nothing is stored yet: every evaluated suite and every run is. Upload a suite to begin.")
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
    if source in WITH_OUTPUTS:
        st.text("What the models answered")
        st.text(WITH_OUTPUTS[source])
        return (), (), False
    together = source == "upload" and url.flag("together")
    tokens = []
    if together:
        st.text("What the models answered")
    else:
        tokens = uploads.draw_uploads(
            "What the models answered", "outputs", uploaded_files.TABLES, many=True, hint=OUTPUTS_HINT
        )
    if source == "upload" and not tokens:
        st.checkbox(
            "My suite file already has the answers", value=together, key=f"together-{together}",
            on_change=lambda: url.put(together=not together),
        )  # fmt: skip
    called: list[str] = []
    models: list[str] = []
    for token in tokens:
        file = uploaded_files.upload_name(token)
        guess = another_name(uploaded_files.model_name(file), models)
        if evaluation_inputs.names_its_models(token, tuple(url.params("read"))):
            models.append("")
            continue
        asked = uploaded_files.choices_of(token, url.params("called")).get("model", guess)
        models.append(st.text_input(f"Model that made {file}", asked, key=f"called-{token}").strip() or guess)
        called.append(f"{token}.model={models[-1]}")
    if called:
        url.put(called=called)
    return tuple(tokens), tuple(models), together


def another_name(name: str, taken: Sequence[str]) -> str:
    """Return the name, with a number where another file has it already: `outputs`, `outputs 2`."""
    names = (name if number == 1 else f"{name} {number}" for number in count(1))
    return next(each for each in names if each not in taken)


def choose_on_file(suite: str, stored: dict[str, str]) -> str:
    """Choose the outputs of an earlier run; return their fingerprint."""
    asked = url.param("answers", "") or ""
    names = list(stored)
    start = names.index(asked) if asked in stored else 0
    chosen = st.selectbox("What the models answered", names, start, stored.__getitem__, key=f"answers-{suite}")
    url.put(answers=chosen)
    return str(chosen)


def offer_cases(suite: str) -> None:
    """Draw the cases of a stored suite as a table to be answered."""
    table = target_runs.cases_to_answer(suite)
    if table is not None:
        st.download_button(
            "Cases to answer, CSV", data=table, file_name="cases.csv", mime="text/csv", on_click="ignore",
            icon=":material/download:", type="tertiary",
            help="Fill in the last column and upload the file here; its name becomes the model's.",
        )  # fmt: skip


def choose_files(suite: str, outputs: tuple[str, ...], together: bool) -> str:
    """Choose the zip of files that agents made, if the outputs refer to any; "" without one."""
    combined = together and bool(suite)
    tokens = (suite,) if combined else outputs
    agents = url.param("task") == "agent"
    role: evaluation_inputs.FileRole = "combined" if combined else "outputs"
    if not tokens or not (agents or evaluation_inputs.wants_files(tokens, role, tuple(url.params("read")))):
        return ""
    chosen = uploads.draw_uploads(
        "Files the agents made, a zip (if any)", "files", uploaded_files.ARCHIVES, hint=FILES_HINT
    )
    return next(iter(chosen), "")


def show_examples() -> None:
    """Draw examples of files, before anything is chosen."""
    for title, examples in EXAMPLES.items():
        with st.container(gap="xsmall"):
            st.caption(title)
            for place, example in zip(st.columns(2), examples, strict=True):
                place.code(example, language=None, wrap_lines=True)


def show_columns(inputs: evaluation_inputs.Inputs) -> str:
    """Draw how each file was read; return what is in the way: `question`, `problem`, or nothing."""
    files = evaluation_inputs.previews(inputs)
    obstacles = [column_mapping.draw_file(file, parameter_of(file), files) for file in files]
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


def parameter_of(file: evaluation_inputs.InspectedFile) -> str:
    """Return the query parameter with the corrections of a file's columns."""
    return "omap" if file.preview is not None and file.preview.role == "outputs" else "smap"


def show_file(file: evaluation_inputs.InspectedFile) -> None:
    """Draw the mapping of a file, to be corrected; how its lists were read; its first rows."""
    seen = file.preview
    if seen is None:
        return
    st.text(f"{file.name}: " + (" ".join(seen.notes) or "which column is which"))
    if file.canonical:
        column_mapping.draw_mapping(file.token, seen.mapping, file.canonical, seen.columns, parameter_of(file))
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


def tokens_of(inputs: evaluation_inputs.Inputs) -> dict[str, str]:
    """Return the tokens of the uploads by the names of the files."""
    return uploaded_files.tokens_of((inputs.suite if inputs.source == "upload" else "", *inputs.outputs))


def show_problems(facts: evaluation_inputs.ReadInputs, inputs: evaluation_inputs.Inputs) -> str:
    """Draw all questions and problems of the files, and the choice to skip the bad rows; return what is in the way."""
    tokens = tokens_of(inputs)
    wrong = column_mapping.draw_answers(facts.problems, tokens)
    if not wrong:
        return "question" if facts.problems else ""
    st.subheader(f"{problem_list.words(wrong)} in the files", anchor=False)
    problem_list.draw_problems(wrong, "files")
    if facts.understood is None:
        st.text(
            "Skipping rows cannot fix these: correct the file and upload it again, or choose above, under “Columns, "
            "lists and first rows”, which column is which."
        )
        column_mapping.draw_again(tokens.values())
        return "problem"
    good, bad = format.plural(facts.understood.good, "good row"), format.count(facts.understood.left_out)
    keep = f"Keep the {good}, skip {bad}"
    if st.checkbox(keep, value=inputs.keep, key=f"keep-{inputs.keep}") != inputs.keep:
        url.put(keep=not inputs.keep)
        st.rerun()
    return "" if inputs.keep else "problem"


frame("evaluate", "What should be evaluated?", needs_run=False)
editors_only("evaluate a suite")
left, right = st.columns([7, 3], gap="medium")
with left:
    source = controls.choice("Suite", SOURCES, "from")
    first, second = st.columns(2)
    with first:
        suite, images = choose_suite(source)
    with second:
        stored = target_runs.answers_on_file(suite) if source == "stored" and suite else {}
        on_file_too = {"upload": "Upload", "file": f"On file ({len(stored)})", "model": ANSWERS["model"]}
        answers = on_file_too if stored else ANSWERS  # short: the three stand in a column
        by = "" if source in WITH_OUTPUTS else controls.choice("Answers", answers, "by", clears=("job", "answers"))
        asking, on_file = by == "model", choose_on_file(suite, stored) if by == "file" else ""
        outputs, models, together = ((), (), False) if asking or on_file else choose_outputs(source)
        if by == "upload" and source == "stored" and suite and not outputs:
            offer_cases(suite)
        files = choose_files(suite, outputs, together)
    uploads.draw_refused()
    obstacle, facts, unchecked = "", None, ""
    inputs = evaluation_inputs.Inputs(
        source, suite, images, outputs, models, together, url.param("task", "") or "", tuple(url.params("smap")),
        tuple(url.params("omap")), url.flag("keep"), files, readings=tuple(url.params("read")), on_file=on_file,
    )  # fmt: skip
    if not suite and not outputs:
        show_examples()
    receipt = st.container()  # above the columns, though it is known after them
    if suite and source not in WITH_OUTPUTS:
        obstacle = show_columns(inputs)
    answered = bool(outputs or on_file) or together or source in WITH_OUTPUTS
    if suite and source == "upload" and not obstacle and not answered:
        alone = evaluation_inputs.read_suite(inputs)  # said now, not only when the answers are here
        obstacle = show_problems(alone, inputs)
    if asking and suite and not obstacle:
        st.subheader("The model to run", anchor=False)
        inputs = replace(inputs, job=target_form.draw_target(inputs))
    complete = bool(suite) and (answered or bool(inputs.job))
    if complete and not obstacle:
        inputs = object_findings.with_answers(inputs)
        with st.spinner("Reading and checking the files"):
            facts = evaluation_inputs.read_inputs(inputs)
        obstacle = show_problems(facts, inputs)
        if facts.complete and facts.understood is not None and facts.understood.task in ("detection", "classification"):
            unchecked = object_findings.draw_checks(inputs)
    if facts is not None and facts.understood is not None:
        with receipt:
            what_was_read.draw_receipt(facts.understood.receipt, tokens_of(inputs))
understood = facts.understood if facts is not None and facts.complete else None
with right:
    if understood is not None and not unchecked:
        # right above the card that starts the run, however high the files are
        with st.container(height="stretch", vertical_alignment="bottom"):
            run_start.draw_understood(understood, inputs.keep)
    else:
        if evaluation_inputs.are_exchanged(inputs) and st.button("Exchange the two files"):
            url.put(suite=inputs.outputs[0], outputs=[inputs.suite], smap=None, omap=None, called=None)
            st.rerun()
        seen = evaluation_inputs.previews(inputs)[0].preview if suite and source == "upload" else None
        ignored = "" if seen is None else ", ".join(seen.ignored)
        beside = f" The suite file has {ignored}: say above if these are the answers." if ignored else ""
        run_start.draw_not_ready(
            "Choose the suite." if not suite
            else "Fix the problems, or skip the bad rows." if obstacle == "problem"
            else "Answer the question about a file." if obstacle == "question"
            else "Run the model on the cases first." if asking and not complete
            else "Add what the models answered." + beside if not complete
            else unchecked
        )  # fmt: skip
if understood is not None and not unchecked:
    evaluator_chooser.draw_evaluators(inputs, understood)
