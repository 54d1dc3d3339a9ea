"""Texts of the user's own in place of prompts: placed where the judge, or a language model's evaluator, reads them."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from metrics.core.did_you_mean import one_of
from metrics.core.errors import InputError, InputProblem
from metrics.core.evaluator import Evaluator
from metrics.core.registry import BYOP, choose, evaluators
from metrics.judge.custom_prompts import CustomPrompt, checked_prompt
from metrics.judge.saved_objects import file_text, load, read_object
from metrics.judge.settings import settings_of

OPTION = "prompt"


def prompts_of_files(given: Mapping[str, str], workspace: Path) -> dict[str, Any]:
    """Return the texts in files, by prompt id, without the white space around them.

    Of byop the value can also be the id of a prompt saved in the workspace, or a .json file that the studio exported;
    it is then the evaluator's parameters. Raises InputError with every file that cannot be read.
    """
    found: dict[str, Any] = {}
    problems: list[InputProblem] = []
    for id, source in given.items():
        try:
            saved = load(workspace, CustomPrompt, source) if id == BYOP else None
            text = "" if saved else file_text(Path(source))
            if id == BYOP and source.endswith(".json"):
                saved = read_object(CustomPrompt, text, Path(source).name)
            found[id] = saved.parameters if saved else text.strip()
        except InputError as failure:
            problems += failure.problems
    if problems:
        raise InputError(problems)
    return found


def place_prompts(
    prompts: Mapping[str, Any],
    chosen: Sequence[str],
    parameters: Mapping[str, Mapping[str, Any]] | None,
    resources: Mapping[str, Any] | None,
) -> tuple[dict[str, dict[str, Any]], dict[str, Any]]:
    """Return parameters and resources of a run with these texts in place of prompts of the chosen evaluators.

    A text is named by its prompt's id; an evaluator's id stands for its only prompt, and that of byop for its own. The
    texts of judged evaluators become settings of the judge and its panel, shared by all evaluators that ask the same;
    those of language models become parameters. Raises InputError with everything that is wrong: a prompt that no chosen
    evaluator has, a text without what the prompt needs, no judge.
    """
    values = {id: dict(own) for id, own in (parameters or {}).items()}
    models = dict(resources or {})
    entries = [evaluators()[id] for id in chosen if id in evaluators()]
    judged: dict[str, str] = {}
    problems: list[InputProblem] = []
    for name, text in prompts.items():
        if name == BYOP and BYOP in chosen:
            try:
                own = {"prompt": checked_prompt(text)} if isinstance(text, str) else text
                values[BYOP] = {**values.get(BYOP, {}), **own}
            except ValueError as failure:
                problems.append(InputProblem(OPTION, BYOP, str(failure)))
            continue
        having = {
            prompt.id: (entry, prompt)
            for entry in entries
            for prompt in entry.prompts
            if name == prompt.id or (name == entry.id and len(entry.prompts) == 1)
        }
        if not having:
            ids = _ids(entries)
            problems.append(InputProblem(OPTION, repr(name), one_of(name, ids) if ids else "none: no prompts"))
        for id, (entry, prompt) in having.items():
            if complaint := prompt.complaint(text):
                problems.append(InputProblem(OPTION, id, complaint))
            elif "judge" in entry.resources:
                judged[id] = text
            else:
                for each in (each for each in entries if prompt in each.prompts):
                    mine = values.setdefault(each.id, {})
                    mine["prompts"] = {**mine.get("prompts", {}), id: text}
    if judged and not models.get("judge"):
        problems.append(InputProblem(OPTION, ", ".join(judged), "a judge, who is asked by these prompts"))
    if problems:
        raise InputError(problems)
    if judged:
        judges = [
            one.model_copy(update={"prompts": {**one.prompts, **judged}}) for one in settings_of(models["judge"]).judges
        ]
        panel = judges[0].model_copy(update={"panel": tuple(judges[1:])})
        models["judge"] = panel.model_dump(mode="json", exclude_defaults=True)
    choose([id for id in chosen if id in values], {id: own for id, own in values.items() if id in chosen})
    return values, models


def _ids(entries: Sequence[Evaluator]) -> list[str]:
    found = [prompt.id for entry in entries for prompt in entry.prompts]
    return list(dict.fromkeys([*found, *(entry.id for entry in entries if entry.id == BYOP)]))
