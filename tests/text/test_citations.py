"""Citation markers: which numbers belong to which stretch of an answer."""

from collections.abc import Sequence

import pytest
from hypothesis import given, strategies as st

from metrics.text.citations import CitedPart, cited_parts, passage_names, without_sources

PARTS = list[tuple[str, tuple[int | str, ...]]]


def read(parts: Sequence[CitedPart]) -> PARTS:
    """Return the parts with numbers for the names that are numbers."""
    return [
        (text, tuple(int(name) if name.isdecimal() and name.isascii() else name for name in names))
        for text, names in parts
    ]


@pytest.mark.parametrize(("answer", "parts"), [
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
    pytest.param("A [1] and [2]; B [3]", [("A", (1, 2)), ("B", (3,))], id="joined by a word"),
    pytest.param("A [1] as well as [2]. B [3] or [4]", [("A", (1, 2)), ("B", (3, 4))], id="joined by other words"),
    pytest.param("A [1],[2], and [3]. B", [("A", (1, 2, 3)), ("B", ())], id="joined by a comma and a word"),
    pytest.param("A [1 and 2]; B [1 & 3]", [("A", (1, 2)), ("B", (1, 3))], id="a word in a marker"),
    pytest.param("A [[1]](http://a.b/c_(d)), [[2]](e). B", [("A", (1, 2)), ("B", ())], id="double brackets"),
    pytest.param("A 【4:0†a.pdf】. B【4:1†source】C【3†L1-L9】", [("A", (1,)), ("B", (2,)), ("C", (3,))], id="results"),
    pytest.param("A [Source 1]. B [Doc. 2, Doc. 3] C [cite: 1, 2] [ref2] [#3]",
                 [("A", (1,)), ("B", (2, 3)), ("C", (1, 2, 3))], id="words before numbers"),
    pytest.param("A [1, p. 4] B [2, pp. 3–5; 3, § 2] C [4, S. 4 ff.]", [("A", (1,)), ("B", (2, 3)), ("C", (4,))],
                 id="places in passages"),
    pytest.param("A (Source 1). B (see [2]). C (Sources: 1 and 3)", [("A", (1,)), ("B", (2,)), ("C", (1, 3))],
                 id="round brackets"),
    pytest.param("A<sup>[1]</sup> B", [("A", (1,)), ("B", ())], id="raised"),
    pytest.param("A (p. 4), (notes), [p. 4] [1]", [("A (p. 4), (notes), [p. 4]", (1,))], id="a place alone"),
    pytest.param("A [a], [x1], [], (1)", [("A [a], [x1], [], (1)", ())], id="other brackets"),
    pytest.param("“A” [1]! -5 °C [2].", [("“A”", (1,)), ("-5 °C", (2,))], id="a minus is kept"),
    pytest.param("東京は首都です【1】【2】。今日は雨［３］。", [("東京は首都です", (1, 2)), ("今日は雨", (3,))],
        id="Japanese"),
    pytest.param("巴黎是首都[1]、[2]。下雨[1，3]。", [("巴黎是首都", (1, 2)), ("下雨", (1, 3))], id="Chinese"),
    pytest.param("الرياض عاصمة [١]. المطر [١، ٢].", [("الرياض عاصمة", (1,)), ("المطر", (1, 2))], id="Arabic"),
    pytest.param("दिल्ली राजधानी है [१]। वर्षा [२]।", [("दिल्ली राजधानी है", (1,)), ("वर्षा", (2,))], id="Hindi"),
    pytest.param("Москва — столица [1]. Дождь [2].", [("Москва — столица", (1,)), ("Дождь", (2,))], id="Russian"),
    pytest.param("서울은 수도이다[1]. 비[2].", [("서울은 수도이다", (1,)), ("비", (2,))], id="Korean"),
    pytest.param("กรุงเทพเป็นเมืองหลวง[1] ฝนตก[2]", [("กรุงเทพเป็นเมืองหลวง", (1,)), ("ฝนตก", (2,))], id="Thai"),
])  # fmt: skip
def test_a_trailing_marker_belongs_to_the_text_before_it(answer: str, parts: PARTS) -> None:
    found = cited_parts(answer)
    assert read(found.parts) == parts
    assert found.reading == ("trailing" if any(numbers for _, numbers in parts) else "none")
    assert found.stray == ()


@pytest.mark.parametrize(("answer", "ids", "parts", "listed"), [
    pytest.param("A [1].\n\nSources:\n[1] One, 2020.\n[2] Two.", [], [("A", (1,))], ("1", "2"), id="numbers"),
    pytest.param("A [2].\n\n## References\n1. a.pdf\n2. b.pdf, p. 3", ["b.pdf", "a.pdf"], [("A", ("b.pdf",))],
                 ("a.pdf", "b.pdf"), id="which says what numbers mean"),
    pytest.param("A [1].\n**Quellen**\n\n- doc.pdf\n- x", ["doc.pdf"], [("A", (1,))], ("doc.pdf",), id="bullets"),
    pytest.param("It is 5.\n\nSources: [1], [2]", [], [("It is 5.", ())], ("1", "2"), id="in a line"),
    pytest.param("It is 5.\nSource: doc.pdf", ["doc.pdf"], [("It is 5.", ())], ("doc.pdf",), id="one"),
    pytest.param("A [^1].\n\n[^1]: One", [], [("A", (1,))], ("1",), id="footnotes"),
    pytest.param("[1] A. [2] B.\n\n参考文献：\n[1] a", [], [("A.", (1,)), ("B.", (2,))], ("1",), id="leading"),
    pytest.param("A [1].\n\nSource documents:\n1. a\n2. b\n\nAsk me!", [], [("A", (1,)), ("Ask me!", ())], ("1", "2"),
                 id="with text after it"),
    *(pytest.param(f"A [1].\n\n{head}\n1. One\n2. Two", [], [("A", (1,))], ("1", "2"), id=head) for head in (
        "Источники:", "Список литературы:", "المصادر:", "Kaynaklar:", "📚 Sources:", "[Sources]", "Sources (2):",
        "Source(s):", "The sources are:", "Relevant sources:", "Πηγές:", "引用：", "Further reading:",
    )),
    pytest.param("Bring:\nDocuments:\n1. A\n2. B", [], [("Bring:\nDocuments:\n1. A\n2. B", ())], (), id="no sources"),
    pytest.param("Sources:\n- Sun\n- Wind", [], [("Sources:\n- Sun\n- Wind", ())], (), id="nothing before it"),
    pytest.param("Good.\nSources:\n- Sun [1]", [], [("Good.\nSources:\n- Sun", (1,))], (), id="statements that cite"),
])  # fmt: skip
def test_a_list_of_sources_at_the_end_is_no_part(
    answer: str, ids: list[str], parts: PARTS, listed: tuple[str, ...]
) -> None:
    found = cited_parts(answer, ids)
    assert (read(found.parts), found.listed) == (parts, listed)


@pytest.mark.parametrize(("answer", "parts"), [
    pytest.param("[1] A. [2] B.", [("A.", (1,)), ("B.", (2,))], id="in a line"),
    pytest.param("[1] A.\n[2][3] B.", [("A.", (1,)), ("B.", (2, 3))], id="line by line"),
    pytest.param("- [1] A\n- [2] B", [("A", (1,)), ("B", (2,))], id="list items"),
    pytest.param("1. [1] A\n2. [2] B", [("A", (1,)), ("B", (2,))], id="numbered items"),
    pytest.param("【1】東京です。【2】雨です。", [("東京です。", (1,)), ("雨です。", (2,))], id="Japanese"),
    pytest.param("[1] A.", [("A.", (1,))], id="a single one"),
])  # fmt: skip
def test_leading_markers_are_read_so_where_they_lead_throughout(answer: str, parts: PARTS) -> None:
    found = cited_parts(answer)
    assert read(found.parts) == parts
    assert (found.reading, found.stray) == ("leading", ())


@pytest.mark.parametrize(("answer", "parts", "stray"), [
    pytest.param("[1] A. [2] B. [3]", [("A.", (2,)), ("B.", (3,))], ("1",), id="ends with a marker"),
    pytest.param("[1]", [], ("1",), id="a marker alone"),
    pytest.param("[4] — [5].", [], ("4", "5"), id="nothing but markers"),
])  # fmt: skip
def test_a_marker_without_text_is_told(answer: str, parts: PARTS, stray: tuple[str, ...]) -> None:
    found = cited_parts(answer)
    assert read(found.parts) == parts
    assert (found.reading, found.stray) == ("trailing", stray)


@pytest.mark.parametrize("answer", ["", " \n", "…", "---"])
def test_without_a_letter_or_digit_there_is_no_part(answer: str) -> None:
    assert cited_parts(answer) == ((), "none", (), ())


@given(st.text(alphabet="ab .,[]1２٣;-\n`(^", max_size=60))
def test_every_number_and_letter_is_somewhere(answer: str) -> None:
    found = cited_parts(answer)
    letters = [character for part in found.parts for character in part.text if character in "ab"]
    assert letters == [character for character in answer if character in "ab"] or "](" in answer  # a link is left out
    assert all(part.text == part.text.strip() and part.text for part in found.parts)
    assert all(len(set(part.citations)) == len(part.citations) for part in found.parts)


@pytest.mark.parametrize(("answer", "ids", "cited"), [
    pytest.param("A [2]", ["[2]", "[3]"], ("2",), id="brackets around the ids do not count"),
    pytest.param("A [doc-3], B [x]", ["doc-3"], ("doc-3",), id="a word is a marker only where it is an id"),
    pytest.param("A [1, doc-4]", ["doc-4", "1"], ("1", "doc-4"), id="numbers and words in one marker"),
    pytest.param("A [1, doc-9]", ["1"], (), id="with what is no id it stays text"),
    pytest.param("A [2-4]", ["4", "2"], ("2", "3", "4"), id="a range of numbers, one of them unknown"),
    pytest.param("A [2-4]", ["2-4", "2"], ("2-4",), id="an id that looks like a range"),
    pytest.param("A [2-40]", ["2-4", "2"], (), id="the beginning of an id is no id"),
    pytest.param("A [7] B [007]", ["007"], ("007",), id="leading zeros do not count"),
    pytest.param("A [7][007]", ["7", "007"], ("7", "007"), id="unless they tell two passages apart"),
    pytest.param("A [9]", ["doc-1"], ("9",), id="a number that is no id is a name of its own"),
    pytest.param("A [1234567890]", ["1234567890"], ("1234567890",), id="longer than any position"),
    pytest.param("A [Smith, J.; 2]", ["Smith, J.", "2"], ("Smith, J.", "2"), id="a comma in an id"),
    pytest.param("A [a[0]]", ["a[0]"], ("a[0]",), id="brackets in an id"),
    pytest.param("A [x.y]", ["x-y"], (), id="an id is no pattern"),
    pytest.param("A [Doc-3]", ["doc-3"], (), id="case counts"),
    pytest.param("أ [وثيقة-٣] ب [\u200f٢\u200f]", ["وثيقة-٣", "2"], ("وثيقة-٣", "2"), id="written right to left"),
    pytest.param("東京【資料3】", ["資料3"], ("資料3",), id="lenticular brackets"),
    pytest.param("A [doc 3](https://a.b)", ["doc 3"], ("doc 3",), id="a linked marker"),
    pytest.param("Set `a[k]` [k]", ["k"], ("k",), id="an id in code is not cited"),
    pytest.param("A [1]", ["", " "], ("1",), id="blank ids are none"),
    pytest.param("A [doc.pdf, p. 3]", ["docs/doc.pdf"], ("docs/doc.pdf",), id="the end of a path"),
    pytest.param("A [doc.pdf]", ["a/doc.pdf", "b/doc.pdf"], ("doc.pdf",), id="the end of two paths"),
    pytest.param("A (Source: doc.pdf)", ["doc.pdf"], ("doc.pdf",), id="in round brackets"),
    pytest.param("A 【4:0†a.pdf】", ["b.pdf", "a.pdf"], ("a.pdf",), id="a file after a dagger"),
    pytest.param("A [1: a.pdf]", ["a.pdf"], ("a.pdf",), id="a number and an id"),
    pytest.param("A (doc.pdf, p. 3)", ["docs/doc.pdf"], ("docs/doc.pdf",), id="a file alone in round brackets"),
    pytest.param("A (see u-12) (Sun)", ["u-12", "Sun"], ("u-12",), id="a word in round brackets is text"),
    pytest.param('A ["b.md"], [see b.md], [id: u-1]', ["b.md", "u-1"], ("b.md", "u-1"), id="marks around ids"),
    pytest.param("[doc_1] [DOC-2] [S3] [№4] [id: 5] [Bron 6] [web:7]", [], tuple("1234567"), id="labels of numbers"),
    pytest.param("[**1**] [\u200b2] [^3^] [4.] \\[5\\]", [], tuple("12345"), id="marks around numbers"),
    pytest.param("[see 1] [cf. 2] [3 to 5] [6 (p. 4)] [7, page 4, line 2]", [], tuple("1234567"), id="words"),
    pytest.param("[s] [p. 4] [Sun 1] [D] [id] [1990 to 2020]", [], (), id="other words"),
    pytest.param("A [other.pdf]", ["a.pdf"], ("other.pdf",), id="a file that is no passage"),
])  # fmt: skip
def test_markers_name_passages_by_id(answer: str, ids: list[str], cited: tuple[str, ...]) -> None:
    found = cited_parts(f"A {answer}", ids).parts
    assert tuple(dict.fromkeys(name for part in found for name in part.citations)) == cited


def test_passages_are_named_by_id_or_by_position() -> None:
    assert passage_names(3) == passage_names(3, ["", " "]) == ("1", "2", "3")
    assert passage_names(3, [" [2] ", "doc-3"]) == ("2", "doc-3", "")


ID = st.text(alphabet="ab1２,;-[] .*", min_size=1, max_size=6).filter(lambda id: any(map(str.isalnum, id)))


@given(st.lists(ID, min_size=1, max_size=4), st.data())
def test_an_id_alone_in_brackets_is_cited(ids: list[str], data: st.DataObject) -> None:
    names = passage_names(len(ids), ids)
    wanted = data.draw(st.sampled_from([name for name in names if name] or [""]))
    if wanted:
        assert wanted in cited_parts(f"text [{wanted}]", ids).parts[0].citations


@given(st.text(alphabet="ab .,[]1２٣;-\n`(^", max_size=60), st.lists(ID, max_size=3))
def test_ids_change_nothing_but_what_is_cited(answer: str, ids: list[str]) -> None:
    found = cited_parts(answer, ids)
    names = {name for part in found.parts for name in part.citations} | set(found.stray)
    assert all(name in passage_names(len(ids), ids) or name.isdecimal() for name in names)
    if not any(passage_names(len(ids), ids)) or not ids:
        assert found == cited_parts(answer)


def test_markers_are_read_in_linear_time() -> None:
    for text in ("[1" * 50_000, "[1, " * 50_000, "(Source: " * 20_000, "[1] and " * 20_000, "Sources:\n" * 20_000,
                 "[^1]: a\n" * 20_000, "【4:0†" * 30_000, "[a.pdf, p. " * 20_000, "[" + "a" * 200_000):  # fmt: skip
        cited_parts(text, ["a.pdf"])


@pytest.mark.parametrize(("answer", "stated"), [
    ("A [1].\n\nSources:\n[1] One", "A [1]."), ("A.\n\nSource: a.pdf", "A."), ("A.\nB.", "A.\nB."),
    ("Sources:\n- Sun", "Sources:\n- Sun"), ("A.\n\n## References\n- a.pdf\n\nB.", "A.\n\nB."),
])  # fmt: skip
def test_what_an_answer_states_without_its_sources(answer: str, stated: str) -> None:
    assert without_sources(answer).strip() == stated
