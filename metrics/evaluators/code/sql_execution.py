"""SQL execution: whether the query in the answer gives the rows of the expected query, in a sandbox."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from pydantic import Field

from metrics.core.evaluator import CaseScore, Example, Metric, Status, not_applicable
from metrics.core.evaluator_decorator import evaluator
from metrics.core.evidence import Evidence, Verdict
from metrics.core.suite import Case
from metrics.evaluators.code._sandboxed import SandboxParameters, run_job
from metrics.text.code_blocks import SQL, Blocks, code_of
from metrics.text.query_results import same_rows

SHOWN_ROWS = 10
SHOWN_CELL = 200  # characters
ORDERED = re.compile(r"\border\s+by\b(?![^()]*\))", re.IGNORECASE)  # not inside brackets
ALLOWED = {"allow": True}
SHOP = (
    "CREATE TABLE sale (town TEXT, amount REAL); "
    "INSERT INTO sale VALUES ('Oos', 0.1), ('Oos', 0.2), ('Lind', 4), ('Lind', NULL);"
)
TOTALS = "SELECT town, SUM(amount) FROM sale GROUP BY town"


class SqlParameters(SandboxParameters):
    """Whether queries are run, and when two results are the same."""

    order: Literal["auto", "matters", "ignored"] = Field(
        "auto", description="Whether the order of the rows counts; auto: where the expected query has an ORDER BY."
    )
    tolerance: float = Field(
        1e-6, ge=0, lt=1, description="How far numbers that are not both whole may differ, relative or absolute."
    )
    blocks: Blocks = Field("first", description="Which of the fenced blocks of SQL in an answer is its query.")


@evaluator(
    title="SQL execution",
    version=2,
    inputs=("answer", "expected_answers", "database_script"),
    metrics=(
        Metric("same_result", "Share of queries whose rows are those of the expected query.", threshold=0.5,
               binary=True, primary=True),
        Metric("runs", "Share of answers whose query runs without an error.", threshold=0.5, binary=True, minor=True),
    ),
    sources=("Yu et al. 2018", "Li et al. 2023"),
    standards=("valid and reliable", "LLM05 improper output handling"),
    examples=(
        Example(
            "the same rows in another order, under other names, and a sum that is right but for rounding",
            {"answer": "```sql\nSELECT town AS t, TOTAL(amount) AS s FROM sale GROUP BY 1 ORDER BY 2 DESC;\n```",
             "expected_answers": ["SELECT town, CASE town WHEN 'Oos' THEN 0.3 ELSE 4 END FROM sale GROUP BY town"],
             "database_script": SHOP},
            {"same_result": 1, "runs": 1}, parameters=ALLOWED,
        ),
        Example("a row too many", {"answer": "SELECT town, amount FROM sale", "expected_answers": [TOTALS],
                "database_script": SHOP}, {"same_result": 0, "runs": 1}, parameters=ALLOWED),
        Example(
            "the order counts where the expected query orders",
            {"answer": "SELECT town FROM sale GROUP BY 1 ORDER BY 1 DESC",
             "expected_answers": ["SELECT town FROM sale GROUP BY 1 ORDER BY 1"], "database_script": SHOP},
            {"same_result": 0}, parameters=ALLOWED,
        ),
        Example("a query that changes the database is refused", {"answer": "DELETE FROM sale",
                "expected_answers": [TOTALS], "database_script": SHOP}, {"same_result": 0, "runs": 0},
                parameters=ALLOWED),
        Example("an expected query that fails", {"answer": TOTALS, "expected_answers": ["SELECT price FROM sale"],
                "database_script": SHOP}, {"same_result": None}, status=Status.ERROR, parameters=ALLOWED),
    ),
    differs_from="code_execution runs Python against tests; text_matching and rouge compare the text of a query.",
    differs_from_source="The dialect is SQLite's; the database is a script in the case, not a file. Columns are "
    "compared by place, not in every order (Spider), rows as often as they occur, not as a set (BIRD); floating-point "
    "numbers within a tolerance. The order of rows counts where the expected query orders them, as in Spider.",
)  # fmt: skip
def sql_execution(case: Case, parameters: SqlParameters) -> CaseScore:
    """Whether the query in the answer gives the same rows as an expected query: 1 if it does, else 0.

        same_result = 1 if rows(query) = rows(expected) for one of the expected queries, else 0

    its mean is known as execution accuracy. Nothing is run unless `allow` is set; the cases are then skipped. *The
    database* is made in memory by the column `database_script` (CREATE TABLE and INSERT statements, SQLite). *The
    query* is the fenced block of SQL in the answer, or the whole answer without fences: a single statement. The
    expected queries are the expected answers.

    *The same rows*: as many columns and rows, and equal cells; names of columns do not count. NULL equals NULL, whole
    numbers are equal exactly, others within `tolerance`, text character by character, and text is no number. Rows are
    compared in any order, each as often as it occurs, unless the order counts (`order`; by default where the expected
    query has an ORDER BY outside brackets).

    *The sandbox* is that of `code_execution`. Queries may only read: no changes, no pragmas, no other files, no
    extensions. A query has `seconds` of processor time and 100,000 rows; beyond that it fails. A script or an expected
    query that fails, or gives more, is an error of the case: it has no value.

    Not applicable where the script or the expected answers are empty. Evidence: the query, its error, and the first
    rows of both results.
    """
    expected = [query for query in case.expected_answers if query.strip()]
    if not expected or not (case.database_script or "").strip():
        return not_applicable("the case has no script of a database, or no expected query")
    query = code_of(case.answer or "", SQL, parameters.blocks).strip()
    job = {"script": case.database_script, "queries": [*expected, query], "query_s": parameters.seconds}
    # each query has its time, and the script
    outcome = run_job({"run_sql": job}, parameters, times=len(expected) + 2)
    if isinstance(outcome, CaseScore):
        return outcome
    wanted, replies = outcome.replies[: len(expected)], outcome.replies
    broken = next((reply for reply in wanted if "error" in reply or reply.get("more")), None)
    if broken is not None or len(wanted) < len(expected):
        where = "the script of the database" if (broken or {}).get("place") == "script" else "an expected query"
        why = _why(broken) if broken else outcome.ended or "ended without a result"
        return CaseScore({}, Status.ERROR, f"{where} fails: {why}", Evidence(facts={"expected": expected}))
    own = replies[len(expected)] if len(replies) > len(expected) else {}
    runs = "rows" in own and not own["more"] and bool(query)
    same = runs and any(
        same_rows(
            own["rows"], one["rows"], ordered=_has_order(one["query"], parameters), tolerance=parameters.tolerance
        )
        for one in wanted
    )
    why = "" if runs else (_why(own) if own else outcome.ended or "ended without a result")
    verdict = Verdict("Query", "yes" if same else "no", "same rows" if same else "other rows" if runs else "fails", why)
    facts = {
        "query": query, "rows": len(own.get("rows", ())), "expected rows": len(wanted[0]["rows"]),
        "result": _first_rows(own), "expected result": _first_rows(wanted[0]),
    }  # fmt: skip
    return CaseScore({"same_result": float(same), "runs": float(runs)}, evidence=Evidence({"query": [verdict]}, facts))


def _has_order(query: str, parameters: SqlParameters) -> bool:
    return parameters.order == "matters" or (parameters.order == "auto" and bool(ORDERED.search(query)))


def _why(reply: Mapping[str, Any]) -> str:
    return "it gives more than 100,000 rows" if reply.get("more") else f"{reply.get('error')}: {reply.get('message')}"


def _first_rows(reply: Mapping[str, Any]) -> Sequence[Mapping[str, str]]:
    """Return the first rows as records of text."""
    return [
        {
            f"{place} {name}": "NULL" if cell is None else str(cell)[:SHOWN_CELL]
            for place, (name, cell) in enumerate(zip(reply["columns"], row, strict=True), 1)
        }
        for row in reply.get("rows", ())[:SHOWN_ROWS]
    ]
