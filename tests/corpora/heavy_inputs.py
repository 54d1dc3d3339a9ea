"""Inputs that are hostile or large, each with what reads it: a test reads all of them, a benchmark times them."""

import json
import random
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

import numpy as np
from pydantic import BaseModel

from metrics.core.errors import Unreadable
from metrics.ingest.traces.stored_trace import read_trace
from metrics.judge.injection import suspected
from metrics.judge.replies import read
from metrics.text.agents.artifacts import Artifact, complaints, pages
from metrics.text.agents.steps import steps
from metrics.text.agents.traces import looping
from metrics.text.citations import cited_parts
from metrics.text.conditions import ConditionError, parse_condition
from metrics.text.json_text import JsonError, read_json, violations
from metrics.text.loops import longest_repeat
from metrics.text.overlap.edits import align
from metrics.text.overlap.rouge import RougeText, rouge
from metrics.text.patterns import find_all
from metrics.text.sensitive.encodings import encoded_parts
from metrics.text.sensitive.personal_data import PERSONAL_KINDS, personal_data
from metrics.text.sensitive.secrets import secrets
from metrics.text.sentences import sentences
from tests.corpora.pdf_files import pdf

SCALE = 1.0  # the share of each size
ENCODINGS = ("base16", "base64", "ascii85", "rot13")


@dataclass(frozen=True)
class HeavyInput:
    """An input under the name of what reads it; `seconds` of one core are the most that it may take."""

    name: str
    seconds: float
    read: Callable[[], object]


def filled(unit: str, size: int) -> str:
    """Return the unit repeated to about `size` characters, or to the share of it that is asked for."""
    return unit * (scaled(size) // len(unit))


def scaled(size: int) -> int:
    return int(size * SCALE)


def _rules() -> Iterator[HeavyInput]:
    personal = (
        "1234567890", "1 ", "4539 ", "4539148803436467 ", "(", "+1", "212-555-0123 ", "a@", "a@a.", "GB82",
        "536-90-4399 ", "6304 3234 4897 ", "://a@b.cc", "@a@b.co ", "電話", "gb82",
    )  # fmt: skip
    for kind in PERSONAL_KINDS:
        for unit in personal:
            text = filled(unit, 30_000)
            yield HeavyInput(f"personal data: {kind} in {unit!r}", 10, partial(personal_data, text, [kind]))
    draw = random.Random(0)
    numbers = " ".join(str(draw.randrange(10**10)) for _ in range(8_000))
    yield HeavyInput(
        "personal data: one row of numbers", 15, partial(personal_data, filled("101 ", 1_000_000), ["card"])
    )
    yield HeavyInput("personal data: many numbers", 10, partial(personal_data, numbers))
    begun = (
        "a", "eyJhbGciOiJIUzI1NiJ9.", "-----BEGIN PRIVATE KEY-----", "://a:", "password is ", "token = ", "ABCD1-",
        "\n",
    )  # fmt: skip
    for unit in begun:
        yield HeavyInput(f"secrets: {unit!r}", 15, partial(secrets, filled(unit, 1_000_000)))
    for unit in ("a", "A" * 60 + "\n", "zzzzzzzzzzzzzz ", "<~", "SGVsbG8gd29ybGQh ", "0x41 "):
        for encoding in ENCODINGS:
            text = filled(unit, 1_000_000)
            yield HeavyInput(f"{encoding}: {unit!r}", 15, partial(encoded_parts, text, [encoding]))


def _languages() -> Iterator[HeavyInput]:
    for pattern in ("(a+)+$", "(a|aa)+$", "(.*)*x", "(a?){200}a{200}b", "[a-z]+[0-9]+x"):
        condition = f'regexp("{pattern}")'
        yield HeavyInput(f"condition: {condition}", 10, partial(_holds, condition, filled("a", 300_000) + "!"))
    for condition in ('"' + '\\"' * 4999, "NOT " * 2499 + '"a"', "(" * 9999):
        yield HeavyInput(f"condition: {condition[:8]} …", 2, partial(_refused, _holds, condition, "a"))
    for pattern in ("(a+)+$", "(a|a)*b", "(.*)(.*)(.*)x", "a", "a{1,200}b", "a(?:.*b)?"):
        yield HeavyInput(f"pattern: {pattern}", 10, partial(find_all, [pattern], filled("a", 300_000)))
    for unit in ("a. ", "a", ". ", "。", "a.\n", "? ", '"', "A. B. ", "sat. Uranus ", "No. [1] "):
        yield HeavyInput(f"sentences: {unit!r}", 10, partial(sentences, filled(unit, 150_000)))
    for unit in ("[1", "[1,", "```", "`", "[1](", "[1 ", "A [1]", "\n- ", "[1-", "((((", "[^"):
        yield HeavyInput(f"citations: {unit!r}", 2, partial(cited_parts, unit * scaled(20_000)))
    for name, text, schema in (
        ("pattern", '"' + filled("a", 50_000) + '!"', '{"pattern": "^(a+)+$"}'),
        ("pattern of a property", '{"' + filled("a", 50_000) + '!": 1}', '{"patternProperties": {"^(a+)+$": true}}'),
        ("unique items", "[" + "{}," * scaled(50_000) + "{}]", '{"uniqueItems": true}'),
        ("open string", '"' + '\\"' * scaled(300_000), "{}"),
        ("doubled references", "1", _doubled(26)),
        ("equal hashes", json.dumps([each * (2**61 - 1) for each in range(scaled(40_000))]), '{"uniqueItems": true}'),
        ("long enum", json.dumps([*range(scaled(100_000))]), json.dumps({"items": {"enum": [*range(scaled(70_000))]}})),
        ("deep lists", filled("[", 10**6), "{}"),
        ("deep objects", '{"a":' * scaled(200_000), "{}"),
        ("1e400", "[" + "1e400," * scaled(100_000) + "1]", '{"items": {"minimum": 3}}'),
        ("integer of 100,000 digits", filled("1", 100_000), "{}"),
        ("many lists", "[" + ("[" * 60 + "]" * 60 + ",") * scaled(5_000) + "1]", "{}"),
    ):
        yield HeavyInput(f"JSON: {name}", 30, partial(_refused, _violations, text, schema))


def _doubled(times: int) -> str:
    """Return a schema of which each part refers to the next one twice."""
    parts = {f"a{each}": {"allOf": [{"$ref": f"#/$defs/a{each + 1}"}] * 2} for each in range(times)}
    return json.dumps({"$defs": parts | {f"a{times}": {}}, "$ref": "#/$defs/a0"})


def _holds(condition: str, text: str) -> None:
    parsed = parse_condition(condition)
    parsed.holds(parsed.terms_in(text))


def _violations(text: str, schema: str) -> None:
    violations(read_json(text).value, schema)


def _refused(read: Callable[..., object], *given: str) -> None:
    """Read, or refuse with the error that such a text deserves."""
    with suppress(ConditionError, JsonError):
        read(*given)


def _agents() -> Iterator[HeavyInput]:
    for keys in (filled("a", 20_000), filled("abc", 20_000), "".join(map(str, range(scaled(5_000))))):
        yield HeavyInput(f"loops of calls: {keys[:6]} …", 2, partial(looping, keys))
    for unit in (
        "- a\n",
        "1. a\n",
        " ",
        "*",
        "```\n",
        "#",
        "第",
        "- [ ] ",
        "a1:",
        "\n",
        "1. a ",
        "a. ",
        "→ ",
        "|---|\n",
    ):
        yield HeavyInput(f"steps: {unit!r}", 8, partial(steps, filled(unit, 400_000)))
    for kind, unit, size in (
        ("html", "<a", 10**6), ("html", "<!--", 10**6), ("html", "<div>", 10**6), ("python", "(", 190_000),
        ("python", "1+", 190_000), ("python", "-", 190_000), ("json", "[", 10**6), ("csv", '"', 10**6),
    ):  # fmt: skip
        artifact = Artifact("x", kind, filled(unit, size).encode())
        yield HeavyInput(f"artifact: {kind} of {unit!r}", 15, partial(complaints, artifact))
    for unit in ("(", "<", "(a", "<0", "' ", "f"):
        content = pdf(filled(unit, 2_000_000).encode())
        yield HeavyInput(f"PDF: {unit!r}", 3, partial(pages, content))
    trace = json.dumps([{"role": "user", "content": "x" * 1000}] * scaled(5_000))
    yield HeavyInput("trace: 5,000 messages", 6, partial(read_trace, trace))


def _rouge(reference: str, answer: str) -> None:
    list(rouge([(RougeText(reference), RougeText(answer))]))


def _overlap() -> Iterator[HeavyInput]:
    table = np.random.default_rng(5).uniform(-1, 1, (1000, 1000))
    yield HeavyInput("alignment: 1,000 × 1,000", 1, partial(align, table, 0.7))
    draw = random.Random(1)
    words = [f"w{index}" for index in range(30_000)]
    answer = " ".join(draw.choices(words, k=scaled(170_000)))
    reference = "\n".join(" ".join(draw.choices(words, k=20)) for _ in range(50))
    yield HeavyInput("rouge: a megabyte", 10, partial(_rouge, reference, answer))
    yield HeavyInput("rouge: a megabyte of one sign", 10, partial(_rouge, filled("`", 900_000), filled("`", 10**6)))
    yield HeavyInput("rouge: a megabyte of lines", 10, partial(_rouge, reference, answer.replace(" w1", "\nw1")))
    turned = (
        "\n".join(f"{pair} {side}{line}" for line in range(scaled(30_000)))
        for side, pair in (("r", "a b"), ("c", "b a"))
    )
    yield HeavyInput("rouge: lines that never gain", 25, partial(_rouge, *turned))
    yield HeavyInput(
        "rouge: a megabyte that differs everywhere", 25, partial(_rouge, filled("a b ", 10**6), filled("b a c ", 10**6))
    )
    for name, text in (
        ("one letter", filled("a", 10**6)),
        ("loop", filled("I am stuck in a loop. ", 10**6)),
        ("random", "".join(draw.choices("abcdefgh ", k=scaled(10**6)))),
        ("twice", "".join(draw.choices("ab ", k=scaled(5 * 10**5))) * 2),
    ):
        yield HeavyInput(f"longest repeat: {name}", 15, partial(longest_repeat, text))


class Verdict(BaseModel):
    """A reply that a judge is asked for."""

    reason: str
    verdict: bool


def _judge() -> Iterator[HeavyInput]:
    for unit in ("\n", " ", "system\n", "## ", "you must ", "ignore ", "a: ", '"verdict" ', "\u200b", "<|"):
        texts = [("answer", filled(unit, 1_000_000))]
        yield HeavyInput(f"written for the judge: {unit!r}", 5, partial(suspected, texts))
    for unit in ("[", '{"a":', '"', "\\", "`", "<think>", "**", "- ", "verdict: ", "\n", "{", "| a "):
        reply = filled(unit, 200_000)
        yield HeavyInput(f"reply: {unit!r}", 10, partial(_unreadable, reply))


def _unreadable(reply: str) -> None:
    with suppress(Unreadable):
        read(reply, Verdict)


FAMILIES = {"judge": _judge, "rules": _rules, "languages": _languages, "agents": _agents, "overlap": _overlap}
