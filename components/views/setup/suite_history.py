"""The versions of a suite: which there are, what each changed, which runs used it, and how two of them differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd
import streamlit as st

from components.data import suite_cases, suite_versions, visitors
from components.viewers import text_case
from components.views.setup.suite_saving import open_suite
from components.widgets import controls, url
from components.widgets.tables import ROW, header, numeric, records
from metrics.core.fields import title_of
from metrics.presentation import format

if TYPE_CHECKING:
    from components.data import SuiteChange, SuiteDifference, Version
    from components.data.suite_drafts import SuiteFacts
    from components.data.workspace_runs import RunFacts

PAGE = 50
DRAFT = "draft"
KINDS = {"changed": "Changed", "added": "Added", "removed": "Removed"}
COLUMNS: dict[str, Any] = {
    "name": header("Version", 230, "The name of the stored suite; click a row to open it."),
    "created": header("Stored", 140, "When it was stored; unknown for suites of earlier versions of Assay."),
    "cases": numeric("Cases", 60, "Number of cases"),
    "added": numeric("Added", 60, "Cases that the version before it does not have"),
    "removed": numeric("Removed", 70, "Cases of the version before it that it does not have"),
    "changed": numeric("Changed", 70, "Cases with another value than in the version before it"),
    "runs": numeric("Runs", 50, "Runs that used this version; they keep the cases that they were made with"),
    "parent": header("Made from", 130, "The version that it was made from"),
    "edits": header("Edits", 200, "What was done, in order"),
}


def draw(suite: str, draft: str, facts: SuiteFacts) -> None:
    """Draw the versions of a suite and the difference of two of them."""
    versions, used = suite_versions.suite_versions(suite)
    names = {version.fingerprint: f"{version.name} · {version.fingerprint[:7]}" for version in versions}
    here = next(place for place, version in enumerate(versions) if version.fingerprint == suite)
    _draw_name(suite, facts)
    clicked = records(version_table(versions, used, suite), COLUMNS, f"versions-{suite}", 300)
    if clicked is not None and versions[clicked].fingerprint != suite:
        open_suite(versions[clicked].fingerprint, view="history")
        st.rerun()
    _draw_runs(used[suite])
    if len(versions) == 1 and not facts.edits:
        st.text("This is the only version. Edit its cases and save: the new suite appears here with what changed.")
        return
    options = names | ({DRAFT: "the draft, not saved"} if facts.edits else {})
    before, after = _choose_two(suite, options, versions[here].parent or versions[max(0, here - 1)].fingerprint)
    if before == after:
        st.text("Choose two different versions to compare.")
        return
    both = [(suite, draft) if version == DRAFT else (version, "") for version in (before, after)]
    _draw_difference(both[0], both[1])


def version_table(versions: Sequence[Version], used: Mapping[str, Sequence[RunFacts]], shown: str) -> pd.DataFrame:
    """Return the versions as a table; the suite `shown` is marked."""
    names = {version.fingerprint: version.name for version in versions}
    return pd.DataFrame(
        [
            {
                "name": ("▸ " if version.fingerprint == shown else "") + version.name,
                "created": format.moment(version.created) if version.created else format.MISSING,
                "cases": format.count(version.cases),
                **{
                    name: format.MISSING if count is None else format.count(count)
                    for name, count in (
                        ("added", version.added), ("removed", version.removed), ("changed", version.changed)
                    )
                },
                "parent": names.get(version.parent, ""),
                "edits": "; ".join(version.edits),
                "runs": format.count(len(used[version.fingerprint])),
            }
            for version in versions
        ]
    )  # fmt: skip


def _draw_name(suite: str, facts: SuiteFacts) -> None:
    if not visitors.may("editor"):
        return
    with st.popover("Rename", icon=":material/edit:"):
        name = st.text_input("Name", facts.name, max_chars=200, key=f"rename-{suite}-{facts.name}").strip()
        st.caption("Only the name changes, not the cases. Runs keep the name that the suite had.")
        if st.button("Rename the suite", type="primary", disabled=not name or name == facts.name):
            suite_versions.rename_suite(suite, name)
            st.session_state["suites-message"] = f"✓ renamed from {facts.name!r}"
            st.rerun()


def _draw_runs(runs: Sequence[RunFacts]) -> None:
    if not runs:
        st.caption("No run has used this version.")
        return
    with st.expander(f"Runs of this version ({len(runs)})"):
        table = pd.DataFrame([{"run": run.name, "created": format.moment(run.created)} for run in runs[:PAGE]])
        columns = {"run": header("Run", 300, "Click to see its leaderboard."), "created": header("Started", 140)}
        clicked = records(table, columns, f"runs-of-{runs[0].suite['fingerprint']}", 300)
    if clicked is not None:
        url.go("leaderboard", run=runs[clicked].id)


def _choose_two(suite: str, options: Mapping[str, str], parent: str) -> tuple[str, str]:
    ids = list(options)
    later = DRAFT if DRAFT in options else suite
    start = suite if DRAFT in options else parent
    if start == later:
        start = next((id for id in ids if id != later), later)
    left, right = st.columns(2)
    asked = [url.param("from", start), url.param("to", later)]
    chosen = []
    for place, label, name, id in ((left, "From", "from", asked[0]), (right, "To", "to", asked[1])):
        index = ids.index(id) if id in ids else ids.index(start if name == "from" else later)
        chosen.append(
            place.selectbox(label, ids, index, options.__getitem__, key=f"versions-{name}-{suite}-{len(ids)}")
        )
    url.put(**{"from": chosen[0], "to": chosen[1]})
    return chosen[0], chosen[1]


def _draw_difference(before: tuple[str, str], after: tuple[str, str]) -> None:
    """Draw how the second suite differs from the first; each is a fingerprint and a draft."""
    found = suite_versions.suite_difference(before, after)
    counts = {"changed": len(found.changed), "added": len(found.added), "removed": len(found.removed)}
    kinds = {name: f"{words} ({format.count(counts[name])})" for name, words in KINDS.items() if counts[name]}
    if not kinds:
        st.text("The two versions have the same cases.")
        return
    kind = controls.choice("What", kinds, "kind", clears=("page",))
    ids = list({"changed": found.changed, "added": found.added, "removed": found.removed}[kind])
    page = min(int(url.number("page", 1, low=1)), -(-len(ids) // PAGE))
    shown = ids[PAGE * (page - 1) : PAGE * page]
    with st.container(horizontal=True, vertical_alignment="center"):
        st.text(f"{format.plural(len(ids), 'case')} {kind}")
        controls.pager(page, -(-len(ids) // PAGE))
    if kind == "changed":
        _draw_changes(found, shown, f"{page}-{before}-{after}")
        return
    names = ["case_id", "question", "expected_answers", "label", "tags"]
    cases, _ = suite_cases.editable_cases(*(after if kind == "added" else before), {"case_id": shown}, names, PAGE, 0)
    filled = [name for name in names if any(isinstance(value, str | list) and value for value in cases[name])]
    table = cases[filled].rename(columns=title_of)
    st.dataframe(table, hide_index=True, row_height=ROW, height="content" if len(table) < 9 else 320)


def _draw_changes(found: SuiteDifference, shown: Sequence[str], key: str) -> None:
    """Draw some of the changed cases, and the one just clicked, else the first, field by field."""
    by_case: dict[str, list[SuiteChange]] = {}
    for change in found.changes:
        by_case.setdefault(change.case_id, []).append(change)
    table = pd.DataFrame(
        [{"case": id, "fields": ", ".join(title_of(change.field) for change in by_case[id])} for id in shown]
    )
    left, right = st.columns([2, 3], gap="medium")
    columns = {"case": header("Case", 120, "Click to see its fields."), "fields": header("Changed fields", 180)}
    with left:
        clicked = records(table, columns, f"changed-{key}", 420)
    with right:
        id = shown[clicked or 0]
        st.text(f"Case {id}")
        for change in by_case[id]:
            before, after = text_of(change.before), text_of(change.after)
            text_case.draw_difference(title_of(change.field), before, after, f"{key}-{change.field}", exact=True)


def text_of(value: Any) -> str:
    """Return the value of a field as text, a list as lines."""
    if value is None:
        return ""
    if isinstance(value, list):
        return "\n".join(value)
    return f"{value:g}" if isinstance(value, float) else str(value)
