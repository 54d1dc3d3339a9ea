"""The questions to a run's judge and its replies, case by case, and their total cost."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import orjson
import pyarrow.compute as pc

from metrics.calibrations.calibrated_thresholds import shipped_for
from metrics.core.prompt import wording
from metrics.core.registry import evaluators
from metrics.judge.settings import JudgeSettings, settings_of
from metrics.store import Run

if TYPE_CHECKING:
    import pandas as pd

UNMEASURED = "unmeasured with this judge"


@dataclass(frozen=True, slots=True)
class Asked:
    """The prompt of a step as a run used it: its text, and whether it was edited for the run."""

    text: str
    edited: bool

    @property
    def wording(self) -> str:
        """The shortened sha256 of the text."""
        return wording(self.text)


def judge_names(run: Run) -> tuple[str, ...]:
    """Return the names of a run's judges, including its panel; none for a run without a judge."""
    setting = run.spec.judge
    return tuple(judge.name for judge in settings_of(setting).judges) if setting else ()


def judged_evaluators(run: Run) -> tuple[str, ...]:
    """Return the evaluators of a run that asked its judge, by id."""
    if not run.spec.judge:
        return ()
    known = evaluators()
    return tuple(
        name
        for name, values in run.evaluators.items()
        if name in known and "judge" in known[name].parameters(**values).used(known[name].resources)
    )


def judged_by(run: Run) -> dict[str, str]:
    """Return who judged each judged evaluator of a run, by id; a local judge with its measured agreement with people.

    Where it has not been measured for the evaluator, that is said.
    """
    setting = run.spec.judge
    judges = settings_of(setting).judges if setting else ()
    known = [(judge.name, _measured(judge) if judge.is_local else None) for judge in judges]
    return {
        name: ", ".join(
            judge if measured is None else f"{judge} ({measured.get(name, UNMEASURED)})" for judge, measured in known
        )
        for name in judged_evaluators(run)
    }


def local_agreement(run: Run) -> dict[str, str]:
    """Return how far a run's local judge agrees with people, for each judged evaluator by id; nothing without one."""
    setting = run.spec.judge
    local = next((judge for judge in settings_of(setting).judges if judge.is_local), None) if setting else None
    if local is None:
        return {}
    measured = _measured(local)
    return {name: measured.get(name, UNMEASURED) for name in judged_evaluators(run)}


def _measured(judge: JudgeSettings) -> dict[str, str]:
    """Return how far a judge's scores agree with labels, as measured for Assay, in words by evaluator."""
    return {
        one.evaluator: "; ".join(
            f"AUC {part['auc']:.2f} [{part['auc_low']:.2f}, {part['auc_high']:.2f}], n {part['n']}, "
            f"{part['data']} (good: {part['good']})"
            for part in one.sets
        )
        for one in shipped_for(judge)
    }


def judgements(run: Run, case_id: str) -> pd.DataFrame:
    """Return the judge's replies about one case (schema JUDGEMENTS); no rows for a run without a judge."""
    rows: pd.DataFrame = run.stored_table("judgements", filters=[("case_id", "==", case_id)]).to_pandas()
    return rows


def prompts_asked(run: Run) -> dict[str, Asked]:
    """Return every prompt that the run's evaluators may use, by id, as the run used it."""
    setting = run.spec.judge
    edited = settings_of(setting).prompts if setting else {}
    known = evaluators()
    own = {id: {**edited, **values.get("prompts", {})} for id, values in run.evaluators.items() if id in known}
    return {
        prompt.id: Asked(texts.get(prompt.id, prompt.text), prompt.id in texts)
        for id, texts in own.items()
        for prompt in known[id].prompts
    }


def judging(run: Run) -> dict[str, dict[str, Any]]:
    """Return the cost of each judged evaluator by id: steps, sent, cached, failed, tokens, usd (None: unknown).

    `steps` counts the judge's replies that the scores rest on, `sent` those that were paid for in this run.
    """
    rows = run.query(
        """SELECT evaluator, count(*) AS steps, count(*) FILTER (NOT cached) AS sent,
                  count(*) FILTER (cached) AS cached,
                  count(*) FILTER (error IS NOT NULL) AS failed,
                  coalesce(sum(coalesce(prompt_tokens, 0) + coalesce(completion_tokens, 0))
                           FILTER (NOT cached), 0) AS tokens,
                  CASE WHEN count(*) FILTER (NOT cached AND cost_usd IS NULL AND reply IS NOT NULL) > 0 THEN NULL
                       ELSE coalesce(sum(cost_usd) FILTER (NOT cached), 0) END AS usd
           FROM judgements GROUP BY evaluator ORDER BY evaluator"""
    )
    found: dict[str, dict[str, Any]] = {}
    for row in rows.to_dict("records"):
        usd = row.pop("usd")
        counts = {str(name): int(value) for name, value in row.items() if name != "evaluator"}
        found[row["evaluator"]] = counts | {"usd": None if usd is None or usd != usd else float(usd)}
    return found


def quotes(run: Run) -> tuple[int, int]:
    """Return how many quotes the judge gave in a run's verdicts, and how many are not in the text that they name."""
    scores = run.stored("scores")
    counts: Counter[str] = Counter()
    for rows in scores.pieces(["evidence"]) if scores else ():  # DuckDB would have to be loaded: the start page waits
        evidence = rows["evidence"]
        for text in evidence.filter(pc.match_substring(evidence, '"not_found":')).to_pylist():
            counts.update((orjson.loads(text).get("judge") or {}).get("quotes"))
    return counts["given"], counts["not_found"]
