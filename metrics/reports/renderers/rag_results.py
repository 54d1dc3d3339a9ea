"""A finished run as Open RAG Eval's result CSV: a row a question, a column a score, JSON where a score has parts."""

import json
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from metrics.core.errors import InputError, InputProblem
from metrics.core.rounding import exact_sum, round_tree
from metrics.ingest.formats.open_rag_eval import (
    ADJUSTED,
    ANSWERED,
    CITATIONS,
    CONSISTENCY,
    EVALUATORS,
    INSIDE,
    NUGGETS,
    PRECISION,
    SCALARS,
    UMBRELA_SCORES,
    YES_NO,
)
from metrics.presentation.board_words import from_run
from metrics.presentation.safe_text import safe
from metrics.stats.repeated_samples import dispersion
from metrics.store import Run

MEAN_GRADE, MEAN_NUGGET, VITAL, HALLUCINATION, F1 = SCALARS
COLUMNS = (  # of a repeat, in the order of the tool
    "retrieved_passages", "generated_answer", UMBRELA_SCORES, PRECISION, MEAN_GRADE, NUGGETS, MEAN_NUGGET, VITAL,
    HALLUCINATION, CITATIONS, F1, ANSWERED,
)  # fmt: skip
OWNERS = {  # the evaluator of each column
    UMBRELA_SCORES: "umbrela", **{path.partition(".")[0]: evaluator for path, (evaluator, _) in INSIDE.items()},
    **{column: evaluator for column, (evaluator, _) in SCALARS.items()},
}  # fmt: skip
PAIRS = {"consistency_bertscore": ("bert_score", "f1"), "consistency_rouge": ("rouge_score", "rougeL")}
PAIRED = {CONSISTENCY + name: evaluator for evaluator, (name, _) in PAIRS.items()}  # the evaluator of each column
LEAST_REPEATS = 3  # from which Open RAG Eval speaks of consistency
NUGGET_CREDIT = {"support": 1.0, "partial support": 0.5, "not support": 0.0}
CITATION_CREDIT = {"full": ("full_credit", 1.0), "partial": ("partial_credit", 0.5), "none": ("no_credit", 0.0)}

Scores = dict[str, dict[str, float]]  # evaluator → metric → value


def rag_results(run: Run, model: str | None = None) -> pd.DataFrame:
    """Return one model's scores as Open RAG Eval's result CSV has them, prefixed `run_1_` … where there are repeats.

    The columns of every evaluator of the run are there; those without a value are empty (`empty_columns` says why).
    Consistency over at least LEAST_REPEATS repeats is that of the stored scores. Raises InputError where the run has
    several models and none is named, where it has not that model, or no evaluator of Open RAG Eval.
    """
    model = _model(run, model)
    rows = run.query(
        "SELECT case_id, run, evaluator, metric, value, evidence FROM scores WHERE model = ? ORDER BY position, run",
        [model],
    )
    if not has_scores(run):
        raise InputError([InputProblem(run.id, "no score of Open RAG Eval", "one of " + ", ".join(EVALUATORS))])
    values: dict[tuple[str, int], Scores] = defaultdict(lambda: defaultdict(dict))
    evidence: dict[tuple[str, int], dict[str, Any]] = defaultdict(dict)
    for case_id, repeat, evaluator, metric, value, stored in rows.itertuples(index=False, name=None):
        if value == value and value is not None:
            values[case_id, repeat][evaluator][metric] = value
        if isinstance(stored, str):
            evidence[case_id, repeat][evaluator] = json.loads(stored)
    outputs = {(row["case_id"], row["run"]): row for row in run.outputs.restricted(model=model).outputs.to_pylist()}
    parameters = run.evaluators.get("citation", {})
    credit = {label: parameters.get(name, usual) for label, (name, usual) in CITATION_CREDIT.items()}
    repeats = sorted({repeat for _, repeat in outputs})
    prefixes = {repeat: f"run_{repeat}_" if len(repeats) > 1 else "" for repeat in repeats}
    answered = {case_id for case_id, _ in outputs}
    table = []
    for case in run.suite.cases.select(["case_id", "question"]).to_pylist():
        if (case_id := case["case_id"]) not in answered:
            continue
        row: dict[str, Any] = {"query_id": safe(case_id), "query": safe(case["question"] or "")}
        own = [repeat for repeat in repeats if (case_id, repeat) in outputs]
        for repeat in own:
            place = case_id, repeat
            cells = _cells(outputs[place], values[place], evidence[place], credit)
            row |= {prefixes[repeat] + name: cell for name, cell in cells.items()}
        row |= _consistency([values[case_id, repeat] for repeat in own], evidence[case_id, own[0]])
        table.append(row | from_run(run, model))
    found = dict.fromkeys(name for row in table for name in row)
    ordered = ["query_id", "query"]
    for prefix in prefixes.values():
        ordered += [prefix + name for name in COLUMNS if prefix + name in found or OWNERS.get(name) in run.evaluators]
    found |= dict.fromkeys(name for name, owner in PAIRED.items() if owner in run.evaluators)
    return pd.DataFrame(table, columns=[*ordered, *(name for name in found if name not in ordered)])


def empty_columns(run: Run, model: str | None = None) -> list[str]:
    """Return which columns of a model's result CSV are empty, by the most frequent reason of their evaluator."""
    rows = run.query(
        """SELECT evaluator, mode(reason) AS reason FROM (
               SELECT model, evaluator, value, coalesce(reason, status) AS reason FROM scores
               UNION ALL SELECT model, evaluator, value, reason FROM aggregates  -- alone where repeats are compared
           ) WHERE model = ? GROUP BY evaluator HAVING count(value) = 0""",
        [_model(run, model)],
    )
    reasons = dict(zip(rows["evaluator"], rows["reason"], strict=True))
    owners = {name: OWNERS[name] for name in COLUMNS if name in OWNERS} | PAIRED
    empty: dict[str, list[str]] = defaultdict(list)
    for name, owner in owners.items():
        if owner in reasons:
            empty[reasons[owner]].append(name)
    return [f"{', '.join(each)} {'is' if len(each) == 1 else 'are'} empty: {why}" for why, each in empty.items()]


def has_scores(run: Run) -> bool:
    """Return whether a run has an evaluator of Open RAG Eval."""
    return not {*EVALUATORS, *PAIRS}.isdisjoint(run.evaluators)


def _model(run: Run, model: str | None) -> str:
    if model is None and len(run.models) == 1:
        return run.models[0]
    if model not in run.models:
        found = f"{len(run.models)} models" if model is None else repr(model)
        raise InputError([InputProblem("--model", found, "one of " + ", ".join(run.models))])
    return model


def _cells(
    output: Mapping[str, Any], scores: Scores, evidence: Mapping[str, Any], credit: Mapping[str, float]
) -> dict[str, Any]:
    """Return the columns of one repeat, without prefix; those of evaluators without a value are absent."""
    contexts = output["retrieved_contexts"] or []
    names = [f"[{name}]" for name in (contexts and output["context_ids"]) or range(1, len(contexts) + 1)]
    nested: dict[str, Any] = {"retrieved_passages": dict(zip(names, contexts, strict=True))}
    nested["generated_answer"] = [
        {"text": part["text"], "citations": [_named(context, names) for context in part["contexts"]]}
        for part in evidence.get("citation", {}).get("parts") or [{"text": output["answer"] or "", "contexts": []}]
    ]
    nested[UMBRELA_SCORES] = {
        name: int(verdict["label"].removeprefix("grade "))
        for name, verdict in zip(names, _verdicts(evidence, "umbrela", "passages"), strict=False)
        if verdict.get("label", "").startswith("grade ")
    }
    for path, (evaluator, metric) in INSIDE.items():
        column, *keys = path.split(".")
        for name, value in scores.get(evaluator, {}).items():
            if match := re.fullmatch(metric.replace("#", r"(\d+)"), name):
                inner = nested.setdefault(column, {})
                for key in keys[:-1]:
                    inner = inner.setdefault(key, {})
                inner[match[1] if keys[-1] == "#" else keys[-1]] = value
    if ANSWERED in nested:
        yes = nested[ANSWERED]["query_answered"] == YES_NO["yes"]
        nested[ANSWERED] = {"query_answered": "yes" if yes else "no"}
    if NUGGETS in nested:
        nuggets = _verdicts(evidence, "autonuggetizer", "nuggets")
        nested[NUGGETS] |= {
            "nuggets": [nugget["text"] for nugget in nuggets],
            "labels": [nugget["facts"]["importance"] for nugget in nuggets],
            "assignments": [nugget["label"].replace(" ", "_") for nugget in nuggets],
            "assignment_scores": [NUGGET_CREDIT[nugget["label"]] for nugget in nuggets],
        }
    if CITATIONS in nested:
        nested[CITATIONS] |= _citation_scores(evidence.get("citation", {}), names, credit)
    numbers = {
        column: scores[evaluator][metric]
        for column, (evaluator, metric) in SCALARS.items()
        if metric in scores.get(evaluator, {})
    }
    return {
        name: safe(json.dumps(round_tree(value), ensure_ascii=False)) for name, value in nested.items() if value
    } | round_tree(numbers)


def _verdicts(evidence: Mapping[str, Any], evaluator: str, group: str) -> list[dict[str, Any]]:
    return list(evidence.get(evaluator, {}).get("verdicts", {}).get(group, []))


def _named(context: int | str, names: Sequence[str]) -> str:
    """Return the passage of an id, or of a number from 1; one that does not exist keeps its number."""
    return names[context - 1] if isinstance(context, int) and 1 <= context <= len(names) else f"[{context}]"


def _citation_scores(stored: Mapping[str, Any], names: Sequence[str], credit: Mapping[str, float]) -> dict[str, float]:
    """Return the mean credit of each cited passage and of each part of the answer; 0 of a part that cites nothing."""
    credits: dict[str, list[float]] = defaultdict(list)
    verdicts = stored.get("verdicts", {}).get("citations", [])
    for verdict in verdicts:
        numbers = [number for _, number in verdict.get("rests_on", [])]
        name = _named(verdict.get("facts", {}).get("cites") or numbers[0], names)
        credits[f"citation_score_{name}"].append(credit[verdict["label"]])
    for place, part in enumerate(stored.get("parts", []), 1):
        own = [credit[verdict["label"]] for verdict in verdicts if verdict["text"] == part["text"]]
        credits[f"part_score_{place}"] = own or [0.0]
    return {name: exact_sum(own) / len(own) for name, own in credits.items()}


def _consistency(repeats: Sequence[Scores], evidence: Mapping[str, Any]) -> dict[str, str]:
    """Return the statistics over the repeats of each score, and over their pairs of the similarity of answers."""
    listed: dict[str, list[float]] = {}
    for column, (evaluator, metric) in SCALARS.items():
        name = re.sub("^(retrieval|generation)_score_", "", column)
        listed[name] = [scores[evaluator][metric] for scores in repeats if metric in scores.get(evaluator, {})]
    for evaluator, (name, part) in PAIRS.items():
        listed[name] = [pair[part] for pair in evidence.get(evaluator, {}).get("pairs", [])]
    return {
        CONSISTENCY + name: json.dumps(round_tree({"values": values, "stats": _statistics(values)}))
        for name, values in listed.items()
        if len(values) >= LEAST_REPEATS
    }


def _statistics(values: Sequence[float]) -> dict[str, float]:
    of = dispersion(values)
    return {
        "mean": of.mean, "median": of.median, "std": of.standard_deviation, "max_min": of.range,
        "iqr": of.interquartile_range, ADJUSTED: of.mean / (1 + of.standard_deviation),
    }  # fmt: skip
