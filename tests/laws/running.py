"""Runs of every evaluator of a task at once, by the engine, with stand-ins for local models and a scripted judge.

As a program, the same runs in another process, with the models and the work in another order.
"""

import json
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from queue import LifoQueue
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

from metrics import engine
from metrics.core.evaluator import JUDGE, Evaluator, Parameters
from metrics.core.registry import evaluators
from metrics.engine import load_resources
from metrics.judge.typical_reply import count_numbered
from metrics.store import Run, Workspace
from tests.engine.engine_scenes import one_thread
from tests.judge.server import JudgeServer, Request
from tests.judge.turned_replies import turned_reply
from tests.laws.scenes import SCENES, Scene
from tests.models.word_models import WordPredictor, WordTokens, classifiers
from tests.models.word_vectors import WordVectors

PARAMETERS = {
    "byop": {"prompt": "Is {actual_answer} polite?"}, "g_eval": {"criterion": "Polite answers greet the customer."},
    "group_fairness": {"column": "tribe", "positive": "a", "least": 2},
    "hierarchical_classification": {"parents": {"a": "x", "b": "x"}},
    "own_scores": {"scores": {"own": {"column": "score"}}}, "topic_adherence": {"topics": ["mills", "rivers"]},
    "consistency_statistics": {"of": "rouge.rougeL"}, "pass_at_k": {"of": "text_matching.passes", "k": [1, 2]},
    "code_execution": {"allow": True},
    "sql_execution": {"allow": True},
}  # fmt: skip
NEW_NAMES = {"a": "yak", "b": "zebra", "cat": "Q", "dog": "p"}  # of classes, in a scene that renames them
RENAMED = {
    "group_fairness": {"positive": "yak"}, "hierarchical_classification": {"parents": {"yak": "x", "zebra": "x"}},
}  # fmt: skip
Key = tuple[Any, ...]
CLASSIFIERS = classifiers()
# for what needs a model; an evaluator of other resources is left out
STAND_INS = {"embedder": WordVectors(), "language_model": WordPredictor(), "token_encoder": WordTokens()}


@dataclass(frozen=True)
class Found:
    """What an evaluator made of a scene: (case, model, run, metric) → (value, status, reason), and its aggregates."""

    scores: Mapping[Key, tuple[Any, ...]]
    aggregates: Mapping[Key, Mapping[str, Any]]


def of_task(task: str) -> list[Evaluator]:
    """Return the evaluators that a scene of the task is for: each belongs to one."""
    return [entry for entry in evaluators().values() if next(one for one in SCENES if one in entry.tasks) == task]


def replying(request: Request) -> Any:
    """Return a reply that fits, with labels that depend on what is asked and on nothing else."""
    return turned_reply(request, json.dumps(request.data, sort_keys=True))


def supports(request: Request) -> list[dict[str, Any]]:
    """Return that every second claim is supported by the first context."""
    count = count_numbered(request.data["CLAIMS"])
    return [{"reason": "said", "supported_by": [1] if number % 2 else []} for number in range(1, count + 1)]


@contextmanager
def judge() -> Iterator[JudgeServer]:
    with JudgeServer() as server:
        server.say(lambda _: True, replying)
        server.say("entailment", supports)
        yield server


def run(workspace: Path, scene: Scene, url: str, executor: Callable[[], Executor] = one_thread) -> dict[str, Found]:
    """Run every evaluator of the scene's task, and return what each found by its id."""
    suite, outputs = scene.tables()
    entries = of_task(scene.task)
    names = [entry.id for entry in entries]
    own = {entry.id: parameters_of(entry) for entry in entries}
    if set(scene.labels) <= set(NEW_NAMES.values()):
        own |= {name: own[name] | RENAMED[name] for name in RENAMED.keys() & own.keys()}
    resources = {"judge": {"model": "scripted", "base_url": url, "backoff": 0.01, "concurrency": 16}}
    with (
        patch("metrics.core.files.sync"),  # a run lasts as long as its test
        patch.object(load_resources.Resources, "models", lambda _, entry, given: local_models(entry, given)),
        patch("metrics.models.missing_model", lambda *_: None),
    ):
        planned = engine.create(Workspace(workspace), suite, outputs, names, resources=resources, parameters=own)
        made = engine.execute(planned, executor)
    scores, aggregates = scores_of(made), aggregates_of(made)
    return {name: Found(scores[name], aggregates[name]) for name in names}


def parameters_of(entry: Evaluator) -> dict[str, Any]:
    """Return the parameters of the runs: few resamples are enough."""
    few = {"resamples": 100} if "resamples" in entry.parameters.model_fields else {}
    return few | PARAMETERS.get(entry.id, {})


def local_models(entry: Evaluator, parameters: Parameters) -> dict[str, Any]:
    return stand_ins(replace(entry, resources=tuple(name for name in entry.resources if name != JUDGE)), parameters)


def stand_ins(entry: Evaluator, parameters: Parameters) -> dict[str, Any]:
    """Return models of a few lines for those that the evaluator uses."""
    needed = parameters.used(entry.resources)
    return {name: CLASSIFIERS[entry.id] if name == "classifier" else STAND_INS[name] for name in needed}


def scores_of(made: Run) -> dict[str, dict[Key, tuple[Any, ...]]]:
    found: dict[str, dict[Key, tuple[Any, ...]]] = defaultdict(dict)
    for row in made.stored_table("scores").to_pylist():
        key = (row["case_id"], row["model"], row["run"], row["metric"])
        found[row["evaluator"]][key] = (row["value"], row["status"], row["reason"])
    return found


def aggregates_of(made: Run) -> dict[str, dict[Key, Mapping[str, Any]]]:
    found: dict[str, dict[Key, Mapping[str, Any]]] = defaultdict(dict)
    for row in made.stored_table("aggregates").to_pylist():
        found[row["evaluator"]][row["model"], row["metric"], row["label"], row["slice"], row["columns"]] = row
    return found


class LastFirst(ThreadPoolExecutor):
    """One worker that takes the unit that was submitted last."""

    def __init__(self) -> None:
        super().__init__(1)
        self._work_queue: Any = LifoQueue()


def texts_of(found: Mapping[str, Found]) -> dict[str, str]:
    """Return what a run found by evaluator, as text that is equal where every digit and word is."""
    return {
        name: repr((sorted(one.scores.items(), key=repr), sorted(one.aggregates.items(), key=repr)))
        for name, one in found.items()
    }


if __name__ == "__main__":
    with judge() as server, TemporaryDirectory() as place:
        turned = [make().of_models("n", "m") for make in SCENES.values()]
        made = [texts_of(run(Path(place), scene, server.url, LastFirst)) for scene in turned]
    Path(sys.argv[1]).write_text(json.dumps({name: text for one in made for name, text in one.items()}))
