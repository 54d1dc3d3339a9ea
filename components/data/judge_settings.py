"""The judge: its evidence, its settings in the workspace, a test call, its cache."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import streamlit as st

from components.data.workspace_runs import workspace

if TYPE_CHECKING:
    import pandas as pd

    from metrics.core.evidence import Evidence
    from metrics.presentation.verdict_rows import VerdictGroup

LIMITS = (
    "temperature", "max_tokens", "concurrency", "timeout", "requests_per_minute", "tokens_per_minute", "tries",
)  # fmt: skip
GZIP = b"\x1f\x8b"


def evidence_parts(
    evidence: Evidence | None,
) -> tuple[tuple[VerdictGroup, ...], Mapping[str, Any], dict[str, Any]]:
    """Return the three parts of an evidence: its groups of verdicts, its facts, and who judged; each may be empty."""
    from metrics.presentation.verdict_rows import verdict_groups

    if evidence is None:
        return (), {}, {}
    judge = dict(evidence.judge or {}) | ({"panel": evidence.panel["judges"]} if evidence.panel else {})
    return verdict_groups(evidence), evidence.facts, judge


def judge_calls(parts: list[Any], scores: pd.DataFrame, run: Any, case_id: str) -> None:
    """Add to the third of each score's `evidence_parts` the judge's replies it rests on, and the run's prompts."""
    from metrics import analysis

    if not any(judge for _, _, judge in parts):
        return
    rows = analysis.judgements(run, case_id).replace({float("nan"): None}).to_dict("records")
    by_score: dict[tuple[str, str, int], list[dict[str, Any]]] = {}
    for row in rows:
        used = [row["prompt_tokens"], row["completion_tokens"]]
        row["tokens"] = None if used == [None, None] else int(sum(part or 0 for part in used))
        by_score.setdefault((row["evaluator"], row["model"], int(row["run"])), []).append(row)
    prompts = {name: {"text": prompt.text, "edited": prompt.edited} for name, prompt in analysis.asked(run).items()}
    for (_, _, judge), score in zip(parts, scores.to_dict("records"), strict=True):
        if judge:
            judge["calls"] = by_score.get((score["evaluator"], score["model"], int(score["run"])), [])
            judge["prompts"] = prompts


@st.cache_resource(max_entries=64, show_spinner=False)
def judge_of(run_id: str) -> dict[str, Any]:
    """Who judged a finished run: `judges` (names; none without one), `evaluators` judged (id → title), spend, budget.

    `recorded`: its replies were replayed, nobody was asked.
    `unreadable` and `skipped` count the cases and models whose judged primary metric has no value for that reason.
    Read-only.
    """
    from metrics import analysis
    from metrics.judge.settings import settings_of

    run = workspace().run(run_id)
    names = analysis.judged_evaluators(run)
    found = {"judges": analysis.judge_names(run) if names else (), "spend": run.spend, "budget": {}}
    board = analysis.leaderboard(run)
    columns = [column for column in board.columns if column.primary and column.evaluator in names]
    cells = [board.cells.get((model, column.key)) for column in columns for model in board.models]
    counts = [cell.counts for cell in cells if cell is not None]
    return found | {
        "evaluators": {column.evaluator: column.evaluator_title for column in columns},
        "recorded": bool(names and settings_of(run.spec["resources"]["judge"]).replay),
        "unreadable": sum(count.get("parse_failure", 0) for count in counts),
        "skipped": sum(count.get("skipped", 0) for count in counts),
    }  # fmt: skip


def judge_chosen() -> dict[str, Any]:
    """Return the workspace's judge: `settings` (plain; None without one), `name`, `keys` (variable → set), `lacks`,
    `problem`.

    `lacks` says in words why it cannot be asked, as far as can be told without loading anything; `problem` why its file
    cannot be read.
    """
    from metrics.core.errors import InputError
    from metrics.judge.workspace_judge import chosen_judge

    nothing = {"settings": None, "name": "", "keys": {}, "lacks": "", "problem": ""}
    try:
        settings = chosen_judge(_folder())
    except InputError as failure:
        return nothing | {"problem": str(failure)}
    return nothing if settings is None else nothing | judge_facts(settings.model_dump(mode="json"))


def judge_facts(setting: dict[str, Any]) -> dict[str, Any]:
    """Return what is known of a judge from its settings alone, in the form of `judge_chosen`."""
    from metrics.core.errors import InputError
    from metrics.judge.keys import key_variables, missing_keys
    from metrics.judge.local.install import missing_local_model
    from metrics.judge.settings import settings_of
    from metrics.judge.workspace_judge import refuse_keys

    try:
        settings = settings_of(setting)
        refuse_keys(settings)
    except InputError as failure:
        problem = "; ".join(f"{problem.column}: {problem.expected}" for problem in failure.problems)
        return {"settings": None, "name": "", "keys": {}, "lacks": "", "problem": problem}
    keys = {name: bool(os.environ.get(name)) for judge in settings.judges for name in key_variables(judge)}
    missing = [name for judge in settings.judges for name in missing_keys(judge)]
    lacks = [f"{' and '.join(missing)} is not set in the environment of this studio"] if missing else []
    lacks += [text for judge in settings.judges if judge.is_local and (text := missing_local_model(judge.model))]
    return {
        "settings": settings.model_dump(mode="json"), "name": ", ".join(judge.name for judge in settings.judges),
        "keys": keys, "lacks": "; ".join(lacks), "problem": "",
    }  # fmt: skip


def choose_judge(setting: dict[str, Any] | None) -> str:
    """Make it the workspace's judge (None: no judge any more); why it could not be, "" where it could."""
    from metrics.core.errors import InputError
    from metrics.judge import workspace_judge
    from metrics.judge.settings import settings_of

    try:
        workspace_judge.choose_judge(_folder(), None if setting is None else settings_of(setting))
    except InputError as failure:
        return str(failure)
    return ""


def try_judge(setting: dict[str, Any]) -> dict[str, Any]:
    """Return a small question to a judge: see metrics.judge.workspace_judge.Trial."""
    from metrics.core.errors import AssayError
    from metrics.judge import workspace_judge
    from metrics.judge.settings import settings_of

    try:
        return asdict(workspace_judge.try_judge(settings_of(setting)))
    except AssayError as failure:
        return asdict(workspace_judge.Trial("", 0.0, failure=str(failure)))


def judge_schemas() -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the JSON schemas of the settings that bear on replies or speed, and of the budget: what forms are made
    of.
    """
    from metrics.judge.settings import Budget, JudgeSettings

    schema = JudgeSettings.model_json_schema()["$defs"]["JudgeSettings"]
    limits = {name: schema["properties"][name] for name in LIMITS}
    return {"properties": limits}, Budget.model_json_schema()


def local_judge() -> tuple[str, bool]:
    """Return the command that installs the local judge, and whether it is installed."""
    from metrics.judge.local.install import INSTALL, missing_local_model
    from metrics.judge.settings import LOCAL

    return INSTALL, missing_local_model(LOCAL) is None


def local_judge_measured() -> pd.DataFrame:
    """Return how far the local judge's verdicts agree with people's: metric, what, value, low, high, n, data."""
    import pandas as pd

    from metrics.judge.local.measured import MEASURED

    return pd.DataFrame([asdict(figure) for figure in MEASURED])


def judge_cache() -> dict[str, Any]:
    """Return what the cache of replies holds and has spared (see metrics.judge.cache.Statistics); `problem` where
    unreadable.

    `steps` is a data frame of judge, step and replies.
    """
    import pandas as pd

    from metrics.core.errors import AssayError

    with _cache() as cache:
        try:
            found = asdict(cache.statistics())
        except AssayError as failure:
            return {"problem": str(failure)}
    rows = pd.DataFrame(found["steps"], columns=["judge", "step", "replies"])
    return found | {"steps": rows, "problem": ""}


def clear_cache(judge: str | None, step: str | None, older_than_days: float | None) -> int:
    """Remove the replies that the conditions hold for; how many there were."""
    with _cache() as cache:
        return int(cache.clear(judge, step, older_than_days))


def export_cache() -> bytes:
    """Return the whole cache as a file, gzipped JSON lines."""
    from tempfile import TemporaryDirectory

    with _cache() as cache, TemporaryDirectory() as scratch:
        file = Path(scratch) / "judge-replies.jsonl.gz"
        cache.export(file)
        return file.read_bytes()


def take_into_cache(name: str, content: bytes) -> str:
    """Add an exported cache; what came of it, in words."""
    from tempfile import TemporaryDirectory

    from metrics.core.errors import AssayError

    with _cache() as cache, TemporaryDirectory() as scratch:
        file = Path(scratch) / ("import.jsonl.gz" if content[:2] == GZIP else "import.jsonl")
        file.write_bytes(content)
        try:
            return f"✓ {cache.take(file):,} replies added"
        except AssayError as failure:
            return f"✗ Not added: {str(failure).replace(str(file), name)}"


@contextmanager
def _cache() -> Iterator[Any]:
    from metrics.judge.cache import Cache
    from metrics.judge.opening import FOLDER

    cache = Cache(_folder() / "cache" / FOLDER)
    try:
        yield cache
    finally:
        cache.close()


def _folder() -> Path:
    return Path(workspace().path)
