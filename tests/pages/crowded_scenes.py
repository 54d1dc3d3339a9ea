"""A workspace with several of everything that pages list, and files that people drop several of."""

import io
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import pyarrow as pa

from components.data import uploaded_files
from metrics import engine
from metrics.core.suite import Outputs, Suite
from metrics.judge.custom_prompts import CustomPrompt
from metrics.judge.open_judges import choose_judge
from metrics.judge.rubrics import read_rubric
from metrics.judge.saved_objects import save
from metrics.judge.settings import settings_of
from metrics.monitoring import feed
from metrics.questions import save_draft
from metrics.store import Run, Workspace
from metrics.store.reviews import Place, Review, SavedView, SavedViews
from metrics.store.threshold_profiles import ThresholdProfiles
from metrics.store.workspace import Bin
from metrics.suites.suite_edits import Draft, Edit, apply, save_draft as save_suite_draft
from metrics.suites.suite_history import save_version
from tests.engine.engine_scenes import finished, one_thread
from tests.labels import label, labelled_run
from tests.monitoring.monitor_scenes import begun, line, write
from tests.pages.conftest import labels_outputs, labels_suite
from tests.pages.page_scenes import agents_run, judged_run, masks_run, objects_run, texts_run
from tests.pages.test_questions import stored_draft
from tests.preferences import MODELS, compared_run, judgement, vote

NAMES = ("one", "two", "three")
RUBRIC = "title: {0}\ndimensions:\n  clear:\n    weight: 1\n    description: Is it clear?\n"


def crowded_workspace(folder: Path) -> dict[str, Run]:
    """Fill a workspace; return its runs by kind, each of three models but for `pair` and `judged`, which have two."""
    runs = {"judged": judged_run(folder, panel=True), "agents": _third(folder, agents_run(folder), "agent_sanity")}
    for kind, made, evaluators in (
        ("objects", objects_run, ("detection_pr_curve", "average_precision")),
        ("masks", masks_run, ("segmentation_iou",)),
    ):
        runs[kind] = _third(folder, made(folder), *evaluators)
        (folder / "pictures").rename(folder / f"pictures of {kind}")
    runs["pair"] = texts_run(folder)
    runs["texts"] = _third(folder, runs["pair"], "rouge", "bleu")
    runs["classes"] = finished(Workspace(folder), labels_suite(), labels_outputs(), "classification", name="Animals")
    runs["numbers"] = _numbers(folder)
    runs["labelled"] = labelled_run(Workspace(folder), 12)
    runs["compared"] = compared_run(Workspace(folder), 8)
    _fill_stores(folder, runs)
    _fill_suites(folder)
    _fill_monitors(folder)
    return runs


def _third(folder: Path, run: Run, *evaluators: str) -> Run:
    """A run of the same models and one more, which says what the last one says."""
    outputs, last = run.outputs, run.models[-1]
    tables = [None if table is None else _with_model(table, last) for table in (outputs.outputs, outputs.predictions)]
    return finished(
        Workspace(folder), run.suite, replace(outputs, outputs=tables[0], predictions=tables[1]), *evaluators,
        name=f"{run.name}, three",
    )  # fmt: skip


def _with_model(table: pa.Table, like: str) -> pa.Table:
    own = table.filter(pa.compute.equal(table["model"], like))
    place = table.column_names.index("model")
    return pa.concat_tables([table, own.set_column(place, "model", pa.array(["third"] * len(own), pa.string()))])


def _numbers(folder: Path) -> Run:
    cases = [{"case_id": f"n{n}", "true_value": float(n), "tags": [NAMES[n % 3]]} for n in range(12)]
    outputs = [
        {"case_id": f"n{n}", "model": model, "predicted_value": n + 0.3 * (place + 1) * (-1) ** n}
        for place, model in enumerate(NAMES)
        for n in range(12)
    ]
    suite = Suite.from_rows("rents", "regression", cases)
    return finished(Workspace(folder), suite, Outputs.from_rows(outputs), "regression", name="Rents")


def _fill_stores(folder: Path, runs: dict[str, Run]) -> None:
    """Marks, views, profiles, rubrics, prompts, labels, preferences; deleted, unfinished and damaged runs."""
    for run in runs.values():
        cases = run.suite.cases["case_id"].to_pylist()[:3]
        Review(run).tag([Place(case) for case in cases], NAMES)
        for case in cases:
            Review(run).note(Place(case), "A note.")
    profiles = ThresholdProfiles(folder)
    for name in NAMES:
        save(folder, read_rubric(RUBRIC.format(name), f"{name}.yaml"))
        save(folder, CustomPrompt(id=name, title=name, prompt="Is {actual_answer} polite?"))
        for page in ("cases", "gallery"):
            SavedViews(folder).keep(SavedView(name, page, ""))
        profiles.use(name)
        profiles.put({("rouge", "rouge1"): 0.5, ("bleu", "bleu"): 0.5})
        label(runs["labelled"], name, range(12))
        vote(runs["compared"], 0, *MODELS[:2], 1.0, rater=name)
        judgement(runs["compared"], 1, *MODELS[:2], 1.0, 1.0, judge=name)
    spec = runs["pair"].suite, runs["pair"].outputs, ["rouge"]
    for name in NAMES[:2]:
        Bin(folder).put(engine.execute(engine.create(Workspace(folder), *spec, name=f"deleted {name}"), one_thread))
        engine.create(Workspace(folder), *spec, name=f"waiting {name}")
        damaged = runs["pair"].folder.with_name(f"{runs['pair'].id}-{name}")
        shutil.copytree(runs["pair"].folder, damaged)
        (damaged / "manifest.json").write_text("{")


def _fill_suites(folder: Path) -> None:
    """A suite in three versions, three drafts of questions, and a judge with two more in its panel."""
    workspace = Workspace(folder)
    suite = Suite.from_rows("desk", "text", [{"case_id": f"d{n}", "question": f"What is {n}?"} for n in range(6)])
    workspace.save_suite(suite)
    for case in ("d0", "d1"):
        edit = Edit(do="leave_out", cases=(case,))
        changed = apply(suite, [edit])
        save_version(workspace, changed, suite, [edit.words])
        suite = changed
    for name in NAMES:
        save_draft(folder, stored_draft().model_copy(update={"name": name}))
    panel = [{"model": name, "base_url": "http://127.0.0.1:9/v1"} for name in NAMES]
    choose_judge(folder, settings_of({**panel[0], "panel": panel[1:]}))


def _fill_monitors(folder: Path) -> None:
    lines = write(folder / "log.jsonl", [line(n, passes=n % 3 > 0) for n in range(30)] + [b"oops", b"no"])
    for name in NAMES:
        feed(begun(folder, name, window="10"), lines)


def draft_of(folder: Path, suite: str) -> str:
    """A draft of a stored suite with three edits; its token."""
    edits = tuple(Edit(do="tag", cases=("d2", "d3"), tag=name) for name in NAMES)
    return save_suite_draft(folder, Draft(suite=suite, edits=edits))


def upload(folder: Path, name: str, text: str) -> str:
    """Keep a file as the uploader does; its token."""
    return uploaded_files.keep(io.BytesIO(text.encode()), name, folder / "uploads")


@contextmanager
def asked_views(choice: object) -> Iterator[list[tuple[str, list[str]]]]:
    """Note the name and the values of each control that chooses a view, while it draws as it does."""
    asked: list[tuple[str, list[str]]] = []

    def note(label: str, options: dict[str, str], name: str, *args: object, **named: object) -> object:
        asked.append((name, list(options)))
        return choice(label, options, name, *args, **named)  # type: ignore[operator]

    with patch("components.widgets.controls.choice", note):
        yield asked
