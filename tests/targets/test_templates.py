"""Placeholders: what a target may see, and nothing that a value could smuggle in."""

import pytest

from metrics.core.suite import Suite
from metrics.targets.templates import cases_seen, check, fill, fill_json, fill_url, known_names

ROW = {
    "case_id": "1", "question": 'Say "hi" {expected_answer}\n', "expected_answers": ["secret"], "label": "L",
    "conditions": "contains: secret", "reference_contexts": ["p one", "p two"], "tags": ["a", "b"], "topic": "geo/1?",
}  # fmt: skip
SUITE = Suite.from_rows("s", "text", [ROW])
(FIELDS,) = cases_seen(SUITE, reveal_expected=False)


def test_what_gives_the_answer_away_is_not_seen():
    assert "secret" not in str(FIELDS)
    assert set(FIELDS) == {"case_id", "question", "contexts", "source_text", "json_schema", "tags", "metadata"}
    (revealed,) = cases_seen(SUITE, reveal_expected=True)
    assert (revealed["expected_answer"], revealed["label"]) == ("secret", "L")


@pytest.mark.parametrize(("template", "filled"), [
    ("Q: {question}", 'Q: Say "hi" {expected_answer}\n'), ("{contexts}", "[1] p one\n\n[2] p two"),
    ("{topic} {tags}", "geo/1? [1] a\n\n[2] b"), ("{{question}}", "{question}"),
    ('{"a": {"b": 1}} { question } {}', '{"a": {"b": 1}} { question } {}'),
    ("{source_text}.", "."),
])  # fmt: skip
def test_fill(template, filled):
    assert fill(template, FIELDS) == filled


def test_addresses_json_and_system_prompts():
    assert fill_url("http://x/{topic}?q={case_id}", FIELDS) == "http://x/geo%2F1%3F?q=1"
    body = {"text": "<{question}>", "docs": "{contexts}", "n": 3, "deep": [{"t": "{topic}"}], "{topic}": None}
    assert fill_json(body, FIELDS) == {
        "text": '<Say "hi" {expected_answer}\n>', "docs": ["p one", "p two"], "n": 3, "deep": [{"t": "geo/1?"}],
        "{topic}": None,
    }  # fmt: skip
    suite = Suite.from_rows("s", "text", [{"case_id": "1", "system_prompt": "Be kind."}, {"case_id": "2"}])
    first, second = cases_seen(suite, reveal_expected=False)
    assert [fill("{system_prompt}", fields) for fields in (first, second)] == ["Be kind.", ""]
    assert "system_prompt" not in second
    assert "system_prompt" in known_names(suite)


def test_every_unknown_placeholder_is_listed():
    problems = [str(problem) for problem in check(["{question} {nope} {label}", "{other}{nope}"], SUITE, False, "bot")]
    known = "{case_id}, {contexts}, {question}, {tags}, {topic}; {{name}} is text"
    assert problems == [
        f"bot: found the placeholder {{nope}}; expected one of {known}",
        "bot: found the placeholder {label}; expected nothing that gives the answer away, unless reveal_expected is "
        "set", f"bot: found the placeholder {{other}}; expected one of {known}",
    ]  # fmt: skip
    assert check(["{label}"], SUITE, True, "bot") == []
