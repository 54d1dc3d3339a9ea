"""Encodings of texts: UTF-8 is strict where it is valid, others are recognised, named and can be chosen."""
# ruff: noqa: E501 - a table reads better with one line a case

import io

import pytest

from metrics.core.errors import InputError
from metrics.ingest import Reading, inspect, load_suite, read_suite
from tests.ingest.files import read_refusal, write

FRENCH = "Où est passé l'été, là-bas près du château ?"
GERMAN = "Wie heißt die größte Stadt in Österreich?"
POLISH = "Które państwo graniczy z Czechami? Żółć gęślą jaźń"
RUSSIAN = "Какая столица России? Сколько будет два плюс два?"
GREEK = "Ποια είναι η πρωτεύουσα της Ελλάδας; Η Αθήνα"
JAPANESE = "日本の首都はどこですか。富士山の高さは何メートルですか。"
CHINESE = "中国的首都是哪里？长城有多长？北京是中国的首都，上海是最大的城市。"
KOREAN = "한국의 수도는 어디입니까? 서울은 한국의 수도입니다"
CURLY = "What’s the price – “5 €”…?"
READ = {  # question, codec, name shown
    "French": (FRENCH, "cp1252", "Windows-1252"),
    "German": (GERMAN, "cp1252", "Windows-1252"),
    "one accent": ("un café", "cp1252", "Windows-1252"),
    "curly quotes": (CURLY, "cp1252", "Windows-1252"),
    "Polish": (POLISH, "cp1250", "Windows-1250"),
    "Russian": (RUSSIAN, "cp1251", "Windows-1251"),
    "Russian, KOI8": (RUSSIAN, "koi8-r", "KOI8-R"),
    "one word of Russian": ("Москва", "cp1251", "Windows-1251"),
    "short words of Russian beside English": ("Hello, Кот", "cp1251", "Windows-1251"),
    "a word of Ukrainian": ("Київ", "cp1251", "Windows-1251"),
    "two words of Russian, KOI8": ("привет мир", "koi8-r", "KOI8-R"),
    "one word of Greek": ("Καλημέρα", "cp1253", "Windows-1253"),
    "one word of Hebrew": ("שלום", "cp1255", "Windows-1255"),
    "one word of Arabic": ("مرحبا", "cp1256", "Windows-1256"),
    "one word of German": ("Öl", "cp1252", "Windows-1252"),
    "one word in capitals": ("NÃO", "cp1252", "Windows-1252"),
    "a word beside a lone letter": ("à été", "cp1252", "Windows-1252"),
    "Greek": (GREEK, "cp1253", "Windows-1253"),
    "Japanese": (JAPANESE, "cp932", "Shift JIS"),
    "Japanese, EUC": (JAPANESE, "euc_jp", "EUC-JP"),
    "Chinese": (CHINESE, "gb18030", "GB18030"),
    "Korean": (KOREAN, "cp949", "EUC-KR"),
    "UTF-8": (RUSSIAN, "utf-8", "UTF-8"),
    "UTF-8 with a mark": (RUSSIAN, "utf-8-sig", "UTF-8"),
    "UTF-16": (GERMAN, "utf-16", "UTF-16"),
    "UTF-16 without a mark": (GERMAN, "utf-16-le", "UTF-16LE"),
    "UTF-16, the other order": (GERMAN, "utf-16-be", "UTF-16BE"),
    "UTF-32": (GERMAN, "utf-32", "UTF-32"),
}


@pytest.mark.parametrize(("question", "codec", "name"), READ.values(), ids=READ.keys())
def test_a_text_is_read_as_its_encoding(tmp_path, question, codec, name):
    content = f'case_id,question\n1,"{question}"\n2,plain\n'.encode(codec)
    path = write(tmp_path, "s.csv", content)
    assert inspect(path).encoding == name
    loaded = load_suite(path)
    assert loaded.value.cases["question"].to_pylist() == [question, "plain"]
    assert loaded.notes == (() if name == "UTF-8" else (f"s.csv was read as {name}.",))


@pytest.mark.parametrize("given", ["windows-1251", "CP1251", "Windows-1251"])
def test_the_users_encoding_goes_first(tmp_path, given):
    path = write(tmp_path, "s.csv", f"case_id,question\n1,{RUSSIAN}\n".encode("cp1251"))
    loaded = load_suite(path, reading=Reading(encoding=given))
    assert loaded.value.cases["question"].to_pylist() == [RUSSIAN]
    wrong = load_suite(path, reading=Reading(encoding="cp1252"))
    assert wrong.value.cases["question"].to_pylist() == [RUSSIAN.encode("cp1251").decode("cp1252")]


SHORT = ["да", "Åå Ää", "ÄÖÜ"]


@pytest.mark.parametrize("text", SHORT)
def test_words_that_are_too_short_to_tell_are_asked_about(tmp_path, text):
    read = "cp1251" if text == "да" else "cp1252"
    path = write(tmp_path, "s.csv", f"case_id,question\n1,{text}\n".encode(read))
    with pytest.raises(InputError) as caught:
        inspect(path)
    (problem,) = caught.value.problems
    assert problem.question.choices == ("Windows-1252", "Windows-1251")
    assert repr(text) in problem.found or text[:2] in problem.found
    suite = load_suite(path, reading=Reading(answers={"encoding": read})).value
    assert suite.cases["question"].to_pylist() == [text]
    assert [line.question for line in suite.receipt if line.place == "encoding"] == ["encoding"]
    assert read_suite(path, reading=Reading(encoding=read)).cases["question"].to_pylist() == [text]


REFUSED = {
    "one bad byte in much UTF-8": ("case_id,question\n1,éàü 你好 ß\n".encode() + b"2,caf\xe9\n", None, "s.csv, row 3: found byte 0xe9 at offset 41, which is not UTF-8; expected UTF-8, or another encoding of text"),
    "not the chosen encoding": (b"case_id,question\n1,caf\xe9\n", "UTF-8", "s.csv, row 2: found byte 0xe9 at offset 22, which is not UTF-8; expected UTF-8, or another encoding of text"),
    "not the chosen encoding, many bytes": (b"case_id,question\n1,\x81\x20\n", "Shift JIS", "s.csv, row 2: found Shift JIS that cannot be decoded at byte 19; expected UTF-8, or another encoding of text"),
    "half a UTF-16": (b"\xff\xfea\x00b", None, "s.csv, row 1: found UTF-16 that cannot be decoded at byte 4; expected UTF-8, or another encoding of text"),
    "no text": (bytes(range(256)) * 8, None, "s.csv: found binary data; expected a text file or a table"),
    "an unknown encoding": (b"case_id,question\n1,a\n", "klingon", "encoding: found 'klingon'; expected one of UTF-8, Windows-1252, "),
}  # fmt: skip


@pytest.mark.parametrize(("content", "chosen", "text"), REFUSED.values(), ids=REFUSED.keys())
def test_what_is_in_no_encoding_is_refused(tmp_path, content, chosen, text):
    assert read_refusal(read_suite, write(tmp_path, "s.csv", content), reading=Reading(encoding=chosen)).startswith(
        text
    )


def test_a_long_text_is_recognised_by_a_part(tmp_path):
    buffer = io.StringIO()
    buffer.write("case_id,question\n")
    for row in range(20_000):
        buffer.write(f"{row},{GERMAN if row % 7 == 0 else 'plain words'}\n")
    path = write(tmp_path, "s.csv", buffer.getvalue().encode("cp1252"))
    suite = read_suite(path)
    assert (suite.cases["question"][7].as_py(), inspect(path).encoding) == (GERMAN, "Windows-1252")
