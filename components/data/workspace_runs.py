"""The workspace and its runs: what there is, how far it is, starting and stopping, the report."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import streamlit as st

if TYPE_CHECKING:
    pass


def workspace() -> Any:
    """Return the workspace folder that the studio works on."""
    from metrics.store import Workspace

    return Workspace()


def runs() -> list[dict[str, Any]]:
    """Return the runs, newest first: id, name, created, state, sample (id, None for the user's), models, evaluators,
    suite.
    """
    return [_asked(str(run.folder)) | {"state": run.state} for run in workspace().runs()]


def run_facts(run_id: str) -> dict[str, Any]:
    """One run as in `runs`, and `failure`: why it failed, in words."""
    run = workspace().run(run_id)
    return _asked(str(run.folder)) | {"state": run.state, "failure": run.failure}


def same_suite(run_id: str) -> dict[str, dict[str, Any]]:
    """Return the finished runs of the run's suite by id, as in `runs`: the run itself, then the others, the newest
    first.
    """
    facts = run_facts(run_id)
    fingerprint = facts["suite"]["fingerprint"]
    others = [run for run in runs() if run["state"] == "finished" and run["suite"]["fingerprint"] == fingerprint]
    return {run_id: facts} | {run["id"]: run for run in others}


@st.cache_data(max_entries=4096, show_spinner=False)
def _asked(folder: str) -> dict[str, Any]:
    """Return what a run was asked for; it never changes."""
    run = workspace().run(Path(folder).name)
    return {
        "id": run.id, "name": run.name, "created": run.created, "sample": run.spec.get("sample"),
        "models": list(run.models), "evaluators": run.evaluators, "suite": dict(run.spec["suite"]),
    }  # fmt: skip


def progress(run_id: str) -> dict[str, Any]:
    """Return how far a run is: evaluators (id, title, done, total, failed), seconds_spent, seconds_left, message.

    Also judges (their names), spend (see metrics.judge.budget.Spend; None before the first call) and budget.
    """
    from metrics import analysis

    run = workspace().run(run_id)
    setting = run.spec.get("resources", {}).get("judge") or {}
    return asdict(run.progress()) | {
        "judges": analysis.judge_names(run), "spend": run.spend, "budget": setting.get("budget", {}),
    }  # fmt: skip


def cancel(run_id: str) -> None:
    """Ask a run's process to stop; what it has computed is kept."""
    from metrics import engine

    engine.cancel(workspace().run(run_id))


def resume(run_id: str) -> None:
    """Go on with a run that stopped, in a process of its own."""
    from metrics import engine

    engine.resume(workspace().run(run_id))


def ensure_samples() -> bool:
    """Return whether this session found bundled samples missing and had them computed; asks once a session."""
    from metrics.suites.samples import start_missing

    if "samples_started" not in st.session_state:
        st.session_state["samples_started"] = start_missing(workspace())
    return bool(st.session_state["samples_started"])


def sample_titles() -> dict[str, str]:
    """Return the titles of the bundled samples by id."""
    from metrics.suites.samples import samples

    return {sample.id: sample.title for sample in samples()}


def run_errors() -> type[Exception]:
    """Return what the library raises when a run cannot do what was asked of it; its text is fit for the user."""
    from metrics.core.errors import RunError

    return RunError


@st.cache_resource(max_entries=16, show_spinner=False)
def report_outline(run_id: str) -> dict[str, Any]:
    """Return what a run's report will say: title, headline, notes, standings (data frame), sections (name → what it
    holds).
    """
    import pandas as pd

    from metrics.reports.build import build

    report = build(workspace().run(run_id))
    standings = pd.DataFrame(
        [
            {
                "evaluator": entry.column.evaluator_title, "metric": entry.column.title, "best": entry.leader,
                "value": entry.cell.value, "low": entry.cell.low, "high": entry.cell.high, "n": entry.cell.n,
                "level": ", ".join(entry.level),
            }
            for entry in report.standings
        ]
    )  # fmt: skip
    return {
        "title": report.title, "headline": report.headline, "notes": list(report.notes), "standings": standings,
        "sections": {
            "facts": sum(len(group.facts) for group in report.facts), "models": len(report.models),
            "metrics": len(report.columns), "charts": sum(len(group.charts) for group in report.charts),
            "problems": len(report.problems), "insights": len(report.insights), "worst": len(report.worst),
            "images": sum(case.image is not None for case in report.worst), "methods": len(report.methods),
        },
    }  # fmt: skip


def render_report(run_id: str, form: str) -> bytes:
    """Return the report as a file: pdf, html, json, csv (a zip) or parquet (a zip)."""
    from metrics.reports import render

    return bytes(render(workspace().run(run_id), form))
