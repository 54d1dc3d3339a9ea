"""The judge and the local models that an evaluation chooses, as the resources of a run."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from metrics.core.errors import InputError, InputProblem, refuse
from metrics.engine.evaluation import SAMPLING, EvaluatorFields, JudgeFields, option_name
from metrics.engine.evaluation_fields import Door
from metrics.judge.keys import KEY, let_go
from metrics.judge.local.install import LOCAL
from metrics.judge.settings import Budget
from metrics.models import SOURCES

SERVER = re.compile(r"(.+?)@(https?://.+)")  # MODEL@URL; a model's own name may contain an @
BARE_ADDRESS = re.compile(r"([^@]+)@([\w.-]+:\d+.*)")  # without http://
OPTION = re.compile(r"(\d+):")  # the number of the judge that an option is for
BUDGETS = {"usd": float, "calls": int, "tokens": int, "seconds": float}


def chosen_models(given: EvaluatorFields) -> dict[str, Any]:
    """Return the local models that are chosen, by resource."""
    return {name: value for name in SOURCES if (value := getattr(given, name))}


def judge_settings(given: JudgeFields, door: Door = "command", untrusted: Sequence[str] = ()) -> dict[str, Any] | None:
    """Return the judge's settings that are given; None where no judge is named. InputError.

    Whoever types an address lets the key go there; an `untrusted` one was read from somebody's file.
    """
    budget = budget_of(given.judge_budget, option_name("judge_budget", door))
    every: dict[str, Any] = {"concurrency": given.judge_concurrency, "repeats": given.judge_repeats}
    common: dict[str, Any] = {
        "budget": budget.model_dump(exclude_none=True) or None,
        "replay": None if given.replay is None else str(Path(given.replay).absolute()),
        "combine": given.panel,
    }
    every, common = ({name: value for name, value in own.items() if value is not None} for own in (every, common))
    if not given.judge:
        if every or common or given.judge_option or given.judge_base_url:
            name = option_name("judge", door)
            raise InputError([InputProblem(name, "no judge, but options for one", f"{name} MODEL or {name} local")])
        return None
    url = given.judge_base_url
    named = [_named(each, url) for each in ([given.judge] if isinstance(given.judge, dict) else given.judge)]
    sampling = _sampling(given.judge_option, len(named), option_name("judge_option", door))
    first, *others = ({**every, **own, **judge} for judge, own in zip(named, sampling, strict=True))
    for judge in others:  # one draw of the local judge is as good as several
        if judge["model"].partition(":")[0] == LOCAL:
            judge.pop("repeats", None)
    found = first | common | ({"panel": others} if others else {})
    for judge in (found, *found.get("panel", ())):
        if (address := judge.get("base_url")) and address not in untrusted:
            let_go(KEY, address)
    return found


def _named(judge: str | dict[str, Any], base_url: str | None) -> dict[str, Any]:
    """Return the settings that a judge's text or settings name: MODEL or MODEL@URL, else with the common server."""
    given = {"model": judge} if isinstance(judge, str) else judge
    if isinstance(judge, str) and (named := SERVER.fullmatch(judge)):
        given, base_url = {"model": named[1]}, named[2]
    if isinstance(judge, str) and (bare := BARE_ADDRESS.fullmatch(judge)):
        raise InputError([InputProblem("judge", repr(judge), f"http:// or https:// in it: {bare[1]}@http://{bare[2]}")])
    local = str(given.get("model", "")).partition(":")[0] == LOCAL
    return ({"base_url": base_url} if base_url and not local else {}) | given


def _sampling(texts: Sequence[str], judges: int, option: str) -> list[dict[str, str]]:
    """Return the sampling that the options give to each judge, still as text."""
    found: list[dict[str, str]] = [{} for _ in range(judges)]
    problems = []
    for text in sorted(texts, key=lambda text: OPTION.match(text) is not None):  # those for one judge come last
        for_one = OPTION.match(text)
        name, equals, value = text[for_one.end() if for_one else 0 :].partition("=")
        number = int(for_one[1]) if for_one else None
        if name not in SAMPLING or not equals:
            expected = f"NAME=VALUE or 2:NAME=VALUE, with one of {', '.join(SAMPLING)}"
            problems.append(InputProblem(option, repr(text), expected))
        elif number is not None and not 1 <= number <= judges:
            problems.append(InputProblem(option, repr(text), f"the number of a judge, 1 to {judges}"))
        else:
            for own in found if number is None else [found[number - 1]]:
                own[name] = value
    refuse(problems)
    return found


def budget_of(texts: Sequence[str], option: str) -> Budget:
    """Return the budget in texts such as calls=100. Raises InputError listing those that are none."""
    found: dict[str, float] = {}
    problems = []
    for text in texts:
        name, _, value = text.partition("=")
        try:
            found[name] = BUDGETS[name](value)
            Budget.model_validate({name: found[name]})
        except (KeyError, ValueError):
            problems.append(InputProblem(option, repr(text), "usd=N, calls=N, tokens=N or seconds=N"))
    refuse(problems)
    return Budget.model_validate(found)
