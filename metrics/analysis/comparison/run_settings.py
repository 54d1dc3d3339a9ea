"""What differs in how two runs evaluated; their numbers may differ because of that alone."""

from collections.abc import Mapping
from typing import Any

from metrics.analysis.labels.judgements import judge_names
from metrics.core.registry import evaluators
from metrics.store import Run


def changed_settings(before: Run, run: Run, evaluator: str) -> tuple[str, ...]:
    """Return what differs in how the two runs used an evaluator of both, in words."""
    changed = []
    versions = [of.spec.version(evaluator) for of in (before, run)]
    if versions[0] != versions[1]:
        changed.append(f"version {versions[1]} of the evaluator after version {versions[0]}")
    if not same_parameters(evaluator, before.evaluators[evaluator], run.evaluators[evaluator]):
        changed.append("other parameters")
    if wordings := changed_wordings(before.wordings(evaluator), run.wordings(evaluator)):
        changed.append(wordings)
    known = evaluators().get(evaluator)
    for name in known.resources if known else ():
        one, other = (judge_names(of) if name == "judge" else of.spec.resources.get(name) for of in (before, run))
        if one != other:
            changed.append(f"another {name.replace('_', ' ')}")
    return tuple(changed)


def same_parameters(evaluator: str, one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Return whether stored parameters are the same; what an earlier version did not store has its default.

    Texts in place of prompts do not count: `changed_wordings` tells them apart.
    """
    known = evaluators().get(evaluator)
    if known is None:
        return dict(one) == dict(other)
    kept = [{name: value for name, value in values.items() if name != "prompts"} for values in (one, other)]
    return known.parameters(**kept[0]) == known.parameters(**kept[1])


def changed_wordings(before: Mapping[str, str], after: Mapping[str, str]) -> str:
    """Return the prompts that were worded otherwise: `another wording of claims (ours, then 1a2b3c4d5e6f)`; else ""."""
    ids = [name for name in {**before, **after} if before.get(name) != after.get(name)]
    each = (f"{name} ({before.get(name, 'ours')}, then {after.get(name, 'ours')})" for name in ids)
    return f"another wording of {', '.join(each)}" if ids else ""
