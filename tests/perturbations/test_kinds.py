"""What each kind of perturbation does to a text, for any text."""

import unicodedata
from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given, settings, strategies as st

from metrics.perturbations import INTENSITIES, KINDS, RULE_KINDS
from metrics.perturbations.characters import EXCHANGED, NEIGHBOURS
from metrics.perturbations.lexicon import _forms, _lines, antonyms, synonyms
from metrics.perturbations.sites import graphemes, perturbed, seeded, words

LONG = (
    "How large is the new library that the famous author opened in Zürich yesterday, and why is it usually so quiet? "
    "My doctor bought an expensive car, but the lazy clerk says that every employee may borrow a film for seven days. "
    "Please explain which rules apply before the meeting begins and what happens if somebody forgets to return a book."
)
SHORT = LONG.partition("? ")[0]
CHANGING = [name for name in RULE_KINDS if name != "copy"]
texts = st.text(st.characters(codec="utf-8"), max_size=80) | st.lists(
    st.sampled_from([*LONG.split(), "今天很好", "हिन्दी", "à", "e\u0301", "🙂", "2024", "y", "zZ"]), max_size=14
).map(" ".join)


def vary(kind: str, text: str, level: int = 1, seed: int = 0) -> str:
    sites = KINDS[kind].sites
    return (
        text if sites is None else perturbed(text, sites(text), KINDS[kind].shares[level], seeded(seed, "case", kind))
    )


def distance(text: str, other: str) -> int:
    row = list(range(len(other) + 1))
    for i, a in enumerate(text, 1):
        before, row[0] = row[0], i
        for j, b in enumerate(other, 1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (a != b))
    return row[-1]


@pytest.mark.parametrize(("kind", "text", "expected"), [
    pytest.param("yz", "Crazy lazy Yak", "Crayz layz Zak", id="y and z, in their case"),
    pytest.param("comma", "one two", "one, two", id="a comma between two words"),
    pytest.param("comma", "日本", "日，本", id="a wide comma where there are no blanks"),
    pytest.param("word_swap", "one two", "two one", id="two words in the other order"),
    pytest.param("word_swap", "don't co-operate", "co-operate don't", id="apostrophes and hyphens are in words"),
    pytest.param("word_swap", "one, two", "one, two", id="never across punctuation"),
    pytest.param("word_swap", "one\ntwo", "one\ntwo", id="never across lines"),
    pytest.param("synonym", "A car", "An automobile", id="a synonym, and its article"),
    pytest.param("synonym", "DOCTOR", "PHYSICIAN", id="capitals"),
    pytest.param("synonym", "Carries", "Transports", id="bent as it was"),
    pytest.param("synonym", "scarcely", "scarcely", id="whole words alone"),
    pytest.param("antonym", "an advantage", "a disadvantage", id="an antonym, and its article"),
    pytest.param("antonym", "Is it?", "Is not it?", id="a plain verb is negated"),
    pytest.param("character_delete", "न्", "", id="a letter goes with its marks"),
    pytest.param("keyboard", "2024 №7", "2024 №7", id="numbers stay"),
    pytest.param("ocr", "w", "vv", id="one letter read as two"),
    pytest.param("character", "1 + 1 = ?", "1 + 1 = ?", id="no letter, no change"),
])  # fmt: skip
def test_worked_examples(kind, text, expected):
    assert vary(kind, text, 2) == expected


@pytest.mark.parametrize("kind", CHANGING)
@settings(max_examples=40)
@given(text=texts, level=st.sampled_from(range(3)), seed=st.integers(0, 9))
def test_whatever_has_a_site_is_changed_the_same_way_every_time(kind, text, level, seed):
    sites = KINDS[kind].sites
    assert sites is not None
    made = vary(kind, text, level, seed)
    assert (made, made != text) == (vary(kind, text, level, seed), bool(sites(text)))
    made.encode()  # still a text that can be written


@given(text=texts, level=st.sampled_from(range(3)))
def test_characters_are_changed_as_promised(text, level):
    letters = len(graphemes(text))
    most = max(1, round(KINDS["character_delete"].shares[level] * letters))
    digits = [c for c in text if unicodedata.category(c) == "Nd"]
    for kind in ("character", "character_delete", "character_insert", "character_replace", "keyboard"):
        made = vary(kind, text, level)
        assert [c for c in made if unicodedata.category(c) == "Nd"] == digits, "numbers stay as they are"
    assert len(graphemes(vary("character_delete", text, level))) >= letters - most
    assert is_part(vary("character_delete", text, level), text)
    assert is_part(text, vary("character_insert", text, level))
    typed = vary("keyboard", text, level)
    assert len(typed) == len(text)
    wrong = [(was, now) for was, now in zip(text, typed, strict=True) if was != now]
    assert all(now.lower() in NEIGHBOURS[was.lower()] and now.isupper() == was.isupper() for was, now in wrong)
    assert len(wrong) <= most
    exchanged = vary("yz", text, level)
    assert all(now in (was, was.translate(EXCHANGED)) for was, now in zip(text, exchanged, strict=True))


@given(text=texts, level=st.sampled_from(range(3)))
def test_words_are_changed_as_promised(text, level):
    swapped = vary("word_swap", text, level)
    assert Counter(text[a:b] for a, b in words(text)) == Counter(swapped[a:b] for a, b in words(swapped))
    assert Counter(swapped) == Counter(text)
    with_commas = vary("comma", text, level)
    added = Counter(with_commas) - Counter(text)
    assert set(added) <= {",", "，"}
    assert is_part(text, with_commas)


def is_part(text: str, whole: str) -> bool:
    left = iter(whole)
    return all(character in left for character in text)


@pytest.mark.parametrize("kind", CHANGING)
def test_more_intensity_changes_more(kind):
    sums = [sum(distance(SHORT, vary(kind, SHORT, level, seed)) for seed in range(3)) for level in range(3)]
    assert 0 < sums[0] < sums[1] < sums[2], dict(zip(INTENSITIES, sums, strict=True))


def test_the_changes_of_a_low_intensity_are_among_those_of_a_high_one():
    for kind in ("keyboard", "yz", "character_replace"):
        steps = [
            {i for i, (a, b) in enumerate(zip(LONG, vary(kind, LONG, level), strict=True)) if a != b}
            for level in range(3)
        ]
        assert all(low < high for low, high in pairwise(steps))


def test_seeds_make_the_same_numbers_on_every_machine():
    drawn = [seeded(seed, "a", "copy").random() for seed in (7, 8)]
    assert drawn == pytest.approx([0.500027298542, 0.946941199686], abs=1e-12)


@pytest.mark.parametrize(("name", "sides"), [("synonyms.txt", 1), ("antonyms.txt", 2)])
def test_the_word_lists_are_sound(name, sides):
    seen: Counter[str] = Counter()
    for kind, text in _lines(name):
        groups = [[_forms(kind, word) for word in side.split()] for side in text.split("|")]
        assert len(groups) == sides
        assert all(groups), text
        every = [forms for group in groups for forms in group]
        assert len({len(forms) for forms in every}) == 1, f"{text}: as many forms each"
        assert len(every) > 1
        seen.update({form for forms in every for form in forms})
    assert not [form for form, count in seen.items() if count > 1], "a word in two groups"


def test_a_synonym_of_a_synonym_is_the_word_and_antonyms_go_both_ways():
    for name, lexicon in (("synonyms.txt", synonyms()), ("antonyms.txt", antonyms())):
        forms = [_forms(kind, word) for kind, text in _lines(name) for word in text.replace("|", " ").split()]
        ambiguous = {form for word in forms for form, count in Counter(word).items() if count > 1}
        pairs = {(word, other) for word, others in lexicon.items() for other in others}
        assert all((other, word) in pairs for word, other in pairs if not {word, other} & ambiguous)
    assert len(_lines("synonyms.txt")) + len(_lines("antonyms.txt")) >= 300
