"""Code execution: whether the code in the answer passes the tests of its case, in a sandbox."""

import json
from collections.abc import Mapping
from typing import Any

from pydantic import Field

from metrics.core.evaluator import CaseScore, Example, Metric, not_applicable
from metrics.core.evaluator_decorator import evaluator
from metrics.core.evidence import Evidence, Verdict
from metrics.core.sandbox.process import Outcome
from metrics.core.suite import Case
from metrics.evaluators.code._sandboxed import SandboxParameters, run_job
from metrics.text.code_blocks import PYTHON, Blocks, code_of, defined, program

ENTRY_POINT = "entry_point"  # the metadata that names the function under test, as in HumanEval
SET_UP = ("test_imports", "test_setup_code")  # the metadata that stand before the tests, as in MBPP
CHECK = "check"  # the function of HumanEval's tests that is called with the function under test
UNTESTED = (
    "the tests that can be run ask nothing of the code: top level, functions `test_…` without arguments, classes "
    "`Test…`, unittest's cases, and a function `check` with the metadata `entry_point`"
)
SHOWN_CODE = 10_000  # characters of the program in the evidence
ALLOWED = {"allow": True}
ADD = "def add(a, b):\n    return a + b"
ADD_TESTS = "assert add(1, 2) == 3\nassert add(-1, 1) == 0"


class CodeParameters(SandboxParameters):
    """Whether code is run, what it may take, and where in the answer it stands."""

    blocks: Blocks = Field("all", description="Which of the fenced blocks of Python in an answer are its code.")


@evaluator(
    version=3,
    inputs=("answer", "code_tests"),
    metrics=(
        Metric("passed", "Share of answers whose code passes all tests of its case.", threshold=0.5, binary=True,
               primary=True),
        Metric("loaded", "Share of answers whose code is Python and runs by itself, before its tests.", threshold=0.5,
               binary=True, minor=True),
    ),
    sources=("Chen et al. 2021", "Austin et al. 2021"),
    standards=("valid and reliable", "secure and resilient", "LLM05 improper output handling"),
    examples=(
        Example("code that passes", {"answer": f"Here:\n```python\n{ADD}\n```", "code_tests": ADD_TESTS},
                {"passed": 1, "loaded": 1}, parameters=ALLOWED),
        Example("code that is wrong", {"answer": "def add(a, b):\n    return a", "code_tests": ADD_TESTS},
                {"passed": 0, "loaded": 1}, parameters=ALLOWED),
        Example("no Python", {"answer": "Add the two numbers.", "code_tests": ADD_TESTS},
                {"passed": 0, "loaded": 0}, parameters=ALLOWED),
        Example(
            "the rest of a function, and tests as HumanEval has them",
            {"question": 'def add(a, b):\n    """Return the sum."""\n', "answer": "    return a + b",
             "code_tests": "def check(candidate):\n    assert candidate(2, 2) == 4",
             "metadata": {"entry_point": "add"}},
            {"passed": 1}, parameters=ALLOWED,
        ),
        Example(
            "the rest of a function after a signature alone",
            {"question": "def add(a, b):\n", "answer": "    return a + b", "code_tests": ADD_TESTS,
             "metadata": {"entry_point": "add"}},
            {"passed": 1}, parameters=ALLOWED,
        ),
        Example("a list of tests, as MBPP has them",
                {"answer": ADD, "code_tests": '["assert add(1, 2) == 3", "assert add(2, 2) == 5"]'},
                {"passed": 0, "loaded": 1}, parameters=ALLOWED),
        Example("code that ends before its tests", {"answer": "print('passed'); raise SystemExit(0)",
                "code_tests": ADD_TESTS}, {"passed": 0, "loaded": 0}, parameters=ALLOWED),
        Example.not_applicable("no tests", {"answer": ADD, "code_tests": " "}, parameters=ALLOWED),
    ),
    differs_from="sql_execution runs a query against a database; pass_at_k reads the scores of this one over repeats; "
    "text_matching and byop look at code as text.",
    differs_from_source="The sandbox is Assay's: bubblewrap, an allowlist of system calls and limits, where the "
    "harness of HumanEval takes functions out of the interpreter. Code and tests run in two processes, where theirs "
    "share one: the tests have stand-ins for what the code defines. What fails by a name that the prompt of HumanEval "
    "defines does not fail here: the prompt stands before whole functions too.",
)  # fmt: skip
def code_execution(case: Case, parameters: CodeParameters) -> CaseScore:
    """Whether the Python code of the answer passes the tests of its case: 1 if all pass, else 0.

        passed = 1 if code and tests run to their end without an error, else 0;   the mean is pass@1

    Nothing is run unless `allow` is set; the cases are then skipped. *The code* is that of the fenced blocks of
    Python (without a language: of those; without fences: the whole answer). Where the question is the beginning
    of the function that the metadata `entry_point` names (HumanEval), be it a signature alone, it stands before
    the code; and before code that is Python only together with it. *The tests* are the column `code_tests`:
    Python that raises where the code is wrong, or a list of such lines (MBPP's `test_list`); the metadata
    `test_imports` and `test_setup_code` stand before them. Functions `test_…` without arguments, methods `test_…` of
    classes `Test…` and test cases of unittest that they define are run; a function `check` is called with
    `entry_point`, as HumanEval's is. Tests of which that runs nothing, or that only pytest can run (`parametrize`),
    prove nothing: the case is not applicable.

    *The sandbox* is bubblewrap's, one for the code and one for its tests: a process that sees Python's library,
    installed packages and an empty folder in memory, no other file, process, user or network, and no variable of your
    environment; an allowlist of system calls (libseccomp); limits of processor time (`seconds`), memory, files and
    output. Where it cannot be whole, nothing is run, and the cases are skipped with what to install. Code that starts
    processes or uses the network therefore fails.

    *Forged passes*: the tests run in a process of their own, and it alone has the pipe of the verdict; the code is
    asked for values and sees no test. What it sends is read as data or as a stand-in for an object of the code, and is
    compared with data on the side of the tests: a result whose `==` is always true equals nothing. What the tests ask
    of the code's own objects (`a == b` of two of them, `stack.is_empty()`) is answered by the code.

    Not applicable without tests. An answer without code fails. Evidence: the code that was run, whether it passed, the
    error with its line, and the beginning of what it printed.
    """
    tests = _tests(case)
    if not tests.strip():
        return not_applicable("the case has no tests")
    entry_point = case.metadata.get(ENTRY_POINT, "").strip()
    written = code_of(case.answer or "", PYTHON, parameters.blocks)
    code = program(written, case.question or "", entry_point)
    call = f"{CHECK}({entry_point})" if entry_point.isidentifier() and CHECK in defined(tests) else ""
    set_up = "\n".join(_set_up(case))
    job = {"tests": tests, "call": call, "entry_point": entry_point, "shared": sorted(defined(set_up))}
    outcome = run_job({"check_code": job, "serve_code": {"code": code}}, parameters)
    if isinstance(outcome, CaseScore):
        return outcome
    if any(reply.get("untested") for reply in outcome.replies):
        return not_applicable(UNTESTED)
    passed = not outcome.ended and any(reply.get("passed") for reply in outcome.replies[-1:])
    loaded, why = any(reply.get("loaded") for reply in outcome.replies), _why(outcome, code, tests)
    if not written.strip():
        passed, loaded, why = False, False, "the answer has no code"
    facts = {"code": code[:SHOWN_CODE]} | ({"printed": outcome.printed} if outcome.printed else {})
    verdict = Verdict("Code", "yes" if passed else "no", "passed" if passed else "failed", why)
    return CaseScore({"passed": float(passed), "loaded": float(loaded)}, evidence=Evidence({"code": [verdict]}, facts))


def _tests(case: Case) -> str:
    """Return the tests of a case as one program."""
    tests = _lines(case.code_tests or "")
    return "\n".join([*_set_up(case), tests]) if tests.strip() else ""


def _set_up(case: Case) -> list[str]:
    """Return what stands before the tests."""
    return [_lines(case.metadata[name]) for name in SET_UP if case.metadata.get(name, "").strip()]


def _lines(text: str) -> str:
    """Return lines of code that may be a JSON list of them."""
    try:
        listed = json.loads(text)
    except (ValueError, RecursionError):
        return text
    is_list = isinstance(listed, list) and all(isinstance(one, str) for one in listed)
    return "\n".join(listed) if is_list else text


def _why(outcome: Outcome, code: str, tests: str) -> str:
    """Return why the code failed, with the line where it did; "" where it passed."""
    last: Mapping[str, Any] = outcome.replies[-1] if outcome.replies else {}
    if "error" not in last:
        return outcome.ended or ("" if last.get("passed") else "ended before its tests did")
    text = f"{last['error']}: {last['message']}".removesuffix(": ")
    lines = (tests if last["place"] == "tests.py" else code).splitlines()
    number = last["line"] or 0
    return f"{text}, at: {lines[number - 1].strip()[:200]}" if 0 < number <= len(lines) else text
