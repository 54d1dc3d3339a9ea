"""The suites of the workspace: contents, drafts of edits, and new suites made from one. No suite is overwritten."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import streamlit as st
from pydantic import ValidationError

from components.data.file_reading import read_upload
from components.data.uploaded_files import choices_of, name_of, reading_of, task_of, upload_folder
from components.data.visitors import action, kept_here
from components.data.workspace_runs import workspace, workspace_path
from metrics import suites
from metrics.core.errors import AssayError, InputError, InputProblem
from metrics.core.suite import COMPLEXITY, CRITERIA, Suite, complexity_of, question_lengths
from metrics.judge.open_judges import chosen_judge
from metrics.perturbations import FIELDS, KINDS, Kind, Perturbed, perturb
from metrics.suites import Edit, drafted, save_version, suite_bytes
from metrics.text.conversation import last_user_turn

if TYPE_CHECKING:
    import pandas as pd


Criteria = Mapping[str, Any]  # see Suite.matching
MOST_VALUES = 50  # of a column that can be filtered by
KEPT = "✓ stored"


class SuiteFacts(NamedTuple):
    """What is in a suite: counts of cases and originals (cases that are no variant), of tags, complexity and values.

    edits: of the draft, in words; rated: cases that state their complexity; values: column → value → cases; longest:
    characters of a question; weighted: weights differ; textual: not of images; columns: those with a value in some
    case; labels: the classes; problem: why the draft cannot be shown, the rest being of the suite without it.
    """

    name: str
    task: str
    cases: int
    originals: int
    edits: tuple[str, ...]
    tags: Mapping[str, int]
    complexity: Mapping[str, int]
    rated: int
    values: Mapping[str, Mapping[str, int]]
    longest: int
    weighted: bool
    textual: bool
    columns: tuple[str, ...]
    labels: tuple[str, ...]
    problem: str


def suite_facts(fingerprint: str, draft: str = "") -> SuiteFacts:
    """Return what is in a stored suite after the edits of a draft; neither ever changes."""
    facts = _facts(str(workspace_path()), fingerprint, draft)
    return facts._replace(name=workspace().suite(fingerprint).name)  # it may have been renamed


@st.cache_resource(max_entries=16, show_spinner=False)
def _facts(folder: str, fingerprint: str, draft: str) -> SuiteFacts:
    try:
        suite, problem = drafted_suite(fingerprint, draft), ""
    except InputError as failure:
        suite, problem = drafted_suite(fingerprint), str(failure)
    cases = suite.cases
    read = suites.read_draft(Path(folder), draft)
    edits = read.edits if read is not None and read.suite == fingerprint else ()
    return SuiteFacts(
        name=suite.name, task=suite.task, cases=len(suite), originals=cases["perturbs"].null_count,
        edits=tuple(edit.words for edit in edits), tags=suites.tag_counts(suite),
        complexity=suites.complexity_distribution(suite),
        rated=len(suite) - cases[COMPLEXITY].null_count if COMPLEXITY in cases.column_names else 0,
        values={name: counts for name, counts in suites.values_of(suite, MOST_VALUES).items() if name not in CRITERIA},
        longest=int(question_lengths(cases).max(initial=0)),
        weighted=pc.count_distinct(pc.fill_null(cases["weight"], 1.0)).as_py() > 1,
        textual=suite.task not in ("detection", "segmentation"),
        columns=tuple(name for name in cases.column_names if cases[name].null_count < len(suite)),
        labels=suite.labels, problem=problem,
    )  # fmt: skip


def suite_cases(fingerprint: str, draft: str, criteria: Criteria, limit: int, offset: int) -> tuple[pd.DataFrame, int]:
    """Return some of the cases that meet the criteria, in the suite's order, and how many do.

    Columns: case_id, question, expected, tags, weight, complexity, perturbs, perturbation, image.
    """
    import pandas as pd

    suite = drafted_suite(fingerprint, draft)
    ids = suite.matching(criteria)
    rows = suite.cases.take(pc.index_in(ids.slice(offset, limit), suite.cases["case_id"].combine_chunks()))
    rows = rows.append_column("complexity", pa.chunked_array([complexity_of(rows)]))
    columns = [
        "case_id", "question", "expected_answers", "label", "tags", "weight", "complexity", "perturbs", "perturbation",
        "image",
    ]  # fmt: skip
    frame = pd.DataFrame(rows.select(columns).to_pylist(), columns=columns)
    answers = zip(frame.pop("expected_answers"), frame.pop("label"), strict=True)
    frame.insert(2, "expected", [" | ".join(several or ()) or label or "" for several, label in answers])
    frame["tags"] = [list(tags or ()) for tags in frame["tags"]]
    return frame, len(ids)


def edit_draft(
    fingerprint: str, draft: str, edit: Mapping[str, Any], criteria: Criteria, chosen: Sequence[str] = ()
) -> tuple[str, tuple[InputProblem | str, ...]]:
    """Add an edit of the `chosen` cases (none: all that meet the criteria) to a draft, as `add_edits`.

    An edit has do (keep, leave_out, tag, untag, weigh) and what that takes: tag, weight.
    """
    cases = list(chosen) or drafted_suite(fingerprint, draft).matching(criteria).to_pylist()
    return add_edits(fingerprint, draft, [{**edit, "cases": cases}])


@action("editor", "edit a suite", "fingerprint")
def add_edits(
    fingerprint: str, draft: str, edits: Sequence[Mapping[str, Any]]
) -> tuple[str, tuple[InputProblem | str, ...]]:
    """Add edits, see metrics.suites.Edit, to a draft; return its token, or "" and all that is wrong with them."""
    suite = drafted_suite(fingerprint, draft)
    before = suites.read_draft(workspace_path(), draft)
    added: list[Edit] = []
    problems: list[InputProblem | str] = []
    for edit in edits:
        try:
            added.append(suites.Edit.model_validate(edit))
            suite = suites.apply(suite, added[-1:], workspace_path())
        except ValidationError as failure:
            problems += [str(error["msg"]).removeprefix("Value error, ") for error in failure.errors()]
        except InputError as failure:
            problems += failure.problems
    if problems:
        return "", tuple(problems)
    own = before.edits if before is not None and before.suite == fingerprint else ()
    return suites.save_draft(workspace_path(), suites.Draft(suite=fingerprint, edits=(*own, *added))), ()


def edit_words(edits: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return what edits do, a line each."""
    return [Edit.model_construct(**edit).words for edit in edits]


@action("editor", "undo an edit of a suite", "fingerprint")
def undo_edit(fingerprint: str, draft: str) -> str:
    """Return the token of the draft without its last edit; "" for no edit left."""
    before = suites.read_draft(workspace_path(), draft)
    if before is None or len(before.edits) < 2:
        return ""
    return suites.save_draft(workspace_path(), suites.Draft(suite=fingerprint, edits=before.edits[:-1]))


@action("editor", "store a suite", "name")
def save_draft(fingerprint: str, draft: str, name: str) -> tuple[str, str]:
    """Store a draft as a suite of that name; return its fingerprint and a message."""
    edits = suite_facts(fingerprint, draft).edits
    return store_suite(replace(drafted_suite(fingerprint, draft), name=name), fingerprint, edits)


@action("viewer", "download a suite", "fingerprint", "format")
def draft_bytes(fingerprint: str, draft: str, format: str) -> bytes:
    """Return the cases of a draft as a file: jsonl, csv."""
    return bytes(suite_bytes(drafted_suite(fingerprint, draft), format))


@kept_here
def parts_of(fingerprint: str, draft: str, how: Mapping[str, Any]) -> tuple[pd.DataFrame, str]:
    """Return the number of cases, in all and of each tag, of the parts that `how` makes; or why it makes none.

    `how`: do (sample, split), seed, stratified, and size or share.
    """
    import pandas as pd

    try:
        made = _parts(fingerprint, draft, how)
    except InputError as failure:
        return pd.DataFrame(), str(failure)
    every = {"the suite": drafted_suite(fingerprint, draft)} | {f"part {n}": part for n, part in enumerate(made, 1)}
    if len(made) == 1:
        every["the sample"] = every.pop("part 1")
    tags = suites.tag_counts(every["the suite"])
    rows = {"cases": {name: len(suite) for name, suite in every.items()}}
    counts = {name: suites.tag_counts(suite) for name, suite in every.items()}
    rows |= {f"tagged {tag}": {name: counts[name].get(tag, 0) for name in every} for tag in tags}
    return pd.DataFrame(rows).T.rename_axis("what").reset_index(), ""


@action("editor", "divide a suite", "fingerprint", "names")
def divide_suite(fingerprint: str, draft: str, how: Mapping[str, Any], names: Sequence[str]) -> list[tuple[str, str]]:
    """Store the parts that `how` makes under those names; return the fingerprint of each and a message."""
    made = _parts(fingerprint, draft, how)
    words = f"sample, seed {how['seed']}" if how["do"] == "sample" else f"one of two parts, seed {how['seed']}"
    edits = (*suite_facts(fingerprint, draft).edits, words)
    return [store_suite(replace(part, name=name), fingerprint, edits) for part, name in zip(made, names, strict=True)]


def perturbation_kinds() -> Mapping[str, Kind]:
    """Return the kinds of perturbation by name."""
    return KINDS


def perturb_preview(fingerprint: str, draft: str, how: Mapping[str, Any], count: int) -> tuple[pd.DataFrame, str]:
    """Return the first cases before and after: case_id, kind ("" before), text, is_made; or why there is none.

    `how`: kinds, intensity, seed, fields. The variants are the same that `perturb_draft` makes. Of a conversation the
    text is the user's last turn; where a case has no variant, it is the reason and `is_made` is false.
    """
    import pandas as pd

    suite = drafted_suite(fingerprint, draft)
    column = FIELDS[how["fields"][0]]
    plain = suite.cases.filter(pc.and_(pc.is_null(suite.cases["perturbs"]), pc.is_valid(suite.cases[column])))
    first = plain["case_id"].slice(0, count).combine_chunks()
    if not len(first):
        return pd.DataFrame(), f"No case has a text in {column}."
    try:
        made = _perturbed(suite.restricted(first), how)
    except AssayError as failure:
        return pd.DataFrame(), str(failure)
    rows = made.suite.cases.select(["case_id", "perturbs", "perturbation", column]).to_pylist()
    place = {case: number for number, case in enumerate(first.to_pylist())}
    shown = [
        {
            "case_id": row["perturbs"] or row["case_id"], "kind": row["perturbation"] or "", "text": row[column],
            "is_made": True,
        }
        for row in rows
    ]  # fmt: skip
    shown += [
        {"case_id": case.case_id, "kind": case.kind, "text": f"– {case.reason}", "is_made": False}
        for case in made.skipped
    ]
    order = {kind: number for number, kind in enumerate(["", *how["kinds"]])}
    shown.sort(key=lambda row: (place[row["case_id"]], order[row["kind"]]))
    for row in shown:
        text = " | ".join(row["text"]) if isinstance(row["text"], list) else row["text"]
        spoken = last_user_turn(text) if column == FIELDS["question"] else None
        row["text"] = spoken[0] if spoken else text
    return pd.DataFrame(shown), ""


@action("editor", "perturb a suite", "fingerprint", "name")
def perturb_draft(fingerprint: str, draft: str, how: Mapping[str, Any], name: str) -> tuple[str, str]:
    """Store the draft with its variants as a suite of that name; return its fingerprint and a message ("": why)."""
    try:
        made = _perturbed(drafted_suite(fingerprint, draft), how)
    except AssayError as failure:
        return "", str(failure)
    if not any(made.made.values()):
        return "", "No case can be changed this way: " + "; ".join(sorted({case.reason for case in made.skipped}))
    edits = (*suite_facts(fingerprint, draft).edits, f"perturbed: {', '.join(how['kinds'])}")
    stored, said = store_suite(replace(made.suite, name=name), fingerprint, edits)
    without = Counter((case.kind, case.reason) for case in made.skipped)
    lines = [f"{kind}: {count:,} without a variant, {reason}" for (kind, reason), count in without.items()]
    return stored, "\n".join([said, f"{sum(made.made.values()):,} variants made", *lines])


@action("editor", "store an uploaded suite", "token")
def store_upload(
    token: str, task: str, pairs: Sequence[str], readings: Sequence[str]
) -> tuple[str, str, tuple[InputProblem, ...]]:
    """Store an uploaded suite; return its fingerprint and a message, or "" twice and all its problems."""
    suite, problems = uploaded_suite(token, task, pairs, readings)
    if suite is None:
        return "", "", problems
    return *store_suite(suite), ()


def uploaded_suite(
    token: str, task: str, pairs: Sequence[str], readings: Sequence[str]
) -> tuple[Suite | None, tuple[InputProblem, ...]]:
    """Return the suite in an uploaded file, or None and all its problems."""
    from metrics import ingest

    folder = upload_folder()
    file = name_of(token, folder)
    try:
        path, name = folder / token, file.rpartition(".")[0] or file
        options: dict[str, Any] = {"mapping": choices_of(token, pairs), "reading": reading_of(token, readings)}
        options |= {"filename": file, "workspace_media": folder / f"{token}.media"}
        suite = read_upload(
            [file], [path], partial(ingest.load_suite, path, task=task_of(task), name=name, **options)
        ).value
    except InputError as failure:
        return None, failure.problems or (InputProblem(file, str(failure), ""),)
    return suite, ()


def drafted_suite(fingerprint: str, draft: str = "") -> Suite:
    """Return a stored suite after the edits of a draft."""
    return drafted(workspace_path(), fingerprint, draft)


def _parts(fingerprint: str, draft: str, how: Mapping[str, Any]) -> list[Suite]:
    suite, seed, stratified = drafted_suite(fingerprint, draft), how["seed"], how["stratified"]
    if how["do"] == "sample":
        return [suites.sample(suite, how["size"], seed, stratified=stratified)]
    return list(suites.split(suite, how["share"], seed, stratified=stratified))


def _perturbed(suite: Suite, how: Mapping[str, Any]) -> Perturbed:
    judge = None
    if any(KINDS[kind].is_judged for kind in how["kinds"]):
        settings = chosen_judge(workspace_path())
        judge = None if settings is None else settings.model_dump(mode="json")
    return perturb(
        suite, how["kinds"], how["intensity"], how["seed"], how["fields"], judge=judge, workspace=workspace_path()
    )


def store_suite(suite: Suite, parent: str = "", edits: Sequence[str] = ()) -> tuple[str, str]:
    """Store a suite; return its fingerprint, and whether it is new or was stored before, perhaps under another name.

    `parent` is the fingerprint of the suite that it was made from, by `edits` in words.
    """
    before = {each["fingerprint"]: each["name"] for each in workspace().suites()}
    fingerprint = suite.fingerprint
    if fingerprint in before:
        return fingerprint, f"The workspace already has this suite, as {before[fingerprint]!r}: nothing was stored."
    if parent:
        save_version(workspace(), suite, drafted_suite(parent), edits)
    else:
        workspace().save_suite(suite)
    return fingerprint, f"{KEPT} as {suite.name!r}: {len(suite):,} cases"
