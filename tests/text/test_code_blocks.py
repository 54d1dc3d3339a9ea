"""Code in answers: fences, languages, and the program that an answer makes with its prompt."""

import pytest

from metrics.text.code_blocks import PYTHON, SQL, code_of, defined, program, without_fence

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
    pytest.param("```python title=a.py\nx = 1\r\n```", "x = 1", id="more-in-the-line"),
    pytest.param("1. Do:\n\n   ```python\n   if x:\n       y()\n   ```\n2. Done", "if x:\n    y()", id="in-an-item"),
    pytest.param("- ```py\n  if x:\n    y()\n  ```", "if x:\n  y()", id="on-the-line-of-an-item"),
    pytest.param("> ```py\n> if x:\n>     y()\n> ```", "if x:\n    y()", id="in-a-quotation"),
    pytest.param("\t```python\n\tif x:\n\t\ty()\n\t```", "if x:\n\ty()", id="tabs"),
    pytest.param("\ufeffx = 1\r\ny = 2\r\n", "x = 1\ny = 2", id="a-byte-order-mark"),
    pytest.param("```{.python .numberLines}\nx = 1\n```", "x = 1", id="attributes"),
    pytest.param("```{python}\nx = 1\n```", "x = 1", id="in-braces"),
    pytest.param("```python3.11\nx = 1\n```\n```bash\nls\n```", "x = 1", id="a-version"),
    pytest.param("```text\nx = 1\n```", "x = 1", id="a-label-that-names-no-language"),
    pytest.param("Take ```python x = 1```.", "x = 1", id="in-a-line"),
    pytest.param("```python\nx = 1```", "x = 1", id="closed-behind-the-code"),
    pytest.param("`x = 1`", "x = 1", id="one-backtick"),
    pytest.param("```py\nx = '''\n    ```\n'''\n```", "x = '''\n    ```\n'''", id="deeper-fences-are-code"),
    pytest.param("", "", id="empty"),
    pytest.param("So:\n[PYTHON]\nx = 1\n[/PYTHON]\nDone.", "x = 1", id="in-brackets"),
    pytest.param("[PYTHON]\nx = 1", "x = 1", id="in-brackets-not-closed"),
    pytest.param("x = d['a'] [PYTHON]", "x = d['a'] [PYTHON]", id="brackets-behind-code"),
    pytest.param("<python>x = 1</python>", "x = 1", id="in-a-tag"),
    pytest.param('<pre><code class="language-py">x = 1</code></pre>', "x = 1", id="in-html"),
    pytest.param("<answer>\nx = 1\n</answer>", "x = 1", id="in-an-answer"),
    pytest.param('{"why": "so", "code": "x = 1"}', "x = 1", id="in-json"),
    pytest.param('```json\n{"code": "x = 1"}\n```', "x = 1", id="in-fenced-json"),
    pytest.param('{"x": 1}', '{"x": 1}', id="json-that-is-code"),
    pytest.param('"x = 1\\ny = 2"', "x = 1\ny = 2", id="a-json-text"),
    pytest.param("'''\nx = 1\n'''", "x = 1", id="in-quotes"),
    pytest.param("'a' + 'b'", "'a' + 'b'", id="quotes-of-its-own"),
    pytest.param("Code: ```python\nx = 1\n```", "x = 1", id="behind-words"),
    pytest.param("1.\t```py\n\tx = 1\n\t```", "x = 1", id="item-tab"),
    pytest.param("```python\nx = 1\n```<|im_end|>", "x = 1", id="the-end-of-a-turn"),
    pytest.param("if x:\n\u00a0\u00a0y()", "if x:\n  y()", id="blanks-that-do-not-break"),
])  # fmt: skip
def test_code_of(answer: str, code: str) -> None:
    assert code_of(answer, PYTHON) == code


@pytest.mark.parametrize("label", [
    "sql", "SQL", "sqlite3", "postgresql", "postgres", "PostgreSQL", "pgsql", "mysql", "mariadb", "tsql", "T-SQL",
    "plsql", "mssql", "{.sql}", "bigquery", "snowflake", "duckdb", "", "txt", "sql title=x",
    "pl/sql", "hiveql", "trino", "clickhouse", "teradata", "spark", "db",
])  # fmt: skip
@pytest.mark.parametrize("fence", ["```", "~~~", "````"])
def test_sql_has_many_labels(label: str, fence: str) -> None:
    assert code_of(f"Here:\r\n{fence}{label}\r\nSELECT 1;\r\n{fence}\r\nDone.", SQL) == "SELECT 1;"
    assert code_of(f"Here:\n{fence}python\nx\n{fence}\n{fence}{label}\nSELECT 1;\n{fence}", SQL) == "SELECT 1;"


@pytest.mark.parametrize("answer", [
    '{"sql": "SELECT 1;"}', '{"explanation": "one", "query": "SELECT 1;"}', '[{"sql": "SELECT 1;"}]',
    '{"SQL": "SELECT 1;"}',
    "[SQL]SELECT 1;[/SQL]", "Here: <sql>SELECT 1;</sql>", '"SELECT 1;"', "“SELECT 1;”", "SQL: SELECT 1;",
    "**SQL:**\nSELECT 1;",
    "Question: one?\nSQLQuery: SELECT 1;", "```json\n{\"sql\": \"SELECT 1;\"}\n```", "<answer>SELECT 1;</answer>",
])  # fmt: skip
def test_sql_without_a_fence(answer: str) -> None:
    assert code_of(answer, SQL) == "SELECT 1;"


def test_a_fence_around_the_whole_text() -> None:
    assert without_fence(" ~~~json\n[1]\n~~~ ") == without_fence("```\r\n[1]\r\n```") == "[1]"
    assert without_fence(two := "```\na\n```\n```\nb\n```") == two
    assert without_fence("See:\n```\na\n```") == "See:\n```\na\n```"


def test_one_of_several() -> None:
    answer = "```sql\nSELECT 1\n```\n```SQLite\nSELECT 2\n```"
    assert (code_of(answer, SQL, "first"), code_of(answer, SQL, "last")) == ("SELECT 1", "SELECT 2")


def test_the_time_is_linear() -> None:
    for text in (
        "```" * 50_000,
        "```py\n" * 20_000,
        "\n```\n~~~" * 20_000,
        "`" * 200_000,
        "[py]" * 50_000,
        "<py>" * 50_000 + "</sql>",
        "<code>" * 20_000,
        "{" * 50_000,
        "SQL: " * 20_000,
        "'" * 99_999,
    ):
        code_of(text, PYTHON)
        code_of(text, SQL)


@pytest.mark.parametrize(("code", "prompt", "entry_point", "made"), [
    pytest.param("    return pi * r * r", PROMPT, "area", f"{PROMPT}    return pi * r * r", id="goes-on"),
    pytest.param("def area(r): return 0", PROMPT, "area", f"{PROMPT}def area(r): return 0", id="again"),
    pytest.param("x = 1", "Write a program.", "area", "x = 1", id="a-prompt-in-words"),
    pytest.param("x = 1", PROMPT, "", "x = 1", id="no-entry-point"),
    pytest.param("    return r", "def area(r):", "area", "def area(r):\n    return r", id="no-docstring"),
    pytest.param("  return r", "def area(r):\n  # in metres\n", "area", "def area(r):\n  # in metres\n  return r",
                 id="ends-in-a-comment"),
    pytest.param("def area(r): return r", "import math\n\n@cache\ndef area(r):\n", "area",
                 "import math\n\ndef area(r): return r", id="no-docstring-and-again"),
    pytest.param("def area(r): return r", "Complete:\ndef area(r):", "area", "def area(r): return r",
                 id="words-before"),
    pytest.param("def area(r", "def area(r):", "area", "def area(r):\ndef area(r", id="an-answer-that-is-no-python"),
    pytest.param("    return r", "Complete:\n```python\ndef area(r):\n```", "area", "def area(r):\n    return r",
                 id="fenced-prompt"),
    pytest.param("    return r", "def area(r):\n", "", "def area(r):\n    return r", id="no-entry-point-goes-on"),
    pytest.param("def area(", "What is an area?", "", "def area(", id="no-python-at-all"),
])  # fmt: skip
def test_program(code: str, prompt: str, entry_point: str, made: str) -> None:
    assert program(code, prompt, entry_point) == made


def test_what_is_no_python_defines_nothing() -> None:
    assert defined("def f(") == defined("\0") == defined("(" * 100_000) == set()
    assert defined('async def f(): "\\d"\nclass C: pass\nif True:\n    def g(): pass') == {"f", "C"}
