"""Make a database in memory by a script, then run queries on it, which may only read."""

import sqlite3
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from metrics.evaluators.code.jobs.failures import MAX_MESSAGE

MAX_ROWS = 100_000  # of a query
MAX_VALUE = 10_000_000  # bytes in a cell or a statement
STEPS = 10_000  # of SQLite's machine between two looks at the clock
# what a query may do: select, read a column, call a function, recursive common tables
SELECT, READ, FUNCTION, RECURSIVE, ATTACH, DETACH = 21, 20, 31, 33, 24, 25
OK, DENY = 0, 1


def main(given: Mapping[str, Any], report: Callable[..., None], pipes: Sequence[int]) -> None:
    """Run the script and each query, and report its rows."""
    del pipes
    database = sqlite3.connect(":memory:", isolation_level=None)
    database.text_factory = lambda text: text.decode("utf-8", "replace")
    database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_VALUE)
    database.set_authorizer(lambda action, *_: DENY if action in (ATTACH, DETACH) else OK)
    try:
        database.executescript(given["script"])
    except sqlite3.Error as failure:
        report(error=type(failure).__name__, message=str(failure)[:MAX_MESSAGE], place="script")
        return
    database.set_authorizer(lambda action, *_: OK if action in (SELECT, READ, FUNCTION, RECURSIVE) else DENY)
    for query in given["queries"]:
        end = time.process_time() + given["query_s"]
        database.set_progress_handler(lambda end=end: time.process_time() > end, STEPS)  # type: ignore[misc]
        try:
            cursor = database.execute(query)
            rows = cursor.fetchmany(MAX_ROWS + 1)
        except (sqlite3.Error, sqlite3.Warning, ValueError, OverflowError) as failure:
            report(query=query, error=type(failure).__name__, message=str(failure)[:MAX_MESSAGE])
            continue
        names = [column[0] for column in cursor.description or ()]
        shown = [[cell.hex() if isinstance(cell, bytes) else cell for cell in row] for row in rows[:MAX_ROWS]]
        report(query=query, columns=names, rows=shown, more=len(rows) > MAX_ROWS)
