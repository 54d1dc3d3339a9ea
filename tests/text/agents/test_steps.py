"""Steps of a text: lists of every script, what belongs to an item, prose, and bounded time."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrics.text.agents.steps import steps

LISTS = {
    "numbers with full stops": ("1. Grind.\n2. Pour.", ["Grind.", "Pour."]),
    "numbers in brackets": ("(1) Grind\n(2) Pour", ["Grind", "Pour"]),
    "one bracket": ("1) Grind\n2) Pour", ["Grind", "Pour"]),
    "bullets of several kinds": ("- Grind\n* Pour\n• Stir\n– Serve", ["Grind", "Pour", "Stir", "Serve"]),
    "boxes to tick": ("- [ ] Grind\n- [x] Pour", ["Grind", "Pour"]),
    "Arabic-Indic digits": ("١. اطحن\n٢. اسكب", ["اطحن", "اسكب"]),
    "Devanagari digits": ("१. पीसें\n२. डालें", ["पीसें", "डालें"]),
    "full-width numbers": ("１．挽く\n２．注ぐ", ["挽く", "注ぐ"]),
    "Chinese numerals": ("一、磨豆\n二、倒水", ["磨豆", "倒水"]),
    "circled numbers": ("① grind\n② pour", ["grind", "pour"]),
    "the word for a step": ("第1步：磨豆\n第二步：倒水", ["磨豆", "倒水"]),
    "Step 1:": ("Step 1: Grind\nStep 2: Pour", ["Grind", "Pour"]),
    "Schritt 1:": ("Schritt 1: Mahlen\nSchritt 2: Gießen", ["Mahlen", "Gießen"]),
    "headings": ("## 1. Grind\nFinely.\n\n## 2. Pour\nSlowly.", ["Grind Finely.", "Pour Slowly."]),
    "bold and code": ("1. **Run** `make`\n2. __Wait__", ["Run make", "Wait"]),
    "bold numbers": ("**1. Grind**\n**2. Pour**", ["Grind", "Pour"]),
    "before and after": ("To brew:\n1. Grind\n2. Pour\n\nEnjoy!", ["Grind", "Pour"]),
    "deeper items": ("1. Grind\n   - finely\n   - twice\n2. Pour", ["Grind - finely - twice", "Pour"]),
    "bullets under numbers at one indent": ("1. Grind\n- finely\n2. Pour", ["Grind - finely", "Pour"]),
    "numbers under bullets": ("- Grind\n  1. finely\n  2. twice\n- Pour", ["Grind 1. finely 2. twice", "Pour"]),
    "a lone number among bullets": ("1. Plan:\n- grind\n- pour", ["Plan:", "grind", "pour"]),
    "aligned to the right": (" 9. Grind\n10. Pour", ["Grind", "Pour"]),
    "paragraphs of an item": ("1. Grind\n\nFinely.\n\n2. Pour\nSlowly.", ["Grind Finely.", "Pour Slowly."]),
    "numbers in code": ("1. Run\n```\n1. no\n2. no\n```\n2. Wait", ["Run 1. no 2. no", "Wait"]),
    "an item on the next line": ("1.\nGrind\n2.\nPour", ["Grind", "Pour"]),
    "an item of rules only": ("- ---\n- Pour\n- Stir", ["Pour", "Stir"]),
    "a whole text of one item": ("1. Grind", ["Grind"]),
    "one item among prose": ("First:\n- Grind\nThen pour.", ["First:", "Grind", "Then pour."]),
    "decimals are no numbers of items": ("3.5 l of water\n2.5 g of salt", ["3.5 l of water", "2.5 g of salt"]),
    "lines": ("Grind\nPour", ["Grind", "Pour"]),
    "sentences": ("Grind. Pour it, e.g. slowly. Stir!", ["Grind.", "Pour it, e.g. slowly.", "Stir!"]),
    "numbers within a line": ("1. Grind it. 2. Pour it.", ["Grind it. 2. Pour it."]),
    "no space between sentences": ("磨豆。倒水。", ["磨豆。", "倒水。"]),
    "nothing": (" \n*** ", []),
}  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), LISTS.values(), ids=LISTS.keys())
def test_steps(text: str, expected: list[str]) -> None:
    assert steps(text) == expected


WORDS = st.lists(st.sampled_from(["grind", "é", "今天", "3.5", "a-b", "(or not)", "1.x"]), min_size=1, max_size=4)


@given(st.lists(WORDS.map(" ".join), min_size=2, max_size=8))
def test_a_list_gives_back_its_items(items: list[str]) -> None:
    assert steps("\n".join(f"{place}. {item}" for place, item in enumerate(items, 1))) == items
    assert steps("Do this:\n\n" + "\n\n".join(f"- {item}" for item in items)) == items


@given(st.text(max_size=200) | st.text(alphabet="1.-*# \n\t`(a", max_size=200))
def test_any_text_gives_words(text: str) -> None:
    for step in steps(text):
        assert step == " ".join(step.split())
        assert step
