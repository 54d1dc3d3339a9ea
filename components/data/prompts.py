"""The user's own prompts and rubrics: saved in the workspace, exported and imported as files; prompts are tried."""

import json
from typing import Any, NamedTuple, get_args

from components.data.visitors import action
from components.data.workspace_runs import open_run, workspace_path
from metrics.core.errors import AssayError, InputError
from metrics.judge.custom_prompts import BLOCKS, CustomPrompt
from metrics.judge.open_judges import chosen_judge
from metrics.judge.rubrics import USUAL, USUAL_RUBRIC, Need, Rubric, named_rubric, read_rubric, rubric_text
from metrics.judge.saved_objects import checked, every, read_object, save

BYOP = "byop"  # the evaluator that asks them


class TriedCase(NamedTuple):
    """The judge's answer about one case: verdict, grade and its reason; `problem` says why there is no verdict."""

    case_id: str
    question: str | None
    answer: str | None
    verdict: bool | None
    grade: float | None
    reason: str
    problem: str


def own_prompts() -> tuple[dict[str, dict[str, Any]], str]:
    """Return the saved prompts by id (title, prompt, mode, levels, meanings, version), and what cannot be read."""
    try:
        return {entry.id: entry.model_dump() for entry in every(workspace_path(), CustomPrompt)}, ""
    except InputError as failure:
        return {}, str(failure)


def checked_prompt(prompt: dict[str, Any]) -> str:
    """Return what is wrong with a prompt, in words; else ""."""
    return _read(json.dumps(prompt), "prompt")[1]


@action("editor", "save a prompt")
def save_prompt(prompt: dict[str, Any]) -> tuple[dict[str, Any], str]:
    """Save a prompt, as the next version if it changed; return it as saved, or {} and why it was not."""
    try:
        return save(workspace_path(), checked(CustomPrompt, prompt, "prompt")).model_dump(), ""
    except InputError as failure:
        return {}, str(failure)


def prompt_of_file(name: str, content: bytes) -> tuple[dict[str, Any], str]:
    """Return the prompt in an exported file, or {} and what is wrong with the file."""
    try:
        return _read(content.decode("utf-8"), name)
    except UnicodeDecodeError:
        return {}, f"{name} is no UTF-8 text"


def placeholders() -> list[str]:
    """Return the placeholders that a prompt may use."""
    return [f"{{{name}}}" for name in BLOCKS]


def place_prompts(
    texts: dict[str, str], chosen: list[str], parameters: dict[str, dict[str, Any]], resources: dict[str, Any]
) -> tuple[dict[str, dict[str, Any]], dict[str, Any]]:
    """Return a run's parameters and resources with texts in place of prompts, as they are if these cannot be used."""
    from metrics.judge.custom_prompts import place_prompts

    try:
        return place_prompts(texts, chosen, parameters, resources)
    except InputError:  # of the parameters, which the form says itself
        return parameters, resources


@action("editor", "try a prompt", "run_id")
def try_prompt(prompt: dict[str, Any], run_id: str, model: str, count: int) -> tuple[tuple[TriedCase, ...], str]:
    """Ask the workspace's judge a prompt about the first cases of a run; return the verdicts, or () and why none."""
    from metrics.engine.live_scorer import first_cases, try_out

    cases = first_cases(open_run(run_id), model, count)
    parameters = {name: prompt[name] for name in ("prompt", "mode", "levels", "meanings")}
    try:
        judge = chosen_judge(workspace_path())
        resources = {"judge": None if judge is None else judge.model_dump(mode="json")}
        judged = try_out(BYOP, parameters, cases, resources, workspace_path() / "cache")
    except AssayError as failure:
        return (), str(failure)
    rows = []
    for case, one in zip(cases, judged, strict=True):
        passes, grade = (one.score.values.get(name) for name in ("passes", "grade"))
        verdicts = one.score.evidence.verdicts.get("answer", ()) if one.score.evidence else ()
        reason = verdicts[0].reason if verdicts else ""
        problem = "" if passes is not None else one.score.reason or ""
        verdict = None if passes is None else bool(passes)
        rows.append(TriedCase(case.case_id, case.question, case.answer, verdict, grade, reason, problem))
    return tuple(rows), ""


def _read(text: str, name: str) -> tuple[dict[str, Any], str]:
    try:
        return read_object(CustomPrompt, text, name).model_dump(), ""
    except InputError as failure:
        return {}, str(failure)


def own_rubrics() -> tuple[dict[str, dict[str, Any]], str]:
    """Return the usual rubric and the saved ones by id (title, version, dimensions), and what cannot be read."""
    found, problem = [USUAL_RUBRIC], ""
    try:
        found += every(workspace_path(), Rubric)
    except InputError as failure:
        problem = str(failure)
    return {entry.id: entry.model_dump(mode="json") for entry in found}, problem


def rubric_parameters(id: str) -> dict[str, Any]:
    """Return the parameters of evaluator `rubric` with a saved rubric; {} for the usual one or where there is none."""
    try:
        return {} if id == USUAL_RUBRIC.id else named_rubric(workspace_path(), id, files=False).parameters
    except InputError:
        return {}


def usual_levels() -> dict[str, float]:
    """Return the usual levels with their scores."""
    return dict(USUAL)


def rubric_needs() -> tuple[str, ...]:
    """Return what a dimension can need of a case."""
    return get_args(Need)


def checked_rubric(rubric: dict[str, Any]) -> list[str]:
    """Return what is wrong with a rubric, in words."""
    try:
        checked(Rubric, rubric, "rubric")
    except InputError as failure:
        return [f"{problem.column or 'rubric'}: {problem.expected}" for problem in failure.problems]
    return []


@action("editor", "save a rubric")
def save_rubric(rubric: dict[str, Any]) -> tuple[dict[str, Any], str]:
    """Save a rubric, as the next version if it changed; return it as saved, or {} and why it was not."""
    try:
        return save(workspace_path(), checked(Rubric, rubric, "rubric")).model_dump(mode="json"), ""
    except InputError as failure:
        return {}, str(failure)


def rubric_file(rubric: dict[str, Any], ending: str) -> str:
    """Return the text of a rubric's file, which ends in .json or .yaml."""
    return rubric_text(Rubric.model_validate(rubric), ending)


def rubric_of_file(name: str, content: bytes) -> tuple[dict[str, Any], str]:
    """Return the rubric in a file, or {} and what is wrong with the file."""
    try:
        return read_rubric(content.decode("utf-8"), name).model_dump(mode="json"), ""
    except UnicodeDecodeError:
        return {}, f"{name} is no UTF-8 text"
    except InputError as failure:
        return {}, str(failure)
