"""How runs made an evaluator's numbers, and by which of these ways a board ranks its models."""

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from functools import lru_cache

from metrics.analysis.comparison.shared_cases import changed_settings
from metrics.core.registry import evaluators
from metrics.judge.settings import settings_of
from metrics.store import Run
from metrics.store.manifest import content_digest


def sampling_of(run: Run) -> Hashable:
    """Return what intervals and tests of a run rest on beside its cases, equal where they may be set side by side."""
    return run.spec.seed, run.spec.groups_equal_inputs, tuple(run.spec.suite.label_map.items())


@lru_cache(maxsize=4096)
def resources_of(run: Run, evaluator: str) -> tuple[tuple[str, str], ...]:
    """Return the models and the judge that an evaluator of a run uses, by kind, as far as they affect its numbers."""
    known = evaluators().get(evaluator)
    used = known.parameters(**run.evaluators[evaluator]).used(known.resources) if known else ()
    given = {kind: run.spec.resources.get(kind) for kind in used}
    if judge := given.get("judge"):
        given["judge"] = settings_of(judge).numbers()
    return tuple((kind, content_digest(value)) for kind, value in given.items())


@lru_cache(maxsize=4096)
def way_of(run: Run, evaluator: str) -> Hashable:
    """Return how a run made an evaluator's numbers: equal where they are comparable."""
    known = evaluators().get(evaluator)
    given = {name: value for name, value in run.evaluators[evaluator].items() if name != "prompts"}
    parameters = known.parameters(**given).model_dump(mode="json") if known else given
    made = content_digest([run.spec.version(evaluator), parameters, run.wordings(evaluator)])
    return made, sampling_of(run), resources_of(run, evaluator)


def choose_references(runs: Sequence[Run]) -> dict[str, Run]:
    """Return for each evaluator of these runs (the newest first) the newest run that made its numbers as a board does:
    in the way of most models, of equally many the newest; with one judge, one embedding model … for all evaluators.
    """
    using: dict[str, list[tuple[Run, str]]] = {}
    for run in runs:
        for kind, name in (one for id in run.evaluators for one in resources_of(run, id)):
            using.setdefault(kind, []).append((run, name))
    chosen = {kind: _most(voted) for kind, voted in using.items()}
    sampling = _most((run, sampling_of(run)) for run in runs)
    found: dict[str, Run] = {}
    for id in dict.fromkeys(id for run in reversed(runs) for id in run.evaluators):
        own = [run for run in runs if id in run.evaluators]
        alike = [run for run in own if sampling_of(run) == sampling and chosen.items() >= {*resources_of(run, id)}]
        way = _most((run, way_of(run, id)) for run in alike or own)
        found[id] = next(run for run in own if way_of(run, id) == way)
    return found


def describe_differences(run: Run, reference: Run, evaluator: str) -> tuple[str, ...]:
    """Return what is other in how a run made an evaluator's numbers than in how the reference did, in words."""
    found = list(changed_settings(reference, run, evaluator, "others"))
    if run.spec.seed != reference.spec.seed:
        found.append(f"seed {run.spec.seed} after {reference.spec.seed}")
    if sampling_of(run) != sampling_of(reference) and run.spec.seed == reference.spec.seed:
        found.append("cases that ask the same, or classes, counted otherwise")
    return tuple(found) or ("another way of evaluating",)


def _most(voted: Iterable[tuple[Run, Hashable]]) -> Hashable:
    """Return what the runs with most models vote for, of equals the first."""
    votes: Counter[Hashable] = Counter()
    for run, vote in voted:
        votes[vote] += len(run.models)
    return max(votes, key=lambda vote: votes[vote])
