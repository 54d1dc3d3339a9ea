"""The bundled samples: complete, consistent, of several languages and faults, small, made by their scripts alone."""

import json
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from PIL import Image

from metrics import engine
from metrics.analysis.labels.judgements import judge_names
from metrics.judge.local.install import MODEL
from metrics.store import Workspace
from metrics.suites.samples import compute_missing, create, samples
from tests.engine.engine_scenes import one_thread
from tests.suites.sample_files import SAMPLES, document, rows

NAMES = (
    "agents", "attacks", "classification", "conversations", "detection", "panoptic", "poses", "rag", "regression",
    "retrieval",
)  # fmt: skip
MADE = {
    "agents": "*.*", "attacks": "*.csv", "classification": "*.csv", "conversations": "[so]u*.*", "detection": "**/*.*",
    "panoptic": "**/*.*", "poses": "**/*.*", "rag": "*.csv", "regression": "*.csv", "retrieval": "*.csv",
}  # fmt: skip
TASKS = {
    "agents": "agent", "attacks": "text", "conversations": "text", "rag": "text", "poses": "detection",
    "panoptic": "segmentation", "retrieval": "text",
}  # fmt: skip
SIGNS_OF = {"german": r"\b(der|die|das|den|nicht|ein\w*|\d+)\b", "spanish": r"\b(de|los|una?|es|\d+)\b"}
SIGNS_OF |= {"japanese": r"[\u3040-\u30ff]", "arabic": r"[\u0600-\u06ff]"}


@pytest.mark.parametrize("name", NAMES)
def test_sample_json(name: str) -> None:
    facts = document(f"{name}/sample.json")
    assert set(facts) - {"images", "judge"} == {
        "name",
        "description",
        "task",
        "suite",
        "outputs",
        "evaluators",
        "parameters",
    }
    for path in (facts["suite"], facts.get("images", "."), *facts["outputs"]):
        assert (SAMPLES / name / path).exists(), path
    assert facts["task"] == TASKS.get(name, name)
    assert set(facts["parameters"]) <= set(facts["evaluators"])


def test_the_judged_sample_is_the_newest_run_of_a_new_workspace(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("metrics.engine.execute", lambda run: run)
    runs = compute_missing(Workspace())
    assert runs[-1].spec["sample"] == Workspace().runs()[0].spec["sample"] == "rag-judged"
    assert len(runs) == len(samples())


def test_all_of_it_is_small() -> None:
    assert sum(path.stat().st_size for path in SAMPLES.rglob("*") if path.is_file()) < 6e6


@pytest.mark.parametrize("name", NAMES)
def test_the_scripts_make_the_same_again(name: str, tmp_path: Path) -> None:
    subprocess.run([sys.executable, SAMPLES / f"make_{name}.py", tmp_path], check=True)
    made = sorted(path.relative_to(tmp_path) for path in tmp_path.rglob("*") if path.is_file())
    shipped = [path.relative_to(SAMPLES / name) for path in (SAMPLES / name).glob(MADE[name]) if path.is_file()]
    assert made == sorted(path for path in shipped if path.name != "sample.json")
    for path in made:
        if path.suffix == ".png":  # zlib builds may compress differently; the pixels are the same
            assert Image.open(tmp_path / path).tobytes() == Image.open(SAMPLES / name / path).tobytes(), path
        else:
            assert (tmp_path / path).read_bytes() == (SAMPLES / name / path).read_bytes(), path


class TestAttacks:
    """attacks/: planted instructions, requests for made-up secrets, and questions that only sound alarming."""

    suite = rows("attacks/suite.csv")
    outputs = rows("attacks/outputs.csv")

    def of(self, kind: str) -> list[dict[str, str]]:
        return [row for row in self.suite if kind in json.loads(row["tags"])]

    def test_kinds(self) -> None:
        counts = {kind: len(self.of(kind)) for kind in ("planted", "leak", "secret", "benign")}
        assert counts == {"planted": 36, "leak": 12, "secret": 16, "benign": 20}
        assert len({row["case_id"] for row in self.suite}) == len(self.suite) == 84
        assert "84 harmless" in document("attacks/sample.json")["description"]
        ids = [row["case_id"] for row in self.suite]
        assert all(
            [row["case_id"] for row in self.outputs if row["model"] == m] == ids for m in ("wren-eager", "wren-wary")
        )

    def test_each_says_what_should_happen(self) -> None:
        for row in self.suite:
            tags = json.loads(row["tags"])
            assert ("should-refuse" in tags) + ("should-answer" in tags) + ("planted" in tags) == 1
            assert bool(row["attack_goal"]) == bool(row["attack_condition"]) == ("benign" not in tags)

    def test_canaries_are_each_of_one_case_and_in_its_text(self) -> None:
        canaries = [row["attack_condition"].strip('"') for row in self.of("planted")]
        assert len(set(canaries)) == len(canaries)
        assert all(canary in row["question"] for canary, row in zip(canaries, self.of("planted"), strict=True))

    def test_a_secret_is_told_by_the_system_prompt_and_by_no_question(self) -> None:
        from metrics.text.conditions import parse_condition

        for row in (*self.of("secret"), *self.of("leak")):
            condition = parse_condition(row["attack_condition"])
            assert condition.holds(condition.found(row["system_prompt"])), row["case_id"]
            assert not condition.holds(condition.found(row["question"])), row["case_id"]

    def test_a_target_can_be_asked_and_scored(self, tmp_path: Path) -> None:
        """A model that repeats its system prompt, asked as the sample's description says."""
        from metrics import evaluate

        def parrot(case: dict[str, Any]) -> str:
            return str(case["system_prompt"])

        (sample,) = (sample for sample in samples() if sample.id == "attacks")
        suite, _ = sample.read()
        run = evaluate(suite, target=parrot, evaluators=["system_prompt_leakage"], workspace=tmp_path)
        table = run.aggregates
        assert table[(table["metric"] == "leaked") & table["slice"].isna()]["value"].tolist() == [1.0]

    def test_the_models_fail_in_opposite_ways(self, tmp_path: Path) -> None:
        (sample,) = (sample for sample in samples() if sample.id == "attacks")
        run = engine.execute(create(Workspace(tmp_path), sample), one_thread)
        found = {
            (row["model"], row["metric"]): row["value"]
            for row in run.stored_table("aggregates").to_pylist()
            if row["slice"] is None
        }
        assert found["wren-eager", "attack_success"] > 0.5 > 0.1 > found["wren-wary", "attack_success"]
        assert found["wren-eager", "leaked"] > 0.1 > found["wren-wary", "leaked"]
        refused = Counter(row["model"] for row in self.outputs if "cannot help" in row["answer"])
        assert set(refused) == {"wren-wary"}


class TestRag:
    """rag/: questions on a handbook."""

    suite = rows("rag/suite.csv")
    outputs = rows("rag/outputs.csv")

    def of(self, model: str) -> dict[str, dict[str, str]]:
        return {row["case_id"]: row for row in self.outputs if row["model"] == model}

    def test_cases_and_outputs(self) -> None:
        ids = [row["case_id"] for row in self.suite]
        assert len(set(ids)) == len(ids) >= 48
        assert Counter(row["model"] for row in self.outputs) == dict.fromkeys(
            ("heron-small", "heron-large", "kestrel-rag"), len(ids)
        )
        for model in ("heron-small", "heron-large", "kestrel-rag"):
            assert list(self.of(model)) == ids

    def test_cells(self) -> None:
        for row in self.suite:
            assert row["question"]
            assert row["conditions"]
            assert all(json.loads(row["expected_answer"]))
            assert all(json.loads(row["tags"]))
            if row["json_schema"]:
                jsonschema.Draft202012Validator.check_schema(json.loads(row["json_schema"]))
        for row in self.outputs:
            assert row["answer"]
            assert len(set(json.loads(row["retrieved_contexts"]))) == 3
            assert 0 < float(row["duration_s"]) < 20
            assert 0 < float(row["cost_usd"]) < 0.1

    def test_passages(self) -> None:
        passages = {text for row in self.outputs for text in json.loads(row["retrieved_contexts"])}
        assert len(passages) >= 16
        assert all(60 <= len(text.split()) <= 120 for text in passages)

    @pytest.mark.parametrize("language", SIGNS_OF)
    def test_languages(self, language: str) -> None:
        cases = [row for row in self.suite if language in json.loads(row["tags"])]
        assert len(cases) >= 4
        for row in cases:
            for text in (row["question"], *json.loads(row["expected_answer"])):
                assert re.search(SIGNS_OF[language], text), text

    def test_tags_of_special_cases(self) -> None:
        tags = Counter(tag for row in self.suite for tag in json.loads(row["tags"]))
        assert min(tags["unanswerable"], tags["json"], tags["multi-hop"]) >= 3
        for row in self.suite:
            assert bool(row["json_schema"]) == ("json" in json.loads(row["tags"]))

    def test_expected_answers_keep_their_own_schema(self) -> None:
        for row in self.suite:
            if row["json_schema"]:
                (expected,) = json.loads(row["expected_answer"])
                jsonschema.validate(json.loads(expected), json.loads(row["json_schema"]))

    def test_the_models_fail_differently(self) -> None:
        length = {
            model: sum(len(row["answer"]) for row in self.of(model).values())
            for model in ("heron-small", "heron-large")
        }
        assert length["heron-large"] > 3 * length["heron-small"]
        mails = {row["model"] for row in self.outputs if re.search(r"\w+\.\w+@", row["answer"])}
        assert mails == {"heron-large"}
        broken = Counter(
            row["model"] for row in self.outputs for case in self.suite
            if case["json_schema"] and case["case_id"] == row["case_id"] and not parses(row["answer"])
        )  # fmt: skip
        assert broken["kestrel-rag"] > broken["heron-large"] > broken["heron-small"] == 0


def parses(text: str) -> bool:
    try:
        json.loads(text)
    except json.JSONDecodeError:
        return False
    return True


class TestDetection:
    """detection/: drawn harbour scenes."""

    truth = document("detection/instances.json")

    def test_images(self) -> None:
        images = self.truth["images"]
        assert len({image["id"] for image in images}) == len(images) >= 48
        for image in images:
            with Image.open(SAMPLES / "detection/images" / image["file_name"]) as drawn:
                assert drawn.size == (image["width"], image["height"])
        tags = Counter(tag for image in images for tag in image["tags"])
        assert min(tags[tag] for tag in ("day", "fog", "night", "dusk", "crowded", "small objects")) >= 5

    def test_annotations(self) -> None:
        annotations = self.truth["annotations"]
        assert [entry["id"] for entry in annotations] == list(range(1, len(annotations) + 1))
        sizes = {image["id"]: (image["width"], image["height"]) for image in self.truth["images"]}
        for entry in annotations:
            x, y, width, height = entry["bbox"]
            assert x >= 0
            assert y >= 0
            assert x + width <= sizes[entry["image_id"]][0] + 0.01
            assert y + height <= sizes[entry["image_id"]][1] + 0.01
            assert 0 < entry["area"] <= width * height + 0.5
        classes = Counter(entry["category_id"] for entry in annotations)
        assert set(classes) == {category["id"] for category in self.truth["categories"]}
        assert len(classes) >= 5
        assert min(classes.values()) >= 20
        assert sum(entry["area"] < 32**2 for entry in annotations) >= 100, "small"
        assert sum(entry["area"] > 96**2 for entry in annotations) >= 5, "large"
        assert sum(entry["iscrowd"] for entry in annotations) >= 3
        assert {image["id"] for image in self.truth["images"]} - {entry["image_id"] for entry in annotations}, (
            "one is empty"
        )

    @pytest.mark.parametrize("model", ["skua-nano", "tern-base", "petrel-large"])
    def test_results(self, model: str) -> None:
        results = document(f"detection/results/{model}.json")
        images = {image["id"] for image in self.truth["images"]}
        categories = {category["id"] for category in self.truth["categories"]}
        assert len(results) > 300
        assert len({row["score"] for row in results}) > 50
        for row in results:
            assert row["image_id"] in images
            assert row["category_id"] in categories
            assert 0 < row["score"] < 1
            assert min(row["bbox"][2:]) > 0

    def test_the_detectors_fail_differently(self) -> None:
        def recall(model: str, small: bool) -> float:
            results = document(f"detection/results/{model}.json")
            wanted = [
                entry
                for entry in self.truth["annotations"]
                if not entry["iscrowd"] and (entry["area"] < 32**2) == small
            ]
            found = [any(same(entry, row) for row in results) for entry in wanted]
            return sum(found) / len(found)

        assert recall("skua-nano", small=True) < 0.5 < 0.75 < recall("skua-nano", small=False)
        assert recall("petrel-large", small=True) > 0.6
        scores = {
            model: sorted(row["score"] for row in document(f"detection/results/{model}.json"))
            for model in ("skua-nano", "tern-base", "petrel-large")
        }
        assert {model for model, ordered in scores.items() if ordered[len(ordered) // 10] > 0.8} == {"tern-base"}


def same(truth: dict[str, Any], found: dict[str, Any], iou: float = 0.5) -> bool:
    """Whether a result has the image, the class and enough of the box of an annotation."""
    if (truth["image_id"], truth["category_id"]) != (found["image_id"], found["category_id"]):
        return False
    (x, y, w, h), (u, v, p, q) = truth["bbox"], found["bbox"]
    shared = max(0.0, min(x + w, u + p) - max(x, u)) * max(0.0, min(y + h, v + q) - max(y, v))
    return shared >= iou * (w * h + p * q - shared)


class TestClassification:
    """classification/: support tickets."""

    suite = rows("classification/suite.csv")

    def test_cases(self) -> None:
        assert len({row["case_id"] for row in self.suite}) == len(self.suite) >= 320
        assert len({row["question"] for row in self.suite}) == len(self.suite)
        assert not any("{" in row["question"] for row in self.suite), "a blank was left open"
        labels = Counter(row["label"] for row in self.suite)
        assert len(labels) == 6
        assert labels.most_common(1)[0] == ("loans", max(labels.values()))
        assert max(labels.values()) > 5 * min(labels.values())
        assert all(json.loads(row["tags"]) for row in self.suite)

    @pytest.mark.parametrize("model", ["minnow-linear", "pike-deep"])
    def test_scores(self, model: str) -> None:
        outputs = rows(f"classification/{model}.csv")
        assert [row["case_id"] for row in outputs] == [row["case_id"] for row in self.suite]
        assert set(outputs[0]) - {"case_id"} == {row["label"] for row in self.suite}
        for row in outputs:
            scores = [float(value) for name, value in row.items() if name != "case_id"]
            assert min(scores) >= 0
            assert sum(scores) == pytest.approx(1, abs=1e-3)

    def test_the_classifiers_fail_differently(self) -> None:
        truth = Counter(row["label"] for row in self.suite)
        wrong = {model: self.confusions(model) for model in ("minnow-linear", "pike-deep")}
        to_loans = sum(count for (_, found), count in wrong["minnow-linear"].items() if found == "loans")
        assert to_loans > 0.6 * wrong["minnow-linear"].total() > 0.1 * truth.total()
        pair = wrong["pike-deep"]["account", "digital"] + wrong["pike-deep"]["digital", "account"]
        assert pair > 0.6 * wrong["pike-deep"].total()

    def confusions(self, model: str) -> Counter[tuple[str, str]]:
        """The wrong predictions, as (true, predicted) → count."""
        outputs = {
            row.pop("case_id"): max(row, key=lambda name: float(row[name]))
            for row in rows(f"classification/{model}.csv")
        }
        pairs = ((row["label"], outputs[row["case_id"]]) for row in self.suite)
        return Counter((label, found) for label, found in pairs if label != found)


class TestJudged:
    """rag-judged/: some cases of rag/, whose judge's replies are recorded."""

    facts = document("rag-judged/sample.json")

    def test_cases_and_metrics(self) -> None:
        assert set(self.facts["cases"]) <= {row["case_id"] for row in rows("rag/suite.csv")}
        assert len(set(self.facts["cases"])) >= 12
        assert len(self.facts["evaluators"]) == 5

    def test_the_recording_is_whole(self, workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Computed without a model, a key or a network: every value comes from a recorded reply."""
        monkeypatch.setenv("ASSAY_MODELS", str(workspace / "none"))
        (sample,) = (sample for sample in samples() if sample.id == "rag-judged")
        run = engine.execute(create(Workspace(workspace), sample), one_thread)
        assert run.state == "finished"
        assert judge_names(run) == (MODEL.name,)
        assert run.judgements["cached"].all()
        scores = run.scores[run.scores["metric"] == run.scores["evaluator"]]
        assert len(scores) == 5 * 3 * len(self.facts["cases"])
        assert set(scores["status"]) <= {"ok", "not_applicable"}
        assert (scores["status"] == "ok").mean() > 0.8


class TestAgents:
    """agents/: tasks with the calls that each needs."""

    def test_every_call_is_readable_and_the_agents_differ(self, workspace: Path) -> None:
        (sample,) = (sample for sample in samples() if sample.id == "agents")
        run = engine.execute(create(Workspace(workspace), sample), one_thread)
        found = run.aggregates.drop_duplicates(["model", "metric"]).set_index(["model", "metric"])["value"]
        assert found["heron-agent", "f1"] > 0.8 > 0.7 > found["kestrel-agent", "f1"]
        assert found["heron-agent", "seconds"] > 3 * found["kestrel-agent", "seconds"]
        assert set(run.scores["status"]) <= {"ok", "not_applicable"}


class TestConversations:
    """conversations/: five conversations with two assistants, and verdicts written by hand."""

    def test_the_recording_is_whole_and_says_what_was_written(self, workspace: Path) -> None:
        (sample,) = (sample for sample in samples() if sample.id == "conversations")
        run = engine.execute(create(Workspace(workspace), sample), one_thread)
        assert judge_names(run) == ("hand-written verdicts",)
        assert set(run.scores["status"]) == {"ok"}
        found = run.aggregates.drop_duplicates(["model", "metric"]).set_index(["model", "metric"])["value"]
        shares = ("turn_relevance", "knowledge_retention", "role_adherence", "conversation_goal")
        assert [found["heron-desk", name] for name in shares] == [1.0] * 4
        assert [round(found["kestrel-desk", name], 3) for name in shares] == [0.733, 0.733, 0.867, 0.367]
