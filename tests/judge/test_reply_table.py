"""Every reply of the table is read, or is not read for the reason that it gives."""

import pytest

from metrics.core.errors import Unreadable
from metrics.judge.replies import Items, read
from tests.judge.reply_forms import ENTAILED, VERDICTS, Claims, Given, Verdict
from tests.judge.reply_table import JSON, WORDS
from tests.judge.unread_table import UNREAD

READ = JSON + WORDS


def named(table: list[Given]) -> list[object]:
    return [pytest.param(given, id=given.id) for given in table]


@pytest.mark.parametrize("given", named(READ))
def test_it_is_read(given):
    said = read(given.text, given.form)  # type: ignore[type-var]
    if isinstance(said, Items):
        found, complaints = said.by_number(given.count)
        shown = {number: entry.model_dump() for number, entry in found.items()}
        assert {number: {name: shown[number][name] for name in own} for number, own in given.read.items()} == given.read
        assert (sorted([*found, *complaints]), set(found)) == (list(range(1, given.count + 1)), set(given.read))
    else:
        assert said.model_dump(include=set(given.read)) == given.read


@pytest.mark.parametrize("given", named(UNREAD))
def test_it_is_not_read(given):
    if given.count and not given.why:
        found, complaints = read(given.text, given.form).by_number(given.count)  # type: ignore[type-var,attr-defined]
        assert (found, set(complaints)) == ({}, set(range(1, given.count + 1)))
        return
    with pytest.raises(Unreadable) as failure:
        read(given.text, given.form)  # type: ignore[type-var]
    assert given.why in str(failure.value)


@pytest.mark.parametrize("form", [Verdict, Claims, VERDICTS, ENTAILED])
@pytest.mark.parametrize("unit", [
    '"a":', "[", "{", "]{”,", '"', "(", "<think>", "</think>", "<|channel|>", "_", "1. no\n", "1 and ",
    "answer is ", "\\", '{"id": 1}', "[1],", "```json\n", ":'null,", "<|channel|>a<|message|>", "sorry ",
    "| a |\n|---|\n", "\\boxed{4}\n", "<a>b</a>\n", "**x**\n", "1. no\nReason: x\n", '"a"：', "★", '{\\"a',
])  # fmt: skip
def test_a_hostile_reply_is_unreadable_or_does_not_pass(unit, form):
    """Nothing but Unreadable is raised, and no passing verdict comes of text without one."""
    for head in ("", '{"a":', '["', '{"replies": ['):
        try:
            said = read(head + unit * (4_000 // len(unit)), form)
        except Unreadable:
            continue
        assert said.model_dump().get("verdict") != "yes"
        if isinstance(said, Items):
            assert all(entry.model_dump().get("verdict") != "yes" for entry in said.by_number(3)[0].values())
