"""Citation markers: which numbers belong to which stretch of an answer."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrics.text.citations import cited_parts

PARTS = list[tuple[str, tuple[int, ...]]]


@pytest.mark.parametrize(
    ("answer", "parts"),
    [
        pytest.param("A [1].", [("A", (1,))], id="one marker"),
        pytest.param("A [1, 2]. B [3].", [("A", (1, 2)), ("B", (3,))], id="a list in one marker"),
        pytest.param("A [1][2] B[3]", [("A", (1, 2)), ("B", (3,))], id="markers side by side"),
        pytest.param("A [1], [2] and B [3]", [("A", (1, 2)), ("and B", (3,))], id="markers parted by punctuation"),
        pytest.param("A [1][1, 1]", [("A", (1,))], id="each number once"),
        pytest.param("A [2][1]", [("A", (2, 1))], id="in the order written"),
        pytest.param("A [1]. B.", [("A", (1,)), ("B.", ())], id="uncited at the end"),
        pytest.param("A. B [1].", [("A. B", (1,))], id="sentences before a marker are one part"),
        pytest.param("- A [1]\n- B [2]\n", [("- A", (1,)), ("- B", (2,))], id="list items"),
        pytest.param("A [1-3]. B [2–4]", [("A", (1, 2, 3)), ("B", (2, 3, 4))], id="ranges"),
        pytest.param("A [3-1]. B [1990-2020] [2]", [("A [3-1]. B [1990-2020]", (2,))], id="what is no range"),
        pytest.param("A [2020] B [0]", [("A", (2020,)), ("B", (0,))], id="numbers that no passage has"),
        pytest.param("A [ 1 ; 2 ] B [^3]", [("A", (1, 2)), ("B", (3,))], id="blanks, semicolons, footnotes"),
        pytest.param("A [1](https://a.b/c?d=[e]) B [2]", [("A", (1,)), ("B", (2,))], id="a linked marker"),
        pytest.param("Set `a[0]` to 1 [2]", [("Set `a[0]` to 1", (2,))], id="an index in code"),
        pytest.param("```\nx[1]\ny[2]\n``` runs [3]", [("```\nx[1]\ny[2]\n``` runs", (3,))], id="a block of code"),
        pytest.param("A [a], [x1], [], (1)", [("A [a], [x1], [], (1)", ())], id="other brackets"),
        pytest.param("“A” [1]! -5 °C [2].", [("“A”", (1,)), ("-5 °C", (2,))], id="a minus is kept"),
        pytest.param(
            "東京は首都です【1】【2】。今日は雨［３］。",
            [("東京は首都です", (1, 2)), ("今日は雨", (3,))],
            id="Japanese",
        ),
        pytest.param("巴黎是首都[1]、[2]。下雨[1，3]。", [("巴黎是首都", (1, 2)), ("下雨", (1, 3))], id="Chinese"),
        pytest.param("الرياض عاصمة [١]. المطر [١، ٢].", [("الرياض عاصمة", (1,)), ("المطر", (1, 2))], id="Arabic"),
        pytest.param("दिल्ली राजधानी है [१]। वर्षा [२]।", [("दिल्ली राजधानी है", (1,)), ("वर्षा", (2,))], id="Hindi"),
        pytest.param("Москва — столица [1]. Дождь [2].", [("Москва — столица", (1,)), ("Дождь", (2,))], id="Russian"),
        pytest.param("서울은 수도이다[1]. 비[2].", [("서울은 수도이다", (1,)), ("비", (2,))], id="Korean"),
        pytest.param("กรุงเทพเป็นเมืองหลวง[1] ฝนตก[2]", [("กรุงเทพเป็นเมืองหลวง", (1,)), ("ฝนตก", (2,))], id="Thai"),
    ],
)
def test_a_trailing_marker_belongs_to_the_text_before_it(answer: str, parts: PARTS) -> None:
    found = cited_parts(answer)
    assert [(part.text, part.citations) for part in found.parts] == parts
    assert found.reading == ("trailing" if any(numbers for _, numbers in parts) else "none")
    assert found.stray == ()


@pytest.mark.parametrize(
    ("answer", "parts"),
    [
        pytest.param("[1] A. [2] B.", [("A.", (1,)), ("B.", (2,))], id="in a line"),
        pytest.param("[1] A.\n[2][3] B.", [("A.", (1,)), ("B.", (2, 3))], id="line by line"),
        pytest.param("- [1] A\n- [2] B", [("A", (1,)), ("B", (2,))], id="list items"),
        pytest.param("1. [1] A\n2. [2] B", [("A", (1,)), ("B", (2,))], id="numbered items"),
        pytest.param("【1】東京です。【2】雨です。", [("東京です。", (1,)), ("雨です。", (2,))], id="Japanese"),
        pytest.param("[1] A.", [("A.", (1,))], id="a single one"),
    ],
)
def test_leading_markers_are_read_so_where_they_lead_throughout(answer: str, parts: PARTS) -> None:
    found = cited_parts(answer)
    assert [(part.text, part.citations) for part in found.parts] == parts
    assert (found.reading, found.stray) == ("leading", ())


@pytest.mark.parametrize(
    ("answer", "parts", "stray"),
    [
        pytest.param("[1] A. [2] B. [3]", [("A.", (2,)), ("B.", (3,))], (1,), id="ends with a marker"),
        pytest.param("[1]", [], (1,), id="a marker alone"),
        pytest.param("[4] — [5].", [], (4, 5), id="nothing but markers"),
    ],
)
def test_a_marker_without_text_is_told(answer: str, parts: PARTS, stray: tuple[int, ...]) -> None:
    found = cited_parts(answer)
    assert [(part.text, part.citations) for part in found.parts] == parts
    assert (found.reading, found.stray) == ("trailing", stray)


@pytest.mark.parametrize("answer", ["", " \n", "…", "---"])
def test_without_a_letter_or_digit_there_is_no_part(answer: str) -> None:
    assert cited_parts(answer) == ((), "none", ())


@given(st.text(alphabet="ab .,[]1２٣;-\n`(^", max_size=60))
def test_every_number_and_letter_is_somewhere(answer: str) -> None:
    found = cited_parts(answer)
    letters = [character for part in found.parts for character in part.text if character in "ab"]
    assert letters == [character for character in answer if character in "ab"] or "](" in answer  # a link is left out
    assert all(part.text == part.text.strip() and part.text for part in found.parts)
    assert all(len(set(part.citations)) == len(part.citations) for part in found.parts)
