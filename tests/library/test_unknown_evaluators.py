"""Runs of scores that came from outside, of a plugin that is not here, and of evaluators that no version here has.

Whatever reads a run reads these, too: every table, report, export, finding and page, for one model and for several.
"""

import inspect
import shutil
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from metrics import Run, Workspace, analysis, store
from metrics.cli.main import main
from metrics.core import registry
from metrics.core.errors import InputError, MissingResource, RunError
from metrics.core.plugins import load_reference
from metrics.core.suite import Outputs
from metrics.reports import render
from metrics.reports.exchange.exporters import EXPORTERS, WHATS, written
from metrics.reports.renderers.export_tables import table
from metrics.reports.score_boxes import score_panels
from metrics.store.table_files import EXPORT_FORMATS, write
from tests.conftest import PROJECT
from tests.engine.engine_scenes import finished, text_outputs, text_suite
from tests.laws.scenes import box_scene
from tests.library.plugin_scenes import write_plugin

TONE = {"tone": {"low": 1, "high": 5, "threshold": 3}, "safe": {"binary": True, "direction": "lower"}, "gone": {}}
TEXTS, OBJECTS = ("own_scores", "rouge", "brevity"), ("average_precision", "detection_confusion", "error_breakdown")
MODELS = {1: ("good",), 3: ("good", "poor", "other")}
# scene: data, models, whether Assay's own evaluators are unknown as well
SCENES = {
    "logged, one model": ("text", 1, False), "logged, three models": ("text", 3, False),
    "unknown, one model": ("text", 1, True), "unknown, three models": ("text", 3, True),
    "unknown, objects of one model": ("objects", 1, True), "unknown, objects of three models": ("objects", 3, True),
}  # fmt: skip
PAGES = {  # of a run, with what their address may name beside it
    "leaderboard": {}, "compare": {}, "problems": {}, "slices": {}, "trend": {}, "compliance": {}, "report": {},
    "cases": {"evaluator": "own_scores", "metric": "tone"}, "case": {"case": "c3"}, "curves": {}, "gallery": {},
    "label": {"rater": "Ann"}, "judge_agreement": {}, "runs": {},
}  # fmt: skip
REFUSALS = (InputError, MissingResource, RunError)  # an answer in words, where there is nothing to show


def rated_outputs(models: tuple[str, ...]) -> Outputs:
    """Answers with scores beside them: one above its threshold, one below, one that most outputs lack."""
    rows = text_outputs(6, models).outputs.to_pylist()
    for place, row in enumerate(rows):
        scores = {"tone": str(1 + place % 4), "safe": str(place % 2), "tone.reason": "so it sounds"}
        row |= {f"metadata.{name}": value for name, value in scores.items()}
        row |= {"duration_s": 1.0 + place, "cost_usd": place / 10}
    return Outputs.from_rows(rows)


def made(folder: Path, data: str, count: int) -> Path:
    """Seal a run in a folder, with a plugin that is forgotten afterwards; return the folder."""
    workspace = store.Workspace(folder)
    if data == "objects":
        scene = box_scene().of_models("m")
        models = MODELS[count]  # each finds a box less than the one before it
        boxes = [row | {"model": name} for place, name in enumerate(models) for row in scene.predictions[place:]]
        rows = [row | {"model": name} for name in models for row in scene.outputs]
        finished(workspace, scene.tables()[0], Outputs.from_rows(rows, boxes), *OBJECTS)
        return folder
    registry.add_plugin(load_reference(f"{write_plugin(folder / 'evals.py')}:brevity", folder))
    parameters = {"own_scores": {"scores": TONE}}
    finished(workspace, text_suite(), rated_outputs(MODELS[count]), *TEXTS, parameters=parameters)
    registry._added.clear()
    return folder


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Run]:
    """A run for each scene, in a workspace of its own: what is read of one is kept by its folder."""
    made_once = cache(lambda data, count: made(tmp_path_factory.mktemp("made"), data, count))
    found: dict[str, Run] = {}
    for place, (name, (data, count, _)) in enumerate(SCENES.items()):
        first = made_once(data, count)
        found[name] = Workspace(shutil.copytree(first, first.with_name(f"copy-{place}"))).run("latest")
        assert found[name].evaluators  # its specification is read, and with it what it says of the plugin
    return found


@pytest.fixture(params=SCENES)
def run(request: pytest.FixtureRequest, runs: Mapping[str, Run], monkeypatch: pytest.MonkeyPatch) -> Iterator[Run]:
    """The run of a scene, read by an Assay that knows no more than the scene says."""
    if SCENES[request.param][2]:
        monkeypatch.setattr(registry, "_modules", dict)
        monkeypatch.setattr(registry, "_all", dict)
    monkeypatch.setenv("ASSAY_WORKSPACE", str(runs[request.param].workspace.path))
    return runs[request.param]


def asked(run: Run) -> Iterator[tuple[str, Callable[[], object]]]:
    """Yield every finding of metrics.analysis that a run, an evaluator and a metric of it are enough for."""
    rows = run.stored_table("aggregates").select(["evaluator", "metric"]).to_pylist()
    pairs = list(dict.fromkeys((row["evaluator"], row["metric"]) for row in rows))
    case = str(run.suite.cases["case_id"][0])
    for name, function in inspect.getmembers(analysis, inspect.isfunction):
        given = inspect.signature(function).parameters.values()
        needs = tuple(one.name for one in given if one.default is one.empty)
        if needs == ("run",):
            yield name, lambda function=function: function(run)
        elif needs == ("run", "case_id"):
            yield name, lambda function=function: function(run, case)
        elif needs == ("run", "evaluator", "metric"):
            for pair in pairs:
                yield f"{name} {pair}", lambda function=function, pair=pair: function(run, *pair)
    if len(run.models) > 1:
        yield "compare", lambda: analysis.compare(run, *run.models[:2])
    for column in analysis.leaderboard(run).columns:
        yield f"trend {column.key}", lambda column=column: analysis.trend([run], column.key)
        for kind in ("losses", "wins", "ties") if len(run.models) > 1 else ():
            of = (column.evaluator, column.metric, kind)
            yield f"differences {of}", lambda of=of: analysis.differences(run, *run.models[:2], *of)


def ways_out(run: Run, folder: Path) -> Iterator[tuple[str, Callable[[], object]]]:
    """Yield every way that a run leaves Assay."""
    for what in WHATS:
        for format in EXPORT_FORMATS:
            yield f"{what} {format}", lambda what=what, format=format: write(table(run, what), format)
    for kind in ("pdf", "html", "json", "md", "csv"):
        yield kind, lambda kind=kind: render(run, kind)
    for one in EXPORTERS.values():
        if one.form == "file":
            yield one.id, lambda one=one: one()(run)
        elif one.form == "folder":
            yield one.id, lambda one=one: written(run, one, folder / one.id)
    yield "archive", lambda: run.archive(folder / "run.zip")
    yield "bundle", lambda: run.bundle(folder / "bundle")
    yield "plot", lambda: score_panels([run])
    yield "notebook", lambda: (run._repr_html_(), str(run))
    case = str(run.suite.cases["case_id"][0])
    for evaluator in (None, *run.evaluators):
        yield f"summarize {evaluator}", lambda evaluator=evaluator: run.summarize(evaluator)
        yield f"show {evaluator}", lambda evaluator=evaluator: run.show(case, evaluator)._repr_html_()


def test_every_finding_reads_it(run):
    for what, ask in asked(run):
        try:
            ask()
        except REFUSALS:
            continue
        except Exception as failure:
            raise AssertionError(what) from failure


def test_it_leaves_in_every_form(run, tmp_path):
    for what, leave in ways_out(run, tmp_path):
        try:
            leave()
        except REFUSALS:
            continue
        except Exception as failure:
            raise AssertionError(what) from failure


@pytest.mark.parametrize("command", [
    "gate latest --fail-under tone=2", "gate latest --weight own_scores.tone=2 --weight rougeL=1", "runs --json",
    "report latest -o r.md --weight own_scores.tone=1", "describe latest", "verify latest",
    "plot latest -o p.svg --metrics tone", "export latest --what insights -o x.csv", "labels agreement latest",
])  # fmt: skip
@pytest.mark.parametrize("scene", ["logged, one model", "logged, three models"])
def test_every_command_reads_it(command, scene, runs, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ASSAY_WORKSPACE", str(runs[scene].workspace.path))
    assert main(command.split()) in (0, 1, 2)  # a refusal in words is an answer, an exception is none


@pytest.mark.parametrize("page", PAGES)
def test_every_page_shows_it(page, run, monkeypatch):
    monkeypatch.setattr("components.data.workspace_runs.waits_for_sample", lambda: False)
    app = AppTest.from_file(str(PROJECT / "pages" / f"{page}.py"), default_timeout=300)
    for name, value in {"run": run.id, **PAGES[page]}.items():
        app.query_params[name] = value
    app.run()
    assert not app.exception
