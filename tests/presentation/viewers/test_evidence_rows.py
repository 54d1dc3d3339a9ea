"""The evidence list's payload: what the browser is told to draw, from rows of verdicts."""

import pytest

from metrics.core.evidence import Evidence, Verdict
from metrics.presentation.verdict_rows import verdict_groups
from metrics.presentation.viewers.evidence_rows import AROUND, MOST_CHARACTERS, payload


def drawn(quote: str, context: str, *, found: bool = True) -> dict[str, object]:
    claim = Verdict("A.", "yes", rests_on=(("contexts", 1),), quote=quote, facts={"quote_found": found})
    return payload(verdict_groups(Evidence({"claims": [claim]})), [context])


@pytest.mark.parametrize(("place", "shown"), [
    (100, 0), (MOST_CHARACTERS - 20, 1), (90_000, 1),
], ids=["in the beginning", "across the end of it", "far behind"])  # fmt: skip
def test_a_quote_is_in_what_is_shown(place, shown):
    context = "x" * place + "the wheel is of oak and stone" + "y" * 100_000
    (text,) = drawn("the wheel is of oak and stone", context)["contexts"]
    assert "the wheel is of oak and stone" in text
    assert text.count(" […] ") == shown
    assert len(text) <= MOST_CHARACTERS + 4 * AROUND


def test_quotes_of_a_row():
    assert drawn("a … b", "a, b")["groups"][0]["rows"][0]["quotes"] == ("a", "b")
    assert drawn("c", "a, b", found=False)["groups"][0]["rows"][0]["quotes"] == ()
    assert drawn("c", "z" * 30_000, found=False)["contexts"] == ["z" * MOST_CHARACTERS]
