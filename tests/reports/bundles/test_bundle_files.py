"""The files of a bundle: complete, the same for the same run, bounded, without keys."""

import io
import json
import zipfile
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from metrics import analysis
from metrics.analysis.objects.object_filter import ObjectFilter
from metrics.core.errors import InputError
from metrics.core.evidence import Evidence, Verdict
from metrics.core.suite import Outputs, Suite
from metrics.presentation.viewers import panoptic_panels
from metrics.reports.bundles import board_data as choice, bundle_files
from metrics.reports.bundles.bundle_files import VIEWERS, bundle_zip, page_files, write_bundle
from metrics.reports.bundles.case_data import case_data
from metrics.store import Run, Workspace
from tests.engine.engine_scenes import finished, text_outputs, text_suite
from tests.evaluators.test_keypoints import suite_and_outputs
from tests.pages.page_scenes import judged_run, masks_run, objects_run, panoptic_run
from tests.reports.bundles.bundle_scenes import HOSTILE, KEY, data_of, hostile_run, keys_run
from tests.vision.keypoint_oracle import random_poses


def files_of(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return finished(Workspace(tmp_path_factory.mktemp("texts")), text_suite(), text_outputs(), "rouge", "bleu")


@pytest.fixture(scope="module")
def objects(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return objects_run(tmp_path_factory.mktemp("objects"))


def test_the_same_run_gives_the_same_bytes_as_folder_and_zip(texts: Run, tmp_path: Path) -> None:
    written = write_bundle(texts, tmp_path / "a")
    (tmp_path / "b").mkdir()  # an empty folder is as good as a new one
    write_bundle(texts, tmp_path / "b")
    files = files_of(tmp_path / "a")
    assert files == files_of(tmp_path / "b")
    assert (written.files, written.size, written.left_out) == (len(files), sum(map(len, files.values())), "")
    first, second = bundle_zip(texts), bundle_zip(texts)
    assert first == second
    with zipfile.ZipFile(io.BytesIO(first)) as archive:
        assert {name: archive.read(name) for name in archive.namelist()} == files
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b"]


def test_every_two_answers_are_compared_word_by_word(texts: Run) -> None:
    case = case_data(analysis.example(texts, "c3"))
    [twins] = case["twins"]
    assert (twins["outputs"], twins["sentence"][:11]) == ([0, 1], "Struck out:")
    left = []
    for place, lengths in zip(twins["outputs"], twins["lengths"], strict=True):
        answer, ends = case["outputs"][place]["answer"], [0, *np.cumsum(lengths)]
        turns = [answer[start:end] for start, end in pairwise(ends)]
        assert "".join(turns) == answer
        left.append("".join(turns[::2]).split())
    assert left[0] == left[1] != [], "without what only one has both are the same"


def test_the_lists_are_those_of_the_studio(texts: Run, tmp_path: Path) -> None:
    write_bundle(texts, tmp_path / "bundle")
    board, run = analysis.leaderboard(texts), data_of(tmp_path / "bundle", "run")
    ids = [case_id for case_id, *_ in run["cases"]]
    for place, model in enumerate(run["models"]):
        lists = data_of(tmp_path / "bundle", f"lists/0-{place}")
        for column in (column for column in board.columns if column.evaluator == "rouge"):
            number = lists["numbers"][column.key]
            listed = [ids[row[0]] for row in lists["lists"][number["list"]]]
            assert listed == list(analysis.case_ids(texts, "rouge", column.metric, model=model))
            assert number["total"] == len(listed)
    shown = [column.key for column in board.columns if not column.minor]
    assert [board.columns[place].key for place in run["board"]["shown"]] == shown


def test_each_case_is_where_the_index_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("metrics.reports.bundles.bundle_files.CHUNK", 2_000)
    write_bundle(finished(Workspace(tmp_path), text_suite(9), text_outputs(9), "rouge"), tmp_path / "bundle")
    index = data_of(tmp_path / "bundle", "run")["cases"]
    assert len({chunk for *_, chunk in index}) > 1
    for place, (case_id, _, _, chunk) in enumerate(index):
        found = data_of(tmp_path / "bundle", f"cases/{chunk}")
        assert found["cases"][place - found["first"]]["id"] == case_id


def test_the_worst_of_each_number_and_what_is_left_out(texts, tmp_path, monkeypatch) -> None:
    written = write_bundle(texts, tmp_path / "one", cases=1)
    run = data_of(tmp_path / "one", "run")
    worst = {
        analysis.case_ids(texts, column.evaluator, column.metric, model=model)[0]
        for column in analysis.leaderboard(texts).columns
        for model in texts.models
    }
    assert {case_id for case_id, *_ in run["cases"]} == worst
    assert (
        run["leftOut"]
        == written.left_out
        == (
            f"{len(worst)} case{'s' * (len(worst) > 1)} of 6: at most 1 of each number, the worst, and 2,000 in all. "
            "The numbers are those of all cases."
        )
    )
    monkeypatch.setattr(choice, "MOST_CASES", 2)
    found = choice.shown_cases(texts, analysis.leaderboard(texts), 100)
    assert len(found.ids) == 2
    assert all(set(one.rows["case_id"]) <= set(found.ids) and one.total == 6 for one in found.lists.values())


def test_problems_are_told_at_once_and_nothing_is_overwritten(texts: Run, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(InputError) as failure:
        write_bundle(texts, tmp_path, cases=0)
    assert str(failure.value).splitlines() == [
        "cases of a bundle: found 0; expected 1 or more for each number",
        f"{tmp_path}: found a folder with files; expected a new or an empty folder",
    ]
    assert files_of(tmp_path) == {"mine.txt": b"mine"}


@pytest.mark.parametrize("there", [False, True], ids=["new", "empty"])
def test_two_bundles_into_one_folder_at_once(texts: Run, tmp_path: Path, monkeypatch, there: bool) -> None:
    folder, files = tmp_path / "pages", bundle_files._files
    if there:
        folder.mkdir()

    def _files(*given, **named):
        monkeypatch.undo()  # the other one begins and ends while this one is written
        yield from files(*given, **named)
        write_bundle(texts, folder, cases=1)

    monkeypatch.setattr(bundle_files, "_files", _files)
    with pytest.raises(InputError, match="found files that were not there before; expected a new or an empty folder"):
        write_bundle(texts, folder)
    write_bundle(texts, tmp_path / "other", cases=1)
    assert files_of(folder) == files_of(tmp_path / "other"), "the first that was whole"
    assert {path.name for path in tmp_path.iterdir()} == {"pages", "other"}


def test_keys_are_left_out_everywhere(tmp_path: Path) -> None:
    write_bundle(keys_run(tmp_path), tmp_path / "bundle")
    every = b"".join(files_of(tmp_path / "bundle").values()).decode()
    assert KEY[:14] not in every
    assert "My key is [key], is that right?" in every


def test_hostile_texts_stay_texts_of_the_data(tmp_path: Path) -> None:
    write_bundle(hostile_run(tmp_path), tmp_path / "bundle")
    page = (tmp_path / "bundle" / "index.html").read_text()
    assert "<img" not in page
    assert "taken'</script>" not in page
    case = data_of(tmp_path / "bundle", "cases/0")["cases"][0]
    assert case["outputs"][0]["answer"] == case["outputs"][0]["contexts"][0][1] == HOSTILE


@pytest.mark.parametrize("media", [True, False])
def test_pictures_are_files_beside_their_outlines(objects: Run, tmp_path: Path, media: bool) -> None:
    write_bundle(objects, tmp_path / "bundle", media=media)
    case = data_of(tmp_path / "bundle", "cases/0")["cases"][1]
    drawing = case["image"]["drawing"]
    assert (drawing["width"], drawing["height"]) == (120, 90)
    panels = {panel["title"]: panel["counts"] for panel in case["image"]["views"][0]["panels"]}
    assert panels["shy · score ≥ 0.00"] == "✓ 1 found · ✗ 0 false · – 1 missed"
    if media:
        assert (tmp_path / "bundle" / drawing["image"]).read_bytes()[:3] == b"\xff\xd8\xff"
    else:
        assert drawing["image"] is None
        assert not (tmp_path / "bundle" / "images").exists()


def test_areas_are_shown_as_mistakes_and_as_classes(tmp_path: Path) -> None:
    write_bundle(masks_run(tmp_path), tmp_path / "bundle")
    views = data_of(tmp_path / "bundle", "cases/0")["cases"][0]["image"]["views"]
    assert [(view["title"], len(view["first"])) for view in views] == [("Mistakes", 0), ("Classes", 1)]


def test_segments_are_shown_with_what_became_of_them(tmp_path: Path) -> None:
    run = panoptic_run(tmp_path, seed=3, pictures=2)
    write_bundle(run, tmp_path / "bundle")
    case = data_of(tmp_path / "bundle", "cases/0")["cases"][0]
    view = case["image"]["views"][0]
    assert (view["title"], view["evaluators"]) == ("Segments", ["panoptic_quality"])
    found = analysis.segment_outcomes(run, case["id"], "m")
    assert view["panels"][0]["counts"] == panoptic_panels.model_panel("m", *found)["counts"]
    panels = [panel for each in case["image"]["views"] for panel in (*each["first"], *each["panels"])]
    kinds = {kind for panel in panels for kind in panel["objects"]}
    assert "class background" in kinds, "of no class of the suite, but drawn"
    assert kinds <= case["image"]["drawing"]["styles"].keys()


def test_objects_are_matched_by_the_rules_of_the_evaluator(tmp_path: Path) -> None:
    suite, outputs = suite_and_outputs(random_poses(np.random.default_rng(3), images=12))
    run = finished(Workspace(tmp_path), suite, outputs, "keypoint_summary")
    write_bundle(run, tmp_path / "bundle")
    point = analysis.operating_point(run, "m")
    views = [case["image"]["views"] for case in data_of(tmp_path / "bundle", "cases/0")["cases"]]
    assert {view["title"] for each in views for view in each} == {"OKS ≥ 0.50"}
    assert {view["evaluators"][0] for each in views for view in each} == {"keypoint_summary"}
    found = [view["panels"][0]["counts"].split(" ")[1::4] for (view,) in views]
    chosen = ObjectFilter(model="m", iou=point.iou, score_low=point.score)
    counted = analysis.object_counts(run, "keypoint_summary", chosen)["kind"]
    families = [sum(n for kind, n in counted.items() if kind.startswith(family)) for family in ("tp", "fp", "fn")]
    assert [sum(map(int, column)) for column in zip(*found, strict=True)] == families
    assert min(families) > 0


def test_a_conversation_is_a_chat_with_its_verdicts(tmp_path: Path) -> None:
    trace = json.dumps([{"role": role, "text": text} for role, text in (("user", HOSTILE), ("assistant", "Yes."))])
    suite = Suite.from_rows("talk", "text", [{"case_id": "c", "expected_answers": ["Yes."]}])
    outputs = Outputs.from_rows([{"case_id": "c", "model": "m", "answer": "Yes.", "trace": trace}])
    view = analysis.example(finished(Workspace(tmp_path), suite, outputs, "text_matching"), "c")
    assert "chat" not in case_data(view)["outputs"][0], "a question and its answer are shown already"
    judged = Evidence({"replies": [Verdict("turn 2", "no", "off topic", "Why.", (("turns", 2),))]})
    view = replace(view, scores=view.scores.assign(evidence=[judged] * len(view.scores)))
    chat = case_data(view)["outputs"][0]["chat"]
    assert (chat["summary"], chat["judged"], chat["turns"][0]["text"]) == ("2 turns · ✗ 1", True, HOSTILE)
    assert [one["label"] for one in chat["turns"][1]["verdicts"]] == ["off topic"]


def test_a_case_has_its_claims_and_what_they_rest_on(tmp_path: Path) -> None:
    write_bundle(judged_run(tmp_path), tmp_path / "bundle")
    cases = data_of(tmp_path / "bundle", "cases/0")["cases"]
    gate = next(case for case in cases if case["id"] == "gate")
    place = [output["name"] for output in gate["outputs"]].index("small")
    evidence = next(one for one in gate["evidence"] if one["evaluator"] == "faithfulness" and one["output"] == place)
    claims = evidence["verdicts"]["groups"][0]["rows"]
    assert ([claim["glyph"] for claim in claims], claims[0]["restsOn"]) == (["✓", "✗"], [["contexts", 2]])
    assert [mark for _, mark, _ in evidence["answer"] if mark]


def test_every_viewer_becomes_a_script_without_modules() -> None:
    files = dict(page_files("A run"))
    script = files["assets/viewers.js"].decode()
    assert "export " not in script
    assert "import " not in script
    for name in VIEWERS:
        assert f"viewers.{name} = " in script
        assert f'<template id="viewer-{name}">' in files["index.html"].decode()


def test_no_script_of_a_bundle_parses_markup_or_asks_the_network() -> None:
    script = b"".join(content for name, content in page_files("A run") if name.endswith(".js")).decode()
    for name in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "fetch(", "XMLHttpRequest"):
        assert name not in script
