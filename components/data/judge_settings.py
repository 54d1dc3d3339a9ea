"""The judge: its settings in the workspace, a test call, its cache; and who judged a run."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from components.data.run_reads import leaderboard, of_run
from components.data.visitors import action
from components.data.workspace_runs import workspace_path
from metrics import analysis
from metrics.calibrations.calibrated_thresholds import shipped_for
from metrics.core.errors import AssayError, InputError
from metrics.core.evaluator import MISSING, Status
from metrics.core.files import scratch_folder
from metrics.judge import open_judges
from metrics.judge.keys import kept_back, key_variables, let_go, missing_keys
from metrics.judge.local import other_models
from metrics.judge.local.install import LOCAL, MODEL, missing_local_model
from metrics.judge.settings import OPTIONS, Budget, JudgeSettings, settings_of

if TYPE_CHECKING:
    from metrics.core.calibration import Calibration
    from metrics.judge.cache import Cache, Statistics
    from metrics.judge.local.other_models import GgufFile, ModelServer
    from metrics.judge.open_judges import Trial
    from metrics.store import Run

Setting = Mapping[str, Any]  # of metrics.judge.settings.JudgeSettings, as JSON

LIMITS = (
    "temperature", "max_tokens", "window", "examples", "concurrency", "timeout", "requests_per_minute",
    "tokens_per_minute", "tries",
)  # fmt: skip
GZIP = b"\x1f\x8b"


class RunJudges(NamedTuple):
    """Who judged a finished run: names of the judges (none without one), judged evaluators (id → title), the spend.

    `recorded`: its replies were replayed, no model was asked. `unreadable` and `skipped` count the cases and models
    whose judged primary metric has no value for that reason; `quotes`: how many the judge gave, how many of them are
    not in the text that they are said to be from.
    """

    judges: tuple[str, ...]
    evaluators: Mapping[str, str]
    spend: Mapping[str, Any] | None
    recorded: bool
    unreadable: int
    skipped: int
    quotes: tuple[int, int] = (0, 0)


class JudgeFacts(NamedTuple):
    """A judge as far as it is known without loading anything; `settings` is None if there is none.

    keys: environment variable → whether it is set; lacks: what it needs before it can be asked, in words; problem: why
    its settings cannot be read; kept_back: variables that are set, each with an address that its key is not sent to.
    """

    settings: Setting | None = None
    name: str = ""
    keys: Mapping[str, bool] = {}
    lacks: str = ""
    problem: str = ""
    kept_back: tuple[tuple[str, str], ...] = ()


@of_run
def judge_of(run: Run) -> RunJudges:
    """Return who judged a finished run."""
    names = analysis.judged_evaluators(run)
    board = leaderboard(run.id)
    columns = [column for column in board.columns if column.primary and column.evaluator in names]
    cells = [board.cells.get((model, column.key)) for column in columns for model in board.models]
    counts = [cell.counts for cell in cells if cell is not None]
    return RunJudges(
        judges=analysis.judge_names(run) if names else (),
        evaluators={column.evaluator: column.evaluator_title for column in columns},
        spend=run.spend,
        recorded=bool(names and settings_of(run.spec.judge).replay),
        unreadable=sum(count.get("parse_failure", 0) for count in counts),
        skipped=sum(count.get("skipped", 0) for count in counts),
        quotes=analysis.quotes(run) if names else (0, 0),
    )


class JudgeTrouble(NamedTuple):
    """Of the scores that a judge was asked for, how many are missing; the commonest reason, and how often it is it.

    `recorded` of them rest on what is recorded, an unreadable reply or a replayed cache: asking again gives the same.
    """

    missing: int
    asked: int
    reason: str
    alike: int
    recorded: int


@of_run
def judge_trouble(run: Run) -> JudgeTrouble | None:
    """Return what is missing of a run's judged scores: a score for each case, model and evaluator; None for nothing."""
    ids = analysis.judged_evaluators(run)
    board = leaderboard(run.id)
    judged = {column.key for column in board.columns if column.evaluator in ids}
    if not any(cell.missing for (_, key), cell in board.cells.items() if key in judged):
        return None  # the usual case, told without the table: reading it loads pandas
    columns = ["case_id", "model", "run", "evaluator", "status", "reason"]
    table = run.stored_table("scores", columns, [("evaluator", "in", ids)])
    asked = table.filter(pc.not_equal(table["status"], Status.NOT_APPLICABLE.value))
    keys = columns[:4]
    lost = asked.filter(pc.is_in(asked["status"], pa.array([status.value for status in MISSING])))
    lost = lost.group_by(keys).aggregate([("reason", "max"), ("status", "max")])
    if not len(lost):
        return None
    ((reason, alike),) = Counter(lost["reason_max"].to_pylist()).most_common(1)
    whole = asked.group_by(keys).aggregate([]).num_rows
    unreadable = lost["status_max"].to_pylist().count(Status.PARSE_FAILURE.value)
    recorded = len(lost) if settings_of(run.spec.judge).replay else unreadable
    return JudgeTrouble(len(lost), whole, reason or "no reason is stored", alike, recorded)


def judge_chosen() -> JudgeFacts:
    """Return the judge of the workspace."""
    from metrics.judge.open_judges import chosen_judge

    try:
        settings = chosen_judge(workspace_path())
    except InputError as failure:
        return JudgeFacts(problem=str(failure))
    return JudgeFacts() if settings is None else judge_facts(settings.model_dump(mode="json"))


def judge_facts(setting: Setting) -> JudgeFacts:
    """Return what is known of a judge from its settings alone."""
    from metrics.judge.open_judges import refuse_keys

    try:
        settings = settings_of(setting)
        refuse_keys(settings)
    except InputError as failure:
        texts = (f"{one.column}: {one.expected}" if one.column else f"needs {one.expected}" for one in failure.problems)
        return JudgeFacts(problem="; ".join(texts))
    keys = {name: bool(os.environ.get(name)) for judge in settings.judges for name in key_variables(judge)}
    missing = [name for judge in settings.judges for name in missing_keys(judge)]
    lacks = [f"{' and '.join(missing)} is not set in the environment of this studio"] if missing else []
    lacks += [text for judge in settings.judges if judge.is_local and (text := missing_local_model(judge.model))]
    name = ", ".join(judge.name for judge in settings.judges)
    kept = {(variable, str(judge.base_url)): None for judge in settings.judges for variable in kept_back(judge)}
    return JudgeFacts(settings.model_dump(mode="json"), name, keys, "; ".join(lacks), kept_back=tuple(kept))


@action("admin", "send a key to an address", "name", "address")
def let_key_go(name: str, address: str) -> None:
    """Let the key in a variable be sent to the host of an address, until the studio ends."""
    let_go(name, address)


@action("admin", "give a key until the studio ends", "name")
def give_key(name: str, key: str) -> None:
    """Keep a key in this process and those that it starts, until the studio ends; it is written nowhere."""
    os.environ[name] = key.strip()


@action("editor", "choose the judge")
def choose_judge(setting: Setting | None) -> str:
    """Make this the judge of the workspace (None: no judge); return why it could not be done, else ""."""
    try:
        open_judges.choose_judge(workspace_path(), None if setting is None else settings_of(setting))
    except InputError as failure:
        return str(failure)
    return ""


@action("editor", "ask a judge a test question")
def try_judge(setting: Setting) -> Trial:
    """Ask a judge one small question."""
    try:
        return open_judges.try_judge(settings_of(setting))
    except AssayError as failure:
        return open_judges.Trial("", 0.0, failure=str(failure))


class JudgeSchemas(NamedTuple):
    """The JSON schemas of a judge's settings: sampling and speed, what is sent only if set, panel, budget."""

    limits: dict[str, Any]
    options: dict[str, Any]
    panel: dict[str, Any]
    budget: dict[str, Any]


def judge_schemas() -> JudgeSchemas:
    """Return the JSON schemas of the settings that the form shows."""
    schema = JudgeSettings.model_json_schema()["$defs"]["JudgeSettings"]["properties"]
    groups = (LIMITS, (*OPTIONS, "probabilities"), ("repeats", "combine"))
    limits, sampling, panel = ({"properties": {name: schema[name] for name in names}} for names in groups)
    return JudgeSchemas(limits, sampling, panel, Budget.model_json_schema())


def own_models() -> list[GgufFile]:
    """Return the GGUF files of this machine that can judge."""
    return other_models.own_models(workspace_path())


def searched_folders() -> list[Path]:
    """Return the folders in which GGUF files are looked for."""
    return [folder for _, folder in other_models.model_folders(workspace_path())]


@action("editor", "look for this machine's model servers")
def running_servers() -> tuple[ModelServer, ...]:
    """Ask the usual ports of this machine for servers of models; return those that answer."""
    return tuple(other_models.running_servers())


def measured_agreement(setting: Setting) -> list[Calibration]:
    """Return how far a judge's scores agree with labels, as measured for Assay."""
    return list(shipped_for(settings_of(setting)))


def local_judge() -> tuple[str, int, str]:
    """Return the built-in local judge: its model, bytes, and why it is not here and how to get it ("" if it is)."""
    return MODEL.name, MODEL.size, missing_local_model(LOCAL) or ""


def judge_cache() -> Statistics | str:
    """Return what the cache of replies holds and has saved; if it cannot be read, why."""
    with _cache() as cache:
        try:
            return cache.statistics()
        except AssayError as failure:
            return str(failure)


@action("admin", "remove replies of judges", "judge", "step")
def clear_cache(judge: str | None, step: str | None, older_than_days: float | None) -> int:
    """Remove the replies that meet the conditions; return how many there were."""
    with _cache() as cache:
        return int(cache.clear(judge, step, older_than_days))


@action("editor", "download the replies of judges")
def export_cache() -> bytes:
    """Return the whole cache as a file: gzipped JSON lines."""
    with _cache() as cache, scratch_folder("cache") as scratch:
        file = scratch / "judge-replies.jsonl.gz"
        cache.export(file)
        return file.read_bytes()


@action("admin", "add replies of judges", "name")
def import_cache(name: str, content: bytes) -> str:
    """Add an exported cache; return the result in words."""
    with _cache() as cache, scratch_folder("cache") as scratch:
        file = scratch / ("import.jsonl.gz" if content[:2] == GZIP else "import.jsonl")
        file.write_bytes(content)
        try:
            return f"✓ {cache.take(file):,} replies added"
        except AssayError as failure:
            return f"✗ Not added: {str(failure).replace(str(file), name)}"


@contextmanager
def _cache() -> Iterator[Cache]:
    from metrics.judge.cache import Cache
    from metrics.judge.open_judges import FOLDER

    cache = Cache(workspace_path() / "cache" / FOLDER)
    try:
        yield cache
    finally:
        cache.close()
