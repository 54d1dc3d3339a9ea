"""Code in answers: fences, languages, and the program that an answer makes with its prompt."""

import pytest

from metrics.text.code_blocks import PYTHON, SQL, code_of, defined, program

PROMPT = 'from math import pi\n\n\ndef area(r):\n    """The area of a circle."""\n'


@pytest.mark.parametrize(("answer", "code"), [
    pytest.param("Take this:\n```python\nx = 1\n```\nDone.", "x = 1", id="one"),
    pytest.param("```py\nx = 1\n```\n```json\n{}\n```\n```Python3\ny = 2\n```", "x = 1\n\ny = 2", id="several"),
    pytest.param("```\nx = 1\n```\ntext", "x = 1", id="no-language"),
    pytest.param("```python\nx = 1\n```\n```\n1\n```", "x = 1", id="its-language-goes-first"),
    pytest.param("```python\nx = 1\nprint(x)", "x = 1\nprint(x)", id="not-closed"),
    pytest.param("~~~python\nx = '''```'''\n~~~", "x = '''```'''", id="tildes"),
    pytest.param("````python\n```\n````", "```", id="a-longer-fence"),
    pytest.param("    return 1\n", "    return 1", id="none-keeps-indentation"),
    pytest.param("```sql\nSELECT 1\n```", "", id="another-language"),
    pytest.param("```python title=a.py\nx = 1\r\n```", "x = 1\r", id="more-in-the-line"),
    pytest.param("", "", id="empty"),
])  # fmt: skip
def test_code_of(answer: str, code: str) -> None:
    assert code_of(answer, PYTHON) == code


def test_one_of_several() -> None:
    answer = "```sql\nSELECT 1\n```\n```SQLite\nSELECT 2\n```"
    assert (code_of(answer, SQL, "first"), code_of(answer, SQL, "last")) == ("SELECT 1", "SELECT 2")


def test_the_time_is_linear() -> None:
    for text in ("```" * 50_000, "```py\n" * 20_000, "\n```\n~~~" * 20_000, "`" * 200_000):
        code_of(text, PYTHON)


@pytest.mark.parametrize(("code", "prompt", "entry_point", "made"), [
    pytest.param("    return pi * r * r", PROMPT, "area", f"{PROMPT}\n    return pi * r * r", id="goes-on"),
    pytest.param("def area(r): return 0", PROMPT, "area", f"{PROMPT}\ndef area(r): return 0", id="again"),
    pytest.param("x = 1", "Write a program.", "area", "x = 1", id="a-prompt-in-words"),
    pytest.param("x = 1", PROMPT, "", "x = 1", id="no-entry-point"),
    pytest.param("x = 1", "def area(r):", "area", "x = 1", id="no-python-yet"),
])  # fmt: skip
def test_program(code: str, prompt: str, entry_point: str, made: str) -> None:
    assert program(code, prompt, entry_point) == made


def test_what_is_no_python_defines_nothing() -> None:
    assert defined("def f(") == defined("\0") == defined("(" * 100_000) == set()
    assert defined('async def f(): "\\d"\nclass C: pass\nif True:\n    def g(): pass') == {"f", "C"}
