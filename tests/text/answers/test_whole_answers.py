"""What a whole answer may be: a form, a quantity, a date, a time, a choice."""

from fractions import Fraction
from random import Random

import pytest

from metrics.text.answers.choices import Choice, choice, same_choice
from metrics.text.answers.dates import clock_time, whole_dates
from metrics.text.answers.forms import AnswerForm, squad_form, whisper_form, without_ends
from metrics.text.answers.quantities import quantity, same_amount


@pytest.mark.parametrize(("text", "bare"), [
    ("Paris.", "Paris"), ("**Paris**", "Paris"), ("“Paris”", "Paris"), ("(Paris)", "Paris"), ("f(x)", "f(x)"),
    ("(a) b", "(a) b"), (".5", ".5"), ("-5", "-5"), ("50%", "50%"), ("C#", "C#"), ("$5", "$5"), ("…!", ""),
    ("巴黎。", "巴黎"), ("{1, 2}", "1, 2"), ("{1} or {2}", "{1} or {2}"),
])  # fmt: skip
def test_marks_around_a_whole_answer_are_no_part_of_it(text: str, bare: str) -> None:
    assert without_ends(text) == bare


def test_the_form_of_transcripts_is_that_of_whisper() -> None:
    """The copy of its BasicTextNormalizer in transformers, on 200 random texts; white space at the ends aside."""
    from transformers.models.whisper.english_normalizer import BasicTextNormalizer

    theirs, chance = BasicTextNormalizer(), Random(8)
    parts = "Hello WORLD [noise] (uh,um) <b> don't 3.5€ ÉCOLE ﬁne नमस्ते … [ ) İ ² \u3000".split(" ")
    for _ in range(200):
        text = "".join(chance.choice(parts) + chance.choice(("", " ")) for _ in range(chance.randrange(12)))
        assert whisper_form(text) == theirs(text).strip()


def test_marks_are_left_out_in_linear_time() -> None:
    many = 500_000
    for text, bare in (("x" + ")" * many, "x"), ("(" * many + "x", "x"), ("(" * many, ""), ("." * many + "5", ".5")):
        assert without_ends(text) == bare


def test_what_is_left_out_and_a_text_of_nothing_else() -> None:
    assert (AnswerForm(punctuation="all").of(" ?! "), AnswerForm(articles=True).of("The")) == ("?!", "The")
    assert AnswerForm(False, False, "keep", False, "none").of(" A  b. ") == " A  b. "
    assert AnswerForm().of("\u200bPar\u00adis\u200e") == "paris"
    assert AnswerForm(unicode="NFC").of("Par\u00adis") == "par\u00adis"
    assert squad_form("The “U.S.” house, a") == "“us” house"


@pytest.mark.parametrize(("text", "value", "unit"), [
    ("42", 42, ""), ("42.", 42, ""), ("forty-two", 42, ""), ("minus three", -3, ""), ("1,200.5", Fraction(2401, 2), ""),
    ("1 200 000", 1_200_000, ""), ("1'200", 1200, ""), ("−5", -5, ""), (".5", Fraction(1, 2), ""),
    ("½", Fraction(1, 2), ""), ("1 1/2", Fraction(3, 2), ""), ("2.5e3", 2500, ""), ("1.2×10³", 1200, ""),
    ("1.2 × 10^-3", Fraction(12, 10_000), ""), ("3 million", 3_000_000, ""), ("$1.5 million", 1_500_000, "dollar"),
    ("US$5", 5, "dollar"), ("5 USD", 5, "dollar"), ("-€5", -5, "euro"), ("50 %", 50, "%"), ("about 5 km", 5, "km"),
    ("one hundred and five apples", 105, "apples"), ("1889", 1889, ""),
])  # fmt: skip
def test_a_quantity_is_read_exactly(text: str, value: Fraction, unit: str) -> None:
    assert quantity(text) == (value, unit)


@pytest.mark.parametrize("text", [
    "007", "1.2.3", "3:30", "first", "5th", "one, two", "1,2,3", "12,34", "5-6", "5'11", "Paris", "1e999", "", "9" * 99,
])  # fmt: skip
def test_codes_versions_times_orders_and_lists_are_no_quantity(text: str) -> None:
    assert quantity(text) is None


def test_the_decimal_mark_can_be_a_comma() -> None:
    assert (quantity("1.200,5", ","), quantity("1.200")) == ((Fraction(2401, 2), ""), (Fraction(6, 5), ""))


@pytest.mark.parametrize(("made", "wanted", "same"), [
    ("1 km", "1000 m", True), ("25 degrees Celsius", "77 °F", True), ("0 °C", "273.15 K", True), ("50 %", "0.5", True),
    ("50", "50 %", False), ("5 apples", "five Apples", True), ("5 apples", "5 pears", False),
    ("3.6 km/h", "1 m/s", True), ("1 kWh", "3.6 MJ", True), ("1 sq km", "1,000,000 m²", True),
    ("90 minutes", "1.5 hours", True), ("$5", "5 dollars", True), ("$5", "5 euros", False), ("5 mm", "5 Mm", False),
    ("1 inch", "2.54 cm", True), ("1 lb", "0.45359237 kg", True), ("5 m**9**9", "3 m", False),
    ("1 mile", "1.6 km", False), ("5", "5 km", False),
])  # fmt: skip
def test_units_of_a_kind_are_converted_exactly(made: str, wanted: str, same: bool) -> None:
    one, other = quantity(made), quantity(wanted)
    assert same_amount(one, other) is same


def test_units_may_be_compared_as_words_or_not_at_all() -> None:
    one, other = quantity("1000 m"), quantity("1 km")
    assert not same_amount(one, other, units="written")
    assert not same_amount(one, other, units="ignore")
    assert same_amount(one, other._replace(value=Fraction(1000)), units="ignore")
    mile, about = quantity("1 mile"), quantity("1.6 km")
    assert same_amount(mile, about, relative=Fraction(1, 100))
    assert not same_amount(mile, about, absolute=Fraction(9, 1000))


@pytest.mark.parametrize(("text", "days"), [
    ("2024-03-01", [(2024, 3, 1)]), ("1 March 2024", [(2024, 3, 1)]), ("March 1st, 2024", [(2024, 3, 1)]),
    ("Friday, 1 March 2024.", [(2024, 3, 1)]), ("1.3.2024", [(2024, 3, 1)]), ("3/4/2024", [(2024, 3, 4), (2024, 4, 3)]),
    ("3/4/24", [(1924, 3, 4), (1924, 4, 3), (2024, 3, 4), (2024, 4, 3)]),
    ("2024年3月1日", [(2024, 3, 1)]), ("March 2024", [(2024, 3, 0)]), ("the 4th of July", [(0, 7, 4)]),
    ("1. März 2024", [(2024, 3, 1)]), ("30 February 2024", []), ("May", []), ("1984", []), ("1.2.3", []),
    ("in March 2024 they left", []), ("10 km", []),
])  # fmt: skip
def test_a_date_names_days(text: str, days: list[tuple[int, int, int]]) -> None:
    assert sorted(whole_dates(text)) == days


def test_the_order_of_day_and_month_can_be_said() -> None:
    assert whole_dates("3/4/2024", "day_first") == {(2024, 4, 3)}
    assert whole_dates("3/4/2024", "month_first") == {(2024, 3, 4)}


@pytest.mark.parametrize(("answer", "letter", "text"), [
    ("B", "B", ""), ("b.", "B", ""), ("(B)", "B", ""), ("**B**", "B", ""), ("B) Paris", "B", "Paris"),
    ("(c) Rome.", "C", "Rome"), ("Answer: B", "B", ""), ("The correct answer is (B).", "B", ""),
    ("It could be A. But the answer is **D**.", "D", ""), ("I choose option C because it is so.", "C", ""),
    (r"Thus \boxed{\text{B}}.", "B", ""), ("C is correct: it floats.", "C", ""),
    ("ANSWER: $B$", "B", ""), ("answer: b", "B", ""), ("The answer is b.", "B", ""), ("**Answer:** $B$", "B", ""),
    ('ANSWER: "B"', "B", ""), ("答案：B", "B", ""), ("答案是（Ｂ）。", "B", ""), ("正解はBです", "B", ""),
    ("정답은 B입니다", "B", ""),
    ("Die Antwort ist B.", "B", ""), ("Richtig ist B.", "B", ""), ("La réponse est B", "B", ""),
    ("La respuesta correcta es la opción B) Basel", "B", "Basel"), ("A resposta é B", "B", ""), ("Ответ: B", "B", ""),
    ("Правильный ответ — В.", "В", ""), ("الإجابة: B", "B", ""), ("Đáp án: B", "B", ""), ("उत्तर: B", "B", ""),
    ('{"answer": "B"}', "B", ""), ("<answer>B</answer>", "B", ""), ("<b>B</b>", "B", ""), ("#### B", "B", ""),
    (r"\(B\)", "B", ""),
    (r"$\boxed{\mathrm{(B)}}$", "B", ""), (r"\boxed{B) Basel}", "B", "Basel"), ("B\n\nThe rest is wrong.", "B", ""),
    ("The answer is B) Basel.", "B", "Basel"), ("Answer: B. Basel", "B", "Basel"), ("B - Basel", "B", "Basel"),
    ("The correct answer is **B) Basel**", "B", "Basel"), ("The answer is B (Basel).", "B", "Basel"),
    ("The answer is B, Basel.", "B", "Basel"), ("Answer: B. Because Basel lies there.", "B", ""),
    ("The answer is B. Option A is tempting.", "B", ""),
    ("Option B is right. Option A is wrong.", "B", ""),
    ("The answer is A. B is wrong.", "A", ""), ("The answer is B\nA is wrong.", "B", ""),
    ("Therefore, B.", "B", ""), ("So (B)", "B", ""), ("It's B.", "B", ""), ("I'd go with B.", "B", ""),
    ("所以B。", "B", ""),
    ("Daher B.", "B", ""), ("Donc, B) Bern.", "B", "Bern"), ("Por lo tanto, B.", "B", ""), ("Correct: B", "B", ""),
    ("A is wrong; B is correct.", "B", ""), ("Statement B is true.", "B", ""), ("Also ist B richtig.", "B", ""),
    ("The answer isn't A, it's B.", "B", ""), ("The answer is not A but B.", "B", ""), ("B, because it is.", "B", ""),
    ("Oikea vastaus on B", "B", ""), ("Đáp án đúng là B", "B", ""), ("الإجابة الصحيحة هي B", "B", ""),
    ("Ans: B", "B", ""), ("answer → B", "B", ""), ("The answer is (ii).", "II", ""), ("Answer: 2", "2", ""),
    ('{"final_answer": "B"}', "B", ""), ('{"selected_option": "B"}', "B", ""),
    ("<answer>B) Bern</answer>", "B", "Bern"),
    ('{"answer": "B", "text": "Bern"}', "B", "Bern"), (r"\boxed{B. \text{Bern}}", "B", "Bern"),
    ("B\nBasel", "B", "Basel"), ("**B**\n\n**New York**", "B", "New York"), ("B\nConfidence: high", "B", ""),
    ("B\n\nBern is the capital.", "B", ""), ("The answer is B, which is Basel.", "B", "Basel"),
    ("The answer is B, which is correct.", "B", ""), ("B\n\n[1]", "B", ""),
])  # fmt: skip
def test_a_letter_is_chosen(answer: str, letter: str, text: str) -> None:
    assert choice(answer) == (letter, text)


@pytest.mark.parametrize(
    "answer",
    [
        "A dog",
        "The answer is A or B",
        "A, B",
        "The answer is a dog",
        "The answer is Bob",
        "not B",
        "Both A and B",
        "",
        "The answer is not B",
        "I pick a book.",
        "answer: a cat",
        "Antwort: A oder B",
        "答案：A或B",
        "The answer is a."[:-1] + " dog",
        "So A lot of things",
        "Therefore, A or B.",
        "Is B correct? No.",
        "Vitamin C is the best",
        "The answer is -2",
        "The answer is 2.5",
        "Answer: 2, 3",
        "The answer is 2 km",
        "1) Add. 2) Mix.",
        "Answer: C++",
    ],
)
def test_no_letter_or_several_choose_nothing(answer: str) -> None:
    assert choice(answer) is None


@pytest.mark.parametrize(("text", "shown"), [
    ("14:30", "14:30"), ("at 2:30 pm.", "14:30"), ("2:30 P.M.", "14:30"), ("2.30pm", "14:30"), ("2 p.m.", "14:00"),
    ("2:30 am", "02:30"), ("2:30", "02:30"), ("02:30:00", "02:30"), ("14:30:15", "14:30:15"), ("14h30", "14:30"),
    ("14.30 Uhr", "14:30"), ("14 Uhr 30", "14:30"), ("3 o’clock", "03:00"), ("12 am", "00:00"), ("12 pm", "12:00"),
    ("12:01 a.m.", "00:01"), ("noon", "12:00"), ("12 noon", "12:00"), ("Midnight", "00:00"), ("24:00", "00:00"),
    ("14:30 UTC", "14:30 UTC"), ("14:30Z", "14:30 UTC"), ("2:30 pm GMT", "14:30 UTC"), ("14:30 cet", "14:30 CET"),
    ("14:30 +02:00", "14:30 +02:00"), ("**2:30 pm**", "14:30"),
])  # fmt: skip
def test_a_time_of_day_in_every_form(text: str, shown: str) -> None:
    found = clock_time(text)
    assert found.shown == shown


@pytest.mark.parametrize("text", [
    "", "14", "14.30", "3:5", "2:60", "25:00", "24:01", "13 pm", "0 am", "pm", "2:30 pm or 3 pm", "3h", "2024-03-01",
    "it is 2:30 pm", "1:2:3", "14:30:15.5", "9" * 99,
])  # fmt: skip
def test_numbers_ratios_durations_and_sentences_are_no_time(text: str) -> None:
    assert clock_time(text) is None


@pytest.mark.parametrize(("made", "wanted", "same"), [
    ("Bern", "Bern", True), ("Basel", "Bern", False), ("", "Bern", True), ("Bern", "", True),
    ("Bern is the capital", "Bern", True), ("Bern, which is small", "Bern", True), ("New York City", "New York", False),
    ("3.5", "3", False), ("3, 5", "3", False), ("3. It is odd", "3", True), ("30", "3", False),
])  # fmt: skip
def test_the_text_beside_a_letter_must_agree(made: str, wanted: str, same: bool) -> None:
    assert same_choice(Choice("B", made), Choice("B", wanted)) is same
    assert not same_choice(Choice("A", made), Choice("B", wanted))


def test_choices_are_found_in_linear_time() -> None:
    for text in (
        "answer " * 50_000,
        "answer is the " * 30_000,
        "(" * 100_000,
        "answer:" + "*" * 100_000,
        "B) " * 50_000,
    ):
        choice(text)
