"""A run as records of Every Eval Ever: a JSON for each model, and JSON lines with the scores of its answers.

The fields are those of schema 0.3.0 of the EvalEval Coalition. What it asks for and Assay does not know is "unknown";
times are the run's, and the files' names follow from run and model, so that a record is the same whenever it is made.
"""

import json
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import Any
from uuid import UUID

import orjson

from metrics import __version__, analysis
from metrics.core.evaluator import Direction
from metrics.core.registry import BYOP
from metrics.core.rounding import round_tree
from metrics.judge.settings import settings_of
from metrics.presentation.board_words import evaluators_of, from_run
from metrics.presentation.format import DIRECTIONS
from metrics.presentation.safe_text import shown_tree
from metrics.reports.build import changes_of
from metrics.reports.exchange.contents import Number, answers, file_name, numbers, parameters, verdict_of
from metrics.store import Run

SCHEMA = "0.3.0"
UNKNOWN = "unknown"
LONGEST = 100  # characters of a folder's name
OWNED = re.compile(r"([\w-][\w.-]*)/(.+)", re.ASCII)  # the name of a model on a hub
SAMPLING = ("temperature", "top_p", "max_tokens")
DEPLOYMENT = {"deployment_type": UNKNOWN, "model_availability": UNKNOWN}
SOURCE = {
    "source_name": "Assay", "source_type": "evaluation_run", "source_organization_name": UNKNOWN,
    "evaluator_relationship": "other",  # the schema has no word for unknown here
}  # fmt: skip


def export(run: Run, folder: Path) -> None:
    """Write data/SUITE/DEVELOPER/MODEL/UUID.json for each model, and of a suite of texts UUID_samples.jsonl beside it.

    An evaluation result is a number of the leaderboard; those without a value are listed with their reason in the
    source's details. A sample is a score of an answer that passes or fails, as the schema has no place for others:
    their counts stand beside the file's checksum.
    """
    found = numbers(run)
    scoring = _scoring(run)
    for model in run.models:
        own = [one for one in found if one.model == model]
        developer, name = owned.groups() if (owned := OWNED.fullmatch(model)) else (UNKNOWN, model)
        id = UUID(bytes=sha256(f"{run.id}\n{model}".encode()).digest()[:16], version=4)
        parts = (_part(run.spec.suite.name), _part(developer), _part(name))
        path = folder.joinpath("data", *parts, f"{id}.json")
        path.parent.mkdir(parents=True, exist_ok=True)
        record = _record(run, model, developer, own, scoring)
        if run.spec.suite.task == "text":
            samples = path.with_name(f"{id}_samples.jsonl")
            facts = _write_samples(run, record, own, samples)
            if facts["total_rows"]:
                place = samples.relative_to(folder).as_posix()
                record["detailed_evaluation_results"] = {"format": "jsonl", "file_path": place, **facts}
            else:
                samples.unlink()
        path.write_bytes(_dumped(record, orjson.OPT_INDENT_2))


def _record(
    run: Run, model: str, developer: str, found: list[Number], scoring: Mapping[str, dict[str, Any]]
) -> dict[str, Any]:
    suite, target = run.spec.suite, run.targets.get(model, {})
    id = f"{suite.name}/{model}/{run.id}"
    silent = {one.name: one.cell.reason or "no value" for one in found if not one.has_value}
    details = {**parameters(run, model), **({"metrics_without_value": json.dumps(silent)} if silent else {})}
    versions = {f"{id}.version": str(run.spec.version(id)) for id in evaluators_of(run, model)}
    data = {
        "dataset_name": suite.name,
        "source_type": "other",
        "additional_details": {
            "fingerprint": suite.fingerprint, "task": suite.task, "cases": str(suite.cases),
            "evaluated": " ".join(run.made_of) or "every case",
        },
    }  # fmt: skip
    told = {**DEPLOYMENT, **({"target": json.dumps(target, sort_keys=True)} if target else {})}
    return {
        "schema_version": SCHEMA,
        "evaluation_id": id,
        "evaluation_timestamp": run.behind(model).created,
        "retrieved_timestamp": str(int(datetime.fromisoformat(run.behind(model).sealed).timestamp())),
        "source_metadata": {**SOURCE, "additional_details": details},
        "eval_library": {
            "name": "assay",
            "version": __version__,
            "additional_details": {"version_of": "the Assay that wrote this file", **versions},
        },
        "model_info": {"name": model, "id": model, "developer": developer, "additional_details": told},
        "evaluation_results": [
            {
                "evaluation_result_id": f"{id}/{one.name}",
                "evaluation_name": suite.name,
                "source_data": data,
                "metric_config": _metric(run, one, scoring.get(one.column.evaluator)),
                "score_details": _score(one),
                **_generation(target),
            }
            for one in found
            if one.has_value
        ],
    }


def _metric(run: Run, one: Number, scoring: dict[str, Any] | None) -> dict[str, Any]:
    column = one.column
    details = {"direction": DIRECTIONS[column.direction], **({"threshold": column.limit} if column.limit else {})}
    details |= {"parameters": changed} if (changed := changes_of(run, column.evaluator)) else {}
    return {
        "evaluation_description": column.description,
        "metric_id": f"assay.{one.name}",
        "metric_name": one.title,
        **({"metric_unit": column.unit} if column.unit else {}),
        "lower_is_better": column.direction == "lower",
        "score_type": "continuous",
        "min_score": _bound(column.low),
        "max_score": _bound(column.high),
        **({"llm_scoring": scoring} if scoring else {}),
        "additional_details": details,
    }


def _score(one: Number) -> dict[str, Any]:
    cell = one.cell
    known = {"reason": cell.reason, "caution": cell.caution, "if_worst": cell.if_worst, "if_best": cell.if_best}
    counts = {"n": cell.n, "unscored": cell.unscored, **{name: count for name, count in cell.counts.items() if count}}
    details = {name: str(value) for name, value in round_tree(counts | known).items() if value is not None}
    uncertainty: dict[str, Any] = {"num_samples": cell.n}
    ends = [end for end in (cell.low, cell.high) if end is not None and math.isfinite(end)]
    if len(ends) == 2:
        uncertainty["confidence_interval"] = {
            "lower": ends[0], "upper": ends[1], "confidence_level": 0.95, "method": cell.interval or UNKNOWN,
        }  # fmt: skip
    elif ends:
        details["interval"] = f"{cell.low} … {cell.high}"
    return {"score": cell.value, "details": details, "uncertainty": uncertainty}


def _scoring(run: Run) -> dict[str, dict[str, Any]]:
    """Return how the judge scored, by evaluator; empty without a judge."""
    asked = analysis.prompts_asked(run)
    found = {}
    for id in analysis.judged_evaluators(run):
        setting = settings_of(run.spec.judge)
        entry = run.evaluator(id)
        texts = {prompt.id: asked[prompt.id].text for prompt in entry.prompts} if entry else {}
        if id == BYOP:
            texts = {id: str(run.evaluators[id].get("prompt", UNKNOWN))}
        found[id] = {
            "judges": [
                {
                    "model_info": {"name": judge.name, "id": judge.model, "additional_details": DEPLOYMENT},
                    "temperature": judge.temperature,
                }
                for judge in setting.judges
            ],
            "input_prompt": "\n\n".join(f"[{name}]\n{text}" for name, text in texts.items()) or UNKNOWN,
            "additional_details": {"combine": setting.combine, "repeats": str(setting.repeats)},
        }
    return found


def _generation(target: Mapping[str, Any]) -> dict[str, Any]:
    """Return how Assay asked the model; empty where its outputs were uploaded."""
    if not target:
        return {}
    # a description is stored without what is zero
    given = {"temperature": 0.0, **target} if target.get("kind") == "model" else {}
    arguments = {name: given[name] for name in SAMPLING if name in given}
    arguments |= {"prompt_template": given["prompt"]} if "prompt" in given else {}
    rest = {name: value for name, value in target.items() if name not in (*SAMPLING, "prompt")}
    details = {name: value if isinstance(value, str) else json.dumps(value) for name, value in rest.items()}
    return {"generation_config": {"generation_args": arguments, "additional_details": details}}


def _write_samples(run: Run, record: Mapping[str, Any], found: list[Number], path: Path) -> dict[str, Any]:
    """Write the samples of one model; return checksum and number of the rows, and how many scores are no row."""
    left, digest, rows = Counter[str](), sha256(), 0
    results: dict[tuple[str, str], str] = {}
    for one in found:
        if one.column.label_key is None and one.has_value:
            key = one.column.evaluator, one.column.metric
            results.setdefault(key, f"{record['evaluation_id']}/{one.name}")
    with path.open("wb") as file:
        for sample in _samples(run, record, results, left):
            line = _dumped(sample)
            digest.update(line)
            file.write(line)
            rows += 1
    return {
        "hash_algorithm": "sha256",
        "checksum": digest.hexdigest(),
        "total_rows": rows,
        "additional_details": {f"scores_left_out_{why}": str(count) for why, count in sorted(left.items())},
    }


def _samples(
    run: Run, record: Mapping[str, Any], results: Mapping[tuple[str, str], str], left: Counter[str]
) -> Iterator[dict[str, Any]]:
    """Yield a sample for each score that passes or fails, by its threshold or as a yes or no; count the others in
    `left`.
    """
    model = record["model_info"]["id"]
    for one in answers(run, model):
        source = {"raw": one.case["question"] or "", "reference": one.case["expected_answers"] or []}
        content = json.dumps(source, sort_keys=True, separators=(",", ":"))  # as the coalition's adapters hash it
        seconds = one.output.get("duration_s")
        for row in one.scores:
            passed, whose = verdict_of(run, row)
            metric = run.metric(row["evaluator"], row["metric"])
            if passed is None and metric is not None and metric.binary and metric.direction is not Direction.NONE:
                passed = row["value"] == metric.ends[1]
            if row["value"] is None or passed is None:
                left["without_threshold" if row["value"] is not None else row["status"]] += 1
                continue
            key = row["evaluator"], row["metric"]
            yield {
                "schema_version": SCHEMA,
                "evaluation_id": record["evaluation_id"],
                "model_id": model,
                "evaluation_name": run.spec.suite.name,
                **({"evaluation_result_id": results[key]} if key in results else {}),
                "sample_id": one.case["case_id"],
                "sample_hash": sha256(content.encode()).hexdigest(),
                "interaction_type": "single_turn",
                "input": source,
                "output": {"raw": [one.output["answer"]] if one.output.get("answer") is not None else []},
                "answer_attribution": [],  # evaluators read the whole answer
                "evaluation": {"score": row["value"], "is_correct": passed},
                **({} if seconds is None else {"performance": {"latency_ms": 1000 * seconds}}),
                **({"error": one.output["error"]} if one.output.get("error") else {}),
                "metadata": {
                    "metric": ".".join(key), "repeat": str(one.repeat), **({"threshold": whose} if whose else {}),
                    **from_run(run, model, row["evaluator"]),
                },
            }  # fmt: skip


def _bound(edge: float) -> float | str:
    """Return an end of a metric's range as the schema has it, a word where it is open."""
    return edge if math.isfinite(edge) else "Infinity" if edge > 0 else "-Infinity"


def _part(text: str) -> str:
    """Return a text as the name of a folder, without what no system takes."""
    return file_name(text)[:LONGEST].rstrip(".") or "_"


def _dumped(document: Mapping[str, Any], option: int = 0) -> bytes:
    return orjson.dumps(round_tree(shown_tree(document)), option=option | orjson.OPT_APPEND_NEWLINE)
