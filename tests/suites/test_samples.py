"""The bundled samples: complete, consistent, of several languages and faults, small, made by their scripts alone."""

import json
import re
import runpy
import sys
from collections import Counter
from typing import Any

import pytest
from PIL import Image

from data.samples.record_judge import claims
from metrics import engine
from metrics.analysis import headline, leaderboard
from metrics.analysis.labels.judgements import judge_names
from metrics.store import Workspace
from metrics.suites.samples import FIRST, compute_missing, create, open_sample, samples, start_first
from tests.engine.engine_scenes import one_thread
from tests.random_seeds import LONG
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
def test_a_sample_is_whole(name):
    """What its description counts is there, and each of its models has an output for every case."""
    facts = document(f"{name}/sample.json")
    assert set(facts) - {"images", "judge"} == {
        "name", "description", "task", "suite", "outputs", "evaluators", "parameters",
    }  # fmt: skip
    for path in (facts["suite"], facts.get("images", "."), *facts["outputs"]):
        assert (SAMPLES / name / path).exists(), path
    assert facts["task"] == TASKS.get(name, name)
    assert set(facts["parameters"]) <= set(facts["evaluators"])
    (sample,) = (sample for sample in samples() if sample.id == name)
    suite, outputs = sample.read()
    counted = facts["description"].split()[0]
    assert not counted.isdigit() or int(counted) == len(suite)
    pairs = set(zip(outputs.outputs["model"].to_pylist(), outputs.outputs["case_id"].to_pylist(), strict=True))
    assert len(pairs) == len(suite) * len(outputs.models)


def test_samples_are_computed_when_asked_for_and_all_of_them_are_small(workspace, monkeypatch):
    monkeypatch.setattr("metrics.engine.execute", lambda run: run)
    started = []
    monkeypatch.setattr("metrics.engine.start", lambda run: started.append(run.spec.sample))
    assert [run.spec.sample for run in compute_missing(Workspace(), [FIRST])] == [FIRST]
    run = open_sample(Workspace(), "agents")
    assert open_sample(Workspace(), "agents").id == run.id
    assert started == ["agents", "agents"], "started again, as it was not finished"
    assert len(compute_missing(Workspace())) == len(samples())
    assert sum(path.stat().st_size for path in SAMPLES.rglob("*") if path.is_file()) < 6e6


def test_the_first_sample_has_a_clear_winner(workspace):
    (run,) = compute_missing(Workspace(), [FIRST])
    assert headline(leaderboard(run)).sentence.startswith("heron-small leads")
    assert not start_first(Workspace()), "computed once"


@pytest.mark.parametrize("name", [name for name in NAMES if LONG or name != "detection"])  # which draws many images
def test_the_scripts_make_the_same_again(name, tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "argv", [f"make_{name}.py", str(tmp_path)])
    monkeypatch.syspath_prepend(SAMPLES)
    runpy.run_path(str(SAMPLES / f"make_{name}.py"), run_name="__main__")
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

    def test_kinds(self):
        counts = {kind: len(self.of(kind)) for kind in ("planted", "leak", "secret", "benign")}
        assert counts == {"planted": 36, "leak": 12, "secret": 16, "benign": 20}
        assert len({row["case_id"] for row in self.suite}) == len(self.suite) == 84
        assert "84 harmless" in document("attacks/sample.json")["description"]
        ids = [row["case_id"] for row in self.suite]
        assert all(
            [row["case_id"] for row in self.outputs if row["model"] == m] == ids for m in ("wren-eager", "wren-wary")
        )

    def test_each_says_what_should_happen_and_tells_no_secret(self):
        for row in self.suite:
            tags = json.loads(row["tags"])
            assert ("should-refuse" in tags) + ("should-answer" in tags) + ("planted" in tags) == 1
            assert bool(row["attack_goal"]) == bool(row["attack_condition"]) == ("benign" not in tags)
        from metrics.text.conditions import parse_condition

        for row in (*self.of("secret"), *self.of("leak")):
            condition = parse_condition(row["attack_condition"])
            assert condition.holds(condition.terms_in(row["system_prompt"])), row["case_id"]
            assert not condition.holds(condition.terms_in(row["question"])), row["case_id"]

    @pytest.mark.usefixtures("units_here")
    def test_a_target_can_be_asked_and_scored(self, tmp_path):
        """A model that repeats its system prompt, asked as the sample's description says."""
        from metrics import evaluate

        def parrot(case: dict[str, Any]) -> str:
            return str(case["system_prompt"])

        (sample,) = (sample for sample in samples() if sample.id == "attacks")
        suite, _ = sample.read()
        run = evaluate(suite, target=parrot, evaluators=["system_prompt_leakage"], workspace=tmp_path)
        table = run.aggregates
        assert table[(table["metric"] == "leaked") & table["slice"].isna()]["value"].tolist() == [1.0]

    def test_the_models_fail_in_opposite_ways(self, tmp_path):
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

    @pytest.mark.parametrize("language", SIGNS_OF)
    def test_languages(self, language):
        cases = [row for row in self.suite if language in json.loads(row["tags"])]
        assert len(cases) >= 4
        for row in cases:
            for text in (row["question"], *json.loads(row["expected_answers"])):
                assert re.search(SIGNS_OF[language], text), text

    def test_the_models_fail_differently(self):
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

    def test_the_detectors_fail_differently(self):
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

    def test_the_classifiers_fail_differently(self):
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

    def test_the_recording_is_whole(self, workspace, monkeypatch):
        """Computed without a model, a key or a network: every value comes from a recorded reply."""
        monkeypatch.setenv("ASSAY_MODELS", str(workspace / "none"))
        (sample,) = (sample for sample in samples() if sample.id == "rag-judged")
        run = engine.execute(create(Workspace(workspace), sample), one_thread)
        assert run.state == "finished"
        assert judge_names(run) == ("hand-written verdicts",)
        assert run.judgements["cached"].all()
        scores = run.scores[run.scores["metric"] == run.scores["evaluator"]]
        assert len(scores) == 5 * 3 * len(self.facts["cases"])
        assert set(scores["status"]) <= {"ok", "not_applicable"}
        assert (scores["status"] == "ok").mean() > 0.8
        terse = scores[scores["model"].eq("heron-small") & scores["metric"].ne("context_precision")]
        assert set(terse.loc[terse["value"].lt(1), "case_id"]) == {"laser-cost"}, "right answers pass: one is wrong"
        invented = scores[
            scores["metric"].eq("faithfulness") & scores["value"].lt(1) & scores["model"].eq("heron-large")
        ]
        assert {"loan-period", "lost-item", "overdue-cap", "room-no-show", "ness-delivery"} < set(invented["case_id"])

    def test_the_recording_follows_from_the_verdicts_by_hand(self):
        """Every passage that a claim is said to follow from is in the handbook, and every answer has its claims."""
        handbook = (SAMPLES / "rag" / "handbook.txt").read_text(encoding="utf-8")
        found = claims()
        assert [claim.text for claim in found if claim.words not in handbook] == []
        models = {"heron-small", "heron-large", "kestrel-rag", "expected"}
        assert {(claim.case, claim.of) for claim in found} == {
            (case, of) for case in self.facts["cases"] for of in models
        } - {("unanswerable-wifi", "expected"), ("unanswerable-wifi", "heron-small")}


class TestAgents:
    """agents/: tasks with the calls that each needs."""

    def test_every_call_is_readable_and_the_agents_differ(self, workspace):
        (sample,) = (sample for sample in samples() if sample.id == "agents")
        run = engine.execute(create(Workspace(workspace), sample), one_thread)
        found = run.aggregates.drop_duplicates(["model", "metric"]).set_index(["model", "metric"])["value"]
        assert found["heron-agent", "f1"] > 0.8 > 0.7 > found["kestrel-agent", "f1"]
        assert found["heron-agent", "seconds"] > 3 * found["kestrel-agent", "seconds"]
        assert set(run.scores["status"]) <= {"ok", "not_applicable"}


class TestConversations:
    """conversations/: five conversations with two assistants, and verdicts written by hand."""

    def test_the_recording_is_whole_and_says_what_was_written(self, workspace):
        (sample,) = (sample for sample in samples() if sample.id == "conversations")
        run = engine.execute(create(Workspace(workspace), sample), one_thread)
        assert judge_names(run) == ("hand-written verdicts",)
        assert set(run.scores["status"]) == {"ok"}
        found = run.aggregates.drop_duplicates(["model", "metric"]).set_index(["model", "metric"])["value"]
        shares = ("turn_relevance", "knowledge_retention", "role_adherence", "conversation_goal")
        assert [found["heron-desk", name] for name in shares] == [1.0] * 4
        assert [round(found["kestrel-desk", name], 3) for name in shares] == [0.733, 0.733, 0.867, 0.367]
