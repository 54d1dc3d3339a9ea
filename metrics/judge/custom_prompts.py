"""The user's own prompts: placeholders are checked; they become questions, or replace built-in prompts."""

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, model_validator

from metrics.core.errors import InputError, InputProblem, for_each, one_of, refuse
from metrics.core.evaluator import JUDGE, Evaluator
from metrics.core.files import list_paths
from metrics.core.prompt import Data, Prompt
from metrics.core.registry import BYOP, choose, evaluators
from metrics.core.suite import Case
from metrics.judge.saved_objects import Saved, file_text, load, read_object
from metrics.judge.settings import settings_of

PLACEHOLDER = re.compile(r"\{(\w{1,60})\}")
BLOCKS = {name: name.upper() for name in ("question", "expected_answer", "contexts", "criteria", "actual_answer")}
PLACEHOLDER_FORM = "one or more of the placeholders " + ", ".join(f"{{{name}}}" for name in BLOCKS)

Mode = Literal["boolean", "graded"]
OPTION = "prompt"


def checked_prompt(text: str) -> str:
    """Return the prompt itself. Raises ValueError for unknown placeholders, naming them, or where there is none."""
    found = PLACEHOLDER.findall(text)
    unknown = [f"{{{name}}}" for name in dict.fromkeys(found) if name not in BLOCKS]
    if unknown:
        raise ValueError(f"{PLACEHOLDER_FORM}, not {' and '.join(unknown)}")
    if not found:
        raise ValueError(f"{PLACEHOLDER_FORM}, or the judge is shown nothing of the case")
    return text


def checked_levels(levels: Mapping[str, float]) -> dict[str, float]:
    """Return the levels themselves. Raises ValueError on a single one, a blank label, or a grade outside 0 … 1."""
    if len(levels) == 1:
        raise ValueError("two or more levels, or none for any grade from 0 to 1")
    for label, grade in levels.items():
        if not label.strip():
            raise ValueError("a label for every level")
        if not 0 <= grade <= 1:
            raise ValueError(f"a grade from 0 to 1 for level {label!r}, not {grade:g}")
    return dict(levels)


def checked_meanings(meanings: Mapping[str, str], levels: Iterable[str]) -> None:
    """Raise ValueError where a meaning is not of one of the levels, naming the label."""
    unknown = [label for label in meanings if label not in levels]
    if unknown:
        raise ValueError(f"meanings only of the levels, not of {', '.join(map(repr, unknown))}")


def shown_levels(levels: Mapping[str, float], meanings: Mapping[str, str]) -> str:
    """Return the levels as a judge is shown them: each label with its meaning, else its score from 0 to 1."""
    told = {label: f": {meanings[label]}" if label in meanings else f" ({levels[label]:g} of 1)" for label in levels}
    return "; ".join(label + meaning for label, meaning in told.items())


PromptText = Annotated[str, AfterValidator(checked_prompt)]
Levels = Annotated[dict[str, float], AfterValidator(checked_levels)]


class CustomPrompt(Saved):
    """A user's own prompt as it is saved and shared."""

    FOLDER = "prompts"

    prompt: PromptText
    mode: Mode = "boolean"
    levels: Levels = Field(default_factory=dict)
    meanings: dict[str, str] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _levels_are_grades(self) -> "CustomPrompt":
        checked_meanings(self.meanings, self.levels)
        if self.levels and self.mode != "graded":
            raise ValueError("mode graded where there are levels")
        return self

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters of evaluator `byop`."""
        return self.model_dump(include={"prompt", "mode", "levels", "meanings"})


def instructions(prompt: str) -> str:
    """Return the prompt with each placeholder replaced by the name of its data block."""
    return PLACEHOLDER.sub(lambda found: BLOCKS[found[1]], prompt)


def material(prompt: str, case: Case) -> Data:
    """Return the data blocks of the prompt's placeholders; None for what the case does not have."""
    values: dict[str, str | tuple[str, ...] | None] = {
        "question": case.question,
        "expected_answer": case.expected_answers[0] if len(case.expected_answers) == 1 else case.expected_answers,
        "contexts": case.retrieved_contexts,
        "criteria": case.criteria,
        "actual_answer": case.answer or "",
    }
    used = dict.fromkeys(PLACEHOLDER.findall(prompt))
    return {BLOCKS[name]: None if values[name] in (None, ()) else values[name] for name in used}


def prompts_of_files(given: Mapping[str, str], workspace: Path) -> dict[str, Any]:
    """Return the texts in files, by prompt id, without the white space around them.

    Of byop the value can also be the id of a prompt saved in the workspace, or a .json file that the studio exported;
    it is then the evaluator's parameters. Raises InputError with every file that cannot be read.
    """

    def read(id: str) -> Any:
        source = given[id]
        saved = load(workspace, CustomPrompt, source) if id == BYOP else None
        text = "" if saved else file_text(Path(source))
        if id == BYOP and source.endswith(".json"):
            saved = read_object(CustomPrompt, text, Path(source).name)
        return saved.parameters if saved else text.strip()

    return dict(zip(given, for_each(given, read), strict=True))


def published_prompts(folder: Path, published: Sequence[str], chosen: Sequence[str], *, judged: bool) -> dict[str, str]:
    """Return the texts of a folder's files PROMPT.txt, by prompt id, as `prompts_of_files`.

    They are wordings of prompts of the `published` evaluators. Those of evaluators that are not `chosen` are left out,
    and where nobody is `judged` by a judge those of judges. InputError with every file that is none, or cannot be read.
    """
    known = {prompt.id: entry for id in published for entry in [evaluators()[id]] for prompt in entry.prompts}
    files = {path.stem: str(path) for path in list_paths(folder, "*.txt")}
    expected = f"files such as {next(iter(known))}.txt"
    problems = [InputProblem(OPTION, f"{id}.txt in {folder}", one_of(id, known)) for id in files if id not in known]
    if problems or not files:
        raise InputError(problems or [InputProblem(OPTION, f"no texts in {folder}", expected)])
    used = [id for id, entry in known.items() if entry.id in chosen and (judged or JUDGE not in entry.resources)]
    return prompts_of_files({id: files[id] for id in used if id in files}, folder)


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
        named = _prompts_named(name, entries)
        if not named:
            ids = _ids(entries)
            problems.append(InputProblem(OPTION, repr(name), one_of(name, ids) if ids else "none: no prompts"))
        for entry, prompt in named:
            if complaint := prompt.complaint(text):
                problems.append(InputProblem(OPTION, prompt.id, complaint))
            elif "judge" in entry.resources:
                judged[prompt.id] = text
            else:
                for own in (values.setdefault(one.id, {}) for one in entries if prompt in one.prompts):
                    own["prompts"] = {**own.get("prompts", {}), prompt.id: text}
    if judged and not models.get("judge"):
        problems.append(InputProblem(OPTION, ", ".join(judged), "a judge, who is asked by these prompts"))
    refuse(problems)
    if judged:
        models["judge"] = _judge_with(models["judge"], judged)
    choose([id for id in chosen if id in values], {id: own for id, own in values.items() if id in chosen})
    return values, models


def _prompts_named(name: str, entries: Sequence[Evaluator]) -> list[tuple[Evaluator, Prompt]]:
    """Return the prompt of this id, or the only one of the evaluator of this id, with an evaluator that has it."""
    return list(
        {
            prompt.id: (entry, prompt)
            for entry in entries
            for prompt in entry.prompts
            if name == prompt.id or (name == entry.id and len(entry.prompts) == 1)
        }.values()
    )


def _judge_with(setting: Any, prompts: Mapping[str, str]) -> dict[str, Any]:
    """Return the setting of a judge and its panel with these prompts, by id, beside those that they have."""
    judges = [one.model_copy(update={"prompts": {**one.prompts, **prompts}}) for one in settings_of(setting).judges]
    panel = judges[0].model_copy(update={"panel": tuple(judges[1:])})
    return panel.model_dump(mode="json", exclude_defaults=True)


def _ids(entries: Sequence[Evaluator]) -> list[str]:
    found = [prompt.id for entry in entries for prompt in entry.prompts]
    return list(dict.fromkeys([*found, *(entry.id for entry in entries if entry.id == BYOP)]))
