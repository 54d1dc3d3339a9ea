"""Which thresholds are in force for a run: the user's, the workspace's calibrations, those that come with Assay."""

from pathlib import Path
from typing import Any

import pytest

from metrics import engine, models
from metrics.calibrations import calibrated_thresholds
from metrics.calibrations.calibrated_thresholds import (
    calibrated_by,
    calibrations_for,
    models_used,
    shipped,
    shipped_for,
)
from metrics.core.calibration import Calibration
from metrics.core.registry import choose, evaluators
from metrics.core.suite import Outputs, Suite
from metrics.judge.local.install import MODEL as KNOWN
from metrics.judge.local.short_questions import VERSION
from metrics.judge.settings import settings_of
from metrics.models.embedder import BUNDLED_WEIGHTS
from metrics.store import Run, Workspace
from metrics.store.run_spec import spec_of
from metrics.store.threshold_profiles import Calibrations

pytestmark = pytest.mark.usefixtures("nothing_shipped")
BUNDLED = {"embedder": BUNDLED_WEIGHTS}
CASE = {"case_id": "a", "question": "Who?", "expected_answers": ["Ann."]}
ANSWER = {"case_id": "a", "model": "m", "answer": "Ann.", "retrieved_contexts": ["Ann did it."]}


def calibration(metric: str = "groundedness", evaluator: str = "groundedness", **given: Any) -> Calibration:
    fields = {
        "version": evaluators()[evaluator].version, "models": BUNDLED, "threshold": 0.4, "n": 120, "passed": 70,
        "data": "labels", "auc": 0.7, "auc_low": 0.6, "auc_high": 0.8,
    }  # fmt: skip
    return Calibration(evaluator=evaluator, metric=metric, **fields | given)


def created(*ids: str, parameters: dict[str, Any] | None = None, resources: dict[str, Any] | None = None) -> Run:
    suite, outputs = Suite.from_rows("one", "text", [CASE]), Outputs.from_rows([ANSWER])
    return engine.create(Workspace(), suite, outputs, ids, parameters, resources=resources)


def threshold(run: Run, id: str = "groundedness") -> float | None:
    entry = run.evaluator(id)
    assert entry is not None
    return entry.primary.threshold


def test_a_run_stores_the_calibration_that_fits_its_embedder(kept_calibrations: Calibrations) -> None:
    before = created("groundedness")
    kept_calibrations.keep(calibration())
    run = created("groundedness")
    assert (threshold(before), threshold(run)) == (None, 0.4)
    assert run.calibrations("groundedness") == {"groundedness": calibration()}
    kept_calibrations.keep(calibration(threshold=0.6))  # a run keeps what it began with
    assert threshold(Run(run.folder)) == 0.4


@pytest.mark.parametrize("other", [
    {"models": {"embedder": "b" * 64}}, {"version": 1}, {"settings": {"bare_words": 0}},
], ids=["other weights", "another version", "other parameters"])  # fmt: skip
def test_a_calibration_of_anything_else_sets_nothing(kept_calibrations: Calibrations, other: dict[str, Any]) -> None:
    kept_calibrations.keep(calibration(**other))
    assert threshold(created("groundedness")) is None


def test_parameters_that_no_number_depends_on_do_not_matter(kept_calibrations: Calibrations) -> None:
    kept_calibrations.keep(calibration(metric="mean_similarity", evaluator="answer_semantic_sentence_similarity"))
    given = {"answer_semantic_sentence_similarity": {"thresholds": {"min_similarity": 0.2}}}
    run = created(*given, parameters=given)
    entry = run.evaluator("answer_semantic_sentence_similarity")
    assert entry is not None
    assert [metric.threshold for metric in entry.metrics] == [0.4, 0.2]


@pytest.mark.parametrize("given", [{"threshold": 0.9}, {"thresholds": {"groundedness": 0.9}}])
def test_a_given_threshold_counts_and_the_calibration_is_still_known(kept_calibrations, given):
    kept_calibrations.keep(calibration())
    run = created("groundedness", parameters={"groundedness": given})
    assert threshold(run) == 0.9
    assert "groundedness" in run.calibrations("groundedness")


def test_one_that_does_not_separate_gives_no_threshold_but_is_known(kept_calibrations: Calibrations) -> None:
    kept_calibrations.keep(calibration(threshold=None, auc=0.48, auc_low=0.4))
    run = created("groundedness")
    assert threshold(run) is None
    assert not run.calibrations("groundedness")["groundedness"].separates


def test_a_cutoff_is_filled_where_it_is_empty(kept_calibrations: Calibrations) -> None:
    kept_calibrations.keep(calibration("mrr_relevant_chunk_threshold", "context_mrr", threshold=0.35))
    own = {"context_mrr": {"mrr_relevant_chunk_threshold": 0.7}}
    runs = created("context_mrr"), created("context_mrr", parameters=own)
    assert [run.evaluators["context_mrr"]["mrr_relevant_chunk_threshold"] for run in runs] == [0.35, 0.7]


def test_the_workspaces_own_comes_before_what_comes_with_assay(kept_calibrations, monkeypatch):
    monkeypatch.setattr(calibrated_thresholds, "shipped", lambda: (calibration(threshold=0.1),))
    entry, values = choose(["groundedness"])["groundedness"]
    assert [one.threshold for one in calibrations_for(entry, values, {}, kept_calibrations.folder)] == [0.1]
    kept_calibrations.keep(calibration())
    assert [one.threshold for one in calibrations_for(entry, values, {}, kept_calibrations.folder)] == [0.4]
    kept_calibrations.forget(calibration())
    assert kept_calibrations.all() == []


def test_models_are_known_by_their_weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    entry, values = choose(["groundedness"])["groundedness"]
    assert models_used(entry, values, {}) == BUNDLED
    folder = tmp_path / "model"
    folder.mkdir()
    assert models_used(entry, values, {"embedder": str(folder)}) is None  # no weights in it
    (folder / "model.safetensors").write_bytes(b"weights")
    first = models_used(entry, values, {"embedder": str(folder)})
    (folder / "model.safetensors").write_bytes(b"others!!")
    assert first is not None
    assert first != models_used(entry, values, {"embedder": str(folder)})
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert models.weights_of("embedder", {"embedder": "nobody/has-this"}) is None


def test_a_judge_is_part_of_what_a_number_rests_on(kept_calibrations: Calibrations) -> None:
    entry, values = choose(["answer_relevancy"])["answer_relevancy"]
    assert models_used(entry, values, {}) is None
    assert models_used(entry, values, {"judge": "some/model"}) == BUNDLED | {"judge": "some/model"}


def judged(**judge: Any) -> str:
    """What a calibration of faithfulness knows a judge by."""
    entry, values = choose(["faithfulness"])["faithfulness"]
    used = models_used(entry, values, {"judge": {"model": "m", **judge}})
    assert used is not None
    return used["judge"]


def test_a_calibration_knows_a_judge_with_the_settings_that_scores_depend_on() -> None:
    own, others = evaluators()["faithfulness"].prompts[0].id, "no_answer"
    assert judged(timeout=5.0, concurrency=2, prompts={others: "Did it answer?"}) == judged() == "m"
    changed = [{"temperature": 0.5}, {"prompts": {own: "List them."}}, {"prompts": {own: "Cite them."}}, {"seed": 3}]
    assert len({judged(**one) for one in changed} | {judged()}) == 1 + len(changed)
    assert judged(panel=[{"model": "n"}]) == "m + n"
    assert judged(model="local") == f"{KNOWN.name}, questions {VERSION}"  # other questions are another judge


def test_the_local_judge_has_thresholds_of_its_own(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calibrated_thresholds, "shipped", shipped)
    known = {one.metric: one.threshold for one in shipped_for(settings_of("local")) if one.evaluator == "faithfulness"}
    entry, values = choose(["faithfulness"])["faithfulness"]
    resources = {"judge": "local"}
    assert (
        calibrated_by(entry, values, resources, workspace)["calibrated"]
        == known
        == {"faithfulness": 0.671, "least_supported": 0.5}
    )
    assert calibrated_by(entry, values, {"judge": "another"}, workspace) == {}
    edited = settings_of({"model": "local", "prompts": {entry.prompts[0].id: "List them."}})
    assert "faithfulness" not in {one.evaluator for one in shipped_for(edited)}
    assert not [*shipped_for(settings_of("another"))]


def test_a_run_of_an_earlier_version_has_no_calibrations(workspace: Path) -> None:
    run = created("groundedness")
    stored = run.spec.stored
    stored["evaluators"][0].pop("calibrations", None)
    run.spec = spec_of(stored)
    assert run.calibrations("groundedness") == {}
    assert threshold(run) is None


def test_a_damaged_file_says_so(kept_calibrations: Calibrations) -> None:
    kept_calibrations.path.write_text('[{"evaluator": "groundedness"}]')
    with pytest.raises(Exception, match=r"calibrations\.json.*expected calibrations as `calibrate` writes them"):
        created("groundedness")
