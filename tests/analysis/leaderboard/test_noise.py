"""The noise of a model's mean by its sources, what more of each gives, and the cheapest plan."""

from pathlib import Path

import numpy as np
import pytest

from metrics import evaluate
from metrics.analysis import leaderboard, noise
from metrics.analysis.leaderboard.noise import MIN_CASES
from metrics.presentation.noise_words import noise_sentence
from metrics.stats.student_t import Z95
from metrics.stats.variance_components import resampled_components
from metrics.store import Run, Workspace
from tests.analysis.leaderboard.noise_scenes import noisy_run
from tests.analysis.scored import scored_run, with_resources
from tests.judge.judge_scenes import judged_run
from tests.judge.server import JudgeServer


@pytest.fixture(scope="module")
def noisy(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return noisy_run(Workspace(tmp_path_factory.mktemp("noisy")), cost=0.002)


def test_components_are_those_of_the_scores(noisy: Run) -> None:
    calm, moody = noise(noisy, "rouge", "rougeL").models
    rows = noisy.query("SELECT position, run, value FROM scores WHERE metric = 'rougeL' AND model = 'moody'")
    columns = (rows[name].to_numpy() for name in ("value", "position", "run"))
    expected, _ = resampled_components(*columns, resamples=0)
    assert moody.found[:3] == (pytest.approx(expected.case), pytest.approx(expected.repeat), None)
    assert (moody.several, moody.units, moody.worth) == ({"repeats": 40, "draws": 0}, 40, 40.0)
    assert calm.shares["repeats"].value == pytest.approx(0, abs=1e-9)
    shares = moody.shares
    assert (set(shares), sum(share.value for share in shares.values())) == ({"cases", "repeats"}, pytest.approx(1))
    assert all(share.low <= share.value <= share.high for share in shares.values())
    assert 0.02 < shares["repeats"].value < 0.3
    deviation, within, between = moody.single
    assert deviation == pytest.approx((expected.case + expected.repeat) ** 0.5)
    assert within == pytest.approx(expected.repeat / deviation**2)
    assert within > shares["repeats"].value, "of one answer, not of three"
    assert between == 0.0


def test_the_width_is_that_of_the_leaderboard(noisy: Run) -> None:
    found = noise(noisy, "rouge", "rougeL")
    board = leaderboard(noisy)
    column = next(column for column in board.columns if column.metric == "rougeL")
    for one in found.models:
        cell = board.cells[one.model, column.key]
        assert one.half_width() == pytest.approx((cell.high - cell.low) / 2, rel=0.1)
        assert one.half_width(cases=4) == pytest.approx(one.half_width() / 2)
    assert found.models[0].half_width(repeats=2) == pytest.approx(found.models[0].half_width())
    assert found.models[1].half_width(repeats=2) < found.models[1].half_width()


def test_the_plan_is_in_dollars_where_they_are_known(noisy: Run, workspace: Path) -> None:
    moody = noise(noisy, "rouge", "rougeL").models[1]
    plan = moody.plan(0.02)
    assert moody.priced
    assert (plan.repeats, plan.cost) == (1, pytest.approx(0.002 * plan.cases))
    dear = moody.plan(0.02, case_cost=5.0)
    assert dear.repeats > 1
    assert dear.cases < plan.cases
    unpriced = noise(noisy_run(Workspace(workspace), cases=12), "rouge", "rougeL")
    plan = unpriced.models[1].plan(0.02)
    assert not unpriced.models[1].priced
    assert plan.cost == plan.cases


def test_without_repeats_only_the_cases_are_known(workspace: Path) -> None:
    run = scored_run({"rouge.rougeL": {"old": [0.1, 0.5, 0.9, 0.4], "new": [None, None, None, 1.0]}})
    found = noise(run, "rouge", "rougeL")
    (old,) = found.models
    assert (old.model, old.found.repeat, old.found.draw, set(old.shares)) == ("old", None, None, {"cases"})
    assert found.shares == {}
    assert old.half_width() == pytest.approx(Z95 * np.std([0.1, 0.5, 0.9, 0.4], ddof=1) / 2)
    assert noise(run, "rouge", "mAP") is None


def test_few_repeats_tell_no_share(workspace: Path) -> None:
    found = noise(noisy_run(Workspace(workspace), cases=4), "rouge", "rougeL")
    assert ([one.needs for one in found.models], found.shares) == ([MIN_CASES - 4] * 2, {})


def test_groups_and_weights_count(workspace: Path) -> None:
    grouped = noise(noisy_run(Workspace(workspace), group=5), "rouge", "rougeL")
    assert grouped.grouped
    assert (grouped.models[0].units, grouped.models[0].found.size) == (8, 5.0)
    weighted = scored_run({"rouge.rougeL": {"m": [0.1, 0.5, 0.9, 0.4]}}, design={"weight": [3.0, 1.0, 1.0, 1.0]})
    assert noise(weighted, "rouge", "rougeL").models[0].worth == pytest.approx(36 / 12)


def test_the_draws_of_a_judge_are_one_source(judge_server: JudgeServer, workspace: Path) -> None:
    """The judge says no to every third question in its second draw only: draws 1 0 1, of the others 1 1 1."""

    def reply(request: object) -> dict[str, str]:
        question, seed = request.data["QUESTION"], request.body["seed"]
        number = int(question.split("mill ")[1].rstrip("?"))
        return {"attempted": "no" if number % 3 == 0 and seed == 2 else "yes"}

    judge_server.say("no_answer", reply)
    run = judged_run(workspace, judge_server.url, "no_answer", cases=12, temperature=0.7, repeats=3, seed=1)
    found = noise(run, "no_answer", "no_answer")
    (one,) = found.models
    assert found.judged
    values = np.array([1.0 if place % 3 or draw != 1 else 0.0 for place in range(12) for draw in range(3)])
    expected, _ = resampled_components(values, np.repeat(np.arange(12), 3), np.zeros(36, int), resamples=0)
    assert (one.found.case, one.found.repeat, one.found.draw) == (
        pytest.approx(expected.case), None, pytest.approx(expected.draw),
    )  # fmt: skip
    assert (one.several, set(one.shares), one.draw_usd) == ({"repeats": 0, "draws": 12}, {"cases", "draws"}, None)


def test_the_judges_of_a_panel_are_draws_less_their_means(workspace: Path) -> None:
    """Judge b always gives .2 less than a: no noise of judges."""
    values = [0.3, 0.5, 0.9, 0.4, 0.7, 0.6, 0.8, 0.35, 0.45, 0.55, 0.65, 0.75]
    panel = {
        ("faithfulness", "m", place): {
            "panel": {
                "judges": [
                    {"judge": "a", "values": {"faithfulness": value + 0.1}},
                    {"judge": "b", "values": {"faithfulness": value - 0.1}},
                ]
            }
        }
        for place, value in enumerate(values)
    }
    run = scored_run({"faithfulness": {"m": values}}, panel)
    run = with_resources(run, judge={"model": "a", "panel": [{"model": "b"}]})
    (one,) = noise(run, "faithfulness", "faithfulness").models
    assert (one.found.draw, one.found.case) == (pytest.approx(0, abs=1e-12), pytest.approx(np.var(values, ddof=1)))


def prompted_run(variants: int, cases: int, spread: float) -> Run:
    """A run of one model whose answers are right the more often the better the variant of the prompt is."""
    rng = np.random.default_rng(variants)
    better, hard = spread * rng.normal(size=variants), rng.random(cases)
    rows = [
        {"case_id": f"c{place}", "question": f"{place}?", "expected_answers": ["a b c d"]} for place in range(cases)
    ]
    outputs = [
        {
            "case_id": f"c{place}", "model": "m", "run": variant + 1, "prompt_variant": f"v{variant}",
            "answer": " ".join("abcd"[: int(np.clip(4 * (hard[place] + better[variant]), 1, 4))]),
        }
        for place in range(cases)
        for variant in range(variants)
    ]  # fmt: skip
    return evaluate(rows, outputs, ["rouge"])


def test_prompt_variants_are_a_source_of_noise(workspace: Path) -> None:
    run = prompted_run(4, 30, 0.3)
    one = noise(run, "rouge", "rougeL").models[0]
    assert (one.prompts.variants, one.prompts.cases, one.prompts.reason) == (4, 30, None)
    assert one.prompts.half_width > 1.5 * one.half_width()
    assert one.prompts.share > 0.5
    sentence = noise_sentence(noise(run, "rouge", "rougeL"), "ROUGE-L")
    assert "is between the 4 prompt variants (30 cases under each)" in sentence


def test_two_variants_or_few_cases_say_why_not(workspace: Path) -> None:
    two = noise(prompted_run(2, 30, 0.3), "rouge", "rougeL").models[0].prompts
    assert two.reason == "it takes 3 variants of the prompt; there are 2"
    few = noise(prompted_run(3, 10, 0.3), "rouge", "rougeL").models[0].prompts
    assert few.reason == "it takes 20 cases answered under every variant, not 10"
    assert few.half_width is None
