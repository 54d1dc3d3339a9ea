"""The user's own rubrics: saved in the workspace, exported and imported as files."""

from typing import Any, get_args

from components.data.visitors import action
from components.data.workspace_runs import workspace_path
from metrics.core.errors import InputError


def own_rubrics() -> tuple[dict[str, dict[str, Any]], str]:
    """Return the usual rubric and the saved ones by id (title, version, dimensions), and what cannot be read."""
    from metrics.judge.rubrics import USUAL_RUBRIC, Rubric
    from metrics.judge.saved_objects import every

    found, problem = [USUAL_RUBRIC], ""
    try:
        found += every(workspace_path(), Rubric)
    except InputError as failure:
        problem = str(failure)
    return {entry.id: entry.model_dump(mode="json") for entry in found}, problem


def rubric_parameters(id: str) -> dict[str, Any]:
    """Return the parameters of evaluator `rubric` with a saved rubric; {} for the usual one or where there is none."""
    from metrics.judge.rubrics import USUAL_RUBRIC, named_rubric

    try:
        return {} if id == USUAL_RUBRIC.id else named_rubric(workspace_path(), id, files=False).parameters
    except InputError:
        return {}


def usual_levels() -> dict[str, float]:
    """Return the usual levels with their scores."""
    from metrics.judge.rubrics import USUAL

    return dict(USUAL)


def rubric_needs() -> tuple[str, ...]:
    """Return what a dimension can need of a case."""
    from metrics.judge.rubrics import Need

    return get_args(Need)


def checked_rubric(rubric: dict[str, Any]) -> list[str]:
    """Return what is wrong with a rubric, in words."""
    from metrics.judge.rubrics import Rubric
    from metrics.judge.saved_objects import checked

    try:
        checked(Rubric, rubric, "rubric")
    except InputError as failure:
        return [f"{problem.column or 'rubric'}: {problem.expected}" for problem in failure.problems]
    return []


@action("editor", "save a rubric")
def save_rubric(rubric: dict[str, Any]) -> tuple[dict[str, Any], str]:
    """Save a rubric, as the next version if it changed; return it as saved, or {} and why it was not."""
    from metrics.judge.rubrics import Rubric
    from metrics.judge.saved_objects import checked, save

    try:
        return save(workspace_path(), checked(Rubric, rubric, "rubric")).model_dump(mode="json"), ""
    except InputError as failure:
        return {}, str(failure)


def rubric_file(rubric: dict[str, Any], ending: str) -> str:
    """Return the text of a rubric's file, which ends in .json or .yaml."""
    from metrics.judge.rubrics import Rubric, rubric_text

    return rubric_text(Rubric.model_validate(rubric), ending)


def rubric_of_file(name: str, content: bytes) -> tuple[dict[str, Any], str]:
    """Return the rubric in a file, or {} and what is wrong with the file."""
    from metrics.judge.rubrics import read_rubric

    try:
        return read_rubric(content.decode("utf-8"), name).model_dump(mode="json"), ""
    except UnicodeDecodeError:
        return {}, f"{name} is no UTF-8 text"
    except InputError as failure:
        return {}, str(failure)
