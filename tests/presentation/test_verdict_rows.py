"""Verdicts as rows of text, the same in pages and reports."""

import pytest

from metrics.core.evidence import Evidence, Verdict
from metrics.presentation.verdict_rows import fact_text, links_text, verdict_groups


@pytest.mark.parametrize(("text", "rests_on", "words"), [
    ("A.", (), ""),
    ("A.", (("contexts", 1), ("contexts", 3), ("claims", 2)), "contexts 1, 3 · claim 2"),
    ("Context 1", (("contexts", 1),), ""),
], ids=["nothing", "two groups", "itself"])  # fmt: skip
def test_what_a_verdict_rests_on_in_words(text, rests_on, words):
    assert links_text(Verdict(text, "yes", rests_on=rests_on)) == words


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (True, "yes"), (2 / 3, "0.667"), (["a", 2], "a, 2"), ({"of_all": 0.5}, "of all 0.500"),
        ("53aa51172d14" + "0" * 52, "53aa51172d14…"), ("0" * 63, "0" * 63),
    ],
    ids=["truth", "number", "list", "record", "fingerprint", "no fingerprint"],
)  # fmt: skip
def test_a_fact_as_text(value, text):
    assert fact_text(value) == text


def test_every_group_has_a_title_and_numbered_rows_with_a_glyph():
    verdicts = (
        Verdict("A.", "yes", "plain"), Verdict("B.", "no", "hedged", "So.", quote="perhaps"),
        Verdict("C.", "unknown", facts={"importance_reason": "x_y", "share": 0.12345, "noise": False, "none": None}),
    )  # fmt: skip
    (group,) = verdict_groups(Evidence({"reference_claims": verdicts}, {"n": 3}))
    assert (group.name, group.title) == ("reference_claims", "Reference claims")
    assert [(row.number, row.glyph, row.label, row.notes) for row in group.rows] == [
        (1, "✓", "plain", ()),
        (2, "✗", "hedged", ("“perhaps”",)),
        (3, "–", "", ("importance reason: x_y", "share: 0.123", "noise: no")),
    ]


def test_quotes_of_a_judge():
    """Found: to be marked in the contexts. Not found: said. Other quotes: as they are."""
    found, missing = {"quote_found": True, "p": 1}, {"quote_found": False}
    verdicts = (
        Verdict("A.", "yes", quote="a … b", facts=found), Verdict("B.", "yes", quote="c", facts=missing),
        Verdict("C.", "yes", quote="d … e"),
    )  # fmt: skip
    (group,) = verdict_groups(Evidence({"claims": verdicts}))
    assert [(row.quotes, row.notes) for row in group.rows] == [
        (("a", "b"), ("“a … b”", "p: 1")),
        ((), ("⚠ the judge's quote is not in the context: “c”",)),
        ((), ("“d … e”",)),
    ]
