"""What a run takes from earlier runs: always what a fresh evaluation makes, and only what would come out the same."""

import multiprocessing
import os
import shutil
import signal
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from metrics import engine
from metrics.core.suite import Outputs, Suite
from metrics.engine.merge import merge
from metrics.engine.plan import Shard, make_shard
from metrics.engine.repair import repair
from metrics.library.evaluate import as_evaluation
from metrics.library.prepare import prepare
from metrics.reports.archives.read import read_archive
from metrics.reports.archives.write import write_file
from metrics.store import Run, Workspace
from metrics.store.run_check import verify
from tests.engine.engine_scenes import AtOnce, resealed, text_outputs, text_suite
from tests.evaluators.detected import outputs_of, suite_of
from tests.faults.disk import Disk
from tests.faults.operations import steady
from tests.judge.judge_scenes import rag
from tests.judge.server import Fault
from tests.kills.children import KILL
from tests.store.test_seal import flip

TEXT = ("rouge", "text_matching", "corpus_bleu", "consistency_statistics")
CLASSES = ("classification", "roc_auc")
PROCESSES = multiprocessing.get_context("forkserver")


def evaluated(folder: Path, data: tuple[Suite, Outputs], evaluators: Sequence[str], **options: Any) -> Run:
    """A sealed run that takes what the runs in the folder have."""
    run = engine.create(Workspace(folder), *data, evaluators, **{"reuse": True, **options})
    return engine.execute(run, AtOnce)


def tables(run: Run, *without: str) -> dict[str, str]:
    verify(run)
    return {name: one["sha256"] for name, one in (run.manifest or {})["tables"].items() if name not in without}


def reused(run: Run) -> int:
    return sum((run.manifest or {}).get("reused", {}).values())


TEXTS = st.sampled_from(["the mill", "the old mill by the river", "", "nine herons", "é"])
ASKED = {"question": TEXTS, "expected_answers": st.lists(TEXTS, max_size=2)}
FURTHER = {"weight": st.sampled_from([1.0, 2.0]), "conditions": st.sampled_from(['"mill"', "NOT"]), "color": TEXTS}
CASE = st.fixed_dictionaries({**ASKED, "tags": st.lists(st.sampled_from("ab"), max_size=2)}, optional=FURTHER)


@st.composite
def text_data(draw: st.DrawFn) -> tuple[list[Any], list[Any]]:
    cases = [{"case_id": f"c{place}", **one} for place, one in enumerate(draw(st.lists(CASE, min_size=1, max_size=8)))]
    models, repeats = draw(st.lists(st.sampled_from("mno"), min_size=1, unique=True)), draw(st.integers(1, 2))
    keys = [(case["case_id"], model, run + 1) for case in cases for model in models for run in range(repeats)]
    rows = [
        {"case_id": id, "model": model, "run": run, "answer": draw(TEXTS | st.none())}
        for id, model, run in keys
        if draw(st.integers(0, 5))
    ]
    return cases, rows or [{"case_id": "c0", "model": "m", "answer": "the mill"}]


class TestTheSameAsAFreshEvaluation:
    @given(st.data())
    def test_text_in_steps(self, data):
        """Cases and models come, go, change, change places and names between the runs."""
        with tempfile.TemporaryDirectory() as folder:
            cases, rows = data.draw(text_data())
            for _ in range(data.draw(st.integers(1, 2))):
                chosen = ["rouge", *data.draw(st.lists(st.sampled_from(TEXT[1:-1]), unique=True))]
                kept = data.draw(st.permutations(cases))[: data.draw(st.integers(1, len(cases)))]
                changed = [{**one, "question": "new"} if data.draw(st.integers(0, 4)) == 0 else one for one in kept]
                own = [row for row in rows if row["case_id"] in {one["case_id"] for one in kept}]
                if len({row["model"] for row in own}) == 1:
                    own = [{**row, "model": name} for name in [data.draw(st.sampled_from("mz"))] for row in own]
                if own:
                    made = Suite.from_rows("s", "text", changed), Outputs.from_rows(own)
                    evaluated(Path(folder), made, [*chosen, TEXT[-1]])
            whole = Suite.from_rows("s", "text", cases), Outputs.from_rows(rows)
            fresh = evaluated(Path(folder), whole, TEXT, reuse=False)
            assert tables(evaluated(Path(folder), whole, TEXT)) == tables(fresh)

    def test_classes_of_a_second_model(self, tmp_path):
        suite = Suite.from_rows("s", "classification", [{"case_id": f"{n}", "label": "ab"[n % 2]} for n in range(12)])
        rows = [
            {"case_id": f"{n}", "model": model, "label": "ab"[n % of % 2], "score": 0.9}
            for model, of in (("m", 3), ("n", 5))
            for n in range(12)
        ]
        both = [Outputs.from_rows(_answers(own), own) for own in (rows[:12], rows)]
        evaluated(tmp_path, (suite, both[0]), CLASSES)
        run = evaluated(tmp_path, (suite, both[1]), CLASSES)
        assert reused(run) == 12 * len(CLASSES)
        assert tables(run) == tables(evaluated(tmp_path, (suite, both[1]), CLASSES, reuse=False))

    def test_boxes_of_a_second_detector_and_another_seed(self, tmp_path):
        boxes = (("a", "cat", 1, 1, 8, 8), ("b", "dog", 2, 2, 6, 6), ("c", "cat", 0, 0, 5, 5))
        suite = suite_of(*boxes)
        one = outputs_of(*((*box, 0.9 - 0.1 * place) for place, box in enumerate(boxes)))
        rows = one.predictions.to_pylist()
        more = [{**row, "model": "n", "prediction_id": row["prediction_id"] + 10} for row in rows[:2]]
        two = Outputs.from_rows([{"case_id": case, "model": model} for model in "mn" for case in "abc"], [*rows, *more])
        evaluated(tmp_path, (suite, one), ["average_precision"])
        run = evaluated(tmp_path, (suite, two), ["average_precision"])
        assert reused(run) == 3
        assert tables(run) == tables(evaluated(tmp_path, (suite, two), ["average_precision"], reuse=False))
        assert not reused(evaluated(tmp_path, (suite, two), ["average_precision"], seed=1))

    @pytest.mark.parametrize("kind", ["text", "classes", "boxes"])
    def test_a_model_of_another_name(self, tmp_path, kind):
        """A model has the name of its file, and people call one answers.csv and then answers-2.csv."""
        box = ("a", "cat", 1, 1, 8, 8)
        labels = [{"case_id": f"{n}", "label": "ab"[n % 2]} for n in range(12)]
        suite, outputs, evaluators = {
            "text": (text_suite(5), text_outputs(5, ("m",)), TEXT[:2]),
            "classes": (Suite.from_rows("s", "classification", labels), _guesses(12), CLASSES),
            "boxes": (suite_of(box), outputs_of((*box, 0.9), cases="a"), ["average_precision"]),
        }[kind]
        evaluated(tmp_path, (suite, outputs), evaluators)
        tabled = [outputs.outputs.to_pylist(), [] if outputs.predictions is None else outputs.predictions.to_pylist()]
        renamed = Outputs.from_rows(*([{**row, "model": "another"} for row in rows] for rows in tabled))
        run = evaluated(tmp_path, (suite, renamed), evaluators)
        assert reused(run) == len(outputs.outputs) * len(evaluators)
        assert tables(run) == tables(evaluated(tmp_path, (suite, renamed), evaluators, reuse=False))

    def test_shards(self, tmp_path):
        evaluated(tmp_path / "w", (text_suite(5), text_outputs(5)), TEXT)
        more = text_suite(7), text_outputs(7)
        fresh = evaluated(tmp_path / "w", more, TEXT, reuse=False)
        shards = []
        for index in (1, 2):
            run = engine.create(Workspace(tmp_path / "w"), *more, TEXT, reuse=True)
            make_shard(run, Shard(index, 2))
            shards.append(engine.execute(run, AtOnce).folder)
        merged = merge(shards, Workspace(tmp_path / "merged"))
        assert tables(merged) == tables(fresh)
        assert reused(merged) > 0


def _known() -> Mapping[str, Any]:
    from metrics.core.registry import evaluators

    return evaluators()


def _guesses(count: int) -> Outputs:
    rows = [{"case_id": f"{n}", "model": "m", "label": "ab"[n % 3 % 2], "score": 0.9} for n in range(count)]
    return Outputs.from_rows(_answers(rows), rows)


def _answers(predictions: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    return [{"case_id": row["case_id"], "model": row["model"]} for row in predictions]


class TestOnlyWhatIsTheSame:
    @pytest.fixture
    def first(self, workspace: Path) -> Run:
        return evaluated(workspace, (text_suite(), text_outputs()), ["text_matching"])

    def again(self, workspace: Path, **options: Any) -> int:
        return reused(evaluated(workspace, (text_suite(), text_outputs()), ["text_matching"], **options))

    def test_the_same(self, workspace, first):
        run = evaluated(workspace, (text_suite(), text_outputs()), ["text_matching"])
        assert (run.manifest or {})["reused"] == {first.id: 12}
        assert f"12 scores reused from run {first.id}" in " ".join(run.made_of)

    def test_not_asked_for(self, workspace, first):
        assert not self.again(workspace, reuse=False)

    @pytest.mark.parametrize("parameters", [{"thresholds": {"passes": 0.9}}, {"threshold": 0.9}])
    def test_other_parameters(self, workspace, first, parameters):
        assert not self.again(workspace, parameters={"text_matching": parameters})

    def test_another_version(self, workspace, first):
        entry = _known()["text_matching"]
        object.__setattr__(entry, "version", entry.version + 1)
        try:
            assert not self.again(workspace)
        finally:
            object.__setattr__(entry, "version", entry.version - 1)

    def test_a_source_that_was_changed_after_it_was_sealed(self, workspace, first):
        flip(first.folder / "tables" / "scores.parquet")
        assert not self.again(workspace)

    def test_numbers_that_somebody_else_sealed(self, workspace, first):
        resealed(first, seconds=1.0)
        assert not self.again(workspace)

    def test_an_imported_run(self, workspace, first, tmp_path):
        write_file(first, tmp_path / "run.zip")
        shutil.rmtree(workspace / "runs")
        read_archive(tmp_path / "run.zip", Workspace())
        assert len(Workspace().runs()) == 1
        assert not self.again(workspace)

    def test_a_source_that_goes_before_the_run_begins(self, workspace, first):
        run = engine.create(Workspace(), text_suite(), text_outputs(), ["text_matching"], reuse=True)
        assert run.spec.reused == (first.id,)
        shutil.rmtree(first.folder)
        assert not reused(engine.execute(run, AtOnce))

    def test_a_repair_computes(self, workspace, first):
        run = evaluated(workspace, (text_suite(), text_outputs()), ["text_matching"])
        flip(run.folder / "tables" / "scores.parquet")
        assert repair(run, AtOnce).parts == ("table scores",)
        assert reused(run) == 12

    def test_what_failed_is_scored_again(self, workspace):
        suite, rows = text_suite(3), text_outputs(3, ("good",)).outputs.to_pylist()
        failed = Outputs.from_rows([rows[0] | {"error": "HTTP 503", "answer": None}, *rows[1:]])
        evaluated(workspace, (suite, failed), ["text_matching"])
        assert reused(evaluated(workspace, (suite, failed), ["text_matching"])) == 2

    def test_tags_count_where_an_evaluator_reads_them(self):
        own = _known()["refusals"].parameters()
        assert own.reads_beside_content() == ("tags",)
        assert _known()["fact_check"].parameters(max_dataset_rows=2).reads_beside_content() == ("position",)


SETTINGS = {"model": "scripted", "backoff": 0.01}


class TestWithAJudge:
    def run(self, workspace: Path, url: str, cases: int, models: tuple[str, ...] = ("m",), **judge: Any) -> Run:
        settings = {**SETTINGS, "base_url": url, **judge}
        made = evaluated(workspace, rag(cases, models=models), ["faithfulness"], resources={"judge": settings})
        shutil.rmtree(workspace / "cache", ignore_errors=True)  # it would answer what is not reused
        return made

    def asked(self, judge_server: Any) -> set[int]:
        """The mills that the judge was asked about since."""
        texts = "".join(one.text for one in judge_server.calls)
        found = {number for number in range(20) if f"mill {number}?" in texts or f"{1500 + number}" in texts}
        judge_server.clear()
        return found

    def test_only_new_cases_and_models_are_asked_about(self, workspace, judge_server):
        first = self.run(workspace, judge_server.url, 5)
        assert self.asked(judge_server) == set(range(5))
        more = self.run(workspace, judge_server.url, 8)
        assert self.asked(judge_server) == {5, 6, 7}
        assert (more.manifest or {})["reused"] == {first.id: 5}
        apart = self.run(workspace / "apart", judge_server.url, 8)
        assert more.scores.equals(apart.scores)
        free = ["cached", "seconds"]
        assert more.judgements.drop(columns=free).equals(apart.judgements.drop(columns=free))
        assert more.judgements.groupby("case_id")["cached"].all().sum() == 5
        assert more.spend["calls"] < apart.spend["calls"]
        judge_server.clear()
        same = self.run(workspace, judge_server.url, 8)
        assert not judge_server.calls
        assert same.spend["calls"] == 0
        assert same.judgements["cached"].all()
        assert tables(same, "judgements") == tables(more, "judgements")

    @pytest.mark.parametrize(("no_reuse", "cases"), [(False, 3), (True, 8)])
    def test_the_estimate_says_what_is_reused_and_asks_for_the_rest(self, workspace, judge_server, no_reuse, cases):
        first = self.run(workspace, judge_server.url, 5)
        judge = {**SETTINGS, "base_url": judge_server.url}
        asked = {"judge": judge, "workspace": str(workspace), "no_reuse": no_reuse, "duplicates": "keep"}
        prepared = prepare(as_evaluation(*rag(8), ["faithfulness"], asked))
        reusable = prepared.reusable()
        line = f"5 of 8 cases are reused from {first.id} of {first.created[:10]} (faithfulness); 3 cases are new"
        assert list(reusable.in_words() if reusable else ()) == ([] if no_reuse else [line])
        more = prepare(as_evaluation(*rag(8), ["faithfulness", "rouge"], asked)).reusable()
        assert list(more.in_words() if more else ()) == ([] if no_reuse else [line, "rouge is scored for all 8 cases"])
        estimate = prepared.estimate(reusable=reusable)
        assert estimate is not None
        assert estimate.cases == cases
        run = engine.execute(prepared.create(), AtOnce)
        assert reused(run) == 8 - cases
        assert abs(estimate.calls - run.spend["calls"]) <= cases

    @pytest.mark.parametrize("judge", [{"temperature": 1}, {"prompts": {"claims": "Say."}}, {"model": "other"}])
    def test_another_judge_is_asked_about_all(self, workspace, judge_server, judge):
        self.run(workspace, judge_server.url, 2)
        judge_server.clear()
        assert not reused(self.run(workspace, judge_server.url, 2, **judge))
        assert self.asked(judge_server) == {0, 1}

    def test_a_prompt_that_the_evaluator_does_not_have_changes_nothing(self, workspace, judge_server):
        self.run(workspace, judge_server.url, 2)
        assert reused(self.run(workspace, judge_server.url, 2, prompts={"answer_relevance_questions": "Say."})) == 2

    def test_an_error_is_asked_again(self, workspace, judge_server):
        judge_server.fail_by(lambda one: Fault(status=400) if "1501" in one.text else None)
        run = self.run(workspace, judge_server.url, 3)
        assert sorted(run.scores["status"].unique()) == ["error", "ok"]
        judge_server.fail_by(lambda _: None)
        judge_server.clear()
        again = self.run(workspace, judge_server.url, 3)
        assert self.asked(judge_server) == {1}
        assert again.scores["status"].eq("ok").all()

    def test_killed_and_resumed_it_asks_only_what_is_left(self, workspace, judge_server):
        self.run(workspace, judge_server.url, 3)
        settings = {**SETTINGS, "base_url": judge_server.url}
        options: dict[str, Any] = {"resources": {"judge": settings}, "reuse": True}
        with steady():
            run = engine.create(Workspace(workspace), *rag(5), ["faithfulness", "rouge"], **options)
            for at in (10, 25, 60):
                process = PROCESSES.Process(target=_until_killed, args=(workspace, run.id, at))
                process.start()
                process.join(300)
                assert process.exitcode == -signal.SIGKILL
            judge_server.clear()
            engine.execute(run, AtOnce)
        assert self.asked(judge_server) <= {3, 4}
        fresh = evaluated(workspace / "apart", rag(5), ["faithfulness", "rouge"], **options)
        assert tables(run, "judgements") == tables(fresh, "judgements")


class _Killed(Disk):
    def fail(self, path: Any) -> None:
        os.kill(os.getpid(), signal.SIGKILL)


def _until_killed(workspace: Path, run_id: str, at: int) -> None:
    with steady(), _Killed(workspace, KILL, at):
        engine.execute(Workspace(workspace).run(run_id), AtOnce)
