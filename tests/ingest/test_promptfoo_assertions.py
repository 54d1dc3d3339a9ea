"""promptfoo's assertions: what each becomes, what is left out by name, and that no case with one of these passes."""
# ruff: noqa: E501 - a table reads better with one line an assertion

from typing import Any

import pytest
import yaml
from openpyxl import Workbook

from metrics.core.other_names import names_of
from metrics.core.registry import choose
from metrics.core.suite import Case
from metrics.engine.live_scorer import LiveScorer
from metrics.ingest import inspect, load_suite, read_combined, read_suite
from metrics.ingest.formats.promptfoo_assertions import BUDGETS, EACH, JUDGED, ONE, REFERENCED, written_assertion
from tests.evaluators.asked import score
from tests.ingest.files import list_problems, write

CONFIG: dict[str, Any] = {"prompts": ["{{q}}"], "providers": ["openai:gpt-5-mini"]}
LEFT = "metadata.assertions_left_out"
TEXTS = {  # an assertion on the text, an answer that meets it, one that does not
    "equals": ({"type": "equals", "value": 'P.(a) "x"'}, 'P.(a) "x"', 'Pa(a) "x"'),
    "equals to a number": ({"type": "equals", "value": 7}, "7", "77"),
    "contains": ({"type": "contains", "value": 'a\\"b'}, 'xa\\"by', 'a"b'),
    "not contains": ({"type": "not-contains", "value": "sorry"}, "Paris", "I am sorry"),
    "icontains": ({"type": "icontains", "value": "paris (FR)"}, "PARIS (fr).", "paris fr"),
    "not icontains": ({"type": "not-icontains", "value": "a+"}, "b", "A+"),
    "starts": ({"type": "starts-with", "value": "Yes."}, "Yes. Of course", "Yes, of"),
    "regex": ({"type": "regex", "value": '"a":\\s*\\d'}, '{"a": 1}', '{"a": x}'),
    "not regex": ({"type": "not-regex", "value": "\\d"}, "none", "1"),
    "regex with a quote behind a backslash": ({"type": "regex", "value": '\\"a\\\\"'}, '"a\\"', '"a"'),
    "any": ({"type": "contains-any", "value": ["a", "b"]}, "b", "A"),
    "any of a text with a comma in quotes": ({"type": "contains-any", "value": 'x, "a, b"'}, "a, b", "a b"),
    "any of a text": ({"type": "contains-any", "value": "cat, dog"}, "dog", "cow"),
    "not any": ({"type": "not-contains-any", "value": ["a", "b"]}, "c", "b"),
    "all": ({"type": "contains-all", "value": [2, 3, 5]}, "2, 3, 5", "2, 3"),
    "icontains any": ({"type": "icontains-any", "value": ["A.", "B"]}, "b", "ac"),
    "icontains all": ({"type": "icontains-all", "value": ["A", "B"]}, "ba", "a"),
    "a variable": ({"type": "contains", "value": "in {{ town }}"}, "in Paris", "in {{ town }}"),
    "words": ({"type": "word-count", "value": 3}, " one two  three", "one two"),
    "words within": ({"type": "word-count", "value": {"min": 1, "max": 2}}, "one two", "one two three"),
    "a set": ({"type": "assert-set", "assert": [{"type": "contains", "value": "a"}, {"type": "contains", "value": "b"}]}, "ab", "a"),
    "half of a set": ({"type": "assert-set", "threshold": 0.5, "assert": [{"type": "contains", "value": "a"}, {"type": "contains", "value": "b"}]}, "b", "c"),
    "weights in a set": ({"type": "assert-set", "threshold": 0.6, "assert": [{"type": "contains", "value": "a", "weight": 3}, {"type": "contains", "value": "b"}, {"type": "contains", "value": "c"}]}, "a", "bc"),
    "a template": ({"$ref": "#/assertionTemplates/town"}, "Paris", "paris"),
}  # fmt: skip
BECOMES = {  # an assertion → what a case has of it
    "is-json": ({"type": "is-json"}, {"json_schema": "{}"}),
    "is-json with a schema": ({"type": "is-json", "value": {"properties": {"a": {"minimum": 3, "const": "5"}}}}, {"json_schema": '{"properties":{"a":{"minimum":3,"const":"5"}}}'}),
    "is-json with a schema as text": ({"type": "is-json", "value": '{"type": "object"}'}, {"json_schema": '{"type":"object"}'}),
    "equals to an object": ({"type": "equals", "value": {"a": 5}}, {"json_schema": '{"const":{"a":5}}'}),
    "cost": ({"type": "cost", "threshold": 0.01}, {"metadata.budget_cost_usd": "0.01"}),
    "latency": ({"type": "latency", "threshold": 2500}, {"metadata.budget_seconds": "2.5"}),
    "llm-rubric": ({"type": "llm-rubric", "value": "is polite to {{town}}", "threshold": 0.8}, {"criteria": ["is polite to Paris"]}),
    "closed question": ({"type": "model-graded-closedqa", "value": "names it"}, {"criteria": ["names it"]}),
    "g-eval": ({"type": "g-eval", "value": ["is short", "is kind"]}, {"criteria": ["is short", "is kind"]}),
    "similar": ({"type": "similar", "value": "Paris it is", "threshold": 0.8}, {"expected_answers": ["Paris it is"]}),
    "factuality": ({"type": "factuality", "value": "Paris"}, {"expected_answers": ["Paris"]}),
    "context-recall": ({"type": "context-recall", "value": "Paris"}, {"expected_answers": ["Paris"]}),
    "a kind of similar": ({"type": "similar:dot", "value": "Paris"}, {"expected_answers": ["Paris"]}),
    "several references of one": ({"type": "similar", "value": ["a", "b"]}, {"expected_answers": ["a", "b"]}),
    "weight 0": ({"type": "contains", "value": "x", "weight": 0}, {"conditions": None, LEFT: None}),
}  # fmt: skip
LEFT_OUT = {  # an assertion → why nothing of a case says it
    "javascript": ({"type": "javascript", "value": "output.length < 100"}, "code is not run"),
    "python in a file": ({"type": "python", "value": "file://check.py"}, "code is not run"),
    "webhook": ({"type": "webhook", "value": "https://example.com"}, "code is not run"),
    "a look-ahead": ({"type": "regex", "value": "(?=a)"}, "no condition can say it"),
    "a transform": ({"type": "contains", "value": "x", "transform": "output.x"}, "its transform is not run"),
    "a template without a variable": ({"type": "contains", "value": "{{ nothing }}"}, "a template that no variable fills"),
    "answer-relevance": ({"type": "answer-relevance", "threshold": 0.8}, "the evaluator answer_relevance measures the like"),
    "contains-json": ({"type": "contains-json"}, "the evaluator json_schema measures the like"),
    "not is-json": ({"type": "not-is-json"}, "only assertions on the text can be negated"),
    "nothing to contain": ({"type": "contains-any", "value": []}, "it has no value on the text"),
    "a text too long for a condition": ({"type": "contains", "value": "x" * 10_001}, "no condition can say it"),
    "unknown": ({"type": "is-a-poem"}, "Assay has nothing like it"),
    "perplexity": ({"type": "perplexity", "threshold": 2}, "the evaluator perplexity measures the like"),
    "a file": ({"type": "llm-rubric", "value": "file://rubric.txt"}, "code, or in another file"),
    "an unknown template": ({"$ref": "#/assertionTemplates/none"}, "Assay has nothing like it"),
    "a threshold over several kinds": ({"type": "assert-set", "threshold": 0.5, "assert": [{"type": "is-json"}]}, "a threshold of 0.5 over assertions of several kinds"),
}  # fmt: skip


def case_of(tmp_path, *asserted: Any, **test: Any) -> dict[str, Any]:
    """Return the case of a configuration with these assertions."""
    templates = {"town": {"type": "contains", "value": "{{town}}"}}
    tests = [{"vars": {"question": "Capital?", "town": "Paris"}, "assert": list(asserted), **test}]
    path = write(
        tmp_path, "c.yaml", yaml.safe_dump(CONFIG | {"assertionTemplates": templates, "tests": tests}, sort_keys=False)
    )
    return read_suite(path).cases.to_pylist()[0]


@pytest.mark.parametrize(("asserted", "good", "bad"), TEXTS.values(), ids=TEXTS)
def test_an_assertion_on_the_text_is_a_condition(tmp_path, asserted, good, bad):
    case = case_of(tmp_path, asserted)
    assert case.get(LEFT) is None
    passes = [
        score("text_matching", answer=answer, conditions=case["conditions"]).values["passes"] for answer in (good, bad)
    ]
    assert passes == [1, 0]


@pytest.mark.parametrize(("asserted", "columns"), BECOMES.values(), ids=BECOMES)
def test_an_assertion_becomes_what_an_evaluator_reads(tmp_path, asserted, columns):
    case = case_of(tmp_path, asserted)
    assert {name: case.get(name) for name in columns} == columns
    assert case.get(LEFT) is None


@pytest.mark.parametrize(("asserted", "why"), LEFT_OUT.values(), ids=LEFT_OUT)
def test_what_nothing_says_is_left_out_by_name(tmp_path, asserted, why):
    tests = [{"vars": {"question": "q"}, "assert": [{"type": "contains", "value": "a"}, asserted]}]
    loaded = load_suite(write(tmp_path, "c.json", CONFIG | {"tests": tests}))
    kind = str(asserted.get("type") or asserted["$ref"]).replace("assert-set", "is-json")
    (case,) = loaded.value.cases.to_pylist()
    assert case[LEFT] == f"1 of 2 assertions evaluated, not {kind}"
    assert case["conditions"] == '"a"'
    assert any(line.use == "unused" and line.place == f"assert[{kind}]" and why in line.meaning
               for line in loaded.value.receipt)  # fmt: skip
    assert loaded.notes == (
        f"c.json: 1 of 2 assertions is not evaluated, and no case with such a one is said to pass: {kind} (1).",
    )


def test_a_case_with_assertions_left_out_passes_no_verdict(tmp_path):
    """A verdict that passes is an error, whatever evaluator gives it; one that fails, and a measure, stay."""
    left = {"assertions_left_out": "1 of 2 assertions evaluated, not javascript"}
    judged = {"conditions": '"a"', "json_schema": "{}", "tokens": 5, "cost_usd": 0.1, "expected_answers": ['{"a": 1}']}
    verdicts = {
        "text_matching": "passes", "json_schema": "passes", "agent_budget": "within_budget", "exact_match": "exact_match",
    }  # fmt: skip
    good = Case.of(case_id="1", answer='{"a": 1}', metadata=left | {"budget_cost_usd": "1"}, **judged)
    bad = Case.of(case_id="2", answer="no", metadata=left | {"budget_cost_usd": "0.01"}, **judged)
    whole = Case.of(case_id="3", answer='{"a": 1}', metadata={"budget_cost_usd": "1"}, **judged)
    with LiveScorer(choose([*verdicts, "edit_distance"]), {}, tmp_path) as scorer:
        rows = scorer.scores([good, bad, whole]).to_pylist()
    found = {(row["evaluator"], row["metric"], row["case_id"]): row for row in rows}
    for evaluator, metric in verdicts.items():
        held, failed, passed = (found[evaluator, metric, case] for case in "123")
        assert (held["value"], held["status"], held["reason"]) == (None, "error", left["assertions_left_out"])
        assert (failed["value"], passed["value"]) == (0, 1)
    assert [found["text_matching", "failures", case]["value"] for case in "123"] == [None, 1, 0]
    assert found["edit_distance", "edit_similarity", "1"]["value"] == 1
    assert found["agent_budget", "tokens", "1"]["value"] == 5


def test_what_all_tests_share_and_lists_of_variables(tmp_path):
    default = {
        "vars": {"tone": "mild"},
        "assert": [{"type": "not-contains", "value": "sorry"}],
        "metadata": {"of": "all"},
    }
    tests = [
        {"vars": {"question": ["a", "b"], "lang": ["de", "en"]}, "assert": [{"type": "contains", "value": "{{question}}"}]},
        {"vars": {"question": "c"}, "options": {"disableDefaultAsserts": True, "transform": "output.x"}},
    ]  # fmt: skip
    loaded = load_suite(
        write(tmp_path, "c.yaml", yaml.safe_dump(CONFIG | {"defaultTest": default, "tests": tests}, sort_keys=False))
    )
    cases = loaded.value.cases.to_pylist()
    assert [(row["case_id"], row["question"], row.get("metadata.lang"), row["conditions"]) for row in cases] == [
        ("0", "a", "de", 'NOT "sorry" AND "a"'), ("1", "a", "en", 'NOT "sorry" AND "a"'),
        ("2", "b", "de", 'NOT "sorry" AND "b"'), ("3", "b", "en", 'NOT "sorry" AND "b"'), ("4", "c", None, None),
    ]  # fmt: skip
    assert cases[4][LEFT] == "0 of 1 assertions evaluated, not options.transform"
    assert {line.place for line in loaded.value.receipt if line.use == "unused"} >= {"prompts", "providers"}


def test_one_assertion_without_a_list(tmp_path):
    test = {"vars": {"question": "q"}, "assert": {"type": "contains", "value": "a"}}
    for content in ({"defaultTest": {"assert": test["assert"]}, "tests": [test]}, {"tests": [test]}):
        (case,) = read_suite(write(tmp_path, "c.json", content)).cases.to_pylist()
        assert case["conditions"].startswith('"a"')


FURTHER = {  # what a case has as its expected answer → an assertion with another reference
    "a variable": ({"vars": {"question": "q", "expected": "a"}}, []),
    "an equal text": ({"vars": {"question": "q"}}, [{"type": "equals", "value": "a"}]),
    "another assertion": ({"vars": {"question": "q"}}, [{"type": "rouge-n", "value": "a"}]),
}


@pytest.mark.parametrize(("test", "first"), FURTHER.values(), ids=FURTHER)
def test_a_further_reference_is_left_out(tmp_path, test, first):
    """Any one of several expected answers counts, but each assertion has to hold."""
    asserted = [*first, {"type": "similar", "value": "a"}, {"type": "similar", "value": "b"}]
    (case,) = read_suite(write(tmp_path, "c.json", CONFIG | {"tests": [test | {"assert": asserted}]})).cases.to_pylist()
    assert case["expected_answers"] == ["a"]
    assert case[LEFT] == f"{len(asserted) - 1} of {len(asserted)} assertions evaluated, not similar"


def test_scenarios_and_lists_of_numbers(tmp_path):
    """Each test of a scenario is made with each of its data, after the other tests; only lists of texts are expanded."""
    data = [{"vars": {"town": town}, "assert": [{"type": "contains", "value": town}]} for town in ("Bern", "Rome")]
    asked = {"vars": {"question": ["a", "b"], "years": [1, 2]}, "assert": [{"type": "is-json"}]}
    config = CONFIG | {"tests": [{"vars": {"question": "c"}}], "scenarios": [{"config": data, "tests": [asked]}]}
    for name, content in (("c.json", config), ("c.yaml", yaml.safe_dump(config))):
        cases = read_suite(write(tmp_path, name, content)).cases.to_pylist()
        assert [(row["question"], row["conditions"], row["json_schema"]) for row in cases] == [
            ("c", None, None), ("a", '"Bern"', "{}"), ("b", '"Bern"', "{}"), ("a", '"Rome"', "{}"), ("b", '"Rome"', "{}"),
        ]  # fmt: skip


def test_tests_in_lines(tmp_path):
    tests = [{"vars": {"question": "q"}}, {"vars": {"question": "r"}, "assert": [{"type": "contains", "value": "a"}]}]
    suite = read_suite(write(tmp_path, "tests.jsonl", tests))
    assert suite.cases["conditions"].to_pylist() == [None, '"a"']


@pytest.mark.parametrize("form", ["object", "list", "lines", "YAML"])
def test_results_in_every_form(tmp_path, form):
    asserted = [{"type": "contains", "value": "a"}, {"type": "javascript", "value": "x"}]
    result = {"testIdx": 0, "promptIdx": 0, "provider": {"id": "p"}, "vars": {"question": "q"}, "latencyMs": 500,
              "testCase": {"assert": asserted}, "response": {"output": "a"}}  # fmt: skip
    failed = result | {"testIdx": 1, "response": {"error": "no such model"}, "error": "no such model"}
    both = [result, failed]
    name, content = {
        "object": ("r.json", {"results": {"version": 3, "results": both}}), "list": ("r.json", both),
        "lines": ("r.jsonl", both), "YAML": ("r.yaml", yaml.safe_dump({"results": both})),
    }[form]  # fmt: skip
    suite, outputs = read_combined(write(tmp_path, name, content))
    assert suite.cases[LEFT].to_pylist() == ["1 of 2 assertions evaluated, not javascript"] * 2
    assert outputs.outputs["error"].to_pylist() == [None, "no such model"]
    assert outputs.outputs["duration_s"].to_pylist() == [0.5, 0.5]


def test_conditions_that_are_too_long_together(tmp_path):
    case = case_of(tmp_path, *({"type": "contains", "value": letter * 6_000} for letter in "ab"))
    assert (case.get("conditions"), case[LEFT]) == (None, "1 of 2 assertions evaluated, not the conditions")


def test_a_threshold_of_the_test(tmp_path):
    both = [{"type": "contains", "value": "a"}, {"type": "contains", "value": "b"}]
    assert case_of(tmp_path, *both, threshold=0.5)["conditions"] == '("a" OR "b")'
    assert case_of(tmp_path, *both, threshold=1)["conditions"] == '("a" AND "b")'
    assert (
        case_of(tmp_path, *both, {"type": "is-json"}, threshold=0.5)[LEFT]
        == "0 of 3 assertions evaluated, not contains, is-json"
    )


CELLS = {
    "a text": ("Paris", {"conditions": 'regexp("\\AParis\\z")', "expected_answers": ["Paris"]}),
    "equals": ("equals: Paris", {"conditions": 'regexp("\\AParis\\z")', "expected_answers": ["Paris"]}),
    "prose with a colon": ("Note: yes", {"expected_answers": ["Note: yes"]}),
    "contains all": ("contains-all: a, b", {"conditions": '"a" AND "b"', "expected_answers": None}),
    "not": ("not-icontains: x", {"conditions": 'NOT regexp("(?i)x")'}),
    "JSON": ("is-json", {"json_schema": "{}"}),
    "grade": ("grade: is nice", {"criteria": ["is nice"]}),
    "similar": ("similar(0.8): Paris", {"expected_answers": ["Paris"], "conditions": None}),
    "latency": ("latency: 3000", {"metadata.budget_seconds": "3"}),
    "a kind that Assay has not": (
        "is-xml",
        {LEFT: "0 of 1 assertions evaluated, not is-xml", "expected_answers": None},
    ),
    "code in a file": (
        "python: file://x.py",
        {LEFT: "0 of 1 assertions evaluated, not python", "expected_answers": None},
    ),
    "a file": ("file://x.txt", {LEFT: "0 of 1 assertions evaluated, not equals", "expected_answers": None}),
    "code": ("fn: output.length", {LEFT: "0 of 1 assertions evaluated, not javascript"}),
}


@pytest.mark.parametrize(("cell", "columns"), CELLS.values(), ids=CELLS)
def test_a_table_of_tests(tmp_path, cell, columns):
    path = write(tmp_path, "t.csv", f'question,__expected,topic\nq,"{cell}",towns\n')
    assert inspect(path).format == "promptfoo_table"
    (case,) = read_suite(path).cases.to_pylist()
    assert {name: case.get(name) for name in columns} == columns
    assert (case["question"], case["metadata.topic"], case["metadata.__expected"]) == ("q", "towns", cell)


@pytest.mark.parametrize("name", ["t.xlsx", "t.json", "t.jsonl", "t.yaml"])
def test_a_table_of_tests_in_other_formats(tmp_path, name):
    path = write(tmp_path, name, [{"question": "q", "__expected": "contains: a", "__provider": "p"}])
    if name == "t.xlsx":
        book = Workbook()
        for row in (["question", "__expected", "__provider"], ["q", "contains: a", "p"]):
            book.active.append(row)
        book.save(path)
    assert (inspect(path).format, inspect(path).role) == ("promptfoo_table", "suite")
    (case,) = read_suite(path).cases.to_pylist()
    assert (case["conditions"], case["expected_answers"], case["metadata.__provider"]) == ('"a"', None, "p")


def test_several_assertions_in_a_row(tmp_path):
    path = write(
        tmp_path, "t.csv", "question,__expected1,__expected2,__threshold\nq,contains: a,contains: b,0.5\nr,a,,\n"
    )
    first, second = read_suite(path).cases.to_pylist()
    assert (first["conditions"], second["expected_answers"]) == ('("a" OR "b")', ["a"])
    both = write(tmp_path, "u.csv", "question,__expected,conditions\nq,a,b\n")
    assert list_problems(read_suite, both) == ["u.csv, row 1: found __expected beside conditions; expected one of them"]


def test_every_assertion_that_is_read_is_in_the_table_of_names():
    read = {*ONE, *EACH, *JUDGED, *REFERENCED, *BUDGETS, "word-count", "is-json", "is-valid-json"}
    assert read - set(names_of("promptfoo")) == set()
    for cell in ("threshold: 5", "weight: 3 kg", "vars: none", "Paris: the capital"):
        assert written_assertion(cell) == {"type": "equals", "value": cell}
