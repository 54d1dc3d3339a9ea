"""What several files are, whatever order they come in, and the numbers that come of them at every door."""

import itertools
import json
import random
import zipfile
from pathlib import Path

import pytest

from metrics.core.errors import InputError
from metrics.engine.evaluation import EvaluationInCode
from metrics.ingest import load_joined
from metrics.ingest.file_roles import Roles, assign_roles, describe, see_file
from metrics.library.input_data import Data, read_data
from tests.ingest.files import packed
from tests.ingest.test_hostile_images import saved

SUITE = "id,question,ground_truth,contexts,topic\n1,Who?,you,\"['a b']\",x\n2,When?,now,\"['c']\",y\n"
ANSWERS = "id,answer\n1,you\n2,then\n"
NOTEBOOK = "question,ground_truth,contexts,answer\nWho?,you,\"['a b']\",{}\nWhen?,now,\"['c']\",now\n"
TRUTH = {
    "images": [{"id": 1, "file_name": "a.jpg", "width": 9, "height": 9}],
    "categories": [{"id": 1, "name": "cat"}],
    "annotations": [{"id": 1, "image_id": 1, "category_id": 1, "bbox": [1, 2, 3, 4], "area": 12, "iscrowd": 0}],
}
BOXES = [{"image_id": 1, "category_id": 1, "bbox": [1, 2, 3, 4], "score": 0.9}]
FOUND = {  # the files → which is the suite, and the models of the outputs; "": not ready
    "a file of answers for each model": (
        {"suite.csv": SUITE, "out_b.csv": ANSWERS, "out_a.csv": ANSWERS}, "suite.csv", "a b",
    ),
    "notebooks, without ids": ({"m 1.csv": NOTEBOOK.format("I"), "m 2.csv": NOTEBOOK.format("you")}, "both", "m 1,m 2"),
    "one of all models": (
        {"all.csv": "id,model,question,expected,answer\n1,a,Who?,you,I\n1,b,Who?,you,you\n"}, "both", "a b",
    ),
    "a column for each model": ({"w.csv": "question,expected,topic,gpt-4o,llama-3\nWho?,you,x,I,you\n"}, "both",
                                "gpt-4o llama-3"),
    "a suite alone": ({"suite.csv": SUITE}, "suite.csv", ""),
    "classes": ({"labels.csv": "id,label\n1,cat\n2,dog\n", "small.csv": "id,label\n1,cat\n2,cat\n"}, "labels.csv",
                "small"),
    "scores of classes": ({"y.csv": "id,label\n1,cat\n2,dog\n", "m.csv": "id,cat,dog\n1,.9,.1\n2,.2,.8\n"}, "y.csv",
                          "m"),
    "detectors": ({"gt.json": TRUTH, "m.json": BOXES, "predictions_n.json": BOXES}, "gt.json", "m n"),
    "truths and predicted numbers in the same rows": (
        {"ridge.csv": "y_true,y_pred\n1.5,1\n3,4\n", "tree.csv": "y_true,y_pred\n1.5,2\n3,1\n"}, "both", "ridge tree",
    ),
    "truths and predicted classes in the same rows": (
        {"a.csv": "y_true,y_pred\ncat,cat\ndog,cat\n", "b.csv": "y_true,y_pred\ncat,dog\ndog,dog\n"}, "both", "a b",
    ),
    "questions with answers as gold": (
        {"gold.csv": "question,answer\nWho?,you\n", "m.csv": "question,answer\nWho?,I\n"}, "gold.csv", "m",
    ),
}  # fmt: skip


def written(folder: Path, files: dict[str, object]) -> list[Path]:
    for name, content in files.items():
        (folder / name).write_text(content if isinstance(content, str) else json.dumps(content))
    return [folder / name for name in files]


def roles_of(paths: list[Path], stored: bool = False) -> Roles:
    return assign_roles({str(path): see_file(path) for path in paths}, stored=stored)


def read(paths: list[Path], **more: object) -> Data:
    first, *others = map(str, paths)
    return read_data(EvaluationInCode.model_validate({"suite": first, "outputs": others, **more}))


@pytest.mark.parametrize(("files", "suite", "models"), FOUND.values(), ids=FOUND.keys())
def test_files_have_their_roles_in_any_order(tmp_path, files, suite, models):
    paths = written(tmp_path, files)
    for order in itertools.permutations(paths):
        roles = roles_of(list(order))
        named = Path(roles.suite).name
        assert (named if roles.suite not in roles.outputs else "both") == suite
        assert len(roles.outputs) == (0 if not models else len(paths) if suite == "both" else len(paths) - 1)
        if not models:
            with pytest.raises(InputError, match="no column with the model's answers"):
                read(list(order))
        elif named != "gold.csv":  # where only a person knows what its answers are, it is asked
            assert sorted(read(list(order)).outputs.models) == models.replace(",", "\n").split(
                "\n" if "," in models else " "
            )


def test_contexts_of_the_suite_serve_every_model(tmp_path):
    paths = written(tmp_path, {"out_a.csv": ANSWERS, "suite.csv": SUITE})
    assert describe(see_file(paths[1]), "suite") == "2 questions, expected answers, contexts (used for every model)"
    rows = read(paths).outputs.outputs.to_pylist()
    assert [row["retrieved_contexts"] for row in rows] == [["a b"], ["c"]]


def test_files_that_differ_in_columns_rows_and_order_are_joined(tmp_path):
    """By the question: names of columns, the order of rows and questions that only one has make no difference."""
    other = "prompt,reference,answer\nWhen?,now,soon\nWhere?,here,there\nWho?,you,me\n"
    data = read(written(tmp_path, {"b.csv": other, "a.csv": NOTEBOOK.format("I")}))
    asked = dict(zip(*(data.suite.cases[name].to_pylist() for name in ("case_id", "question")), strict=True))
    said = {(row["model"], asked[row["case_id"]]): row["answer"] for row in data.outputs.outputs.to_pylist()}
    assert said == {
        ("a", "Who?"): "I", ("a", "When?"): "now", ("b", "When?"): "soon", ("b", "Where?"): "there", ("b", "Who?"): "me"
    }  # fmt: skip
    assert data.missing == 1


def test_questions_of_several_cases_say_no_case(tmp_path):
    ids = "id,question,expected,answer\nq7,Who?,you,me\nq8,Who?,us,now\n"
    with pytest.raises(InputError, match="1 questions of several cases, such as 'Who\\?'; expected a column with case"):
        load_joined(written(tmp_path, {"a.csv": ids, "b.csv": NOTEBOOK.format("I")}))


def test_ids_of_one_file_are_those_of_the_others(tmp_path):
    with_ids = "id,question,expected,answer\nq7,Who?,you,me\nq8,When?,now,now\n"
    data = read(written(tmp_path, {"a.csv": with_ids, "b.csv": NOTEBOOK.format("I")}))
    assert set(data.outputs.outputs["case_id"].to_pylist()) == {"q7", "q8"}


def test_a_zip_is_images_or_what_agents_made(tmp_path):
    chat = [{"role": "user", "content": "Plot"}, {"role": "assistant", "content": "Done."}]
    paths = written(tmp_path, {
        "tasks.jsonl": json.dumps({"case_id": "a", "question": "Plot"}),
        "agent.jsonl": json.dumps({"case_id": "a", "model": "m", "messages": chat}), "gt.json": TRUTH, "m.json": BOXES,
    })  # fmt: skip
    for name, inner in (("made.zip", "a/plot.json"), ("photos.zip", "a.jpg")):
        with zipfile.ZipFile(tmp_path / name, "w") as archive:
            archive.writestr(inner, "{}")
    assert Path(roles_of([*paths[:2], tmp_path / "made.zip"]).files).name == "made.zip"
    assert Path(roles_of([tmp_path / "photos.zip", *paths[2:]]).images).name == "photos.zip"


def test_grey_pictures_that_a_table_names_are_no_masks(tmp_path):
    truth, answers = "filename,label\na.png,cat\nb.png,dog\n", "id,label\na.png,cat\nb.png,cat\n"
    labels = written(tmp_path, {"labels.csv": truth, "m.csv": answers})
    others = written(tmp_path, {"other.csv": "filename,label\nx.png,cat\n"})
    for name, folder in (("grey.zip", ""), ("gt.zip", "masks/")):
        packed(tmp_path / name, {f"{folder}{each}.png": saved("PNG") for each in "ab"})
    for order in itertools.permutations([*labels, tmp_path / "grey.zip"]):
        roles = roles_of(list(order))
        found = [Path(file).name for file in (roles.suite, *roles.outputs, roles.images)]
        assert found == ["labels.csv", "m.csv", "grey.zip"]
    assert not roles_of([*others, tmp_path / "grey.zip"]).images
    assert not roles_of([*labels, tmp_path / "gt.zip"]).images


def test_a_persons_word_goes_first(tmp_path):
    paths = written(tmp_path, {"a.csv": NOTEBOOK.format("I"), "b.csv": NOTEBOOK.format("you")})
    data = read(paths, read=["b.csv=role=suite"])
    assert (data.suite.name, data.outputs.models) == ("b", ("a",))


def test_the_answers_of_a_stored_suite(tmp_path):
    paths = written(tmp_path, {"a.csv": NOTEBOOK.format("I"), "b.csv": ANSWERS})
    assert roles_of(paths, stored=True) == Roles("", tuple(map(str, paths)))


@pytest.mark.parametrize("seed", range(20))
def test_a_table_of_all_models_is_the_same_in_parts(tmp_path, seed):
    """Random tables: one with a model column, wide, suite and outputs, a file for each model; each in random order."""
    chance = random.Random(seed)
    models, cases = ["gpt-4o", "llama-3-8b", "qwen2"][: chance.randint(2, 3)], chance.randint(2, 9)
    said = {(model, case): chance.choice(["yes", "no", "perhaps so"]) for model in models for case in range(cases)}
    ask = [(f"q{case}", f"Question {case}?", chance.choice(["yes", "no"])) for case in range(cases)]
    forms: list[dict[str, object]] = [
        {"all.csv": "id,model,question,expected,answer\n" + "".join(
            f"{id},{model},{text},{want},{said[model, case]}\n" for case, (id, text, want) in enumerate(ask)
            for model in models)},
        {"wide.csv": f"id,question,expected,{','.join(models)}\n" + "".join(
            f"{id},{text},{want},{','.join(said[model, case] for model in models)}\n"
            for case, (id, text, want) in enumerate(ask))},
        {"suite.csv": "id,question,expected\n" + "".join(",".join(row) + "\n" for row in ask)} | {
            f"out_{model}.csv": "id,answer\n" + "".join(f"q{c},{said[model, c]}\n" for c in range(cases))
            for model in models},
        {f"{model}.csv": "question,expected,answer\n" + "".join(
            f"{text},{want},{said[model, case]}\n" for case, (_, text, want) in enumerate(ask)) for model in models},
    ]  # fmt: skip
    found = []
    for number, files in enumerate(forms):
        folder = tmp_path / str(number)
        folder.mkdir()
        paths = written(folder, files)
        chance.shuffle(paths)
        data = read(paths)
        asked = {row["case_id"]: (row["question"], *row["expected_answers"]) for row in data.suite.cases.to_pylist()}
        rows = data.outputs.outputs.to_pylist()
        found.append({(row["model"], *asked[row["case_id"]]): row["answer"] for row in rows})
    assert all(each == found[0] for each in found)
    assert len(found[0]) == len(models) * cases
