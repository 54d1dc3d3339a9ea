"""The workspace and its runs: which there are, how far each is, starting and stopping, the report."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import streamlit as st

if TYPE_CHECKING:
    import pandas as pd

    from metrics.store import Progress, Workspace


class RunFacts(NamedTuple):
    """One run: `created` is an ISO time, `sample` the id of the bundled sample it is of (None: the user's own).

    evaluators: id → parameters; suite: name, task, fingerprint.
    """

    id: str
    name: str
    created: str
    sample: str | None
    models: tuple[str, ...]
    evaluators: Mapping[str, Mapping[str, Any]]
    suite: Mapping[str, Any]
    state: str


class RunProgress(NamedTuple):
    """How far a run is, who judges it, what that has cost (None before the first call) and its budget."""

    progress: Progress
    judges: tuple[str, ...]
    spend: Mapping[str, Any] | None
    budget: Mapping[str, Any]


class ReportOutline(NamedTuple):
    """What a run's report says first, its table of standings, and how much it holds: section → count."""

    title: str
    headline: str
    notes: tuple[str, ...]
    standings: pd.DataFrame
    sections: Mapping[str, int]


def workspace() -> Workspace:
    """Return the workspace folder that the studio works on."""
    from metrics.store import Workspace

    return Workspace()


def workspace_path() -> Path:
    """Return the path of the workspace."""
    return Path(workspace().path)


def runs() -> list[RunFacts]:
    """Return the runs, newest first."""
    return [_asked(str(run.folder))._replace(state=run.state) for run in workspace().runs()]


def run_facts(run_id: str) -> RunFacts:
    """Return one run."""
    run = workspace().run(run_id)
    return _asked(str(run.folder))._replace(state=run.state)


def failure(run_id: str) -> str | None:
    """Return why a run failed, in words; None if it did not."""
    return workspace().run(run_id).failure


def same_suite(run_id: str) -> dict[str, RunFacts]:
    """Return the finished runs of the run's suite by id: the run itself, then the others, newest first."""
    facts = run_facts(run_id)
    fingerprint = facts.suite["fingerprint"]
    others = [run for run in runs() if run.state == "finished" and run.suite["fingerprint"] == fingerprint]
    return {run_id: facts} | {run.id: run for run in others}


@st.cache_data(max_entries=4096, show_spinner=False)
def _asked(folder: str) -> RunFacts:
    """Return what a run was asked for, which never changes; its state is filled in by the caller."""
    run = workspace().run(Path(folder).name)
    return RunFacts(
        run.id, run.name, run.created, run.spec.get("sample"), run.models, run.evaluators, dict(run.spec["suite"]), ""
    )


def progress(run_id: str) -> RunProgress:
    """Return how far a run is."""
    from metrics import analysis

    run = workspace().run(run_id)
    setting = run.spec.get("resources", {}).get("judge") or {}
    return RunProgress(run.progress(), analysis.judge_names(run), run.spend, setting.get("budget", {}))


def cancel(run_id: str) -> None:
    """Ask a run's process to stop; what it has computed is kept."""
    from metrics import engine

    engine.cancel(workspace().run(run_id))


def resume(run_id: str) -> None:
    """Resume a run that stopped, in a process of its own."""
    from metrics import engine

    engine.resume(workspace().run(run_id))


def ensure_samples() -> bool:
    """Start computing bundled samples that are missing, once a session; return whether there were any."""
    from metrics.suites.samples import start_missing

    if "samples_started" not in st.session_state:
        st.session_state["samples_started"] = start_missing(workspace())
    return bool(st.session_state["samples_started"])


def sample_titles() -> dict[str, str]:
    """Return the bundled samples: id → title."""
    from metrics.suites.samples import samples

    return {sample.id: sample.title for sample in samples()}


@st.cache_resource(max_entries=16, show_spinner=False)
def report_outline(run_id: str) -> ReportOutline:
    """Return what a run's report will say. Read-only."""
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
    sections = {
        "facts": sum(len(group.facts) for group in report.facts), "models": len(report.models),
        "metrics": len(report.columns), "charts": sum(len(group.charts) for group in report.charts),
        "problems": len(report.problems), "insights": len(report.insights), "worst": len(report.worst),
        "images": sum(case.image is not None for case in report.worst), "methods": len(report.methods),
    }  # fmt: skip
    return ReportOutline(report.title, report.headline, tuple(report.notes), standings, sections)


def render_report(run_id: str, form: str) -> bytes:
    """Return the report as a file: pdf, html, json, csv (a zip) or parquet (a zip)."""
    from metrics.reports import render

    return bytes(render(workspace().run(run_id), form))
