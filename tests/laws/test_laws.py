"""Laws that every evaluator keeps in a run by the engine, whatever it is; a new one is under them with no change here.

Judged evaluators ask a scripted judge whose replies depend on the question alone; those with local models get stand-ins
of a few lines. A law holds for every evaluator but for those in EXCEPTIONS, each with its reason.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from metrics.core.errors import InputError
from metrics.core.registry import evaluators
from metrics.core.suite import Outputs, Suite
from metrics.engine.unit_work import UNWEIGHTED
from tests.conftest import PROJECT
from tests.laws import laws, running
from tests.laws.running import NEW_NAMES, Found, of_task, texts_of
from tests.laws.scenes import SCENES, Scene, odd, unscorable, write_in_forms

AS_IT_IS = "as it is"
HEAVY = ("c0", "c3")
WEIGHT = "weight 2 is a case twice"
CHANGES: dict[str, Callable[[Scene], Scene]] = {
    AS_IT_IS: lambda scene: scene, "twice, shuffled": lambda scene: scene.shuffled().doubled(),
    "one model": lambda scene: scene.of_models("n"), "one case": lambda scene: scene.of_cases(["c2"]),
    "unscorable": unscorable, "odd": lambda scene: odd(scene.task),
}  # fmt: skip
CHANGES |= {  # of one model, which is enough
    name: lambda scene, change=change: change(scene.of_models("n"))
    for name, change in {
        "some twice": lambda scene: scene.doubled(HEAVY), "some weigh 2": lambda scene: scene.weighing(2.0, HEAVY),
        "all weigh 3": lambda scene: scene.weighing(3.0, scene.ids), "a group a case": lambda scene: scene.grouped(),
        "twice in groups": lambda scene: scene.doubled().grouped(), "renamed": lambda scene: scene.renamed(NEW_NAMES),
        "composed": lambda scene: write_in_forms(scene, "NFC"),
        "decomposed": lambda scene: write_in_forms(scene, "NFD", "NFC"),
        "without one": lambda scene: scene.of_cases(name for name in scene.ids if name != "c1"),
        "one unscorable": lambda scene: unscorable(scene, "c1"),
    }.items()
}  # fmt: skip
COMPARED = {  # the change that the law compares a run with; else as it is
    "some weigh 2": "some twice", "decomposed": "composed", "one unscorable": "without one",
    **dict.fromkeys(("all weigh 3", "a group a case", "twice in groups", "renamed"), "one model"),
}  # fmt: skip
LAWS: dict[str, tuple[str, laws.Law]] = {  # the change, and what must hold then
    "it scores something": (AS_IT_IS, laws.scores_something),
    "a value in range or a reason": (AS_IT_IS, laws.has_value_or_reason),
    "counts add up": (AS_IT_IS, laws.counts_add_up),
    "an interval is about its value": (AS_IT_IS, laws.interval_is_about_value),
    "every case twice, in any order, the same": ("twice, shuffled", laws.is_the_same_doubled),
    "without the other model the same": ("one model", laws.is_the_same_beside_others),
    "one case, a value or a reason": ("one case", laws.has_value_or_reason),
    "one case, counts add up": ("one case", laws.counts_add_up),
    "one case, an interval is about its value": ("one case", laws.interval_is_about_value),
    "a case scores as it does alone": ("one case", laws.case_is_the_same_alone),
    "all unscorable, no number but reasons": ("unscorable", laws.has_no_number),
    "all unscorable, counts add up": ("unscorable", laws.counts_add_up),
    "extreme values, a value in range or a reason": ("odd", laws.has_value_or_reason),
    "extreme values, counts add up": ("odd", laws.counts_add_up),
    "extreme values, an interval is about its value": ("odd", laws.interval_is_about_value),
    WEIGHT: ("some weigh 2", laws.has_the_same_values),
    "equal weights are none": ("all weigh 3", laws.has_the_same_numbers),
    "one group per case is none": ("a group a case", laws.has_the_same_numbers),
    "copies in their case's group narrow no interval": ("twice in groups", laws.is_not_surer),
    "a text is the same in every form of Unicode": ("decomposed", laws.has_the_same_numbers),
    "the names of classes change nothing": ("renamed", laws.has_the_same_numbers_renamed),
    "a case without a value is in no number": ("one unscorable", laws.leaves_out_what_has_none),
}
EXTREME = "extreme values, a value in range or a reason"
QUERIES = "its expected answers are queries; those of the scene are sentences, so that its cases are errors"
WHOLE = "it asks about the text as a whole; one of 100,000 characters is beyond the judge's window, as its reason says"
WHOLE_TEXTS = ("byop", "g_eval", "rubric", "fact_check", "summarization_judge", "summary_coherence")
BENCHMARK = "benchmarks of detection know no weights of images; every number of a suite with weights says so"
EMPTY_IMAGE = "pixels that no region covers are background, a label like any other: empty images agree wholly"
NEEDS_QUERIES = ("it scores something", "a value in range or a reason", "one case, a value or a reason")
EXCEPTIONS: dict[tuple[str, str], str] = {  # law and evaluator → why it does not keep it
    **{(EXTREME, name): WHOLE for name in WHOLE_TEXTS},
    **{(law, "sql_execution"): QUERIES for law in NEEDS_QUERIES},
    ("all unscorable, no number but reasons", "segmentation_iou"): EMPTY_IMAGE,
    ("a case without a value is in no number", "segmentation_iou"): EMPTY_IMAGE,
    ("the names of classes change nothing", "ordinal"): "without `levels` the order of classes is that of their names",
    **{(WEIGHT, name): BENCHMARK for name, entry in evaluators().items() if not entry.weighs_cases},
}
Runs = Callable[[str, str], dict[str, Found]]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runs]:
    """Runs of every evaluator of a task on a changed scene, each made once; what the judge said is in one cache."""
    workspace = tmp_path_factory.mktemp("workspace")
    with running.judge() as server:

        @cache
        def made(task: str, change: str) -> dict[str, Found]:
            scene, base = CHANGES[change](SCENES[task]()), COMPARED.get(change, AS_IT_IS)
            if change != base and scene == CHANGES[base](SCENES[task]()):
                return made(task, base)
            return running.run(workspace, scene, server.url)

        yield made


def task_of(name: str) -> str:
    return next(task for task in SCENES if evaluators()[name] in of_task(task))


@pytest.mark.parametrize("name", evaluators())
@pytest.mark.parametrize("law", LAWS)
def test_law(law: str, name: str, runs: Runs) -> None:
    change, says = LAWS[law]
    entry, task = evaluators()[name], task_of(name)
    scene = CHANGES[change](SCENES[task]())
    base = COMPARED.get(change, AS_IT_IS)
    complaints = list(says(entry, scene, runs(task, base)[name], runs(task, change)[name]))
    if (law, name) in EXCEPTIONS:
        assert complaints, "it holds: remove the exception"
    else:
        assert not complaints


def test_numbers_that_leave_weights_out_say_so(runs: Runs) -> None:
    """Detection alone, and in every row that has a value; without weights nobody says it."""
    for change in (AS_IT_IS, "some weigh 2"):
        for task in SCENES:
            for name, found in runs(task, change).items():
                told = {
                    UNWEIGHTED in (row["reason"] or "") for row in found.aggregates.values() if row["label"] is None
                }
                assert told == {change != AS_IT_IS and not evaluators()[name].weighs_cases}, name


def test_every_exception_has_its_reason() -> None:
    assert {law for law, _ in EXCEPTIONS} <= LAWS.keys()
    assert {name for _, name in EXCEPTIONS} <= evaluators().keys()
    assert all(len(reason) > 20 for reason in EXCEPTIONS.values())


def test_another_process_hashes_and_order_give_the_same(runs: Runs, tmp_path: Path) -> None:
    """Every digit and every word; models and work come in another order there, and the judge is asked again."""
    file = tmp_path / "found.json"
    environment = os.environ | {"PYTHONHASHSEED": "7", "PYTHONPATH": str(PROJECT)}
    subprocess.run(
        [sys.executable, "-W", "error", "-m", "tests.laws.running", file], env=environment, cwd=PROJECT, check=True
    )
    elsewhere = json.loads(file.read_text())
    here = {name: text for task in SCENES for name, text in texts_of(runs(task, AS_IT_IS)).items()}
    assert [name for name in here if here[name] != elsewhere[name]] == []


@pytest.mark.parametrize("task", SCENES)
def test_without_cases_or_outputs_there_is_no_run(task: str, tmp_path: Path) -> None:
    """An empty suite, or no output at all, is refused by name, not answered with numbers."""
    scene: Any = SCENES[task]()
    for empty in (scene.of_cases([]), scene.of_models()):
        suite, outputs = empty.tables()
        assert isinstance(suite, Suite)
        assert isinstance(outputs, Outputs)
        with pytest.raises(InputError):
            running.run(tmp_path, empty, "http://127.0.0.1:9")
