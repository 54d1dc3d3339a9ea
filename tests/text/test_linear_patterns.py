"""Regular expressions of our own that once took the square of the length of hostile texts."""

import time
from collections.abc import Callable

import pyarrow as pa
import pytest

from metrics.core.errors import InputProblem
from metrics.core.input_problems import grouped
from metrics.core.prompt import split_template
from metrics.ingest.formats.dota import SPELLED
from metrics.ingest.tables.id_matches import _affix
from metrics.ingest.tables.object_tables import WKT_RING
from metrics.ingest.text_encoding import as_utf8
from metrics.judge.local.claim_sentences import CODE
from metrics.judge.replies import BOXED
from metrics.judge.reply_text import with_plain_marks
from metrics.text.agents.steps import steps
from metrics.text.shared_words import quoted_in
from metrics.text.thoughts import split_all

SIZE = 200_000


HOSTILE: dict[str, Callable[[], object]] = {
    "a number of a label file": lambda: SPELLED.fullmatch("1" * SIZE + "x"),
    "a ring of a polygon": lambda: WKT_RING.findall("(" + " " * SIZE),
    "what ids begin with": lambda: _affix(["0" * SIZE + "x", "0" * SIZE + "xy"]),
    "a reply with full-width marks": lambda: with_plain_marks('{"a"：1,' + '-\\"' * (SIZE // 3)),
    "a quote": lambda: quoted_in(" " * 20_000 + '"' + " " * 100_000 + "a", ["a"]),
    "a list of steps": lambda: steps("```" + "\n" * 20_000 + "z"),
    "a template": lambda: split_template("a" * SIZE + " b"),
    "code in an answer": lambda: CODE.sub("", "\n" * SIZE + "```" + "\n" * SIZE),
    "an answer in a box": lambda: BOXED.sub("", "\n" * SIZE),
    "a long line before one that is not UTF-8": lambda: as_utf8("a.json", pa.py_buffer(b"a" * SIZE + b"\n\xe9t\xe9")),
    "an answer of blanks": lambda: split_all([" \n" * (SIZE // 2) + "<s>"], 1),
    "an answer of end marks": lambda: split_all(["</s>" * (SIZE // 4) + "x"], 1),
    "an answer with a label and blanks": lambda: split_all(["Thought:" + "\n" * SIZE], 1),
    "problems of a file": lambda: grouped([InputProblem("a.csv", "[" * SIZE, "a number", row=1)]),
}


@pytest.mark.attack(
    "suite author", "text for which our own expressions try every start and every end", "they are linear"
)
@pytest.mark.parametrize("read", HOSTILE.values(), ids=HOSTILE)
def test_it_is_read_in_linear_time(read: Callable[[], object]) -> None:
    begun = time.thread_time()
    read()
    assert time.thread_time() - begun < 15  # squared they take a minute or more
