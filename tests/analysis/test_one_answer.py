"""Laws that keep one answer to "is B better?": rank and comparison agree, and every summary names the same leader."""

import json
import shutil
from collections import Counter
from collections.abc import Callable
from functools import cache
from html import unescape
from itertools import combinations, permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from metrics import engine
from metrics.analysis import (
    Difference,
    Leaderboard,
    Resampled,
    compare,
    headline,
    insights,
    leaderboard,
    primary_columns,
)
from metrics.core.presets import QUESTIONS, unasked
from metrics.core.suite import Outputs, Suite
from metrics.presentation.phrases import metric_title
from metrics.reports.build import build
from metrics.reports.renderers.html import html
from metrics.reports.renderers.pdf import pdf
from metrics.stats.corrections import LEVEL
from metrics.store import Run, Workspace
from metrics.suites.samples import create, samples
from tests.analysis.comparison import test_paired_bootstrap as pets
from tests.analysis.findings import test_object_insights as barn
from tests.analysis.scored import scored_run
from tests.engine.engine_scenes import finished, one_thread, resealed
from tests.random_seeds import seeds

GRADED = ("rouge.rouge1", "rouge.rouge2", "rouge.rougeL", "rouge.rougeLsum", "bleu.bleu1", "bleu.bleu4")
BINARY = ("text_matching.passes", "text_matching.failures", "pii_leakage.passes", "language_mismatch.failures")
RUNS = seeds(8, 50)  # of ten metrics each


def random_run(seed: int) -> Run:
    """Two models with ten metrics on 3 to 200 cases: ties, missing values, and often groups or weights."""
    rng = np.random.default_rng(seed)
    n = int(np.exp(rng.uniform(np.log(3), np.log(201))))
    kind = seed % 4
    design: dict[str, list[Any]] = {}
    if kind in (1, 3):
        count = int(rng.integers(1, max(2, n // 2)))
        design["group"] = [None if rng.random() < 0.1 else f"g{group}" for group in rng.integers(0, count, n).tolist()]
    if kind in (2, 3):
        design["weight"] = [None if rng.random() < 0.1 else weight for weight in rng.uniform(0.2, 3, n).tolist()]
    given: dict[str, dict[str, list[float | None]]] = {}
    for name in (*GRADED, *BINARY):
        hard, gap = rng.random(n), rng.choice([0.0, 0.1, 0.3, 0.8])
        values = np.stack([hard + rng.normal(0, 0.3, n), hard + gap * rng.choice([-1, 1]) + rng.normal(0, 0.3, n)])
        values = (values > 0.5).astype(float) if name in BINARY else np.clip(np.round(values, 1), 0, 1)
        missing = rng.random(values.shape) < rng.choice([0.0, 0.2])
        given[name] = {
            model: [None if gone else value for value, gone in zip(row.tolist(), own.tolist(), strict=True)]
            for model, row, own in zip("AB", values, missing, strict=True)
        }
    return scored_run(given, design=design)


def check(board: Leaderboard, row: Difference | Resampled) -> str:
    """The leaderboard's rank and p of one metric of two models, against the comparison of them."""
    a, b = (board.cells[model, row.column.key] for model in "AB")
    ranks = board.ranks[row.column.key]
    assert [*ranks.p.values()] == ([] if row.p is None else [pytest.approx(row.p, abs=1e-12)])
    found = ranks.adjusted.get(("A", "B"), ranks.adjusted.get(("B", "A"), 1.0))
    assert row.adjusted == (None if row.p is None else found)
    assert (row.significance == "better") == (a.rank == 2 and b.rank == 1)
    assert (row.significance == "worse") == (a.rank == 1 and b.rank == 2)
    assert (row.significance in ("better", "worse")) == (found <= LEVEL)
    if row.low is not None and row.high is not None and row.difference:
        end = row.low if row.difference > 0 else -row.high  # towards 0
        assert end <= 0 if (row.p or 0.0) > LEVEL else end >= 0
    return row.significance


def test_rank_and_comparison_agree_on_random_metrics(workspace: Path) -> None:
    outcomes, tests = Counter[str](), Counter[str]()
    for seed in RUNS:
        run = random_run(seed)
        found, board = compare(run, "A", "B"), leaderboard(run)
        assert {row.column.key for row in found.rows if row.n} >= board.ranks.keys()
        assert found.tested == board.tests
        for row in found.rows:
            if row.column.key in board.ranks:
                outcomes[check(board, row)] += 1
                tests[row.test] += 1
    assert outcomes.total() > 9.6 * len(RUNS)
    assert min(outcomes[kind] for kind in ("better", "worse", "leaning", "open", "equal")) >= len(RUNS) / 10
    assert min(tests["mcnemar"], tests["sign_flips"], tests["t"]) >= 0.6 * len(RUNS)


def three_models(seed: int) -> Run:
    """Three models with five metrics of two questions and one of none, 40 cases, which a model may lack; seconds."""
    rng = np.random.default_rng(seed)
    n, gaps = 40, rng.choice([0.0, 0.0, 0.3, 1.2], 3)
    values = {
        name: {
            model: [None if rng.random() < lost else float(value) for value in hard + gap + rng.normal(0, 0.5, n)]
            for model, gap, lost in zip(
                "ABC", gaps * rng.choice([1, 1, -1 if seed % 2 else 1]), (0.0, 0.0, 0.3), strict=True
            )
        }
        for name in ("rouge.rouge1", "rouge.rougeL", "bleu.bleu4", "faithfulness", "groundedness", "ragas")
        for hard in [rng.normal(0, 0.5, n)]
    }
    seconds = {
        model: {"duration_s": (2 + gap + rng.random(n)).tolist()} for model, gap in zip("ABC", gaps, strict=True)
    }
    return scored_run(values, resources=seconds)


def test_headline_ranks_comparisons_and_insights_never_contradict(workspace: Path) -> None:
    said = Counter[str]()
    for seed in seeds(4, 30):
        run = three_models(seed)
        board = leaderboard(run)
        found, told = headline(board), insights(run)
        keys = [column.key for column in primary_columns(board)]
        # by the comparisons of each pair, question by question; `better` but for what missing cases may undo
        better, other_way = (Counter[tuple[str, tuple[str, str]]]() for _ in range(2))
        for a, b in combinations(run.models, 2):
            for row in compare(run, a, b).rows:
                pair = {"better": (b, a), "worse": (a, b)}.get(row.significance)
                assert (pair in board.ranks[row.column.key].significant) == (pair is not None)
                if pair is not None and row.column.key in keys:
                    question = QUESTIONS.get(row.column.evaluator, row.column.key)
                    better[question, pair] += pair[1] not in board.overtaking.get((pair[0], row.column.key), ())
                    other_way[question, pair[::-1]] += 1
        for pair in permutations(run.models, 2):
            ahead = [name for name, own in better if own == pair and better[name, own] and not other_way[name, own]]
            behind = [name for name, own in other_way if own == pair and not other_way[name, pair[::-1]]]
            assert (pair in found.ahead) == (bool(ahead) and not behind)
            said["mixed"] += any(own == pair and other_way[name, pair[::-1]] for name, own in other_way)
            said["both"] += bool(ahead) and bool(behind)
        for model in run.models:
            others = [other for other in run.models if other != model]
            assert (found.leader == model) == all((model, other) in found.ahead for other in others)
        for row in told[told["kind"].isin(["best_model", "worst_model", "fastest_model"])].to_dict("records"):
            key = next((key for key in keys if key.startswith(f"{row['evaluator']}/")), None)
            first, last = (board.spent["duration_s"] if key is None else board.ranks[key]).ranges[row["model"]]
            assert first == 3 if row["kind"] == "worst_model" else last == 1
        accurate = told[told["kind"] == "most_accurate"]["model"].tolist()
        assert accurate in ([], [found.leader])
        said.update(told["kind"])
        said["leader"] += found.leader is not None
    kinds = ("leader", "best_model", "tied_models", "fastest_model", "mixed", "both")
    assert min(said[kind] for kind in kinds) > 0, said


def test_rank_and_comparison_agree_on_metrics_of_the_data_set(workspace: Path) -> None:
    outcomes = Counter[str]()
    for seed in seeds(3, 6):
        rng = np.random.default_rng(seed)
        recalls = {model: tuple(rng.choice([0.5, 0.8, 0.95], 2).tolist()) for model in "AB"}
        run = pets.evaluated(pets.outputs(recalls, repeats=1 + seed % 2), "coco_summary", "detection_confusion")
        found, board = compare(run, "A", "B"), leaderboard(run)
        assert {row.column.key for row in found.resampled} == board.ranks.keys()
        outcomes.update(check(board, row) for row in found.resampled)
    assert min(outcomes["better"] + outcomes["worse"], outcomes["open"] + outcomes["equal"]) >= 5


LAST = ("classification_pr_curve/best_f1", "calibration/expected_calibration_error")
CLASSIFIERS = ("classification", "roc_auc", "classification_pr_curve", "calibration")


def classified(seed: int, *evaluators: str) -> Run:
    """Two classifiers of 20 to 200 cases of two or three classes; often groups, weights, cases without a prediction."""
    rng = np.random.default_rng(seed)
    n, labels = int(rng.integers(20, 200)), ["ham", "spam", "news"][: int(rng.integers(2, 4))]
    truth, hard = rng.integers(0, len(labels), n), rng.normal(size=(n, len(labels)))
    cases = [
        {
            "case_id": f"c{place}", "label": labels[true], "tags": ["early"] * (place % 2),
            "group": f"g{place // 3}" if seed % 2 else None, "weight": 1.0 + place % 3 if seed % 3 else None,
        }
        for place, true in enumerate(truth.tolist())
    ]  # fmt: skip
    answers: list[dict[str, Any]] = []
    predictions: list[dict[str, Any]] = []
    for model, sharp in zip("AB", rng.choice([0.3, 1.5, 1.7, 4.0], 2).tolist(), strict=True):
        scores = hard + rng.normal(size=hard.shape) * 0.5
        scores[np.arange(n), truth] += sharp
        chances = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
        for place, row in enumerate(chances.tolist()):
            answers.append({"case_id": f"c{place}", "model": model})
            if rng.random() > 0.05 * (seed % 2):
                named = zip(labels, row, strict=True)
                predictions += [answers[-1] | {"label": label, "score": score} for label, score in named]
    suite = Suite.from_rows("mail", "classification", cases, labels=labels)
    return finished(Workspace(), suite, Outputs.from_rows(answers, predictions), *(evaluators or CLASSIFIERS))


def test_rank_and_comparison_agree_on_metrics_of_classification(workspace: Path) -> None:
    outcomes, named = Counter[str](), set[str]()
    for seed in seeds(3, 6):
        run = classified(seed)
        found, board = compare(run, "A", "B"), leaderboard(run)
        named |= {row.column.key.split("?")[0] for row in found.resampled}
        assert {row.column.key for row in (*found.rows, *found.resampled)} >= board.ranks.keys()
        outcomes.update(check(board, row) for row in found.resampled)
    assert named >= {"classification/f1", "classification/precision", "roc_auc/roc_auc", *LAST}
    assert min(outcomes["better"] + outcomes["worse"], outcomes["open"] + outcomes["equal"]) >= 5


def test_stored_resamples_are_those_that_are_computed_on_demand(workspace: Path) -> None:
    run = pets.evaluated(pets.outputs(repeats=2), "coco_summary", "average_recall", of=pets.suite(tags=True))
    older = without_resamples(run)
    for tag in (None, "early"):
        stored, computed = (compare(each, "A", "B", tag).resampled for each in (run, older))
        assert len(stored) == len(computed) > 5
        assert [(row.difference, row.p, row.n) for row in stored] == [
            (row.difference, row.p, row.n) for row in computed
        ]


def test_without_stored_resamples_nothing_is_claimed(workspace: Path) -> None:
    run = without_resamples(pets.evaluated(pets.outputs(), "coco_summary"))
    board = leaderboard(run)
    cell = board.cells["B", board.columns[0].key]
    assert (cell.rank, cell.best, cell.paired) == (None, False, False)
    assert (
        cell.untested
        == "no significance claimed: neither values per case nor resamples are stored to pair the models on"
    )
    assert headline(board).leader is None
    assert "the difference is not tested" in insights(run).query("kind == 'untested_model'")["message"].iloc[0]
    assert compare(run, "A", "B").resampled[0].significance == "better"


def test_classification_of_an_earlier_version_says_why_there_is_no_rank(workspace: Path) -> None:
    run = classified(0)
    older = without_resamples(run)
    assert [(row.difference, row.p) for row in compare(older, "A", "B").resampled] == [
        (row.difference, row.p) for row in compare(run, "A", "B").resampled
    ]
    board = leaderboard(older)
    cell = next(board.cells["A", column.key] for column in board.columns if column.metric == "f1")
    assert cell.rank is None
    assert cell.untested == (
        "no significance claimed: neither values per case nor resamples are stored to pair the models on"
    )


def without_resamples(run: Run) -> Run:
    """The run as earlier versions sealed it."""
    folder = run.folder.with_name(run.id[:-1] + ("0" if run.id[-1] != "0" else "1"))
    shutil.copytree(run.folder, folder)
    tables = json.loads((folder / "manifest.json").read_text())["tables"]
    return resealed(Run(folder), tables={name: facts for name, facts in tables.items() if name != "replicates"})


TWINS = {
    "average_precision/map_averaged": "coco_summary/AP",
    "average_recall/mar": "coco_summary/AR_100",
    "error_breakdown/ap": "coco_summary/AP50",
    "detection_confusion/missed": "detection_pr_curve_detailed/fn_no_prediction",
}


@pytest.fixture(scope="module")
def sample_run(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Run]:
    """A bundled sample, evaluated when it is first asked for: other workers have the other samples."""
    workspace, known = Workspace(tmp_path_factory.mktemp("samples")), {sample.id: sample for sample in samples()}
    return cache(lambda name: engine.execute(create(workspace, known[name]), one_thread))


def test_twins_are_the_same_number(sample_run: Callable[[str], Run]) -> None:
    board = leaderboard(sample_run("detection"))
    twins = {column.key: column.twin for column in board.columns if column.twin is not None}
    assert {key.split("?")[0]: twin.split("?")[0] for key, twin in twins.items()}.items() >= TWINS.items()
    for key, twin in twins.items():
        for model in board.models:
            assert board.cells[model, key].value == pytest.approx(board.cells[model, twin].value, abs=1e-12)
    a, b, *_ = board.models
    found = compare(sample_run("detection"), a, b)
    by_key = {row.column.key: row for row in found.resampled}
    tested = [ranks for key, ranks in board.ranks.items() if key not in twins]
    assert found.tested == board.tests == sum(len(ranks.p) for ranks in (*tested, *board.spent.values()))
    for key, twin in twins.items():
        assert (by_key[key].adjusted, by_key[key].significance) == (by_key[twin].adjusted, by_key[twin].significance)


def detected(seed: int, *evaluators: str) -> Run:
    return barn.evaluated({"A": 0.1, "B": 0.0}, {"A": ["cow", "dog"]}, 0.3, seed, evaluators)


@pytest.mark.parametrize(("draw", "task"), [(classified, "classification"), (detected, "detection")])
def test_no_column_that_is_shown_is_a_copy_of_another(workspace: Path, draw: Callable[..., Run], task: str) -> None:
    """Law: of the columns shown unasked no two have the same numbers in every draw, and there are at most twelve."""
    present = {"label", "annotations", "predictions", "case_id"}
    copies: set[tuple[str, str]] | None = None
    for seed in seeds(2, 5):
        chosen = [id for preset in unasked(task, present) for id in preset.runnable(task, present)]
        board = leaderboard(draw(seed, *chosen))
        shown = [column for column in board.columns if not column.minor]
        assert len(shown) <= 12
        numbers = {column.key: [board.cells[model, column.key].value for model in board.models] for column in shown}
        equal = {pair for pair in combinations(numbers, 2) if numbers[pair[0]] == numbers[pair[1]]}
        copies = equal if copies is None else copies & equal
    assert copies == set()


@pytest.mark.parametrize("sample", [sample.id for sample in samples()])
def test_every_summary_of_a_sample_names_the_same_leader(sample_run: Callable[[str], Run], sample: str) -> None:
    run = sample_run(sample)
    board, report = leaderboard(run), build(run)
    found = headline(board)
    assert report.headline == found.sentence
    (told,) = insights(run).query("kind == 'leading_model'").to_dict("records")
    assert told["message"] == found.sentence
    if sample not in ("classification", "detection", "rag", "rag-judged"):  # other tests report such runs
        page, titles = unescape(html(report).decode()), [entry.title for entry in map(run.evaluator, run.evaluators)]
        assert [title for title in (run.name, *titles) if title not in page] == []
        assert pdf(report).startswith(b"%PDF")
    leaderless = {
        "rag-judged": "No significant difference between the models",  # twelve cases, judged by a small model
        "conversations": "No significant difference between the models",  # five of them
        "agents": "No significant difference between the models",  # the one with the better calls breaks the budget
    }
    if sample in leaderless:
        assert found.leader is None
        assert found.sentence.startswith(leaderless[sample])
        return
    leader = found.leader
    assert found.sentence.startswith(f"{leader} leads")
    assert told["model"] == leader
    (section,) = (section for section in report.sections if section.title == "Is it really better?")
    assert section.tables[0].title.startswith(f"{leader} against ")
    for row in section.tables[0].rows:
        column = next(one for one in board.columns if metric_title(one) == row[0])
        ranks = [board.cells[model, column.key].rank for model in (leader, row[1])]
        if row[-1] == f"{leader} is better":
            assert ranks[0] < ranks[1]
        elif row[-1] == f"{row[1]} is better":
            assert ranks[1] < ranks[0]
