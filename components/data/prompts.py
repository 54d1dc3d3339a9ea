"""Prompts of the user's own: kept in the workspace, taken along as files, tried on a few cases."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from components.data.workspace_runs import workspace

BYOP = "byop"  # the evaluator that asks them


def own_prompts() -> tuple[dict[str, dict[str, Any]], str]:
    """Return the prompts kept in the workspace, by id: title, prompt, mode, levels, version; and what cannot be read."""
    from metrics.core.errors import InputError
    from metrics.judge.custom_prompts import saved_prompts

    try:
        return {entry.id: entry.model_dump() for entry in saved_prompts(_folder())}, ""
    except InputError as failure:
        return {}, str(failure)


def checked_prompt(prompt: dict[str, Any]) -> str:
    """Return what is wrong with a prompt, in words; "" where nothing is."""
    return _read(json.dumps(prompt), "prompt")[1]


def save_prompt(prompt: dict[str, Any]) -> tuple[dict[str, Any], str]:
    """Keep a prompt, under the next version where it changed; as it is kept, or {} and why it could not be."""
    from metrics.core.errors import InputError
    from metrics.judge import custom_prompts

    try:
        return custom_prompts.save_prompt(_folder(), custom_prompts.read_prompt(json.dumps(prompt))).model_dump(), ""
    except InputError as failure:
        return {}, str(failure)


def prompt_of_file(name: str, content: bytes) -> tuple[dict[str, Any], str]:
    """Return the prompt in an exported file, or {} and what is wrong with the file."""
    try:
        return _read(content.decode("utf-8"), name)
    except UnicodeDecodeError:
        return {}, f"{name} is no UTF-8 text"


def placeholders() -> list[str]:
    """Return what a prompt can show of a case, as it is written in a prompt."""
    from metrics.judge.custom_prompts import BLOCKS

    return [f"{{{name}}}" for name in BLOCKS]


def try_prompt(prompt: dict[str, Any], run_id: str, model: str, count: int) -> tuple[list[dict[str, Any]], str]:
    """Return what the workspace's judge says to a prompt of the first cases of a run; or [] and why it says nothing.

    A row: case_id, question, answer, verdict, grade, reason (the judge's), problem (why there is no verdict).
    """
    from metrics.core.errors import AssayError
    from metrics.engine.playground import first_cases, try_out
    from metrics.judge.workspace_judge import chosen_judge

    run = workspace().run(run_id)
    cases = first_cases(run, model, count)
    parameters = {name: prompt[name] for name in ("prompt", "mode", "levels")}
    try:
        judge = chosen_judge(_folder())
        resources = {"judge": None if judge is None else judge.model_dump(mode="json")}
        judged = try_out(BYOP, parameters, cases, resources, _folder() / "cache")
    except AssayError as failure:
        return [], str(failure)
    rows = []
    for case, one in zip(cases, judged, strict=True):
        passes, grade = (one.score.values.get(name) for name in ("passes", "grade"))
        verdicts = one.score.evidence.verdicts.get("answer", ()) if one.score.evidence else ()
        problem = "" if passes is not None else one.score.reason or ""
        rows.append(
            {
                "case_id": case.case_id, "question": case.question, "answer": case.answer,
                "verdict": None if passes is None else bool(passes), "grade": grade,
                "reason": verdicts[0].reason if verdicts else "", "problem": problem,
            }
        )  # fmt: skip
    return rows, ""


def _read(text: str, name: str) -> tuple[dict[str, Any], str]:
    from metrics.core.errors import InputError
    from metrics.judge.custom_prompts import read_prompt

    try:
        return read_prompt(text, name).model_dump(), ""
    except InputError as failure:
        return {}, str(failure)


def _folder() -> Path:
    return Path(workspace().path)
