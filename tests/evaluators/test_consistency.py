"""Consistency: repeats reach the evaluator all at once; pairs against rouge_score, statistics against numpy."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from metrics.core.evaluator import CaseScore, Evaluator, Metric, Parameters, evaluator
from metrics.core.evidence import Evidence
from metrics.core.suite import Case, Outputs, Suite
from metrics.evaluators.consistency.consistency_rouge import consistency_rouge
from metrics.evaluators.consistency.consistency_statistics import consistency_statistics
from metrics.library.evaluate import runnable
from metrics.stats.dispersion import dispersion
from metrics.store import Workspace
from tests.engine.engine_scenes import finished, text_outputs, text_suite

ANSWER = st.lists(st.sampled_from("the cat sat on a mat".split()), min_size=1, max_size=8).map(" ".join)


def scored(entry: Evaluator, answers: list[str | None], **parameters: object) -> CaseScore:
    suite = Suite.from_rows("one", "text", [{"case_id": "1", "expected_answers": ["the cat sat"]}])
    rows = [{"case_id": "1", "model": "m", "run": run, "answer": answer} for run, answer in enumerate(answers, 1)]
    score: CaseScore = entry(suite, Outputs.from_rows(rows), entry.parameters.model_validate(parameters)).cases["1"]
    return score


@settings(max_examples=25, deadline=None)
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
    assert score.evidence is not None
    assert (score.evidence.facts["runs"], score.evidence.facts["empty"]) == ([1, 4], 2)
    lonely = scored(consistency_rouge, ["yes", " "])
    assert lonely.reason == "needs two answers that are not empty of the case, has 1"
    assert lonely.evidence == Evidence(facts={"runs": [1], "empty": 1})


def test_answers_without_a_token_have_no_value() -> None:
    assert "all that ROUGE sees" in (scored(consistency_rouge, ["はい", "はい"]).reason or "")
    assert scored(consistency_rouge, ["はい", "はい", "yes"]).values["rouge1_f1"] == 0


@given(st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=9))
def test_dispersion_is_the_populations(values: list[float]) -> None:
    found = dispersion(values)
    assert found.mean == pytest.approx(np.mean(values), abs=1e-9)
    assert found.variance == pytest.approx(np.var(values), rel=1e-6, abs=1e-9)
    if found.mean:
        assert found.coefficient_of_variation == pytest.approx(found.variance**0.5 / abs(found.mean))


def test_worked_number_10() -> None:
    found = dispersion([0.8, 0.9, 0.7])
    assert found == pytest.approx((0.8, 0.006667, 0.102062), abs=1e-6)
    with pytest.raises(ValueError, match="no values"):
        dispersion([])


def test_repeats_without_a_value_are_counted_with_the_reason() -> None:
    score = scored(consistency_statistics, ["the cat", "the", "sat"], of="looping_detection.unique_sentences")
    assert score.reason == "needs two repeats with a value of unique_sentences of the case, has 0"
    assert score.evidence is not None
    assert score.evidence.facts["unscored"][0] == {"run": 1, "reason": "no sentence has 10 characters"}
    assert scored(consistency_statistics, ["the cat", "the"], of="text_matching").reason


@pytest.mark.parametrize(
    ("of", "message"),
    [("roug", "one of .*rouge"), ("rouge.f", "one of rouge.rouge1, "), ("classification_text", "one of ")],
)
def test_only_metrics_of_single_cases_can_be_followed(of: str, message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        consistency_statistics.parameters.model_validate({"of": of})


def test_weights_count() -> None:
    suite = Suite.from_rows("two", "text", [{"case_id": "1", "weight": 3.0}, {"case_id": "2", "weight": 1.0}])
    rows = [
        {"case_id": case_id, "model": "m", "run": run, "answer": answer}
        for case_id, answers in (("1", ("a", "a")), ("2", ("a", "b")))
        for run, answer in enumerate(answers, 1)
    ]
    findings = consistency_rouge(suite, Outputs.from_rows(rows), consistency_rouge.parameters())
    values = {row.metric: row.value for row in findings.aggregates}
    assert values["rouge1_f1"] == 0.75


def test_a_run_gives_an_evaluator_all_repeats_of_a_model(workspace: object) -> None:
    run = finished(Workspace(), text_suite(), text_outputs(repeats=3), "consistency_rouge", "consistency_statistics")
    rows = run.aggregates.query("metric == 'rougeL_f1' and slice.isna()")
    assert rows["run"].isna().all()
    assert rows["value"].tolist() == [1.0, 1.0]
    assert rows["n"].tolist() == [6, 6]
    scores = run.scores.query("metric == 'rougeL_f1'")
    assert len(scores) == 12
    assert "[1, 2, 3]" in run.scores.query("evaluator == 'consistency_rouge'")["evidence"].dropna().iloc[0]
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
