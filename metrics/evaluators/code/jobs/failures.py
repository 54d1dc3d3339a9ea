"""What went wrong in a program, as its processes tell each other."""

from typing import Any

ANSWER, TESTS, CALL = "answer.py", "tests.py", "call.py"  # the names of the texts in tracebacks
MAX_MESSAGE = 500  # characters


def failure_facts(failure: BaseException) -> dict[str, Any]:
    """Return what went wrong, and the last line of answer or tests that was at it."""
    try:
        message = str(failure)[:MAX_MESSAGE]
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
