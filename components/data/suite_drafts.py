"""The suites of the workspace: what is in one, a draft of edits, and new suites made of it. No suite is overwritten."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import streamlit as st

from components.data.workspace_runs import workspace
from components.widgets import column_mapping, uploads

if TYPE_CHECKING:
    import pandas as pd

Criteria = Mapping[str, Any]  # see Suite.matching
MOST_VALUES = 50  # of a column that can be filtered by
KEPT = "✓ stored"


def suite_facts(fingerprint: str, draft: str = "") -> dict[str, Any]:
    """Return what is in a stored suite after the edits of a draft, neither of which ever changes.

    name, task, cases, originals, edits (in words), tags and complexity (name → cases), rated (cases that say how
    complex they are), values (column → value → cases), longest (characters of a question), textual (not of images);
    `problem`: why the draft cannot be shown, the rest being of the suite without it.
    """
    return _facts(str(_folder()), fingerprint, draft)


@st.cache_data(max_entries=16, show_spinner=False)
def _facts(folder: str, fingerprint: str, draft: str) -> dict[str, Any]:
    import pyarrow.compute as pc

    from metrics import suites
    from metrics.core.errors import InputError
    from metrics.core.suite import COMPLEXITY, CRITERIA, question_lengths

    try:
        suite, problem = _suite(fingerprint, draft), ""
    except InputError as failure:
        suite, problem = _suite(fingerprint), str(failure)
    cases = suite.cases
    read = suites.read_draft(Path(folder), draft)
    edits = read.edits if read is not None and read.suite == fingerprint else ()
    values = suites.values_of(suite, MOST_VALUES)
    return {
        "name": suite.name, "task": suite.task, "cases": len(suite), "edits": [_words(edit) for edit in edits],
        "originals": cases["perturbs"].null_count, "tags": suites.tag_counts(suite),
        "complexity": suites.complexity_distribution(suite),
        "rated": len(suite) - cases[COMPLEXITY].null_count if COMPLEXITY in cases.column_names else 0,
        "values": {name: counts for name, counts in values.items() if name not in CRITERIA},
        "longest": int(question_lengths(cases).max(initial=0)),
        "weighted": pc.count_distinct(pc.fill_null(cases["weight"], 1.0)).as_py() > 1,
        "textual": suite.task not in ("detection", "segmentation"), "problem": problem,
    }  # fmt: skip


def suite_cases(fingerprint: str, draft: str, criteria: Criteria, limit: int, offset: int) -> tuple[pd.DataFrame, int]:
    """Some of the cases that fit, in the suite's order, and how many do.

    Columns: case_id, question, expected, tags, weight, complexity, perturbs, perturbation, image.
    """
    import pandas as pd
    import pyarrow as pa
    import pyarrow.compute as pc

    from metrics.core.suite import complexity_of

    suite = _suite(fingerprint, draft)
    ids = suite.matching(criteria)
    wanted = ids.slice(offset, limit)
    rows = suite.cases.take(pc.index_in(wanted, suite.cases["case_id"].combine_chunks()))
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
) -> tuple[str, str]:
    """Add an edit of the `chosen` cases (none: of all that fit the criteria) to a draft; its new token, or "" and why.

    An edit has do (keep, leave_out, tag, untag, weigh) and what that takes: tag, weight.
    """
    from pydantic import ValidationError

    from metrics import suites
    from metrics.core.errors import InputError

    suite = _suite(fingerprint, draft)
    before = suites.read_draft(_folder(), draft)
    edits = before.edits if before is not None and before.suite == fingerprint else ()
    cases = tuple(chosen) or tuple(suite.matching(criteria).to_pylist())
    try:
        added = suites.Edit.model_validate({**edit, "cases": cases})
        suites.apply(suite, [added])
    except ValidationError as failure:
        return "", "; ".join(str(error["msg"]).removeprefix("Value error, ") for error in failure.errors())
    except InputError as failure:
        return "", str(failure)
    return suites.save_draft(_folder(), suites.Draft(suite=fingerprint, edits=(*edits, added))), ""


def undo_edit(fingerprint: str, draft: str) -> str:
    """Return the draft without its last edit; "" for none."""
    from metrics import suites

    before = suites.read_draft(_folder(), draft)
    if before is None or len(before.edits) < 2:
        return ""
    return suites.save_draft(_folder(), suites.Draft(suite=fingerprint, edits=before.edits[:-1]))


def save_draft(fingerprint: str, draft: str, name: str) -> tuple[str, str]:
    """Store a draft as a suite of that name; its fingerprint, and what to say of it."""
    from dataclasses import replace

    return _store(replace(_suite(fingerprint, draft), name=name))


def draft_bytes(fingerprint: str, draft: str, format: str) -> bytes:
    """Return the cases of a draft as a file: jsonl, csv."""
    from metrics.suites import suite_bytes

    return bytes(suite_bytes(_suite(fingerprint, draft), format))


def parts_of(fingerprint: str, draft: str, how: Mapping[str, Any]) -> tuple[pd.DataFrame, str]:
    """Return how many cases, originals and cases of each tag the parts have that `how` makes; or why it makes none.

    `how`: do (sample, split), seed, stratified, and size or share.
    """
    return _parts_table(str(_folder()), fingerprint, draft, dict(how))


@st.cache_data(max_entries=16, show_spinner=False)
def _parts_table(
    folder: str, fingerprint: str, draft: str, how: dict[str, Any]  # noqa: ARG001 - the folder is a part of the key
) -> tuple[pd.DataFrame, str]:  # fmt: skip
    import pandas as pd

    from metrics import suites
    from metrics.core.errors import InputError

    try:
        made = _parts(fingerprint, draft, how)
    except InputError as failure:
        return pd.DataFrame(), str(failure)
    every = {"the suite": _suite(fingerprint, draft)} | {f"part {number}": part for number, part in enumerate(made, 1)}
    if len(made) == 1:
        every["the sample"] = every.pop("part 1")
    tags = suites.tag_counts(every["the suite"])
    rows = {"cases": {name: len(suite) for name, suite in every.items()}}
    counts = {name: suites.tag_counts(suite) for name, suite in every.items()}
    rows |= {f"tagged {tag}": {name: counts[name].get(tag, 0) for name in every} for tag in tags}
    return pd.DataFrame(rows).T.rename_axis("what").reset_index(), ""


def divide_suite(fingerprint: str, draft: str, how: Mapping[str, Any], names: Sequence[str]) -> list[tuple[str, str]]:
    """Store the parts that `how` makes under those names; the fingerprint of each, and what to say of it."""
    from dataclasses import replace

    made = _parts(fingerprint, draft, how)
    return [_store(replace(part, name=name)) for part, name in zip(made, names, strict=True)]


def perturbation_kinds() -> dict[str, dict[str, Any]]:
    """Return the kinds of perturbation, by name: title, says, judged, keeps_meaning."""
    from metrics.perturbations import KINDS

    return {
        name: {
            "title": kind.title, "says": kind.says, "judged": kind.is_judged, "keeps_meaning": kind.keeps_meaning,
        }
        for name, kind in KINDS.items()
    }  # fmt: skip


def perturb_preview(fingerprint: str, draft: str, how: Mapping[str, Any], count: int) -> tuple[pd.DataFrame, str]:
    """Return the first cases before and after: case_id, kind ("" before), text; or why there is nothing to show.

    `how`: kinds, intensity, seed, fields. The variants are those that `perturb_draft` will make.
    """
    import pandas as pd
    import pyarrow.compute as pc

    from metrics.core.errors import AssayError
    from metrics.perturbations import FIELDS

    suite = _suite(fingerprint, draft)
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
        {"case_id": row["perturbs"] or row["case_id"], "kind": row["perturbation"] or "", "text": row[column]}
        for row in rows
    ]
    shown += [{"case_id": case.case_id, "kind": case.kind, "text": f"– {case.reason}"} for case in made.skipped]
    order = {kind: number for number, kind in enumerate(["", *how["kinds"]])}
    shown.sort(key=lambda row: (place[row["case_id"]], order[row["kind"]]))
    for row in shown:
        row["text"] = " | ".join(row["text"]) if isinstance(row["text"], list) else row["text"]
    return pd.DataFrame(shown), ""


def perturb_draft(fingerprint: str, draft: str, how: Mapping[str, Any], name: str) -> tuple[str, str]:
    """Store the draft with its variants as a suite of that name; its fingerprint and what to say, or "" and why not."""
    from collections import Counter
    from dataclasses import replace

    from metrics.core.errors import AssayError

    try:
        made = _perturbed(_suite(fingerprint, draft), how)
    except AssayError as failure:
        return "", str(failure)
    if not any(made.made.values()):
        return "", "No case can be changed this way: " + "; ".join(sorted({case.reason for case in made.skipped}))
    stored, said = _store(replace(made.suite, name=name))
    without = Counter((case.kind, case.reason) for case in made.skipped)
    lines = [f"{kind}: {count:,} without a variant, {reason}" for (kind, reason), count in without.items()]
    return stored, "\n".join([said, f"{sum(made.made.values()):,} variants made", *lines])


def store_upload(token: str, task: str, pairs: Sequence[str]) -> tuple[str, str, pd.DataFrame]:
    """Store an uploaded suite: its fingerprint and what to say, or "" and a table of everything wrong with the file."""
    import pandas as pd

    from components.data.inputs import upload_folder
    from metrics import ingest
    from metrics.core.errors import InputError

    folder = upload_folder()
    file = uploads.name_of(token, folder)
    try:
        suite = ingest.read_suite(
            folder / token, task=task or None, mapping=column_mapping.parse(pairs), name=file.rpartition(".")[0] or file,
            filename=file, workspace_media=folder / f"{token}.media",
        )  # fmt: skip
    except InputError as failure:
        columns = ["file", "row", "column", "found", "expected"]
        rows = [problem.as_row() for problem in failure.problems] or [{"file": file, "found": str(failure)}]
        return "", "", pd.DataFrame(rows, columns=columns).astype({"row": "Int64"})
    return *_store(suite), pd.DataFrame()


def _suite(fingerprint: str, draft: str = "") -> Any:
    from metrics.suites import drafted

    return drafted(_folder(), fingerprint, draft)


def _parts(fingerprint: str, draft: str, how: Mapping[str, Any]) -> list[Any]:
    from metrics import suites

    suite, seed, stratified = _suite(fingerprint, draft), how["seed"], how["stratified"]
    if how["do"] == "sample":
        return [suites.sample(suite, how["size"], seed, stratified=stratified)]
    return list(suites.split(suite, how["share"], seed, stratified=stratified))


def _perturbed(suite: Any, how: Mapping[str, Any]) -> Any:
    from metrics.judge.workspace_judge import chosen_judge
    from metrics.perturbations import KINDS, perturb

    judge = None
    if any(KINDS[kind].is_judged for kind in how["kinds"]):
        settings = chosen_judge(_folder())
        judge = None if settings is None else settings.model_dump(mode="json")
    return perturb(
        suite, how["kinds"], how["intensity"], how["seed"], how["fields"], judge=judge, workspace=_folder(),
    )  # fmt: skip


def _store(suite: Any) -> tuple[str, str]:
    """Store a suite; its fingerprint, and that it was there before, perhaps under another name, or is there now."""
    before = {each["fingerprint"]: each["name"] for each in workspace().suites()}
    fingerprint = str(workspace().save_suite(suite))
    if fingerprint in before:
        return fingerprint, f"The workspace has this suite already, as {before[fingerprint]!r}: nothing was stored."
    return fingerprint, f"{KEPT} as {suite.name!r}: {len(suite):,} cases"


def _words(edit: Any) -> str:
    what = {
        "keep": "kept alone", "leave_out": "left out", "tag": f"tagged {edit.tag}", "untag": f"{edit.tag} removed",
        "weigh": "weight taken away" if edit.weight is None else f"weight {edit.weight:g}",
    }  # fmt: skip
    count = len(edit.cases)
    return f"{count:,} {'case' if count == 1 else 'cases'}: {what[edit.do]}"


def _folder() -> Path:
    return Path(workspace().path)
