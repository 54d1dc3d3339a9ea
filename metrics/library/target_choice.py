"""What is to answer the cases of an evaluation: its targets, as the fields describe them."""

from collections.abc import Callable
from typing import Any

from metrics.core.errors import InputError, InputProblem
from metrics.core.files import text_of
from metrics.core.suite import Outputs, Suite
from metrics.engine.evaluation import TargetFields, option_name
from metrics.engine.evaluation_fields import Door
from metrics.judge.keys import KEY, let_go
from metrics.library.judge_choice import budget_of
from metrics.store import Workspace

CHANGES = ("base_url", "system", "temperature", "max_tokens", "concurrency", "timeout", "tries")  # of descriptions


def chosen_targets(given: TargetFields, door: Door = "command") -> tuple[Any, ...]:
    """Return the targets that are described. Raises InputError."""
    from metrics.targets import targets_of

    changes = {field: value for field in CHANGES if (value := getattr(given, f"target_{field}")) is not None}
    if "system" in changes:
        changes["system"] = _text(changes["system"], option_name("target_system", door))
    prompts: dict[str, str] = {}
    option = option_name("target_prompt", door)
    for each in given.target_prompt:
        name, equals, text = each.partition("=")
        named = bool(equals) and name.replace("-", "_").isidentifier()
        prompts[name if named else ""] = _text(text if named else each, option)
    if len(prompts) < len(given.target_prompt) or ("" in prompts and len(prompts) > 1):
        raise InputError([InputProblem(option, "prompts of one name", "NAME=TEXT with a name for each")])
    if "" in prompts:
        changes["prompt"] = prompts[""]
    elif prompts:
        changes["prompts"] = prompts
    if given.target_base_url:
        let_go(KEY, given.target_base_url)
    return targets_of(given.target, changes)


def ask_targets(
    given: TargetFields,
    suite: Suite,
    workspace: str | None,
    door: Door = "command",
    listen: Callable[..., None] | None = None,
) -> Outputs:
    """Return the outputs of the targets, those that are recorded already without asking again; see `complete`."""
    from metrics.targets.complete import complete

    return complete(
        suite,
        chosen_targets(given, door),
        repeats=given.repeats,
        budget=budget_of(given.target_budget, option_name("target_budget", door)),
        retry_errors=given.retry_errors,
        fresh=given.fresh,
        workspace=workspace,
        listen=listen,
    )


def target_estimate(given: TargetFields, suite: Suite, workspace: str | None) -> list[Any]:
    """Return in lines what the targets would be asked, and about its cost; nothing is asked. InputError."""
    from metrics.targets.complete import check_fits
    from metrics.targets.estimate import estimate

    chosen = chosen_targets(given)
    check_fits(suite, chosen, given.repeats, budget_of(given.target_budget, "--target-budget"))
    return list(estimate(suite, chosen, given.repeats, Workspace(workspace).path, given.retry_errors))


def _text(given: str, option: str) -> str:
    if not given.startswith("@"):
        return given
    try:
        return text_of(given[1:])
    except (OSError, UnicodeDecodeError) as failure:
        found = f"{given} ({getattr(failure, 'strerror', None) or failure})"
        raise InputError([InputProblem(option, found, "a text file in UTF-8")]) from None
