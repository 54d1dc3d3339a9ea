"""Rules on texts with findings planted in them: precision and recall of every kind, exact spans, samples marked."""

import random
import re

import pytest
from hypothesis import settings

from metrics.text.sensitive.check_digits import luhn
from metrics.text.sensitive.payments import IBAN_LENGTHS, iban_checks
from metrics.text.sensitive.personal_data import personal_data
from metrics.text.sensitive.spans import redacted
from tests.corpora import personal, unseen
from tests.corpora.cases import Case, Make, Planted
from tests.corpora.rules import RULES, cases_of, measured

SIZE = 60 * settings().max_examples  # cases a rule
FLOOR = 0.98


@pytest.mark.parametrize("held_out", [False, True], ids=["seen", "held out"])
@pytest.mark.parametrize("rule", RULES)
def test_every_kind_is_found_where_it_is_and_nowhere_else(rule: str, held_out: bool) -> None:
    found = measured(rule, SIZE, held_out)
    few = {kind for kind, tally in found.kinds.items() if 0 < tally.planted < 50}  # one error would be 2 %
    assert not found.below(FLOOR, few), (found.missed, found.mistaken)
    assert not found.below(0.95), (found.missed, found.mistaken)
    assert len(found.missed) >= 70, "generators of findings and of look-alikes"


@pytest.mark.parametrize(("planted", "look_alikes", "rule"), [
    pytest.param(unseen.PERSONAL, unseen.LOOKS_PERSONAL, "personal data", id="personal data"),
    pytest.param(unseen.SECRETS, unseen.LOOKS_SECRET, "secrets", id="secrets"),
])  # fmt: skip
def test_texts_written_after_the_rules(planted: dict[str, Planted], look_alikes: dict[str, Make], rule: str) -> None:
    right = wrong = there = 0
    for text, *finding in unseen.cases_of_text(planted, look_alikes, 400, seed=7):
        found = RULES[rule][2](Case("", text, (), {}, False))
        there += bool(finding[0])
        right += tuple(finding) in found
        wrong += len(found - {tuple(finding)})
    assert right >= 0.98 * there
    assert wrong <= 0.04 * there


def test_published_samples_are_marked_and_what_is_shown_hides_the_value() -> None:
    for case in cases_of("personal data", SIZE):
        for datum in personal_data(case.text, regions=(case.options.get("region", "any"),)) if case.findings else ():
            assert datum.dummy == case.dummy, (case.name, case.text)
            shape = redacted(case.text, datum)
            assert len(shape) == datum.end - datum.start
            assert not re.search(r"[^\W_]", shape[1:])


def test_the_generator_and_the_rule_agree_on_check_digits_and_lengths() -> None:
    """Two writings of the standards, each of its own: where they differ, one is wrong."""
    rng = random.Random(3)
    for _ in range(300):
        assert luhn(personal.card(rng))
        assert not luhn(personal.bad_card(rng))
        iban = personal.iban(rng)
        assert iban_checks(iban), iban
        assert not iban_checks(personal.iban(rng, rng.randrange(1, 97)))
    lengths = {country: 4 + len(personal.account(rng, country)) for country in personal.ACCOUNTS}
    assert lengths == {country: IBAN_LENGTHS[country] for country in personal.ACCOUNTS}
