"""The process in the sandbox: it reads a job, puts up the barriers, does the job, and replies line by line.

The job is JSON on the standard input, the reply goes to the pipe whose number is the argument: JSON lines, each with
the token of the job, which what the code prints does not have. No barrier that is required may be missing: then
nothing is run. Started by metrics.core.sandbox.process, as a module.
"""

import json
import os
import sys
import time
import types
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from metrics.core.sandbox import barriers

Job = Mapping[str, Any]
Report = Callable[..., None]

ANSWER, TESTS, CALL = "answer.py", "tests.py", "call.py"  # the names of the texts in tracebacks
LONGEST_MESSAGE = 500  # characters
MOST_ROWS = 100_000  # of a query
LONGEST_VALUE = 10_000_000  # bytes in a cell or a statement
STEPS = 10_000  # of SQLite's machine between two looks at the clock
# what a query may do: select, read a column, call a function, recursive common tables
SELECT, READ, FUNCTION, RECURSIVE, ATTACH, DETACH = 21, 20, 31, 33, 24, 25
OK, DENY = 0, 1


def main() -> None:
    """Do the job of the standard input."""
    job = json.load(sys.stdin.buffer)
    reply = int(sys.argv[1])
    sys.argv = [""]
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)

    def report(**facts: Any) -> None:
        line = json.dumps({"token": job["token"], **facts}).encode() + b"\n"
        while line:
            line = line[os.write(reply, line) :]

    up = barriers.put_up(Path(job["folder"]), job["limits"], job["parent"])
    missing = [name for name in job["required"] if name not in up]
    report(barriers=up, missing=missing)
    if not missing and job["kind"] in JOBS:
        ours = os.environ.pop("PYTHONPATH", None)
        sys.path = [path for path in sys.path if path != ours]  # our own package is not theirs
        for name in [name for name in sys.modules if name.partition(".")[0] == "metrics"]:
            del sys.modules[name]
        JOBS[job["kind"]](job, report)
    os._exit(0)  # without waiting for threads, or for what the code left to be done at the end


def run_python(job: Job, report: Report) -> None:
    """Run code, then its tests in the same module: top level, functions `test_…`, unittest's cases, a last call."""
    module = types.ModuleType("answer")
    sys.modules["answer"] = module
    space = module.__dict__
    try:
        exec(compile(job["code"], ANSWER, "exec"), space)  # noqa: S102 - what the sandbox is for
        report(loaded=True)
        before = dict(space)
        exec(compile(job["tests"], TESTS, "exec"), space)  # noqa: S102
        _run_defined({name: value for name, value in space.items() if before.get(name) is not value})
        exec(compile(job["call"], CALL, "exec"), space)  # noqa: S102
    except BaseException as failure:
        report(**_failure(failure))
    else:
        report(passed=True)
    with suppress(Exception):  # the code may have closed or replaced it
        sys.stdout.flush()


def _run_defined(defined: Mapping[str, Any]) -> None:
    """Run the functions `test_…` without arguments and the test cases of unittest that the tests have defined."""
    for name, value in defined.items():
        if name.startswith("test_") and isinstance(value, types.FunctionType) and not value.__code__.co_argcount:
            value()
    unittest = sys.modules.get("unittest")
    cases = [
        one for one in defined.values() if unittest and isinstance(one, type) and issubclass(one, unittest.TestCase)
    ]
    for case in cases:
        result = unittest.TestResult()  # type: ignore[union-attr] # there are cases only where it is loaded
        unittest.defaultTestLoader.loadTestsFromTestCase(case).run(result)  # type: ignore[union-attr]
        for test, text in (*result.failures, *result.errors):
            raise AssertionError(f"{test}: {text.strip().splitlines()[-1]}")


def _failure(failure: BaseException) -> dict[str, Any]:
    """Return what went wrong, and the last line of answer or tests that was at it."""
    try:
        message = str(failure)[:LONGEST_MESSAGE]
    except BaseException:  # a message of the code's own making
        message = ""
    place, line = "", getattr(failure, "lineno", None) if isinstance(failure, SyntaxError) else None
    if line is not None:
        place = str(failure.filename)  # type: ignore[attr-defined] # of a SyntaxError
    trace = failure.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename in (ANSWER, TESTS):
            place, line = trace.tb_frame.f_code.co_filename, trace.tb_lineno
        trace = trace.tb_next
    return {"error": type(failure).__name__, "message": message, "place": place, "line": line}


def run_sql(job: Job, report: Report) -> None:
    """Make a database in memory by a script, then run each query, which may only read, and report its rows."""
    import sqlite3

    database = sqlite3.connect(":memory:", isolation_level=None)
    database.text_factory = lambda text: text.decode("utf-8", "replace")
    database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST_VALUE)
    database.set_authorizer(lambda action, *_: DENY if action in (ATTACH, DETACH) else OK)
    try:
        database.executescript(job["script"])
    except sqlite3.Error as failure:
        report(error=type(failure).__name__, message=str(failure)[:LONGEST_MESSAGE], place="script")
        return
    database.set_authorizer(lambda action, *_: OK if action in (SELECT, READ, FUNCTION, RECURSIVE) else DENY)
    for query in job["queries"]:
        end = time.process_time() + job["query_s"]
        database.set_progress_handler(lambda end=end: time.process_time() > end, STEPS)  # type: ignore[misc]
        try:
            cursor = database.execute(query)
            rows = cursor.fetchmany(MOST_ROWS + 1)
        except (sqlite3.Error, sqlite3.Warning, ValueError, OverflowError) as failure:
            report(query=query, error=type(failure).__name__, message=str(failure)[:LONGEST_MESSAGE])
            continue
        names = [column[0] for column in cursor.description or ()]
        shown = [[cell.hex() if isinstance(cell, bytes) else cell for cell in row] for row in rows[:MOST_ROWS]]
        report(query=query, columns=names, rows=shown, more=len(rows) > MOST_ROWS)


JOBS: Mapping[str, Callable[[Job, Report], None]] = {"python": run_python, "sql": run_sql}

if __name__ == "__main__":
    main()
