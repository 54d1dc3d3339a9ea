"""Judging one case: an evaluator's questions to every judge, and the score where a question failed."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from inspect import isawaitable
from typing import Any

from metrics.core import errors
from metrics.core.cases import with_plain_output
from metrics.core.evaluator import CaseScore, Evaluator, Metric, Parameters, Status, output_failure
from metrics.core.evidence import QUOTE_FOUND, Evidence
from metrics.core.rounding import exact_sum
from metrics.core.suite import Case
from metrics.judge.asking import Judge
from metrics.judge.client import Call, CaseJudge, Client
from metrics.judge.dry_run import TypicalJudge
from metrics.judge.injection import suspected
from metrics.judge.keys import redact
from metrics.judge.settings import Combine, draw_names
from metrics.judge.steps import together

DIGITS = 9  # to which two values are the same


def combined(entry: Evaluator, scores: Sequence[tuple[str, CaseScore]], how: Combine = "majority") -> CaseScore:
    """Return one score from the scores of several judges (or draws), each with the judge's name.

    A metric's value is the mean of the judges' values; of a binary metric, with "majority", the value of the most,
    where a tie counts as the bad side. Judges without a value are left out. The evidence is that of the first judge
    with a score, and `panel`: every judge's values, status and reason (and its draws), the spread of each metric
    (highest − lowest) and its agreement (the share of the judges who gave the most frequent value), the judges left out
    and why, ties.
    """
    values: dict[str, float | None] = {}
    spread: dict[str, float] = {}
    agreement: dict[str, float] = {}
    notes = []
    metrics = {metric.name: metric for metric in entry.metrics}
    for name in dict.fromkeys([*metrics, *(name for _, score in scores for name in score.values)]):
        metric = metrics.get(name)
        given = [value for _, score in scores if (value := score.values.get(name)) is not None]
        values[name] = _one(metric, given, how) if given else None
        if given:
            spread[name] = max(given) - min(given)
            agreement[name] = max(Counter(round(value, DIGITS) for value in given).values()) / len(given)
            if how == "majority" and metric and metric.binary and metric.primary and exact_sum(given) * 2 == len(given):
                notes.append("the judges are tied, which counts as the bad side")
    silent = [name for name, score in scores if score.status is not Status.OK]
    if silent and len(silent) < len(scores):
        first = next(score for _, score in scores if score.status is not Status.OK)
        notes.append(f"without {', '.join(silent)}: {first.reason or first.status.value}")
    speaking = next((score for _, score in scores if score.status is Status.OK), scores[0][1])
    records = [_record(name, score) for name, score in scores]
    panel = {"judges": records, "spread": spread, "agreement": agreement, "left_out": silent, "notes": notes}
    evidence = replace(speaking.evidence or Evidence(), panel=panel)
    return CaseScore(values, speaking.status, speaking.reason, evidence)


def _record(name: str, score: CaseScore) -> dict[str, Any]:
    record = {"judge": name, "values": dict(score.values), "status": score.status.value, "reason": score.reason}
    drawn = score.evidence.panel if score.evidence else None
    return record | ({"draws": drawn["judges"]} if drawn else {})


def _one(metric: Metric | None, given: Sequence[float], how: Combine) -> float:
    mean = exact_sum(given) / len(given)
    if how == "mean" or metric is None or not metric.binary:
        return mean
    if mean == 0.5:
        return metric.low if metric.goodness(metric.low) == 0 else metric.high
    return float(mean > 0.5)


@dataclass(frozen=True, slots=True)
class ScoredCase:
    """The score of one case, and the judge's replies that it rests on."""

    score: CaseScore
    calls: tuple[Call, ...] = ()
    notes: Mapping[str, int] = field(default_factory=dict)


def failed_score(failure: Exception) -> CaseScore:
    """Return the score of a case whose scoring failed: `skipped` for lack of a resource or budget, else `error`.

    Raises StorageError where the machine failed, such as for a full disk: the next case would meet it, too.
    """
    if told := errors.storage_error(failure, everywhere=True):
        raise told from failure
    if isinstance(failure, errors.BudgetSpent | errors.MissingResource):
        return CaseScore({}, Status.SKIPPED, str(failure))
    return CaseScore({}, Status.ERROR, redact(errors.describe_failure(failure)))


def blame_output(entry: Evaluator, failure: Exception) -> tuple[CaseScore, CaseScore | None]:
    """Return the score of a case that failed, and its score if the output is at fault; None where it cannot be.

    It is where the same case with a plain output can be scored, else the suite or the evaluator. What the machine
    refuses is nobody's fault.
    """
    score = failed_score(failure)
    if score.status is not Status.ERROR or isinstance(failure, OSError | MemoryError):
        return score, None
    return score, entry.settle(output_failure(f"the output cannot be scored: {score.reason}"))


async def judge_case(
    entry: Evaluator, parameters: Parameters, case: Case, judges: Sequence[Client], models: Mapping[str, Any]
) -> ScoredCase:
    """Score one case by every judge and draw; several make a panel. `judges` is empty where none is needed.

    The evidence gains `judge`: the judges' names, the keys of their replies, how long texts were read, how many quotes
    were given and not found, and texts of the case that look as if they were written for the judge. Raises JudgeDown
    CacheRefused and StorageError, which concern the whole run; any other failure becomes the score's status.
    """
    singles = [await _by_draws(entry, parameters, case, judge, models) for judge in judges or (None,)]
    calls = tuple(call for single in singles for call in single.calls)
    if len(singles) == 1:
        score = singles[0].score
    else:
        named = [(judge.name, single.score) for judge, single in zip(judges, singles, strict=True)]
        score = combined(entry, named, judges[0].settings.combine)
    # by step and key, not by time: the same questions make the same evidence
    keys = sorted({(call.step, call.key) for call in calls})
    asked = [{"step": step, "key": key} for step, key in keys]
    about: dict[str, Any] = {"model": ", ".join(judge.name for judge in judges), "calls": asked}
    notes = sum((Counter(single.notes) for single in singles), Counter())
    if notes:
        about["notes"] = dict(sorted(notes.items()))
    if quotes := _quotes(score.evidence):
        about["quotes"] = quotes
    suspicions = suspected(_texts(case)) if calls else []
    if suspicions:
        about["suspected_injection"] = suspicions
    if not calls and score.evidence is None:
        return ScoredCase(score)
    return ScoredCase(replace(score, evidence=replace(score.evidence or Evidence(), judge=about)), calls)


async def _by_draws(
    entry: Evaluator, parameters: Parameters, case: Case, client: Client | None, models: Mapping[str, Any]
) -> ScoredCase:
    """Return the score by one judge: of its draws, where it is asked repeatedly, as of a panel."""
    if client is None or client.settings.repeats == 1:
        return await _by_one(entry, parameters, case, None if client is None else CaseJudge(client), models)
    names = draw_names(client.name, client.settings.repeats)
    drawn = await together(
        _by_one(entry, parameters, case, CaseJudge(client, draw), models) for draw in range(len(names))
    )
    score = combined(
        entry, [(name, one.score) for name, one in zip(names, drawn, strict=True)], client.settings.combine
    )
    notes = sum((Counter(one.notes) for one in drawn), Counter())
    return ScoredCase(score, tuple(call for one in drawn for call in one.calls), notes)


async def _by_one(
    entry: Evaluator, parameters: Parameters, case: Case, judge: CaseJudge | None, models: Mapping[str, Any]
) -> ScoredCase:
    try:
        score = await _score(entry, parameters, case, judge, models)
    except (errors.JudgeDown, errors.CacheRefused):
        raise
    except errors.Unreadable as failure:
        reason = str(failure) if judge is None else await judge.complaint()
        score = CaseScore({}, Status.PARSE_FAILURE, reason)
    except Exception as failure:  # one case must not take the others with it
        score, blamed = blame_output(entry, failure)
        typical = None if judge is None else TypicalJudge()
        with suppress(Exception):
            if blamed is not None:
                try:  # the judge is asked nothing for this; a reply that breaks the evaluator is an error
                    await _score(entry, parameters, case, typical, models)
                except type(failure):
                    await _score(entry, parameters, with_plain_output(case), typical, models)
                    score = blamed
    if judge is None:
        return ScoredCase(score)
    # by the steps of the evaluator, not by when replies came: the same questions make the same table
    steps = [prompt.id for prompt in entry.prompts]
    calls = sorted(judge.calls, key=lambda call: (steps.index(call.step) if call.step in steps else -1, call.key))
    return ScoredCase(score, tuple(calls), judge.notes)


async def _score(
    entry: Evaluator, parameters: Parameters, case: Case, judge: Judge | None, models: Mapping[str, Any]
) -> CaseScore:
    made = entry(case, parameters, judge=judge, **models)
    return entry.settle(await made if isawaitable(made) else made)


def _quotes(evidence: Evidence | None) -> dict[str, int]:
    """Return how many verdicts quote a text, and how many of the quotes are not in it; nothing without quotes."""
    groups = evidence.verdicts.values() if evidence is not None else ()
    found = [bool(one.facts[QUOTE_FOUND]) for group in groups for one in group if QUOTE_FOUND in one.facts]
    return {"given": len(found), "not_found": found.count(False)} if found else {}


def _texts(case: Case) -> Iterator[tuple[str, str | None]]:
    yield "question", case.question
    yield "answer", case.answer
    yield "source_text", case.source_text
    for name in ("retrieved_contexts", "expected_answers", "citations"):
        for number, text in enumerate(getattr(case, name), 1):
            yield f"{name} {number}", text
