"""The models of the bundled samples fail as their descriptions say."""

from collections.abc import Callable

from metrics import engine
from metrics.store import Workspace
from metrics.suites.samples import create, samples
from tests.engine.engine_scenes import one_thread
from tests.evaluators.detected import pick, run
from tests.suites.sample_files import rows


def numbers(sample: str, evaluator: str) -> Callable[..., float]:
    """The numbers of a sample's models by one of its evaluators: model, metric, label, columns."""
    suite, outputs = next(one for one in samples() if one.id == sample).read()
    found = {model: run(evaluator, suite, outputs.restricted(model)) for model in outputs.models}
    return lambda model, metric, label=None, **columns: pick(found[model], metric, label, **columns).value


def test_the_pose_and_panoptic_models_fail_as_described():
    number = numbers("poses", "keypoint_summary")
    loose, exact = (
        number(f"{bird}-pose", "keypoint_PCK", "person", keypoint="left_wrist") for bird in ("heron", "egret")
    )
    assert loose < exact == 1
    assert number("heron-pose", "AR50") > number("egret-pose", "AR50")
    assert number("heron-pose", "AP75") < number("egret-pose", "AP75")
    number = numbers("panoptic", "panoptic_quality")
    assert number("puffin-seg", "SQ") > 0.95 > 0.85 > number("gannet-seg", "SQ")
    assert number("puffin-seg", "RQ", "crate") < number("gannet-seg", "RQ", "crate")
    assert number("puffin-seg", "RQ", "ship") > number("gannet-seg", "RQ", "ship")


class TestRegression:
    """regression/: days until a reservation is ready."""

    suite = rows("regression/suite.csv")
    outputs = rows("regression/outputs.csv")

    def of(self, model: str) -> dict[str, dict[str, str]]:
        return {row["case_id"]: row for row in self.outputs if row["model"] == model}

    def bias(self, model: str, served_by: str) -> float:
        own = self.of(model)
        errors = [
            float(own[row["case_id"]]["predicted_value"]) - float(row["true_value"])
            for row in self.suite
            if row["metadata.served_by"] == served_by
        ]
        return sum(errors) / len(errors)

    def test_the_models_fail_as_described(self):
        assert self.bias("dab-linear", "boat") < -4 < -0.5 < self.bias("dab-linear", "van") < 1.5
        assert all(abs(self.bias("plaice-forest", served_by)) < 1 for served_by in ("boat", "van"))
        coverage = numbers("regression", "interval_coverage")
        assert coverage("dab-linear", "coverage") < 0.75 < 0.88 < coverage("plaice-forest", "coverage") < 0.95


class TestRetrieval:
    """retrieval/: searches in a catalogue, with graded titles."""

    def test_the_engines_fail_as_described(self, tmp_path):
        (sample,) = (sample for sample in samples() if sample.id == "retrieval")
        made = engine.execute(create(Workspace(tmp_path), sample), one_thread)
        found = {
            (row["model"], row["metric"], row["slice"]): row["value"]
            for row in made.stored_table("aggregates").to_pylist()
        }

        def best(metric: str) -> str:
            return max(made.models, key=lambda model: found[model, metric, None])

        assert best("mrr") == best("ndcg_at_1") == "curlew-rerank"
        assert best("ndcg_at_10") == best("recall_at_10") == "knot-vectors"
        plain, other = (
            found["dunlin-words", "ndcg_at_10", f"tag={tag}"] for tag in ("catalogue's words", "other words")
        )
        assert other < plain - 0.2
