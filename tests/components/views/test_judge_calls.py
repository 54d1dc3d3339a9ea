"""What is said of a judge: evidence to draw, costs, forms. Pure functions, no page."""

import json
from dataclasses import replace
from typing import Any

import pytest

from components.views.judge import judge_calls, judge_form, prompt_playground, reply_cache
from components.views.setup import run_judge
from metrics.core.evidence import Evidence, Verdict
from metrics.core.registry import evaluators
from metrics.engine import Estimate
from metrics.judge.cache import Statistics
from metrics.presentation.verdict_rows import VerdictGroup, verdict_groups
from metrics.presentation.viewers import evidence_rows

CALL = {"judge": "j", "step": "claims", "reply": "{}", "error": None, "cached": False, "cost_usd": 0.002, "tokens": 30,
        "seconds": 0.5}  # fmt: skip
SPEND = {"calls": 12, "cached": 3, "prompt_tokens": 900, "completion_tokens": 100, "usd": 0.25}


def claims(*verdicts: Verdict) -> tuple[VerdictGroup, ...]:
    return verdict_groups(Evidence({"claims": verdicts}))


def test_contexts_are_drawn_where_a_verdict_rests_on_one() -> None:
    wrong = Verdict("B.", "no", "hedged")
    drawn = evidence_rows.payload(claims(Verdict("A.", "yes", rests_on=(("contexts", 2),)), wrong), ["a", "b"])
    assert drawn["contexts"] == ["a", "b"]
    assert drawn["groups"][0]["note"] == "✓ 1 · ✗ 1"
    other = Verdict("A.", "yes", rests_on=(("reference_claims", 1),))
    assert evidence_rows.payload(claims(other, wrong), ["a", "b"])["contexts"] == []


def test_what_the_browser_draws_is_json() -> None:
    verdict = Verdict("A.", "no", "hedged", "It says perhaps.", (("contexts", 1),), "perhaps", "A!", {"share": 0.5})
    (group,) = json.loads(json.dumps(evidence_rows.payload(claims(verdict), [])["groups"]))
    assert group["rows"] == [
        {"number": 1, "text": "A.", "expected": "A!", "glyph": "✗", "label": "hedged", "reason": "It says perhaps.",
            "restsOn": [["contexts", 1]], "links": "context 1", "notes": ["“perhaps”", "share: 0.500"], "quotes": [],
            "colour": evidence_rows.COLOURS["no"]},
    ]  # fmt: skip


def test_only_so_many_rows_are_drawn() -> None:
    drawn = evidence_rows.payload(claims(*[Verdict("A.", "unknown")] * (evidence_rows.MOST_ROWS + 2)), [])
    assert len(drawn["groups"][0]["rows"]) == evidence_rows.MOST_ROWS
    assert drawn["groups"][0]["note"] == "– 202 · the first 200 are shown"


@pytest.mark.parametrize(
    ("amount", "text"),
    [(None, "price unknown"), (0, "$0.00"), (1234.5, "$1,234.50"), (0.0042, "$0.0042"), (1e-6, "less than $0.0001")],
)
def test_dollars(amount: float | None, text: str) -> None:
    assert judge_calls.dollars(amount) == text


@pytest.mark.parametrize(("calls", "line"), [
    ([], "Judged by j"), ([CALL], "Judged by j · 1 reply · 30 tokens · $0.002"),
    ([CALL, CALL | {"cached": True}], "Judged by j · 2 replies, 1 from the cache · 30 tokens · $0.002"),
    ([CALL | {"cached": True}], "Judged by j · 1 reply, 1 from the cache"),
    ([CALL | {"cost_usd": None, "error": "no JSON"}],
        "Judged by j · 1 reply · 30 tokens · price unknown · 1 could not be read"),
], ids=["none", "one", "one cached", "all cached", "unreadable"])  # fmt: skip
def test_the_cost_of_a_score(calls: list[dict[str, Any]], line: str) -> None:
    assert judge_calls.cost_line("j", calls) == line


def test_the_spend_of_a_run_beside_its_budget() -> None:
    assert judge_calls.spend_line([], None, {}) == ""
    assert judge_calls.spend_line(["j"], None, {}) == "Judge j"
    assert judge_calls.spend_line(["j"], SPEND, {"calls": 50, "usd": 1}) == (
        "Judge j · 12 calls of 50 · 3 answered from the cache · 1,000 tokens · $0.25 of $1.00"
    )


def test_suspicions_are_told_once() -> None:
    entries = [
        {"where": "retrieved_contexts 2", "what": "orders", "text": "ignore"},
        {"where": "answer", "what": "orders", "text": "ignore"},
    ]
    found = judge_calls.suspicions([{"suspected_injection": entries}, {"suspected_injection": entries[:1]}, {}])
    assert judge_calls.suspicion_lines(found) == ["orders: “ignore” (retrieved context 2, answer)"]


@pytest.mark.parametrize(("setting", "way"), [
    (None, "hosted"), ({"model": "gpt-4o-mini", "base_url": None}, "hosted"),
    ({"model": "m", "base_url": "http://h/v1"}, "server"), ({"model": "local", "base_url": None}, "local"),
    ({"model": "local:/m.gguf", "base_url": None}, "local"),
])  # fmt: skip
def test_the_way_to_a_judge(setting: dict[str, Any] | None, way: str) -> None:
    assert judge_form.way_of(setting) == way


@pytest.mark.parametrize(("way", "model", "address", "setting"), [
    ("hosted", "", "", None),
    ("hosted", " gpt-4o ", "http://ignored", {"model": "gpt-4o", "budget": {}}),
    ("server", "m", "", None),
    ("server", "m", "http://h/v1", {"model": "m", "base_url": "http://h/v1", "budget": {}}),
    ("local", "", "", None),
    ("local", "local", "", {"model": "local", "budget": {}}),
])  # fmt: skip
def test_the_settings_a_form_means(way: str, model: str, address: str, setting: dict[str, Any] | None) -> None:
    assert judge_form.setting_of(way, model, address, {}, {}) == setting


def test_a_panel_is_lines() -> None:
    text = "b\nc at http://h/v1"
    panel = judge_form.panel_of(f" {text} \n\n")
    assert panel == [{"model": "b"}, {"model": "c", "base_url": "http://h/v1"}]
    assert judge_form.panel_lines(panel) == text
    made = judge_form.setting_of("hosted", "a", "", {"concurrency": 4}, {"usd": 1}, panel, {"prompts": {"claims": "x"}})
    assert made == {"model": "a", "concurrency": 4, "budget": {"usd": 1}, "panel": panel, "prompts": {"claims": "x"}}


def judged(judge: str, value: float | None, status: str = "ok", reason: str | None = None) -> dict[str, Any]:
    return {"judge": judge, "values": {"faithfulness": value}, "status": status, "reason": reason}


@pytest.mark.parametrize(("judges", "rows"), [
    ([judged("a at h:1", 1.0), judged("b at h:1", 0.5)],
        [{"judge": "a", "faithfulness": "1.00"}, {"judge": "b", "faithfulness": "0.500"}]),
    ([judged("a at h:1", 1.0), judged("a at h:2", None, "parse_failure", "no JSON")],
        [{"judge": "a at h:1", "faithfulness": "1.00", "status": "scored", "reason": ""},
        {"judge": "a at h:2", "faithfulness": "–", "status": "reply unreadable", "reason": "no JSON"}]),
], ids=["all scored", "one model twice, one reply unreadable"])  # fmt: skip
def test_the_scores_of_a_panel(judges: list[dict[str, Any]], rows: list[dict[str, str]]) -> None:
    assert judge_calls.panel_table(judges).to_dict("records") == rows


ESTIMATE = Estimate(("j",), 4, 4, 0, 0, 0, 0, None)


@pytest.mark.parametrize(("estimate", "lines"), [
    (replace(ESTIMATE, cached=9), ["No judge call: the cache has every reply"]),
    (Estimate(("j",), 477, 100, 12, 9, 3012, 400, 0.5), ["About 12 judge calls; the cache has 9 more",
        "About 3,400 tokens · $0.5", "Estimated from 100 of 477 cases."]),
    ("no", ["No estimate: no"]),
], ids=["all cached", "some", "problem"])  # fmt: skip
def test_an_estimate_in_lines(estimate: Estimate | str, lines: list[str]) -> None:
    assert judge_calls.estimate_lines(estimate) == lines


def test_a_prompt_that_evaluators_share_is_listed_once() -> None:
    every = evaluators()
    found = run_judge.prompts_of(["faithfulness", "hallucination_claims"], every, judged=True)
    assert found["claims"].used_by == tuple(every[name].title for name in ("faithfulness", "hallucination_claims"))
    assert found["claims"].prompt == next(prompt for prompt in every["faithfulness"].prompts if prompt.id == "claims")
    templates = run_judge.prompts_of(["faithfulness", "gptscore_qa"], every, judged=False)
    assert list(templates)[:2] == ["gptscore_qa", "gptscore_qa.interest"], "a template needs no judge"


def test_levels_are_lines() -> None:
    levels, meanings = prompt_playground.parse_levels("good = 1\n\n in = part = 0.5 :  a: b = 2 \n")
    assert (levels, meanings) == ({"good": 1.0, "in = part": 0.5}, {"in = part": "a: b = 2"})
    assert prompt_playground.parse_levels(prompt_playground.level_lines(levels, meanings)) == (levels, meanings)


@pytest.mark.parametrize("text", ["good", "= 1", "good = much"])
def test_levels_that_are_none(text: str) -> None:
    with pytest.raises(ValueError, match="is not of the form: good = 1"):
        prompt_playground.parse_levels(text)


def test_the_figures_of_the_cache() -> None:
    held = Statistics(1200, 2_500_000, 30, 10, 9000, 0.0, 30, ())
    assert [value for _, value, _ in reply_cache.facts(held)] == ["1,200", "2.5 MB", "30 (75 %)", "10", "unknown"]
    assert reply_cache.facts(replace(held, saved_usd=1.5, unpriced_hits=0))[-1][1] == "$1.50"
