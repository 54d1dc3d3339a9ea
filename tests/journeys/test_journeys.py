"""Walks from an empty workspace: files uploaded through the page, a run, its numbers, a file exported and opened."""

import io
import re
import zipfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import numpy as np
import pytest
from playwright.sync_api import expect

from tests.ingest.test_mask_images import mask
from tests.journeys import brought_files as files, brought_pictures as pictures
from tests.journeys.studio_walk import DROP, StudioWalk, open_csv, open_json, open_parquet, open_pdf
from tests.judge.server import JudgeServer

pytestmark = pytest.mark.browser
HEADS = {  # of the board's columns, those first that stand alone
    "rouge.rougeL": "ROUGE-L", "exact_match.exact_match": "Exact match", "corpus_bleu.corpus_bleu": "Corpus BLEU",
    "chrf.chrf": "chrF", "classification.accuracy": "Accuracy", "classification.f1": "F1 macro",
    "roc_auc.roc_auc": "ROC AUC", "multilabel.f1": "F1 macro", "multilabel.hamming_loss": "Hamming loss",
    "regression.mae": "MAE", "regression.rmse": "RMSE", "regression.r2": "R²", "coco_summary.AP": "AP",
    "coco_summary.AP50": "AP50", "segmentation_iou.miou": "mIoU", "segmentation_iou.pixel_accuracy": "Pixel accuracy",
    "tool_calls.accuracy": "Accuracy", "turn_relevance.turn_relevance": "Turn relevance",
    "faithfulness.faithfulness": "Faithfulness", "ranking.ndcg_at_10": "nDCG@10",
}  # fmt: skip
Files = Callable[[Path, Path], files.Brought]
Step = Callable[[StudioWalk], None]


class Journey(NamedTuple):
    """What is brought and done.

    files: what is uploaded, and the numbers that must come out; export: the button of the report that is pressed.
    evaluators: those that the address chooses, as the page Evaluators does; ticks: those that are ticked; without
    either, what the page proposes. answer: what the page asks before the start; then: what is looked at beside the
    board; judge: says what the judge replies; shared: the files are those of ../shared.
    """

    name: str
    files: Files
    export: str
    evaluators: tuple[str, ...] = ()
    ticks: tuple[str, ...] = ()
    answer: Step | None = None
    then: Step | None = None
    judge: Callable[[JudgeServer], None] | None = None
    shared: bool = False
    dark: bool = False


def detectors(*names: str, of: str = "") -> Files:
    return partial(pictures.detectors, names=names, of=of)


def press(button: str) -> Step:
    return lambda walk: walk.press(button)


def see_ranks_by_ap(walk: StudioWalk) -> None:
    """See the board by AP: the detector that shifts its boxes is last, though it finds nearly as many at IoU .5."""
    expect(walk.page.locator("thead th[aria-sort=descending]")).to_have_text(re.compile(r"^AP\W*$"))
    assert list(walk.board()) == ["rtdetr_l", "rtdetr_lowrecall", "rtdetr_shifted"]


def see_pictures(walk: StudioWalk) -> None:
    """Open the gallery of objects: photographs with their boxes."""
    walk.press("See the objects")
    expect(walk.page.get_by_role("heading", name="Gallery")).to_be_visible()
    walk.keep_picture("gallery")
    walk.page.go_back()
    walk.sees("Export a report")


def compare_classifiers(walk: StudioWalk) -> None:
    """Compare the two models, and go back."""
    board = walk.page.url
    walk.press("Is it really better?")
    expect(walk.page.get_by_role("heading", name="Compare")).to_be_visible()
    walk.sees(re.compile(r"Holm"))
    walk.keep_picture("compare")
    walk.page.goto(board)
    walk.sees("Export a report")


def believe_what_contexts_say(judge: JudgeServer) -> None:
    def supported(request: Any) -> list[dict[str, Any]]:
        contexts, claims = (re.findall(r"^\[\d+\] (.*)$", request.data[name], re.M) for name in ("CONTEXTS", "CLAIMS"))
        found = [[place for place, text in enumerate(contexts, 1) if claim in text] for claim in claims]
        quotes = [claim if places else "" for claim, places in zip(claims, found, strict=True)]
        return [{"reason": "", "quote": q, "supported_by": places} for q, places in zip(quotes, found, strict=True)]

    judge.say("claims", lambda request: {"claims": files.sentences(request.data["TEXT"])})
    judge.say("entailment", supported)


def disbelieve_bananas(judge: JudgeServer) -> None:
    judge.say("turn_relevance", lambda request: [
        {"reason": "", "verdict": "no" if "anana" in turn else "yes"}
        for turn in re.split(r"^\[\d+\]", request.data["TURNS"], flags=re.M)[1:]
    ])  # fmt: skip


def skip_bad_rows(words: str) -> Step:
    """Return the step that reads what is wrong with some rows, and skips them."""

    def step(walk: StudioWalk) -> None:
        walk.sees("in the files")
        walk.lacks("Fix the problems, or skip the bad rows.")
        walk.tick(words)

    return step


PDF = "Download the PDF"
JOURNEYS = [
    Journey("text-three-files", files.answers_of_three, PDF, shared=True),
    Journey("text-long-table", files.one_long_table, "CSV", ticks=("ROUGE",), shared=True, dark=True),
    Journey("text-notebooks", files.answers_of_notebooks, PDF, ("exact_match",), shared=True, dark=True),
    Journey("text-column-a-model", files.a_column_a_model, "CSV", ("exact_match",), shared=True),
    Journey("text-ids-missing", files.answers_without_ids, "CSV", ("exact_match",),
        answer=skip_bad_rows("Keep the 50 good rows, skip 10"), shared=True),
    Journey("text-ids-again", files.answers_given_again, "CSV", ("exact_match",),
        answer=skip_bad_rows("Keep the 20 good rows, skip 40"), shared=True, dark=True),
    Journey("translation-two-jsonl", files.translations, "Parquet", ("corpus_bleu", "chrf"), dark=True),
    Journey("classes-two-csv", files.classes_of_two, "HTML", then=compare_classifiers, dark=True),
    Journey("classes-probabilities", files.probabilities, "JSON", ("classification", "roc_auc")),
    Journey("labels-workbooks", files.workbooks, "CSV", ("multilabel",), answer=press("true classes")),
    Journey("numbers-three-csv", files.numbers_of_three, "CSV", answer=press("true value"), dark=True),
    Journey("numbers-parquet", files.one_parquet, "JSON"),
    Journey("boxes-coco", detectors("rtdetr_l"), PDF, shared=True, dark=True),
    Journey("boxes-three-coco", detectors("rtdetr_l", "rtdetr_shifted", "rtdetr_lowrecall"), "Web page (zip)",
        ("coco_summary",),
        then=see_ranks_by_ap, shared=True),
    Journey("boxes-corners", detectors("bad_xyxy", of="rtdetr_l"), "CSV", ("coco_summary",),
        answer=press("Convert from x1 y1 x2 y2"), shared=True),
    Journey("boxes-shares", detectors("bad_norm", of="rtdetr_l"), "CSV", ("coco_summary",),
        answer=press("Scale to pixels"), shared=True, dark=True),
    Journey("boxes-of-a-trainer", detectors("predictions", of="rtdetr_l"), "CSV", ("coco_summary",),
        answer=press("Renumber the classes"), shared=True),
    Journey("boxes-yolo-zips", pictures.yolo_folders, "HTML", ("coco_summary",), then=see_pictures, shared=True),
    Journey("boxes-two-csv", pictures.tables_of_boxes, "Parquet", ("coco_summary",), shared=True, dark=True),
    Journey("masks-two-zips", pictures.masks, "Web page (zip)", ("segmentation_iou",)),
    Journey("agents-two-jsonl", files.chats_with_tools, "JSON", ("tool_calls",), dark=True),
    Journey("rankings-trec", files.rankings, "HTML", ("ranking",)),
    Journey("judged-answers", files.judged_answers, PDF, ("faithfulness",), judge=believe_what_contexts_say),
    Journey("judged-chats", files.chats, "CSV", ("turn_relevance",), judge=disbelieve_bananas, dark=True),
]  # fmt: skip


@pytest.mark.parametrize(
    ("journey", "walk"), [pytest.param(each, each.dark, id=each.name) for each in JOURNEYS], indirect=["walk"]
)
def test_files_to_number_and_export(journey, walk, judge_server, request, tmp_path):
    brought = journey.files(tmp_path, request.getfixturevalue("shared") if journey.shared else tmp_path)
    if journey.judge is not None:
        journey.judge(judge_server)
        set_up_judge(walk, judge_server)
    named = "&".join(f"evaluator={key}" for key in journey.evaluators)
    walk.open(f"evaluate?{named}")
    walk.bring(brought.suite, brought.outputs)
    if journey.answer is not None:
        walk.keep_picture("asked")
        journey.answer(walk)
    if journey.ticks:
        walk.choose_evaluators(*journey.ticks)
    walk.start()
    shown = check_board(walk.board(), brought.numbers)
    if journey.then is not None:
        journey.then(walk)
    EXPORTS[journey.export](walk.export(journey.export), brought.numbers, shown)


def test_a_suite_without_answers_is_never_ready(walk: StudioWalk, shared: Path) -> None:
    walk.open()
    walk.upload(DROP, shared / "data" / "journeys" / "text" / "suite_noids.csv")
    walk.lacks("Answers are missing", "60 questions, expected answers, contexts (used for every model)")


def test_people_prefer(walk: StudioWalk, tmp_path: Path) -> None:
    """Preferences of people, uploaded on the page Side by side: the models are ranked as by a logistic regression."""
    brought = files.answers_to_compare(tmp_path)
    walk.open("evaluate?evaluator=exact_match")
    walk.bring(brought.suite, brought.outputs)
    run = walk.start()
    walk.open(f"arena?run={run}&view=files")
    walk.upload("Preferences", tmp_path / "votes.csv")
    walk.press("Add these preferences")
    walk.press("See the ranking")
    walk.keep_picture("ranking")
    for (model, _), score in brought.numbers.items():
        expect(walk.page.locator("tr", has_text=model).filter(has_text=f"{score:.3f}").first).to_be_attached()


def test_model_asked(walk: StudioWalk, judge_server: JudgeServer, tmp_path: Path) -> None:
    """A model behind an address answers the cases: half of its answers are right."""
    capitals = {"Peru": "Lima", "Norway": "Oslo", "Cuba": "Havana", "Egypt": "Cairo"}
    suite = tmp_path / "capitals.csv"
    suite.write_text(
        "id,question,expected_answer\n"
        + "".join(f"{name},Capital of {name}?,{city}\n" for name, city in capitals.items())
    )
    judge_server.say(
        lambda _: True,
        lambda request: next((city for name, city in [*capitals.items()][:2] if name in request.text), "Rome"),
    )
    walk.open("evaluate?evaluator=exact_match")
    walk.upload(DROP, suite)
    walk.press("Ask a model")
    walk.write("Models, one per line", "parrot")
    walk.write("Server address, if it is your own", judge_server.url)
    walk.press("Ask 4 cases")
    walk.start()
    named = f"parrot at {urlsplit(judge_server.url).netloc}"
    numbers = {(named, "exact_match.exact_match"): 0.5}
    shown = check_board(walk.board(), numbers)
    check_csv(walk.export("CSV"), numbers, shown)


def set_up_judge(walk: StudioWalk, judge: JudgeServer) -> None:
    """Set up a server of one's own as the judge of the workspace."""
    walk.open("judge")
    walk.sees("No judge set up")
    walk.press("own server")
    walk.write("Base URL", judge.url)
    walk.write("Model", "scripted")
    walk.press("Save")
    walk.sees("Judge of this workspace")
    walk.keep_picture("judge")


Shown = dict[tuple[str, str], str]


def check_board(board: dict[str, dict[str, str]], numbers: files.Numbers) -> Shown:
    """Expect the numbers on the board, rounded to the digits that it shows; return what it shows of them."""
    assert set(board) == {model for model, _ in numbers}

    def cell(model: str, head: str) -> str:
        fits = (text for name, text in board[model].items() if name == head or name.endswith(f": {head}"))
        return next(fits, f"no column {head} in {[*board[model]]}")

    shown = {(model, key): cell(model, HEADS[key]) for model, key in numbers}
    rounded = {key: f"{numbers[key]:.{len(text.partition('.')[2])}f}" for key, text in shown.items()}
    assert shown == rounded
    return shown


def check_csv(content: bytes, numbers: files.Numbers, shown: Shown) -> None:
    found = open_csv(content)
    assert {key: found[key] for key in numbers} == pytest.approx(numbers, rel=1e-9)


def check_parquet(content: bytes, numbers: files.Numbers, shown: Shown) -> None:
    found = open_parquet(content)
    assert {key: found[key] for key in numbers} == pytest.approx(numbers, rel=1e-9)


def check_json(content: bytes, numbers: files.Numbers, shown: Shown) -> None:
    def leaves(tree: Any) -> list[float]:
        inner = tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list) else ()
        return [tree] if isinstance(tree, float) else [leaf for each in inner for leaf in leaves(each)]

    found = np.array(leaves(open_json(content)))
    assert [key for key, value in numbers.items() if not np.isclose(found, value, rtol=1e-9, atol=0).any()] == []


def check_text(text: str, numbers: files.Numbers, shown: Shown) -> None:
    """Expect every model and every number of the board in a text."""
    flat = re.sub(r"\s+", "", text)
    assert [said for (model, _), said in shown.items() if said not in flat or model not in flat] == []


def check_pages(content: bytes, numbers: files.Numbers, shown: Shown) -> None:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        names = [name for name in archive.namelist() if name.endswith((".html", ".js", ".json"))]
        assert any(name.endswith("index.html") for name in names)
        check_text("".join(archive.read(name).decode() for name in names), numbers, shown)


EXPORTS: dict[str, Callable[[bytes, files.Numbers, Shown], None]] = {
    "CSV": check_csv, "Parquet": check_parquet, "JSON": check_json, "Web page (zip)": check_pages,
    "HTML": lambda content, *rest: check_text(re.sub(r"<[^>]+>", "", content.decode()), *rest),
    PDF: lambda content, *rest: check_text(open_pdf(content), *rest),
}  # fmt: skip


@pytest.mark.parametrize("walk", [False, True], ids=["light", "dark"], indirect=True)
def test_a_file_that_asks(walk: StudioWalk, tmp_path: Path) -> None:
    """White on black may be a class or nothing: the page asks, says what was decided, and keeps it with the run."""
    truth, guess = np.zeros((8, 8), np.uint8), np.zeros((8, 8), np.uint8)
    truth[:4], guess[:2] = 255, 255
    for name, rows in {"truth": truth, "half": guess}.items():
        with zipfile.ZipFile(tmp_path / f"{name}.zip", "w") as archive:
            for image in "ab":
                archive.writestr(f"{image}.png", mask(rows, "L"))
            archive.writestr("notes.md", "made by hand")
    walk.open("evaluate?evaluator=segmentation_iou")
    walk.upload(DROP, tmp_path / "truth.zip")
    walk.sees("truth.zip: Are pixels of 255 a class", "Found 64 pixels of 255", "Answer the question about a file.")
    walk.keep_picture("question", whole=True)
    walk.press("class")
    walk.sees("Predictions are missing")  # the answer has been read
    walk.upload(DROP, tmp_path / "half.zip")
    walk.tick("How the files were read")
    walk.sees("mask_255=class, as you said")
    walk.start()
    assert walk.board()["half"]["Segmentation IoU: mIoU"] == "0.583"  # of the ground 6 of 8 pixels, of the class 4
    walk.tick("What was read of the files")
    walk.sees(re.compile("^Of 2 files"))
    walk.keep_picture("receipt", whole=True)
