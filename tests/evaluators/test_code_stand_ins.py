"""Code and its tests in two processes: forged passes that fail, and honest tests that work as if both were in one."""
# ruff: noqa: E501 - programs in a table

import json

import pytest

from metrics.core.registry import evaluators
from metrics.core.suite import Case
from tests.sandboxed import sandboxed

pytestmark = sandboxed

TESTS = "assert add(1, 2) == 3\nassert add(0, 0) == 0"
WRITE_ALL = """
for pipe in range(64):
    try: os.write(pipe, line)
    except OSError: pass
"""
LINE_OF = "def line_of(facts): return json.dumps(facts).encode() + b'\\n'\n"
EQUAL = """
class Equal:
    def yes(self, *others): return True
    def nothing(self, *others): return 0
    __eq__ = __lt__ = __le__ = __gt__ = __ge__ = __contains__ = yes
    __ne__ = lambda self, other: False
    __sub__ = __rsub__ = __abs__ = __hash__ = __mod__ = __xor__ = __and__ = __rand__ = nothing
"""


def passed(answer: str, tests: str, **metadata: str) -> tuple[float | None, str]:
    """The value, and why it failed."""
    entry = evaluators()["code_execution"]
    parameters = entry.parameters.model_validate({"allow": True, "seconds": 3})
    result = entry(Case.of(answer=answer, code_tests=tests, metadata=metadata), parameters)
    assert result.evidence is not None, result.reason
    return result.values["passed"], result.evidence.verdicts["code"][0].reason


@pytest.mark.parametrize("answer", [
    pytest.param("""
import sys
def add(a, b):
    frame = sys._getframe()
    while frame:
        for name in ("report", "given", "job"):
            value = frame.f_locals.get(name)
            if callable(value): value(passed=True)
            if isinstance(value, dict): value["tests"] = ""
        frame = frame.f_back
""", id="frames", marks=pytest.mark.attack(
        "model", "code walks the frames for report and tests, and forges a pass", "they are in another process")),
    pytest.param("""
import gc
def add(a, b):
    for one in gc.get_objects():
        if getattr(one, "__name__", "") == "report":
            one(passed=True)
""", id="gc", marks=pytest.mark.attack("model", "code finds report by the garbage collector", "it reports nothing")),
    pytest.param("""
import ctypes, json, os
def add(a, b):
    text = ctypes.string_at(id(os), 1 << 12)
    return text.find(b"assert") + 4
""", id="memory", marks=pytest.mark.attack("model", "code scans its memory for the tests", "they are in another process")),
    pytest.param("""
import sys
for module in list(sys.modules.values()):
    for name in ("report", "failure_facts", "send", "encode", "loads", "main"):
        if hasattr(module, name): setattr(module, name, lambda *a, **k: {"passed": True})
def add(a, b): return 0
""", id="modules", marks=pytest.mark.attack("model", "code replaces our functions", "those are its process's own")),
    pytest.param("""
import builtins
builtins.compile = lambda *a, **k: "0"
builtins.exec = lambda *a, **k: None
builtins.isinstance = lambda *a: True
AssertionError = type("AssertionError", (Exception,), {"__new__": lambda *a: 1 / 0})
def add(a, b): return 0
""", id="builtins", marks=pytest.mark.attack("model", "code replaces builtins", "those are its process's own")),
    pytest.param("""
import atexit, json, os
line = json.dumps({"passed": True}).encode() + b"\\n"
def late():""" + WRITE_ALL.replace("\n", "\n    ") + """
atexit.register(late)
def add(a, b): raise SystemExit(0)
""", id="atexit"),
    pytest.param("import os\ndef add(a, b): os._exit(0)", id="exit",
                 marks=pytest.mark.attack("model", "code ends its process amid the tests", "no verdict is a failure")),
    pytest.param(EQUAL + "def add(a, b): return Equal()", id="equal", marks=pytest.mark.attack(
        "model", "code returns an object that equals everything", "data are compared on the side of the tests")),
    pytest.param("class Equal(int):\n    __eq__ = lambda self, other: True\n    __hash__ = None\n"
                 "def add(a, b): return Equal(7)", id="equal-integer"),
    pytest.param("import json, os\nline = b''.join(json.dumps(one).encode() + b'\\n' for one in ({'started': True}, "
                 "{'loaded': True}, {'passed': True}))" + WRITE_ALL + "def add(a, b): os._exit(0)", id="every-file",
                 marks=pytest.mark.attack("model", "code writes a verdict to every open file", "it lacks that pipe")),
    pytest.param(f"import json, os\n{LINE_OF}line = line_of({{'failed': {{'error': '', 'message': '', 'place': '', 'line': 0, "
                 f"'passed': True}}, 'passed': True}}){WRITE_ALL}def add(a, b): return 0", id="forged-failure",
                 marks=pytest.mark.attack("model", "code says that it passed as it says that it failed", "known keys")),
    pytest.param(f"""
import json, os, threading
{LINE_OF}
def add(a, b): return 0
line = b"".join(line_of({{"value": ["ref", 9, {{"class": "int"}}], "changed": []}}) for _ in range(99))
def early():{WRITE_ALL.replace(chr(10), chr(10) + "    ")}
threading.Thread(target=early).start()
""", id="answers-in-advance",
        marks=pytest.mark.attack("model", "a thread answers before it is asked", "an answer is a value of the code")),
    pytest.param(f"""
import json, os
{LINE_OF}
line = line_of({{"names": [["add", ["class", "posix.system"]], ["x", ["value", "os.system", ["exit"]]]]}}){WRITE_ALL}
def add(a, b): return 3
""", id="functions-by-name", marks=pytest.mark.attack(
        "model", "code sends values that run functions where they are read", "data of exact classes, no pickle")),
    pytest.param(f"import json, os\n{LINE_OF}line = b'\\xff' * 8{WRITE_ALL}def add(a, b): return 3", id="huge-line",
                 marks=pytest.mark.attack("model", "code answers with terabytes", "lines and memory are limited")),
    pytest.param("def add(a, b): return [0] * 10**7 + ['x' * 10**8]", id="huge-value"),
    pytest.param("import os\nfor pipe in range(3, 64):\n    try: os.close(pipe)\n    except OSError: pass\n"
                 "def add(a, b): return 3", id="closed", marks=pytest.mark.attack(
                     "model", "code closes the pipes to its tests", "no verdict is a failure")),
    pytest.param("import unittest\ndef add(a, b): raise unittest.SkipTest", id="skips"),
])  # fmt: skip
@pytest.mark.parametrize("tests", [
    pytest.param(TESTS, id="top-level"),
    pytest.param("import unittest\nclass T(unittest.TestCase):\n    def test_it(self): self.assertEqual(add(1, 2), 3)\n"
                 "        self.assertEqual(add(0, 0), 0)".replace("self): self", "self):\n        self"), id="unittest"),
])  # fmt: skip
def test_a_forged_pass_fails(answer: str, tests: str) -> None:
    assert passed(answer, tests)[0] == 0


@pytest.mark.attack(
    "model", "code computes a tolerance or an order for itself", "no such operator with data is its own"
)
def test_an_object_is_no_number() -> None:
    """One answer for all of them, as each is caught by itself: the tests count what would have let it pass."""
    checks = (
        "area(1) == 3", "3 == area(1)", "abs(area(1) - 3.14) < 0.1", "abs(3.14 - area(1)) < 0.1", "area(1) < 4",
        "area(1) >= 3", "[area(1)] == [3]", "{'a': area(1)} == {'a': 3}", "area(1) in (3, 4)", "not area(1) != 3",
        "area(1) % 3 == 0", "area(1) ^ 3 == 0", "area(1) == [3]", "area(1) == None", "area(1) is True",
        "({3} & area(1)) == {3}", "round(area(1), 2) == 3.14", "str(area(1)) == '3'", "math.isclose(area(1), 3.14)",
    )  # fmt: skip
    tests = "import math\nheld = []\n" + "".join(
        f"try:\n    if {check}: held.append({check!r})\nexcept TypeError: pass\n" for check in checks
    )
    answer = f"{EQUAL}def abs(x): return 0\ndef area(radius): return Equal()"
    assert passed(answer, f"{tests}assert held == [], held") == (1, "")
    assert passed(answer, "assert abs(-2) == 2\nassert area(1) == 3")[1] == "AssertionError, at: assert area(1) == 3"


@pytest.mark.attack("model", "code shadows a builtin that its tests use, as abs", "the tests keep Python's own")
def test_whose_a_name_is() -> None:
    """A builtin's name is the code's where the tests are about it."""
    assert passed("def sum(a, b): return a + b", "assert sum(1, 2) == 3")[0] == 1
    assert passed("def len(x): return 3\ndef f(x): return []", "assert len(f(1)) == 3")[0] == 0
    assert passed("def len(x): return 3\ndef sum(x): return []", "assert len(sum(1)) == 3")[0] == 0
    assert passed("def len(x): return 3", "assert len([]) == 3", entry_point="len")[0] == 1
    assert passed("class math:\n    isclose = lambda *a: True\ndef f(x): return 0",
                  "assert math.isclose(f(1), 3)")[0] == 0  # fmt: skip
    assert passed("import math\ndef f(x): return math.pi", "assert math.isclose(f(1), math.pi)")[0] == 1


STACK = """
class Stack:
    def __init__(self): self.items = []
    def push(self, item): self.items.append(item); return self
    def pop(self): return self.items.pop()
    def __len__(self): return len(self.items)
    def __eq__(self, other): return self.items == other.items
    def __repr__(self): return f'Stack({self.items})'
    def __add__(self, other):
        made = Stack(); made.items = self.items + other.items; return made
    def __iter__(self): return iter(self.items)
    def __getitem__(self, place): return self.items[place]
    def __hash__(self): return len(self.items)
"""
FORMS = {
    "class": (STACK, """
s = Stack()
assert s.push(1) is s and len(s) == 1 and s.items == [1] and s.pop() == 1 and not s
assert Stack() == Stack() and Stack().push(1) != Stack() and Stack().push(1) + Stack() == Stack().push(1)
assert repr(Stack().push(2)) == f"{Stack().push(2)}" == "Stack([2])" and list(Stack().push(3)) == [3]
assert isinstance(s, Stack) and not isinstance(3, Stack) and type(s).__name__ == Stack.__name__ == "Stack"
s.items = [5, 6]
assert s[-1] == 6 and 5 in s and 7 not in s and sorted(s) == [5, 6] and not hasattr(s, "peek")
import copy
other = copy.deepcopy(s); other.push(1)
assert len(s) == 2 and len({s, other}) == 2
try: Stack().pop()
except IndexError as failure: assert str(failure) == "pop from empty list"
else: raise AssertionError
"""),
    "in-place": ("def f(xs): xs.sort(); return xs\ndef g(d, s): d['a'] = s; s.add(1)", """
xs = [3, 1]; inner = [9, 8]
assert f(xs) is xs and xs == [1, 3]
d, s = {"b": 1}, set()
assert g(d, s) is None and d == {"b": 1, "a": {1}} and d["a"] is s
"""),
    "callbacks": ("def each(f, xs): return [f(x) for x in xs]", """
calls = []
def f(x):
    calls.append(x)
    return helper(x)
def helper(x): return x * 2
assert each(f, [1, 2]) == [2, 4] and calls == [1, 2]
assert each(lambda x: x + 1, (x for x in [1, 2])) == [2, 3] and each(str, [1]) == ["1"]
def fails(x): raise KeyError(x)
try: each(fails, [1])
except KeyError as failure: assert failure.args == (1,)
else: raise AssertionError
"""),
    "objects-of-the-tests": ("def total(node): return node.value + (total(node.next) if node.next else 0)\n"
                             "def turn(node): node.value = -node.value; return node", """
class Node:
    def __init__(self, value, next=None): self.value, self.next = value, next
node = Node(1, Node(2))
assert total(node) == 3 and turn(node) is node and node.value == -1
"""),
    "errors": ("class Empty(LookupError):\n    def __init__(self, code): super().__init__(f'code {code}'); self.code = code\n"
               "def f(x): raise Empty(x)\ndef g(x): return int(x)", """
import unittest
class T(unittest.TestCase):
    def test_both(self):
        with self.assertRaises(Empty) as caught: f(3)
        self.assertEqual((caught.exception.code, str(caught.exception)), (3, "code 3"))
        with self.assertRaises(LookupError): f(1)
        with self.assertRaisesRegex(ValueError, "invalid literal"): g("x")
        self.assertEqual(g("12"), 12)
"""),
    "generators": ("def count(n):\n    for i in range(n): yield i\ndef forever():\n    while True: yield 1", """
import itertools
assert list(count(3)) == [0, 1, 2] and sum(itertools.islice(forever(), 5)) == 5
g = count(1)
assert next(g) == 0 and next(g, "end") == "end"
"""),
    "values": ("import collections, datetime, decimal, enum, fractions\n"
               "P = collections.namedtuple('P', 'x y')\nclass C(enum.IntEnum): R = 1\nclass K(enum.Enum): A = 1\n"
               "def f(x): return x\ndef p(): return P(1, [2])\ndef values(): return [collections.Counter('aab'), "
               "collections.deque([1], 2), datetime.date(2020, 1, 2), decimal.Decimal('1.10'), fractions.Fraction(1, 3), "
               "2 ** 20000, b'x', {1: (2, {3})}, range(3), 1j, float('inf'), None, '\\ud800']", """
import collections, datetime, decimal, fractions
assert values() == [collections.Counter("aab"), collections.deque([1]), datetime.date(2020, 1, 2), decimal.Decimal("1.1"),
                    fractions.Fraction(1, 3), 2 ** 20000, b"x", {1: (2, {3})}, range(3), 1j, float("inf"), None, "\\ud800"]
a, b = p()
assert p() == (1, [2]) == (a, b) and p().x == 1 and isinstance(p(), tuple) and C.R == 1 and C.R < 2 and K.A is K.A
assert f(1.5) == 1.5 and f(0.1 + 0.2) == 0.1 + 0.2 and type(f(True)) is bool and f(int) is int
"""),
    "arrays": ("import numpy as np\ndef f(n): return np.arange(n) / 2\ndef g(): return np.float64(2.5)", """
assert (f(3) == np.array([0, 0.5, 1])).all() and g() == 2.5 and f(3).shape == (3,)
np.testing.assert_allclose(f(2), [0, 0.5])
"""),
    "printed": ("def f(): print('hé', 1)", """
import contextlib, io
with contextlib.redirect_stdout(io.StringIO()) as kept: f()
assert kept.getvalue() == "hé 1\\n"
"""),
    "async": ("import asyncio\nasync def f(x):\n    await asyncio.sleep(0)\n    return x", """
import asyncio
assert asyncio.run(f(3)) == 3
"""),
    "patched": ("def helper(): return 1\ndef f(): return helper()", """
import answer
from unittest import mock
with mock.patch("answer.helper", lambda: 5): assert f() == 5
answer.helper = lambda: 7
assert f() == answer.f() == 7
"""),
    "contexts": ("class Quiet:\n    def __enter__(self): return 5\n    def __exit__(self, *failure): return failure[0] is KeyError",
                 "with Quiet() as five: assert five == 5\nwith Quiet(): raise KeyError"),
}  # fmt: skip


@pytest.mark.parametrize(("answer", "tests"), FORMS.values(), ids=list(FORMS))
def test_honest_tests_work_as_in_one_process(answer: str, tests: str) -> None:
    assert passed(answer, tests) == (1, "")


def test_what_the_tests_set_up_is_there_for_the_code() -> None:
    """As MBPP's set-up code defines a class that the answer uses; what the tests define themselves is not shown."""
    answer = "def make(): return Node(3)\ndef look(): return EXPECTED"
    set_up = {"test_setup_code": "class Node:\n    def __init__(self, value): self.value = value"}
    assert passed(answer, "assert make().value == 3", **set_up) == (1, "")
    shown = passed(answer, json.dumps(["EXPECTED = 3", "assert look() == 3"]))
    assert shown == (0, "NameError: name 'EXPECTED' is not defined, at: def look(): return EXPECTED")
