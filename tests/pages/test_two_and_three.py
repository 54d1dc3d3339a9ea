"""Every page with two and with three of what it lists: nothing is drawn twice under one key, each thing is itself."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from components.widgets import controls, url
from metrics.cli.main import main
from metrics.ingest import read_outputs, read_suite
from metrics.store import Run, Workspace
from tests.pages import crowded_scenes as scenes

Open = Callable[..., AppTest]
CHARTS = ("radar", "bars", "boxes", "spread", "matches", "tradeoff", "weights", "suites", "noise", "items")
RUNS = {
    "leaderboard": ("texts", "pair", "objects", "classes", "numbers", "masks", "judged",
        *(("texts", {"form": name}) for name in CHARTS)),
    "thresholds": ("texts", ),
    "compare": ("texts", "pair", "objects", "classes", ("texts", {"kind": "worse", "case": "t0"})),
    "problems": ("texts", "objects", "judged"), "slices": ("texts", "classes"), "trend": ("texts", ),
    "compliance": ("texts", ), "report": ("texts", "objects"), "cases": ("texts", "objects", "classes", "judged"),
    "case": (*((kind, {"case": case}) for kind, case in (("texts", "t0"), ("judged", "gate"), ("agents", "t1"),
        ("objects", "p0"), ("masks", "p0"), ("classes", "c1"))), ),
    "curves": ("objects", "classes", "numbers"), "gallery": ("objects", ), "judge_agreement": ("labelled", "judged"),
    "label": (("labelled", {"rater": "new"}), ("judged", {"rater": "new"})),
    "arena": (("compared", {"rater": "new"}), ),
}  # fmt: skip
GIVEN = {  # page: the run that files are given for, the parameter that names them, and their text
    "judge_agreement": ("labelled", "labels", "case_id,model,rater,label\nc0,long,cy,pass\n"),
    "arena": ("compared", "preferences", "case_id,model_a,model_b,preferred,rater\nc2,amber,birch,amber,cy\n"),
}
SUITES = {
    "text": ("case_id,question,expected_answer\n1,Capital of Peru?,Lima\n2,What is 6 x 7?,42\n",
        ("case_id,answer", "id,response", "query_id,output"), "1,Lima{0}\n2,42\n"),
    "classification": ("case_id,label\n1,joy\n2,anger\n",
        ("case_id,label,score", "id,predicted_label,score", "id,predicted_class,confidence"),
        "1,joy,0.8{0}\n2,joy,0.6\n"),
    "regression": ("case_id,true_value\n1,412.5\n2,377\n", ("case_id,predicted_value", "id,prediction", "id,y_pred"),
        "1,41{0}\n2,380\n"),
    "detection": ("image,label,x,y,w,h\na.jpg,cat,10,20,64,48\nb.jpg,dog,10,20,64,48\n",
        ("image,label,score,x,y,w,h", "file_name,class,confidence,x,y,w,h", "image,category,conf,x,y,width,height"),
        "a.jpg,cat,0.9{0},11,19,60,50\nb.jpg,dog,0.8,11,19,60,50\n"),
}  # fmt: skip


@pytest.fixture(scope="module")
def crowd(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Run]]:
    folder = tmp_path_factory.mktemp("crowd")
    return folder, scenes.crowded_workspace(folder)


@pytest.fixture
def runs(crowd: tuple[Path, dict[str, Run]], monkeypatch: pytest.MonkeyPatch) -> dict[str, Run]:
    """The runs of the crowded workspace, which the pages look at and no test changes."""
    monkeypatch.setenv("ASSAY_WORKSPACE", str(crowd[0]))
    monkeypatch.setattr("components.data.workspace_runs.waits_for_sample", lambda: False)
    return crowd[1]


def texts(page: AppTest) -> str:
    assert not page.exception
    return "\n".join(each.value for kind in (page.text, page.subheader) for each in kind)


def states(page: str, runs: dict[str, Run], folder: Path) -> list[dict[str, Any]]:
    """The addresses with which a page is opened."""
    found = [(each, {}) if isinstance(each, str) else each for each in RUNS.get(page, ())]
    if page in GIVEN:
        kind, name, text = GIVEN[page]
        found.append(
            (kind, {"view": "files", name: [scenes.upload(folder, f"{each}.csv", text) for each in scenes.NAMES]})
        )
    if page == "suites":
        suite = next(each for each in runs["pair"].workspace.suites() if each["name"] == "desk")["fingerprint"]
        token = scenes.draft_of(folder, suite)
        return [{"suite": suite}, {"suite": suite, "draft": token}, {"view": "questions"}]
    more = {
        "evaluators": [{}, {"evaluator": "rouge"}], "monitor": [{"monitor": name} for name in scenes.NAMES[:2]],
        "evaluate": [{"from": "stored"}, {"from": "run"}],
    }  # fmt: skip
    return [{"run": runs[kind].id, **given} for kind, given in found] or more.get(page, [{}])


@pytest.mark.parametrize("name", url.PAGES)
def test_each_page_draws_several_of_everything(name: str, runs: dict[str, Run], crowd: Any, open_page: Open) -> None:
    """Each view of it as well; and each address with everything that it names twice."""
    for place, state in enumerate(states(name, runs, crowd[0])):
        with scenes.asked_views(controls.choice) as asked:
            page = open_page(name, **state)
            assert not page.exception, (state, page.exception)
            named = {key: page.query_params[key] for key in page.query_params}
            others = [(view, value) for view, values in asked for value in values[1:]]
        for view, value in dict.fromkeys(others if place == 0 else ()):
            shown = open_page(name, **state | {view: value})
            assert not shown.exception, (state, view, value, shown.exception)
        if place == 0:
            twice = {key: [*_each(value), *_each(value)] for key, value in named.items()}
            again = open_page(name, **twice)
            assert not again.exception, (twice, again.exception)


def _each(value: Any) -> list[str]:
    return value if isinstance(value, list) else [value]


@pytest.mark.parametrize(("task", "kind", "count"), [
    *((task, "columns alike", 2) for task in SUITES), *((task, "columns differ", 3) for task in SUITES),
    ("text", "names alike", 3), ("text", "contents alike", 3),
])  # fmt: skip
def test_files_of_outputs(task: str, kind: str, count: int, workspace: Path, open_page: Open) -> None:
    suite, heads, rows = SUITES[task]
    tokens = [
        scenes.upload(
            workspace, "answers.csv" if kind == "names alike" else f"{name}.csv",
            f"{heads[place if kind == 'columns differ' else 0]}\n"
            + rows.format("" if kind == "contents alike" else place),
        )
        for place, name in enumerate(scenes.NAMES[:count])
    ]  # fmt: skip
    page = open_page("evaluate", suite=scenes.upload(workspace, "suite.csv", suite), outputs=tokens)
    names = ["answers", "answers 2", "answers 3"] if kind == "names alike" else scenes.NAMES
    assert f"{count} models: {', '.join(names[:count])}" in texts(page)
    assert any(button.label == "Start" and not button.disabled for button in page.button)


CONTEXT = "id,actual_output,context\n1,{0},\"['c']\"\n2,so,\"['c']\"\n"


def open_asked(workspace: Path, open_page: Open, *files: str) -> tuple[AppTest, list[str]]:
    """The page with a suite and files of outputs, and the files' tokens."""
    tokens = [scenes.upload(workspace, f"{name}.csv", text) for name, text in zip(scenes.NAMES, files, strict=False)]
    suite = scenes.upload(workspace, "suite.csv", "id,input,expected_output\n1,q,a\n2,r,b\n")
    return open_page("evaluate", suite=suite, outputs=tokens), tokens


def questions(page: AppTest) -> list[Any]:
    assert not page.exception
    return [group for group in page.segmented_control if group.label == "Meaning"]


def test_a_question_about_columns_alike_is_asked_once_and_answered_for_all(workspace: Path, open_page: Open) -> None:
    alike = [CONTEXT.format(name) for name in scenes.NAMES]
    page, tokens = open_asked(workspace, open_page, *alike[:2])
    [asked] = questions(page)
    assert "Column “context” here and in two.csv:" in texts(page)
    asked.set_value("retrieved_contexts").run()
    assert page.query_params["omap"] == [f"{token}.retrieved_contexts=context" for token in tokens]
    assert not questions(page)
    assert "2 models: one, two" in texts(page)
    later = scenes.upload(workspace, "three.csv", alike[2])
    again = open_page("evaluate", **dict(page.query_params.items()) | {"outputs": [*tokens, later]})
    assert not questions(again), "a file that comes later has been answered for"
    assert "3 models: one, two, three" in texts(again)


def test_files_whose_columns_differ_are_asked_about_one_by_one(workspace: Path, open_page: Open) -> None:
    other = CONTEXT.format("x").replace("id,", "case_id,")
    page, tokens = open_asked(workspace, open_page, CONTEXT.format("y"), other)
    assert len(questions(page)) == 2
    questions(page)[1].set_value("retrieved_contexts").run()
    assert page.query_params["omap"] == f"{tokens[1]}.retrieved_contexts=context"
    assert len(questions(page)) == 1


def test_a_correction_is_of_its_file_alone(workspace: Path, open_page: Open) -> None:
    files = [f"id,first,second\n1,{name},other\n2,so,thus\n" for name in scenes.NAMES]
    page, tokens = open_asked(workspace, open_page, *files)
    for token, column in zip(tokens, ("first", "second", "first"), strict=True):
        page.selectbox(key=f"map-omap-{token}-answer").select(column).run()
    assert page.query_params["omap"] == [
        f"{token}.answer={column}" for token, column in zip(tokens, ("first", "second", "first"), strict=True)
    ]
    assert "3 models: one, two, three" in texts(page)
    page.text_input(key=f"called-{tokens[1]}").input("renamed").run()
    address = dict(page.query_params.items())
    left = address | {"file": [token for token in address["file"] if token != tokens[0]]}
    assert "2 models: renamed, three" in texts(open_page("evaluate", **left)), "names stay with their files"


def test_an_address_of_before_is_about_every_file(workspace: Path, open_page: Open) -> None:
    files = [f"id,first,second\n1,{name},other\n2,so,thus\n" for name in scenes.NAMES[:2]]
    page, _ = open_asked(workspace, open_page, *files)
    again = open_page("evaluate", **dict(page.query_params.items()) | {"omap": "answer=first"})
    assert "2 models: one, two" in texts(again)


@pytest.mark.usefixtures("units_here")
def test_the_command_and_python_take_columns_by_file(workspace: Path, tmp_path: Path) -> None:
    for name, column in zip(scenes.NAMES, ("first", "second", "response"), strict=True):
        (tmp_path / f"{name}.csv").write_text(f"id,{column}\n1,{name}\n2,so\n")
    (tmp_path / "suite.csv").write_text("id,question,reference\n1,q,a\n2,r,b\n")
    files = [tmp_path / f"{name}.csv" for name in scenes.NAMES]
    own = {files[0]: {"answer": "first"}, files[1]: {"answer": "second"}}
    outputs = read_outputs(files, suite=read_suite(tmp_path / "suite.csv"), mappings=own)  # type: ignore[arg-type]
    given = ["--map", f"{files[0]}=answer=first", "--map", "two.csv=answer=second"]
    command = ["evaluate", str(tmp_path / "suite.csv"), *map(str, files), *given, "--evaluators", "rouge", "--quiet"]
    assert main(command) == 0
    for found in (outputs, Workspace().run("latest").outputs):
        assert found.models == scenes.NAMES
        assert found.outputs["answer"].to_pylist()[::2] == list(scenes.NAMES)
