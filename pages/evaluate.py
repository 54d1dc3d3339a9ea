from collections.abc import Mapping, Sequence
from dataclasses import replace

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from components.data import evaluation_inputs, inspected_files, object_lint, target_runs, uploaded_files, workspace_runs
from components.views.results import about_run
from components.views.setup import dropped_files, evaluator_chooser, object_findings, run_start, target_form
from components.widgets import column_mapping, controls, problem_list, url
from components.widgets.frame import editors_only, frame
from metrics.core.errors import InputProblem
from metrics.presentation import format

SOURCES = {"upload": "Your files", "stored": "A stored suite", "sample": "A sample", "run": "An earlier run"}
WITH_OUTPUTS = {"sample": "✓ with its answers", "run": "✓ with the outputs of that run"}
ANSWERS = {"upload": "Add answers", "model": "Ask a model"}
TASKS = {
    "": "as the columns say", "text": "text: questions and answers",
    "classification": "classification: one class or several",
    "regression": "regression: numbers to be predicted",
    "detection": "detection: boxes in images", "segmentation": "segmentation: a label for every pixel",
    "agent": "agent: tasks, traces and files",
}  # fmt: skip
READ = "How the files were read: columns, lists, first rows"
EXAMPLES = {  # what to bring: suite, outputs
    "Text": (
        "case_id,question,expected_answer\n1,Capital of Peru?,Lima\n2,What is 6 × 7?,42",
        "case_id,model,answer\n1,small,Lima\n1,large,The capital is Lima.",
    ),
    "Classification": ("case_id,question,label\n1,I am so glad!,joy", "case_id,model,label,score\n1,small,joy,0.83"),
    "Regression": (
        "case_id,true_value\n1,412.5\n2,377.0",
        "case_id,model,predicted_value,predicted_low,predicted_high\n1,small,405,380,430",
    ),
    "Detection": (
        "image,label,x,y,w,h\na.jpg,cat,10,20,64,48",
        "image,label,score,x,y,w,h\na.jpg,cat,0.9,11,19,60,50",
    ),
    "Agents": (
        "case_id,question,expected_answer\n1,Plot the sales,1. Load the data 2. Plot it",
        '{"case_id": "1", "model": "small",\n "messages": [{"role": "user", …}, …]}',
    ),
    "Segmentation": ("masks.zip\n  a.png  b.png  labels.txt", "small.zip\n  a.png  b.png"),
}


def choose_suite(source: str) -> str:
    """Choose a stored suite, a sample or a run; "" if there is none."""
    offered = {
        "stored": evaluation_inputs.stored_suites,
        "sample": workspace_runs.sample_titles,
        "run": evaluation_inputs.runs_to_clone,
    }
    options = offered[source]()
    if not options:
        st.info("Nothing is stored yet: every evaluated suite and every run is. Drop your files to begin.")
        return ""
    asked = url.param("suite", "") or ""
    names = list(options)
    place = names.index(asked) if asked in options else 0
    chosen = st.selectbox("Test cases", names, place, format_func=options.__getitem__, key=f"suite-{source}")
    if chosen != asked:
        url.put(suite=chosen, smap=None, omap=None)
    return str(chosen)


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
    if (table := target_runs.cases_to_answer(suite)) is not None:
        about = "Fill in the last column and upload the file here; its name becomes the model's."
        controls.download("Cases to answer, CSV", table, "cases.csv", mime="text/csv", type="tertiary", help=about)


def show_examples() -> None:
    """Draw examples of files, before anything is chosen."""
    for tab, (task, examples) in zip(st.tabs(list(EXAMPLES)), EXAMPLES.items(), strict=True):
        titles = dropped_files.OF_VISION if task in ("Detection", "Segmentation") else dropped_files.ROLES
        for place, role, example in zip(tab.columns(2), ("suite", "outputs"), examples, strict=True):
            place.text(f"{titles[role]}, for example")
            place.code(example, language=None, wrap_lines=True)


def show_columns(inputs: evaluation_inputs.Inputs, folded: DeltaGenerator) -> str:
    """Draw how each file was read; return what is in the way: `question`, `file` (all of it is wrong), or nothing."""
    files = inspected_files.previews(inputs)
    obstacles = [column_mapping.draw_file(file, parameter_of(file), files, whole=False) for file in files]
    if files:
        with folded:
            if inputs.source == "upload":
                names = list(TASKS)
                place = names.index(inputs.task) if inputs.task in names else 0
                if (task := st.selectbox("Task", names, place, format_func=TASKS.__getitem__)) != inputs.task:
                    url.put(task=task)
                    st.rerun()
            for file in files:
                show_file(file)
    return "file" if "problem" in obstacles else "question" if "question" in obstacles else ""


def parameter_of(file: inspected_files.InspectedFile) -> str:
    """Return the query parameter with the corrections of a file's columns."""
    return "omap" if file.preview is not None and file.preview.role == "outputs" else "smap"


def show_file(file: inspected_files.InspectedFile) -> None:
    """Draw the mapping of a file, to be corrected; how its lists were read; its first rows."""
    seen = file.preview
    if seen is None:
        return
    st.text(column_mapping.line_of(file))
    for note in seen.notes:
        st.text(note)
    if file.canonical:
        name = parameter_of(file)
        column_mapping.draw_mapping(file.token, seen.mapping, file.canonical, seen.columns, name, role=seen.role)
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
    suite = inputs.suite if inputs.source == "upload" and inputs.suite not in inputs.outputs else ""
    return uploaded_files.tokens_of((suite, *inputs.outputs))


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
            "Skipping rows cannot fix these: correct the file and upload it again, or choose above, under “How the "
            "files were read”, which column is which."
        )
        column_mapping.draw_again(tokens.values())
        return "file"
    good, bad = format.plural(facts.understood.good, "good row"), format.count(facts.understood.left_out)
    if st.checkbox(f"Keep the {good}, skip {bad}", value=inputs.keep, key=f"keep-{inputs.keep}") != inputs.keep:
        url.put(keep=not inputs.keep)
        st.rerun()
    return "" if inputs.keep else "rows"


frame("evaluate", "What should be evaluated?", needs_run=False)
editors_only("evaluate a suite")
dropped_files.take_old_address()
source = controls.choice("Suite", SOURCES, "from", clears=("file", "suite", "by", "job", "answers"))
setup = st.container(key="setup")
left, right = setup.columns([7, 3], gap="medium")
with left:
    suite = "" if source == "upload" else choose_suite(source)
    stored = target_runs.answers_on_file(suite) if source == "stored" and suite else {}
    seen, by, on_file = {}, "upload", ""
    if source in WITH_OUTPUTS:
        st.text(WITH_OUTPUTS[source])
    elif source == "stored" and suite:
        have = {"file": f"Answers you have ({len(stored)})"} if stored else {}
        by = controls.choice("Answers", {"upload": ANSWERS["upload"], **have, "model": ANSWERS["model"]}, "by",
                             clears=("job", "answers"))  # fmt: skip
        on_file = choose_on_file(suite, stored) if by == "file" else ""
    listed = st.container()  # the files, above all that is about them though what is wrong is known last
    if source == "upload" or (source == "stored" and suite and by == "upload"):
        seen = dropped_files.choose_files(stored=source == "stored")
        if source == "stored" and not seen:
            offer_cases(suite)
    roles = inspected_files.roles_of(seen, tuple(url.params("read")), source != "upload")
    suite, joined = suite or roles.suite, bool(roles.suite) and roles.suite in roles.outputs
    models = dropped_files.name_models(seen, roles.outputs)
    answered = bool(roles.outputs or on_file) or source in WITH_OUTPUTS
    if source == "upload" and suite and not answered:
        by = controls.choice("Answers", ANSWERS, "by", clears=("job", "answers"))
        dropped_files.draw_columns_of_models(seen[suite], suite)
    asking = by == "model" and not answered
    obstacle, facts, unchecked = "", None, ""
    inputs = evaluation_inputs.Inputs(
        source, suite, roles.images, roles.outputs, models, joined, url.param("task", "") or "",
        tuple(url.params("smap")), tuple(url.params("omap")), url.flag("keep"), roles.files,
        readings=tuple(url.params("read")), on_file=on_file,
    )  # fmt: skip
    if source == "upload" and not seen:
        show_examples()
    checks, receipt = st.container(), st.container()  # above the columns, though it is known after them
    below = st.container()
    if suite and seen:
        below = below.expander(READ)
        obstacle = show_columns(inputs, below)
    found: Sequence[InputProblem] = ()
    doubts: Mapping[str, int] = {}
    if suite and source == "upload" and not obstacle and not answered:
        alone = evaluation_inputs.read_suite(inputs)  # said now, not only when the answers are here
        found, obstacle = alone.problems, show_problems(alone, inputs)
    if asking and suite and not obstacle:
        st.subheader("The model to run", anchor=False)
        inputs = replace(inputs, job=target_form.draw_target(inputs))
    complete = bool(suite) and (answered or bool(inputs.job))
    if complete and not obstacle:
        inputs = object_findings.with_answers(inputs)
        with st.spinner("Reading and checking the files"):
            facts = evaluation_inputs.read_inputs(inputs)
        found, obstacle = facts.problems, show_problems(facts, inputs)
        if facts.complete and facts.understood is not None and facts.understood.task in ("detection", "classification"):
            with checks:
                unchecked = object_findings.draw_checks(inputs)
            doubts = object_lint.findings_by_model(inputs)
    if source == "stored" and obstacle == "file" and any(each.role == "suite" for each in seen.values()):
        label = "Are these new cases? Add them to the suite first"
        url.link(label, "suites", icon=":material/add:", suite=suite, view="make")
    if seen:
        said = facts.understood.receipt if facts is not None and facts.understood is not None else ()
        with listed:
            dropped_files.draw_files(seen, roles, dict(zip(roles.outputs, models, strict=True)), found, doubts, said)
    if facts is not None and facts.understood is not None and source not in WITH_OUTPUTS:
        with receipt:
            about_run.draw_receipt(facts.understood.receipt, tokens_of(inputs), below if seen else below.expander(READ))
understood = facts.understood if facts is not None and facts.complete else None
if understood is not None and not unchecked:
    with setup:
        evaluator_chooser.draw_evaluators(inputs, understood)
else:
    with right:
        vision = suite in seen and seen[suite].is_vision
        run_start.draw_not_ready(
            "Drop your files, or choose a stored suite or a sample." if not suite
            else "Fix the problems, or skip the bad rows." if obstacle == "rows"
            else "Fix the problems in the files." if obstacle == "file"
            else "Answer the question about a file." if obstacle == "question"
            else "Run the model on the cases first." if asking and not complete
            else f"{'Predictions' if vision else 'Answers'} are missing: drop the files of your models too"
            + ("." if vision else ", or ask a model.") if not complete
            else unchecked
        )  # fmt: skip
