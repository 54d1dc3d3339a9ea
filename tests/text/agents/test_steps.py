"""Steps of a text: lists of every script, what belongs to an item, prose, and bounded time."""

import pytest
from hypothesis import given, strategies as st

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
    "one item among prose": ("Note:\n- Grind\nThen pour.", ["Note:", "Grind", "Then pour."]),
    "decimals are no numbers of items": ("3.5 l of water\n2.5 g of salt", ["3.5 l of water", "2.5 g of salt"]),
    "lines": ("Grind\nPour", ["Grind", "Pour"]),
    "sentences": ("Grind. Pour it, e.g. slowly. Stir!", ["Grind.", "Pour it, e.g. slowly.", "Stir!"]),
    "a line break after a number": ("Step 1\nGrind\nStep 2\nPour", ["Grind", "Pour"]),
    "no space after a number": ("1.Grind\n2.Pour", ["Grind", "Pour"]),
    "letters of lines": ("a. Grind\nb. Pour", ["Grind", "Pour"]),
    "numerals of lines": ("(i) Grind\n(ii) Pour", ["Grind", "Pour"]),
    "several items in a line, and a further line": ("1. Grind 2. Pour\n3. Stir", ["Grind", "Pour", "Stir"]),
    "no space between sentences": ("磨豆。倒水。", ["磨豆。", "倒水。"]),
    "nothing": (" \n*** ", []),
}


THREE = ["Load the data", "Clean it", "Plot it"]
INLINE = (  # the three steps, written within one line or as data
    "1. Load the data 2. Clean it 3. Plot it", "1) Load the data 2) Clean it 3) Plot it",
    "(1) Load the data (2) Clean it (3) Plot it", "1: Load the data 2: Clean it 3: Plot it",
    "1 - Load the data 2 - Clean it 3 - Plot it", "1. Load the data, 2. Clean it, 3. Plot it",
    "1. Load the data and 2. Clean it and 3. Plot it", "(1) Load the data; (2) Clean it; and (3) Plot it.",
    "(a) Load the data (b) Clean it (c) Plot it", "a) Load the data b) Clean it c) Plot it",
    "a. Load the data b. Clean it c. Plot it", "A) Load the data B) Clean it C) Plot it",
    "A. Load the data. B. Clean it. C. Plot it.", "i. Load the data ii. Clean it iii. Plot it",
    "(i) Load the data (ii) Clean it (iii) Plot it", "i) Load the data ii) Clean it iii) Plot it",
    "I. Load the data. II. Clean it. III. Plot it.", "Step 1: Load the data Step 2: Clean it Step 3: Plot it",
    "Step 1 - Load the data Step 2 - Clean it Step 3 - Plot it",
    "STEP 1. Load the data STEP 2. Clean it STEP 3. Plot it",
    "Step one: Load the data. Step two: Clean it. Step three: Plot it.",
    "Schritt 1: Load the data Schritt 2: Clean it Schritt 3: Plot it",
    "**1.** Load the data **2.** Clean it **3.** Plot it", "**1. Load the data** **2. Clean it** **3. Plot it**",
    "**Step 1:** Load the data **Step 2:** Clean it **Step 3:** Plot it",
    "First, Load the data. Then Clean it. Finally, Plot it.",
    "First Load the data, then Clean it, and finally Plot it.",
    "Firstly, Load the data; secondly, Clean it; thirdly, Plot it",
    "To begin, Load the data. After that, Clean it. Lastly, Plot it.",
    "Zuerst Load the data, dann Clean it, schließlich Plot it.", "Load the data → Clean it → Plot it",
    "Load the data -> Clean it -> Plot it", "Load the data => Clean it => Plot it", "Load the data; Clean it; Plot it",
    "• Load the data • Clean it • Plot it", "① Load the data ② Clean it ③ Plot it",
    "第一步：Load the data 第二步：Clean it 第三步：Plot it", "1、Load the data 2、Clean it 3、Plot it",
    "To do it: 1. Load the data 2. Clean it 3. Plot it",
    "The plan follows. 1) Load the data 2) Clean it 3) Plot it\n\nGood luck!",
    '["Load the data", "Clean it", "Plot it"]', '{"steps": ["1. Load the data", "2. Clean it", "3. Plot it"]}',
    '```json\n["Load the data", "Clean it", "Plot it"]\n```',
    '[{"step": 1, "action": "Load the data"}, {"action": "Clean it"}, {"action": "Plot it"}]',
    "| # | Step |\n|---|---|\n| 1 | Load the data |\n| 2 | Clean it |\n| 3 | Plot it |",
    "Plan:\n\nWho | Action\n:--|--:\nAnn | Load the data\nBo | Clean it\nAnn | Plot it\n\nDone.",
)  # fmt: skip


@pytest.mark.parametrize("text", INLINE)
def test_every_way_to_list_three_steps(text: str) -> None:
    assert [step.rstrip(".") for step in steps(text)] == THREE


@pytest.mark.parametrize(("text", "expected"), [
    ("Install version 2. 3 files appear.", ["Install version 2.", "3 files appear."]),
    ("It began in 1999. 2 people came.", ["It began in 1999.", "2 people came."]),
    ("See e.g. 1. x", ["See e.g. 1. x"]),
    ("It is in section 1. Then section 2. Stop.", ["It is in section 1.", "Then section 2.", "Stop."]),
    ("1. Read section 2. Then stop. 2. Rest.", ["Read section 2. Then stop.", "Rest."]),
    ("A. Smith and B. Jones wrote it.", ["A. Smith and B. Jones wrote it."]),
    ("I. Newton fell. Then he sat.", ["I. Newton fell.", "Then he sat."]),
    ("Follow plan a. then plan b. now", ["Follow plan a. then plan b. now"]),
    ("Use option a) or option b) now", ["Use option a) or option b) now"]),
    ("Mix x (a) and y (b) now", ["Mix x (a) and y (b) now"]), ("The ratio 1: 2 is fine.", ["The ratio 1: 2 is fine."]),
    ("2. Load it 3. Clean it", ["Load it 3. Clean it"]), ("1. Load it 3. Clean it", ["Load it 3. Clean it"]),
    ("If it rains, then stay home. Finally leave.", ["If it rains, then stay home.", "Finally leave."]),
    ("He was first. Then he left.", ["He was first.", "Then he left."]),
    ("I came; I saw.", ["I came; I saw."]),
    ("1. Install Python 2. It is old\n2. Run it", ["Install Python 2. It is old", "Run it"]),
    ("1. Plan: a) grind b) pour\n2. Stir", ["Plan: a) grind b) pour", "Stir"]),
    ('["a", 1]', ['["a", 1]']), ("a | b", ["a | b"]),
])  # fmt: skip
def test_what_only_looks_like_a_list_is_not_split(text: str, expected: list[str]) -> None:
    assert steps(text) == expected


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
