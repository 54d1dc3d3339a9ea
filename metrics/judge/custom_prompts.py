"""The user's own prompts: their placeholders are checked, they become questions to a judge, are saved and shared."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from metrics.core.errors import InputError, InputProblem
from metrics.core.files import write_json
from metrics.core.prompt import Data
from metrics.core.suite import Case

FOLDER = "prompts"  # of a workspace
LONGEST_FILE = 1_000_000  # bytes
NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
PLACEHOLDER = re.compile(r"\{(\w{1,60})\}")
BLOCKS = {
    "question": "QUESTION",
    "expected_answer": "EXPECTED_ANSWER",
    "contexts": "CONTEXTS",
    "actual_answer": "ACTUAL_ANSWER",
}
EXPECTED = "one or more of the placeholders " + ", ".join(f"{{{name}}}" for name in BLOCKS)

Mode = Literal["boolean", "graded"]


def checked_prompt(text: str) -> str:
    """Return the prompt itself. Raises ValueError for unknown placeholders, naming them, or where there is none."""
    found = PLACEHOLDER.findall(text)
    unknown = [f"{{{name}}}" for name in dict.fromkeys(found) if name not in BLOCKS]
    if unknown:
        raise ValueError(f"{EXPECTED}, not {' and '.join(unknown)}")
    if not found:
        raise ValueError(f"{EXPECTED}, or the judge is shown nothing of the case")
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


PromptText = Annotated[str, AfterValidator(checked_prompt)]
Levels = Annotated[dict[str, float], AfterValidator(checked_levels)]


class CustomPrompt(BaseModel):
    """A user's own prompt as it is saved and shared; `version` counts its changes."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str = Field(pattern=NAME.pattern.join("^$"), description="Small letters, digits, - and _; names the file.")
    title: str = Field(min_length=1, max_length=120)
    prompt: PromptText
    mode: Mode = "boolean"
    levels: Levels = Field(default_factory=dict)
    version: int = Field(1, ge=1)

    @model_validator(mode="after")
    def _levels_are_grades(self) -> "CustomPrompt":
        if self.levels and self.mode != "graded":
            raise ValueError("mode graded where there are levels")
        return self

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters of evaluator `byop`."""
        return self.model_dump(include={"prompt", "mode", "levels"})


def instructions(prompt: str) -> str:
    """Return the prompt with each placeholder replaced by the name of its data block."""
    return PLACEHOLDER.sub(lambda found: BLOCKS[found[1]], prompt)


def material(prompt: str, case: Case) -> Data:
    """Return the data blocks of the prompt's placeholders; None for what the case does not have."""
    values: dict[str, str | tuple[str, ...] | None] = {
        "question": case.question,
        "expected_answer": case.expected_answers[0] if len(case.expected_answers) == 1 else case.expected_answers,
        "contexts": case.retrieved_contexts,
        "actual_answer": case.answer or "",
    }
    used = dict.fromkeys(PLACEHOLDER.findall(prompt))
    return {BLOCKS[name]: None if values[name] in (None, ()) else values[name] for name in used}


def load_prompt(path: Path) -> CustomPrompt:
    """Return the prompt in a file. Raises InputError with everything that is wrong with it."""
    try:
        if path.stat().st_size > LONGEST_FILE:
            raise InputError([InputProblem(path.name, "a file of over 1 MB", "the JSON file of a prompt")])
        return read_prompt(path.read_text(encoding="utf-8"), path.name)
    except (OSError, UnicodeDecodeError) as failure:
        raise InputError([InputProblem(path.name, str(failure), "a readable UTF-8 file")]) from None


def read_prompt(text: str, name: str = "prompt") -> CustomPrompt:
    """Return the prompt in the text of a file `name`. Raises InputError with everything that is wrong with it."""
    try:
        return CustomPrompt.model_validate(json.loads(text))
    except json.JSONDecodeError as failure:
        found = f"{failure.msg} at line {failure.lineno}, column {failure.colno}"
        raise InputError([InputProblem(name, found, "JSON with id, title, prompt, mode, levels, version")]) from None
    except ValidationError as failure:
        problems = [
            InputProblem(
                name,
                repr(error["input"]),
                error["msg"].removeprefix("Value error, "),
                column=".".join(map(str, error["loc"])) or None,
            )
            for error in failure.errors(include_url=False)
        ]
        raise InputError(problems) from None


def save_prompt(workspace: Path, prompt: CustomPrompt) -> CustomPrompt:
    """Save the prompt in the workspace, as the next version if it has changed, and return it as saved."""
    path = workspace / FOLDER / f"{prompt.id}.json"
    if path.exists():
        before = load_prompt(path)
        same = before.model_copy(update={"version": prompt.version}) == prompt
        prompt = prompt.model_copy(update={"version": before.version + (not same)})
    write_json(path, prompt.model_dump())
    return prompt


def saved_prompts(workspace: Path) -> list[CustomPrompt]:
    """Return the prompts saved in the workspace, by title. Raises InputError naming every unreadable file."""
    found: list[CustomPrompt] = []
    problems: list[InputProblem] = []
    for path in sorted((workspace / FOLDER).glob("*.json")):
        try:
            found.append(load_prompt(path))
        except InputError as failure:
            problems += failure.problems
    if problems:
        raise InputError(problems)
    return sorted(found, key=lambda prompt: prompt.title.casefold())
