"""What is asked of an evaluation, declared once.

A field here is a flag of `evaluate`, a key of assay.toml and of its JSON schema, an argument of `evaluate()` in Python
and, where it says so, a setting on the page Evaluate. To add an argument, add a field and use it in
`metrics.library.prepare`.
"""

from typing import Any, Literal

from metrics.core.conventions import CONVENTIONS, System
from metrics.core.sampling_design import Duplicates
from metrics.core.suite import Task
from metrics.engine import evaluation_fields as fields
from metrics.engine.evaluation_fields import Fields, Pairs, Place, Seconds, Source, Texts, option, switch
from metrics.judge.settings import OPTIONS, Combine

SAMPLING = ("temperature", "max_tokens", "window", "examples", *OPTIONS, "probabilities")  # names of --judge-option


class CommandFields(Fields):
    """Where runs are kept, and how much a command prints."""

    workspace: Place = option(
        "folder of runs and inputs, or the URL of one (default: $ASSAY_WORKSPACE or ./workspace)", "DIR|URL"
    )
    quiet: bool = switch("print only the result", python=False)


class InputFields(Fields):
    """The files, or tables in memory, that are evaluated."""

    suite: Source = option(
        "the test cases: CSV, JSONL, JSON, YAML, Parquet, Excel, an export (docs/formats.md), or a zip",
        "SUITE",
        positional=True,
    )
    outputs: fields.Sources = option(
        "outputs of models; leave out where SUITE contains them, or with --target", "OUTPUTS", positional=True
    )


class TargetFields(Fields):
    """What is to answer the cases in place of outputs, and how it is asked."""

    target: fields.Targets = option(
        "what is to answer the cases, repeatable: a model as litellm names it, local:FILE.gguf, an http address, "
        "module:function, file.py:function, command:PROGRAM …, or a .json or .yaml file that describes targets",
        "[NAME=]TARGET",
    )
    target_prompt: Pairs = option(
        "prompt of a model target, with placeholders such as {question}; several with names make a grid",
        "[NAME=]TEXT|@FILE",
    )
    target_system: str | None = option("system message of a model target", "TEXT|@FILE")
    target_base_url: str | None = option("OpenAI-compatible server of a model target; its key is OPENAI_API_KEY", "URL")
    target_temperature: float | None = option("sampling temperature (default 0)", "T")
    target_max_tokens: int | None = option("most tokens of an answer (default 1024)", "N")
    repeats: int = option("how often each case is asked (default 1)", "N", default=1)
    target_concurrency: int | None = option("concurrent calls of a target (default 4)", "N")
    target_timeout: float | None = option("seconds a call may take (default 120)", "S")
    target_tries: int | None = option("tries before a case has failed (default 3)", "N")
    target_budget: Pairs = option(
        "limit on what the targets may spend now, repeatable; cases beyond it are errors, asked next time",
        "usd=N|calls=N|tokens=N|seconds=N",
    )
    retry_errors: bool = switch("ask again the cases whose call failed before")
    fresh: bool = switch("forget the recorded answers of these targets first")


class PluginFields(Fields):
    """Evaluators from outside."""

    plugin: Texts = option(
        "evaluator from outside, made by @evaluator, repeatable (see docs/plugins.md)", "MODULE:OBJECT|FILE.py:OBJECT"
    )


class EvaluatorFields(PluginFields):
    """The evaluators, their parameters and the local models that they use."""

    evaluators: fields.Names = option(
        "evaluators to run (default: six at most, by what the data has; none asks a judge)", "ID,…"
    )
    param: fields.ParameterValues = option("evaluator parameter, repeatable", "EVALUATOR.NAME=VALUE")
    threshold: Pairs = option(
        "threshold of a metric (METRIC or EVALUATOR.METRIC) in place of its default, repeatable", "METRIC=VALUE"
    )
    prompt: Pairs = option(
        "text of your own in place of a prompt, by its id or its evaluator's, repeatable; byop=NAME|FILE; "
        "SYSTEM=DIR: the wordings that a system publishes, a file for each (see as_in)",
        "PROMPT=FILE|SYSTEM=DIR",
    )
    rubric: Source = option(
        "rubric of evaluator rubric: one saved in the workspace, or a .json or .yaml file", "NAME|FILE"
    )
    embedder: Place = option(
        "embedding model: a folder, or a hub name to download (default: the bundled all-MiniLM-L6-v2)", "PATH|NAME"
    )
    classifier: Place = option(
        "cross-encoder or classifier: a folder or a hub name; for one evaluator: --param ID.classifier=…", "PATH|NAME"
    )
    language_model: Place = option("causal language model: a folder, a GGUF file or a hub name", "PATH|NAME")
    token_encoder: Place = option(
        "encoder for BERTScore: a folder or a hub name (default: the bundled all-MiniLM-L6-v2)", "PATH|NAME"
    )


class ChoiceFields(Fields):
    """What else decides which evaluators run, and the run's name."""

    preset: str | None = option(
        "the evaluators of a preset, or of several (grounded,safety), that fit the data, beside those of --evaluators "
        "(`evaluators --presets` lists them)",
        "NAME",
    )
    run_consistency: bool = switch(
        "also compare every metric over the repeats of each case (evaluator consistency_statistics); some only: "
        "--param consistency_statistics.metrics_to_run_consistency=ID,…"
    )
    config: Place = option(
        "YAML configuration of Open RAG Eval: its files, evaluators and judge in place of SUITE and options",
        "FILE",
        python=False,
    )
    name: str | None = option("name of the run")
    decisive: Texts = option(
        "metric that models of this suite are chosen by (METRIC or EVALUATOR.METRIC), repeatable: the headline counts "
        "these alone; kept with the suite, also for later runs",
        "METRIC",
    )


class JudgeFields(Fields):
    """Who judges, and how it is asked."""

    judge: fields.Judges = option(
        "judge model as litellm names it, with its key in the environment; MODEL@URL, a model of an OpenAI-compatible "
        "server; or local, the installed local judge. Repeatable: a panel, each of which judges every case",
        "MODEL[@URL]|local",
    )
    judge_base_url: str | None = option(
        "OpenAI-compatible server of every judge named without one; its key is OPENAI_API_KEY, any value if the server "
        "needs none",
        "URL",
    )
    judge_repeats: int | None = option(
        "ask every question N times, which needs a temperature above 0, and combine the draws as a panel's scores", "N"
    )
    panel: Combine | None = option(
        "one score from several judges or draws: majority of yes or no and the mean of the rest (default), or the mean "
        "of all"
    )
    judge_concurrency: int | None = option("concurrent requests (default 16)", "N")
    judge_budget: Pairs = option(
        "limit on what the judge may spend, repeatable; what remains beyond it is skipped",
        "usd=N|calls=N|tokens=N|seconds=N",
    )
    judge_option: Pairs = option(
        f"how the judge replies, repeatable: {', '.join(SAMPLING)}; 2:NAME=VALUE for the second judge only",
        "NAME=VALUE",
    )
    replay: Place = option("use only the replies of an exported cache, offline; a missing one is an error", "CACHE")


class EstimateFields(Fields):
    """Whether a command only estimates."""

    dry_run: bool = switch("only estimate what judge and targets would cost, and how much of it is recorded already")


class SubsetFields(Fields):
    """Which cases are evaluated."""

    where: Pairs = option(
        "evaluate only the cases whose metadata, tag or other column meets a condition, repeatable: with one name any, "
        "with several all; != < <= > >= in place of =, and nothing after = for cases without a value",
        "NAME=VALUE",
        title="Only cases where",
        values={"": "split=test, then Enter"},
    )
    budget_cases: int | None = option(
        "evaluate only N cases of the suite: those that tell models apart best, where an earlier run of it has eight "
        "models or more, else drawn at random; groups are drawn whole",
        "N",
        title="Cases at most",
        values={"": "all"},
    )


class ScoringFields(Fields):
    """How cases are scored, and which classes are taken for one."""

    as_in: System | None = option(
        "as in another system, wherever you say nothing else: its thresholds, main metrics, parameters, how its judge "
        "samples, its embedding model where that is installed, and the wordings that it publishes, from your files "
        "prompts/SYSTEM/PROMPT.txt in the workspace (default: Assay's own)",
        title="Thresholds and settings as in",
        values={"": "Assay's own"} | {one.id: one.title for one in CONVENTIONS.values()},
    )
    duplicates: Duplicates = option(
        "cases that ask exactly the same, in a suite without groups: group counts them as one unit in intervals and "
        "tests (default), keep as independent ones",
        default="group",
        title="Cases that ask the same",
        values={"group": "count as one", "keep": "count each"},
    )
    label_map: Pairs = option(
        "take a class for another in ground truth and predictions alike, repeatable, or a .json or .csv FILE of names "
        "and classes; a class merged of several has the highest of their scores in a case",
        "NAME=CLASS|FILE",
        title="Classes taken for another",
        values={"": "kitten=cat, then Enter"},
    )
    no_reuse: bool = switch(
        "score everything again; without it the scores that earlier runs of the workspace have of the same cases, "
        "outputs and evaluators are taken (docs/scale.md)",
        title="Score everything again",
    )
    case_timeout: Seconds = option(
        "most seconds that scoring a case may take before it is an error, 0 for no limit (default: "
        "$ASSAY_CASE_TIMEOUT, else 300; ten times as long with a local model; docs/scale.md)",
        "SECONDS",
        title="Seconds per case at most",
    )
    seed: int = option("random seed of the bootstrap intervals (default 0)", default=0, title="Seed of the intervals")
    save_llm_result: bool = switch(
        "write H2O's LLM result of each evaluator (inputs, answers, its metrics) to llm_result/ in the run's folder",
        title="Write H2O's LLM results",
    )


class FileFields(Fields):
    """How the files are read."""

    task: Task | None = option("task of the suite, if its columns do not show it")
    images: Place = option("images of the suite", "DIR|ZIP")
    artifacts: Place = option("files made by agents, as the outputs name them or in folders CASE/…", "DIR|ZIP")
    model_name: Texts = option("model name of each OUTPUTS file, in order, repeatable", "NAME")
    map: Pairs = option(
        "column that holds a canonical field, of all files or of one, repeatable", "[FILE=]CANONICAL=COLUMN"
    )


class ReadingFields(Fields):
    """The encoding and the sheet of each file, and answers to questions about it."""

    encoding: Pairs = option(
        "encoding of the files, or of one: windows-1252, utf-16 … (default: UTF-8 if valid, else the likeliest)",
        "[FILE=]NAME",
    )
    sheet: Pairs = option(
        "sheet of Excel files, or split of a data set (YOLO, Hugging Face) (default: the first not empty; test)",
        "[FILE=]NAME",
    )
    read: Pairs = option(
        "answer to a question about the files, or one of them, repeatable; what is asked names its answers",
        "[FILE=]QUESTION=ANSWER",
    )
    explain: bool = switch("print what became of each part of the files, a line each", python=False)
    all_problems: bool = switch("print every problem of the files, a line each, not grouped", python=False)


class CheckFields(Fields):
    """What becomes of rows that are wrong, and of boxes that look wrong."""

    keep_good_rows: bool = switch("skip invalid rows instead of stopping; the run records how many were skipped")
    fix: Pairs = option(
        "correct the predictions of a model before they are scored, repeatable; all: whatever the checks propose",
        "MODEL=FIX|all",
    )
    unknown_classes: Pairs = option(
        "what becomes of predictions of classes that the suite does not have: left out as pycocotools does, counted as "
        "false, or taken for a class of the suite (respell: those that are only spelled otherwise; FILE: a .json or "
        ".csv of names and classes), repeatable; without it they are an error",
        "respell|ignore|false|NAME=CLASS|FILE",
    )
    accept_findings: bool = switch("score also what the checks find to be meaningless")


class PlaceFields(Fields):
    """Where units are computed."""

    scheduler: fields.SchedulerAddress = option(
        "compute on a Dask cluster: tcp://HOST:PORT or tls://HOST:PORT of its scheduler; local:N for N workers on this "
        "machine; none for its processes (the default; of `resume`: as before)",
        "ADDRESS",
    )


class ShardFields(Fields):
    """Which part of the run is computed."""

    shard: str | None = option(
        "compute only the I-th of N shards of the run and print its folder; `merge` joins them", "I/N"
    )


class WeightFields(Fields):
    """By what weights the models are ranked."""

    weight: Pairs = option(
        "rank the models by a weighted mean of several metrics, each scaled to 0-1 by its range: METRIC or "
        "EVALUATOR.METRIC, or cost_usd, duration_s or tokens; only the ratios of the weights count, none is preset; "
        "repeatable",
        "METRIC=WEIGHT",
    )
    scale: Pairs = option(
        "the values of a METRIC with a --weight that count as 0 and as 1, where its range has no end; repeatable",
        "METRIC=WORST:BEST",
    )


class LimitFields(Fields):
    """The gates that a run is held to."""

    fail_under: Pairs = option(
        "exit with 1 if a model is worse than VALUE (METRIC or EVALUATOR.METRIC); METRIC.lower=VALUE or "
        "METRIC.upper=VALUE: if that bound of its 95 % interval is; repeatable",
        "METRIC=VALUE",
    )
    baseline: Place = option(
        "compare each model with the one of the same name in RUN (an id, latest, board[:SUITE], or an archive), or "
        "with one MODEL of it, case by case, on the cases that both suites have unchanged",
        "RUN[:MODEL]",
    )
    fail_if_worse: fields.Some = option(
        "exit with 1 if a model is significantly worse than in --baseline at one of these metrics, corrected for their "
        "number (without a METRIC: the primary metric of each evaluator)",
        "METRIC",
    )
    non_inferior: Pairs = option(
        "exit with 1 unless a model may replace the one in --baseline: the 95 % interval of the difference shows that "
        "METRIC is worse by less than MARGIN, in the metric's unit; with several, at all of them; repeatable",
        "METRIC=MARGIN",
    )
    anytime_valid: bool = switch(
        "for cases that arrive over time, where every look is gated: intervals and p of --baseline hold at all looks "
        "together, however many there are (from 30 cases or groups on; wider than those of a single look)"
    )
    allow_unscored: bool = switch(
        "gate the value of the scored cases alone; without it a model that lacks a score of more than 2 % of its cases "
        "is gated as if they were the worst, and fails where a metric's range has no worst end"
    )


class ReportFields(Fields):
    """The files that say how the gates came out."""

    pdf: Place = option("write the report to FILE, with what the baseline shows", "FILE")
    junit: Place = option("write the result of each gate to FILE as JUnit XML", "FILE")
    markdown: Place = option(
        "write leaderboard, gates and differences to FILE as Markdown for a pull request; -: to standard output, alone",
        "FILE",
    )


class LogFields(Fields):
    """The form of what is printed while a command works."""

    log_format: Literal["text", "json"] = option(
        "form of what is printed on standard error: text, or json, an object a line for each event (docs/ci.md)",
        default="text",
    )


GATES = (LimitFields, WeightFields, ReportFields)
COMMAND_ONLY = (PluginFields, EstimateFields, ShardFields, *GATES, LogFields)  # what is no argument in Python
GROUPS: tuple[type[Fields], ...] = (
    CommandFields, InputFields, TargetFields, EvaluatorFields, ChoiceFields, JudgeFields, EstimateFields,
    SubsetFields, ScoringFields, FileFields, ReadingFields, CheckFields, PlaceFields, ShardFields, *GATES, LogFields,
)  # fmt: skip


class Evaluation(
    LogFields, ReportFields, WeightFields, LimitFields, ShardFields, PlaceFields, CheckFields, ReadingFields,
    FileFields, ScoringFields, SubsetFields, EstimateFields, JudgeFields, ChoiceFields, EvaluatorFields, TargetFields,
    InputFields, CommandFields,
):  # fmt: skip
    """What is asked of an evaluation; every door makes this value, and `prepare` takes it."""


class EvaluationInCode(Evaluation):
    """An evaluation that a program asks for, with values that no flag can give.

    Where files have `file_names`, what is unpacked of them is stored beside them.
    """

    resources: dict[str, Any] = option("models and judge by kind", default={})
    prompts: dict[str, Any] = option("texts in place of prompts, by prompt id", default={})
    file_names: dict[str, str] = option("names that people know files by, by path", default={}, python=False)


def option_name(name: str, door: fields.Door) -> str:
    """Return what a door calls a field: `--unknown-classes`, `unknown_classes`, `unknown classes` or its title."""
    if door == "command":
        return fields.flag_of(name)
    return name if door == "python" else fields.option_of(Evaluation.model_fields[name]).title or name.replace("_", " ")
