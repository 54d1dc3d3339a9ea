"""Consistency: repeats reach the evaluator all at once; pairs against rouge_score, statistics against numpy."""

from itertools import combinations
from statistics import quantiles
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, strategies as st

from metrics import engine
from metrics.core.errors import InputError
from metrics.core.evaluator import CaseScore, Evaluator, Findings, Metric, Parameters, Status
from metrics.core.evaluator_decorator import evaluator
from metrics.core.evidence import Evidence
from metrics.core.registry import choose
from metrics.core.schema import SCORES
from metrics.core.suite import Case, Outputs, Suite, rows_table
from metrics.evaluators.consistency.answers import consistency_rouge
from metrics.evaluators.consistency.consistency_statistics import consistency_statistics
from metrics.library.evaluator_choice import runnable
from metrics.stats.repeated_samples import dispersion
from metrics.store import Workspace
from tests.engine.engine_scenes import finished, text_outputs, text_suite

ANSWER = st.lists(st.sampled_from("the cat sat on a mat".split()), min_size=1, max_size=8).map(" ".join)


def scored(entry: Evaluator, answers: list[str | None], **parameters: object) -> CaseScore:
    suite = Suite.from_rows("one", "text", [{"case_id": "1", "expected_answers": ["the cat sat"]}])
    rows = [{"case_id": "1", "model": "m", "run": run, "answer": answer} for run, answer in enumerate(answers, 1)]
    return entry(suite, Outputs.from_rows(rows), entry.parameters.model_validate(parameters)).cases["1"]


@given(st.lists(ANSWER, min_size=2, max_size=5))
def test_pairs_are_those_of_rouge_score(answers: list[str]) -> None:
    from rouge_score.rouge_scorer import RougeScorer

    scorer = RougeScorer(["rouge1", "rouge2", "rougeL"])
    pairs = [scorer.score(first, second) for first, second in combinations(answers, 2)]
    found = scored(consistency_rouge, answers).values
    for kind in ("rouge1", "rouge2", "rougeL"):
        for part, name in (("precision", "precision"), ("recall", "recall"), ("f1", "fmeasure")):
            expected = np.mean([getattr(pair[kind], name) for pair in pairs])
            assert found[f"{kind}_{part}"] == pytest.approx(expected, abs=1e-9)


def test_empty_answers_are_counted_not_compared() -> None:
    score = scored(consistency_rouge, ["yes", "", None, "yes"])
    assert score.values["rougeL_f1"] == 1
    assert (score.evidence.facts["runs"], score.evidence.facts["empty"]) == ([1, 4], 2)
    lonely = scored(consistency_rouge, ["yes", " "])
    assert lonely.reason == "needs two answers that are not empty of the case, has 1"
    assert lonely.evidence == Evidence(facts={"runs": [1], "empty": 1})


def test_answers_without_a_token_have_no_value() -> None:
    assert scored(consistency_rouge, ["?!", "…"]).reason == "fewer than two answers have a token (char)"
    assert scored(consistency_rouge, ["はい", "はい", "yes"]).values["rouge1_f1"] == pytest.approx(1 / 3)


@given(st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=9))
def test_dispersion_is_the_populations(values: list[float]) -> None:
    found = dispersion(values)
    assert found.mean == pytest.approx(np.mean(values), abs=1e-9)
    assert found.variance == pytest.approx(np.var(values), rel=1e-6, abs=1e-9)
    quartiles = quantiles(values * 2 if len(values) == 1 else values, n=4, method="inclusive")
    assert found.median == pytest.approx(quartiles[1])
    assert found.interquartile_range == pytest.approx(quartiles[2] - quartiles[0], abs=1e-9)
    if found.mean:
        assert found.coefficient_of_variation == pytest.approx(found.variance**0.5 / abs(found.mean))


def test_worked_number_10() -> None:
    found = dispersion([0.8, 0.9, 0.7])
    assert found == pytest.approx((0.8, 0.8, 0.006667, 0.081650, 0.102062, 0.2, 0.1), abs=1e-6)
    with pytest.raises(ValueError, match="no values"):
        dispersion([])


def stored(*rows: tuple[str, str, int, float | str]) -> pa.Table:
    """Stored scores of case 1: evaluator, metric, run, and the value or the reason for none."""
    given = [dict(zip(("evaluator", "metric", "run", "value"), row, strict=True)) | {"case_id": "1"} for row in rows]
    for row in given:
        row |= {"status": "error", "reason": row.pop("value")} if isinstance(row["value"], str) else {"status": "ok"}
    return rows_table(given, SCORES)


def spread_of(scores: pa.Table, *metrics: str) -> CaseScore:
    suite = Suite.from_rows("one", "text", [{"case_id": "1"}])
    parameters = consistency_statistics.parameters.model_validate({"metrics_to_run_consistency": metrics})
    found: Findings = consistency_statistics(suite, Outputs.from_rows([]), parameters, scores)
    names = {metric.name for metric in parameters.measured(consistency_statistics.metrics)}
    assert {row.metric for row in found.aggregates} == names
    assert {row.columns["of"] for row in found.aggregates} == set(metrics)
    return found.cases["1"]


def test_repeats_without_a_value_are_listed_with_the_reason() -> None:
    rows = [("umbrela", "mrr", 3, 1.0), ("umbrela", "mrr", 1, 0.5), ("umbrela", "mrr", 2, "the judge gave no reply")]
    score = spread_of(stored(*rows), "umbrela.mrr")
    assert (score.values["mean_of_umbrela:mrr"], score.values["range_of_umbrela:mrr"]) == (0.75, 0.5)
    table = score.evidence.facts["repeats"]
    assert table == [{"metric": "umbrela.mrr", "run 1": 0.5, "run 2": "the judge gave no reply", "run 3": 1.0}]


def test_a_metric_with_too_few_values_does_not_cost_the_others_theirs() -> None:
    rows = [("rouge", "rouge1", run, value) for run, value in ((1, 0.5), (2, 0.7))]
    rows += [("bleu", "bleu1", run, value) for run, value in ((1, 0.5), (2, "x"))]
    score = spread_of(stored(*rows), "rouge.rouge1", "bleu.bleu1", "bleu.bleu2")
    assert score.values["mean_of_rouge:rouge1"] == pytest.approx(0.6)
    assert score.values["mean_of_bleu:bleu1"] is None
    assert score.reason == (
        "needs two repeats with a value of bleu.bleu1, has 1; "
        "the run has no scores of bleu.bleu2 for this case: the model has no output for this case"
    )
    nothing = spread_of(stored(*rows), "bleu.bleu1")
    assert (nothing.status, nothing.values) == (Status.NOT_APPLICABLE, {})


def test_bounds_follow_from_those_of_the_metric() -> None:
    parameters = consistency_statistics.parameters.model_validate(
        {"metrics_to_run_consistency": "umbrela.umbrela, umbrela.mrr"}
    )
    found = {metric.name: metric for metric in parameters.measured(consistency_statistics.metrics)}
    bounds = {name: (metric.low, metric.high) for name, metric in found.items() if name.endswith("_of_umbrela")}
    assert bounds == {
        "mean_of_umbrela": (0, 3), "median_of_umbrela": (0, 3),
        "variance_of_umbrela": (0, 2.25), "standard_deviation_of_umbrela": (0, 1.5),
        "cv_of_umbrela": (0, float("inf")), "range_of_umbrela": (0, 3), "iqr_of_umbrela": (0, 3),
    }  # fmt: skip
    assert [name for name, metric in found.items() if metric.primary] == ["cv_of_umbrela"]
    assert [name for name, metric in found.items() if not metric.minor] == ["cv_of_umbrela"]


@pytest.mark.parametrize(("evaluators", "given", "message"), [
    (["rouge"], {"of": "roug"}, "expected metrics of the run's other evaluators of single cases, which are rouge"),
    (["rouge"], {"of": "rouge.f"}, "expected one of rouge.rougeL, rouge.rouge1"),
    (["rouge"], {"metrics_to_run_consistency": ["umbrela"]}, "which are rouge"),
    (["classification_text"], {}, "expected other evaluators of single cases beside it"),
])  # fmt: skip
def test_only_metrics_of_single_cases_in_the_run_can_be_followed(evaluators, given, message):
    with pytest.raises(InputError, match=message):
        engine.with_followed([*evaluators, "consistency_statistics"], {"consistency_statistics": given})


def test_what_is_followed_is_spelled_out() -> None:
    chosen = ["consistency_statistics", "rouge", "groundedness", "faithfulness", "classification_text"]
    ids, parameters = engine.with_followed(chosen, {"rouge": {"use_stemmer": True}})
    assert ids == chosen
    assert parameters["consistency_statistics"]["metrics_to_run_consistency"] == [
        "rouge.rougeL", "rouge.rouge1", "rouge.rouge2", "rouge.rougeLsum", "groundedness.groundedness",
        "faithfulness.faithfulness", "faithfulness.least_supported",
    ]  # fmt: skip
    assert engine.with_followed(ids, parameters) == (ids, parameters), "spelled out, it stays the same"


def test_an_evaluator_that_needs_no_model_is_added_where_it_is_named() -> None:
    ids, _ = engine.with_followed(["consistency_statistics"], {"consistency_statistics": {"of": "rouge.rouge1"}})
    assert ids == ["rouge", "consistency_statistics"]


def test_thresholds_of_its_numbers_can_be_given_before_they_are_spelled_out() -> None:
    given = {"consistency_statistics": {"thresholds": {"range_of_rouge:rougeL": 0.1}}}
    ids, parameters = engine.with_followed(["rouge", "consistency_statistics"], given)
    entry, _ = choose(ids, parameters)["consistency_statistics"]
    assert entry.metric("range_of_rouge:rougeL").threshold == 0.1


def test_a_run_gives_an_evaluator_all_repeats_of_a_model(workspace: object) -> None:
    run = finished(
        Workspace(), text_suite(), text_outputs(repeats=3), "consistency_rouge", "consistency_statistics", "rouge"
    )
    rows = run.aggregates.query("metric == 'rougeL_f1' and slice.isna()")
    assert rows["run"].isna().all()
    assert (rows["value"].tolist(), rows["n"].tolist()) == ([1.0, 1.0], [6, 6])
    scores = run.scores.query("metric == 'rougeL_f1'")
    assert len(scores) == 12
    assert "[1,2,3]" in run.scores.query("evaluator == 'consistency_rouge'")["evidence"].dropna().iloc[0]
    assert set(run.aggregates["slice"].dropna()) == {"tag=even", "tag=third"}


def test_it_is_offered_where_there_are_repeats() -> None:
    suite = text_suite()
    assert "consistency_rouge" not in runnable(suite, text_outputs())
    assert "consistency_rouge" in runnable(suite, text_outputs(repeats=2))


def test_only_a_data_set_evaluator_takes_all_repeats() -> None:
    def single(case: Case, parameters: Parameters) -> CaseScore:
        """One."""
        return CaseScore({})

    with pytest.raises(ValueError, match="only a data-set evaluator"):
        evaluator(id="x", title="X", tasks=("text",), inputs=("answer",), metrics=(Metric("x", "X.", primary=True),),
                  repeats=True)(single)  # fmt: skip


def test_rouge_types_are_the_metrics() -> None:
    entry, _ = choose(["consistency_rouge"], {"consistency_rouge": {"rouge_types": ["rouge2", "rougeLsum", "rouge2"]}})[
        "consistency_rouge"
    ]
    parts = ("precision", "recall", "f1")
    assert [metric.name for metric in entry.metrics] == [
        f"{kind}_{part}" for kind in ("rouge2", "rougeLsum") for part in parts
    ]
    assert entry.primary.name == "rouge2_f1"
    found = scored(consistency_rouge, ["a b c", "a b d"], rouge_types=["rouge2", "rougeLsum"]).values
    assert (found["rouge2_f1"], found["rougeLsum_f1"]) == (0.5, pytest.approx(2 / 3))


def test_a_baseline_is_looked_up_or_given() -> None:
    def baseline(**given: Any) -> float | None:
        return choose(["consistency_bertscore"], {"consistency_bertscore": given})["consistency_bertscore"][
            1
        ].subtracted

    published = {"token_encoder": "xlm-roberta-large", "layer": 17, "rescale_with_baseline": True}
    assert baseline() is None
    assert (baseline(baseline=0.4), baseline(**published)) == (0.4, 0.8525485)
    assert baseline(**published, baseline=0.4) == 0.4
    with pytest.raises(
        InputError, match="expected a value of baseline, as a published one is known only for token_enco"
    ):
        baseline(rescale_with_baseline=True)
    with pytest.raises(InputError, match="expected a value of baseline"):
        baseline(**published, lang="fr")
