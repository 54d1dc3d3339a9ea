"""The versions of a suite: which there are, what each changed, which runs used it, and how two of them differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import streamlit as st

from components.data import suite_cases, suite_versions, visitors
from components.viewers import text_case
from components.views.setup.suite_saving import open_suite
from components.widgets import controls, url
from components.widgets.tables import ROW, draw_columns, header, numeric
from metrics.core.fields import title_of
from metrics.presentation import format

if TYPE_CHECKING:
    from components.data import SuiteChange, SuiteDifference, Version
    from components.data.suite_drafts import SuiteFacts
    from components.data.workspace_runs import RunFacts

PAGE = 50
DRAFT = "draft"
KINDS = {"changed": "Changed", "added": "Added", "removed": "Removed"}
STORED = "When it was stored; unknown for suites of earlier versions of Assay."
ADDED = "Cases that the version before it does not have"
REMOVED = "Cases of the version before it that it does not have"
CHANGED = "Cases with another value than in the version before it"
USED = "Runs that used this version; they keep the cases that they were made with"


def draw(suite: str, draft: str, facts: SuiteFacts) -> None:
    """Draw the versions of a suite and the difference of two of them."""
    versions, used = suite_versions.suite_versions(suite)
    names = {version.fingerprint: f"{version.name} · {version.fingerprint[:7]}" for version in versions}
    here = next(place for place, version in enumerate(versions) if version.fingerprint == suite)
    _draw_name(suite, facts)
    if (clicked := _draw_versions(versions, used, suite)) is not None and versions[clicked].fingerprint != suite:
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


def _draw_versions(versions: Sequence[Version], used: Mapping[str, Sequence[RunFacts]], shown: str) -> int | None:
    """Draw the versions, the suite `shown` marked; return the one just clicked."""
    own = {version.fingerprint: version.name for version in versions}
    names = [("▸ " if version.fingerprint == shown else "") + version.name for version in versions]
    stored = [format.moment(version.created) if version.created else format.MISSING for version in versions]
    columns = {
        "name": (header("Version", 230, "The name of the stored suite; click a row to open it."), names),
        "created": (header("Stored", 140, STORED), stored),
        "cases": (numeric("Cases", 60, "Number of cases"), [format.count(version.cases) for version in versions]),
        "added": (numeric("Added", 60, ADDED), [_count(version.added) for version in versions]),
        "removed": (numeric("Removed", 70, REMOVED), [_count(version.removed) for version in versions]),
        "changed": (numeric("Changed", 70, CHANGED), [_count(version.changed) for version in versions]),
        "runs": (numeric("Runs", 50, USED), [format.count(len(used[version.fingerprint])) for version in versions]),
        "parent": (header("Made from", 130, "The version that it was made from"),
                   [own.get(version.parent, "") for version in versions]),
        "edits": (header("Edits", 200, "What was done, in order"), ["; ".join(version.edits) for version in versions]),
    }  # fmt: skip
    return draw_columns(columns, f"versions-{shown}", 300)


def _count(number: int | None) -> str:
    return format.MISSING if number is None else format.count(number)


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
        columns = {
            "run": (header("Run", 300, "Click to see its leaderboard."), [run.name for run in runs[:PAGE]]),
            "created": (header("Started", 140), [format.moment(run.created) for run in runs[:PAGE]]),
        }
        clicked = draw_columns(columns, f"runs-of-{runs[0].suite['fingerprint']}", 300)
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
    fields = [", ".join(title_of(change.field) for change in by_case[id]) for id in shown]
    columns = {
        "case": (header("Case", 120, "Click to see its fields."), list(shown)),
        "fields": (header("Changed fields", 180), fields),
    }
    left, right = st.columns([2, 3], gap="medium")
    with left:
        clicked = draw_columns(columns, f"changed-{key}", 420)
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
