"""The PDF: what can be read from it, how it lays out, what hostile text does to it (nothing), how fast it is."""

import io
import re
from dataclasses import replace
from pathlib import Path

import pytest
from PIL import Image
from pypdf import PdfReader

from metrics.core.errors import MissingResource
from metrics.presentation.blocks import Answer, Heatmap, Passage, Sentence, table
from metrics.presentation.format import short_names
from metrics.presentation.heatmap_parts import ROOM, heatmap_parts, metric_rows
from metrics.presentation.safe_text import shown
from metrics.reports.renderers import typesetting
from metrics.reports.renderers.pdf import _table, pdf
from metrics.reports.report import Report
from tests.reports.made import cell, column, made, noted, worst_text

A4 = (595, 842)
ATTACKS = {
    "panic": "#panic()",
    "file": '#read("/etc/passwd") #include "x.typ" #image("/etc/passwd")',
    "package": '#import "@preview/cetz:0.1.0": *',
    "maths": "$ unclosed x^2",
    "strong": "*unclosed _also `raw ```",
    "brackets": "]]] [[[ ))) {{{ }}}",
    "backslashes": "\\ \\u{41} \\\\ \\",
    "comment": "// gone /* and this",
    "label": "<label> @reference = Heading\n= Heading\n+ item\n/ term: x",
    "html": "<script>alert(1)</script><img src=http://x/>",
    "quotes": '"\'"; sys.inputs',
    "rtl": "\u202eevil\u202c مرحبا \u2067x\u2069",
    "emoji": "👩‍👩‍👧 🇩🇪 😀",
    "control": "\x00\x01\x1b[31m\x7f\ud800",
    "combining": "e" + "\u0301" * 60,
    "one-long-word": "x" * 1_500,
    "blank": " \n\t\n ",
    "empty": "",
}


SCRIPTS = {
    "latin": "Ąžßéțđ", "greek": "Ωλάϊ", "cyrillic": "Жяїђ", "arabic": "العربيةپچڈ", "armenian": "Հայերեն",
    "bengali": "বাংলা", "devanagari": "हिन्दी", "ethiopic": "አማርኛ", "georgian": "ქართული", "gujarati": "ગુજરાતી",
    "gurmukhi": "ਪੰਜਾਬੀ", "hebrew": "עברית", "kannada": "ಕನ್ನಡ", "khmer": "ខ្មែរ", "lao": "ລາວ", "malayalam": "മലയാളം",
    "myanmar": "မြန်မာ", "oriya": "ଓଡ଼ିଆ", "sinhala": "සිංහල", "tamil": "தமிழ்", "telugu": "తెలుగు", "thai": "ไทย",
    "chinese": "简体繁體", "japanese": "ひらがなカタカナ", "korean": "한국어", "emoji": "😀🔥👍", "symbols": "✓→↑≥∞⚠",
}  # fmt: skip


def reader(content: bytes) -> PdfReader:
    return PdfReader(io.BytesIO(content))


def text_of(content: bytes) -> str:
    return "\n".join(page.extract_text() for page in reader(content).pages).replace("\u200b", "")


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("media") / "street.bmp"
    Image.effect_noise((500, 375), 60).convert("RGB").save(path)
    return path


@pytest.fixture(scope="module")
def sample(image: Path) -> bytes:
    return pdf(made(image))


def test_a_manager_can_read_it(sample: bytes) -> None:
    text = text_of(sample)
    for expected in (
        "MT-RAG answers, 21 Nov 2026", "atlas-large leads",
        "53aa51172d1453aa", "3 of the suite", "0.512", "0.470–0.550",
        "Data and run", "Leaderboard", "Charts", "Problems", "What stands out", "Worst cases", "Methods", "under 0.4",
        "159 unscored", "1 missed", "Lin 2004", "0 … ∞", "not applicable",
    ):  # fmt: skip
        assert expected in text


@pytest.mark.parametrize(
    "text",
    ["日本語", "中文", "한국어", "العربية", "التقرير", "שלום", "Ωλ", "Жя", "😀", "✓", "✗", "↑", "自転車", "سيارة"],
)
def test_scripts_can_be_found(sample: bytes, text: str) -> None:
    assert text in text_of(sample)


@pytest.mark.parametrize("text", ["हिन्दी", "ไทย", "বাংলা", "தமிழ்"])
def test_scripts_whose_letters_merge_can_be_found_in_a_browser(sample: bytes, text: str) -> None:
    import pypdfium2

    document = pypdfium2.PdfDocument(sample)
    assert any(text in page.get_textpage().get_text_range() for page in document)


def test_scripts_have_glyphs() -> None:
    from fontTools.ttLib import TTFont

    fonts, families = typesetting.fonts()
    paths = {font.path: font.index for font in fonts.fonts() if font.family in families}
    known = set[int]().union(*(TTFont(path, fontNumber=index).getBestCmap() for path, index in paths.items()))
    assert {name: text for name, text in SCRIPTS.items() if not known.issuperset(map(ord, text))} == {}


def test_pages_are_upright_a4_numbered_and_bookmarked(sample: bytes) -> None:
    found = reader(sample)
    assert 4 <= len(found.pages) <= 6
    for number, page in enumerate(found.pages, 1):
        assert tuple(round(float(side)) for side in page.mediabox[2:]) == A4
        assert f"{number} / {len(found.pages)}" in page.extract_text()
    assert [entry["/Title"] for entry in found.outline if not isinstance(entry, list)] == [
        "Leaderboard", "Is it really better?", "Problems", "Slices", "Charts", "Worst cases",
        "Compliance", "Methods", "Data and run",
    ]  # fmt: skip
    assert found.metadata.title == "MT-RAG answers, 21 Nov 2026"
    assert found.metadata.creation_date.isoformat() == "2026-11-21T10:28:00+00:00"


def test_the_same_report_gives_the_same_bytes(sample: bytes, image: Path) -> None:
    assert pdf(made(image)) == sample


@pytest.fixture(scope="module")
def attacked() -> str:
    """The text of reports in which every text is an attack: each in a case of its own, all of them in the rest."""
    cases = tuple(
        replace(worst_text(), case_id=one, model=one, passages=(Passage(one, one),), tags=(one,))
        for one in ATTACKS.values()
    )
    every = " ".join(ATTACKS.values())
    report = replace(made(), title=every, headline=every, models=(every, "b", "c"), worst=cases, sections=noted(every))
    return "".join(text_of(pdf(report)).split())


@pytest.mark.parametrize("attack", ATTACKS.values(), ids=ATTACKS)
@pytest.mark.attack("model", "Typst code in a text of the PDF", "texts are data of the template")
def test_hostile_text_is_only_text(attack: str, attacked: str) -> None:
    if attack not in (ATTACKS["emoji"], ATTACKS["combining"], ATTACKS["rtl"]):  # their glyphs come back in other orders
        assert "".join(shown(attack).split()) in attacked


@pytest.mark.parametrize("content", [b"", b"\x89PNG\r\n\x1a\n broken"], ids=["empty", "truncated"])
def test_an_unreadable_image_is_said(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "broken.png"
    path.write_bytes(content)
    assert "the image cannot be read" in text_of(pdf(made(path)))


def wide(models: int, metrics: int) -> Report:
    columns = tuple(column(f"e{i // 4}", f"Evaluator {i // 4}", f"metric_number_{i}") for i in range(metrics))
    number = cell(0.512, 0.47, 0.55, 1590, unscored=3, goodness=0.512, best=True)
    names = tuple(f"model-{i}-with-a-long-name-of-its-own" for i in range(models))
    drawn = Heatmap(names, columns, ((number,) * metrics,) * models)
    return replace(made(), models=names, sections=(Answer("leaderboard", "Leaderboard", "Who?", (drawn,)),))


def test_the_leaderboard_of_few_models_has_a_row_a_metric() -> None:
    report = wide(3, 20)
    text = "".join(text_of(pdf(report)).split())
    assert all(f"Metricnumber{index}" in text for index in range(20))
    assert all(text.count(name) == 2 for name in report.models), "once above the whole list, and in the charts"
    rows = list(metric_rows(report.heatmap))
    assert [bool(row.evaluator) for row in rows] == [True, False, False, False] * 5


def test_wide_leaderboards_are_split() -> None:
    models, metrics = 40, 30
    report = wide(models, metrics)
    text = "".join(text_of(pdf(report)).split())
    assert all(f"Metricnumber{index}" in text for index in range(metrics))
    assert "model-…" in text
    assert all(name in text for name in short_names(report.models, prefix="model-").values())
    parts = list(heatmap_parts(report.heatmap))
    assert all(len(part.columns) * part.column_width <= ROOM + 1e-9 for part in parts)
    titles = [f"Metric number {index}\u00a0↑" for index in range(metrics)]
    assert [name for part in parts for name, _ in part.columns] == titles
    assert all(span == 4 for part in parts for _, span in part.groups[:-1]), "an evaluator's columns stay together"


def test_the_first_page_is_the_managers(sample: bytes) -> None:
    first, second = (page.extract_text().replace("\u200b", "") for page in reader(sample).pages[:2])
    for expected in (
        "MT-RAG answers, 21 Nov 2026", "ROUGE, BLEU, Looping detection, PII leakage", "atlas-large leads",
        "By how much?", "+0.034 (−0.010 – 0.078)", "How sure is this?", "What fails?", "What to do next",
        "Choose atlas-large.",
    ):  # fmt: skip
        assert expected in first
    assert first.index("Choose atlas-large.") < first.index("Contents"), "no page is left half empty for them"
    assert "MT-RAG answers, 21 Nov 2026" in second, "the running header"


@pytest.mark.parametrize("lines", range(24, 50, 2))
def test_an_answer_stays_with_its_table(lines: int) -> None:
    """However long what stands before it: no page ends with a heading and its answer alone."""
    before = Answer("leaderboard", "Before", "?", tuple(Sentence(f"Line {place}.") for place in range(lines)))
    after = Answer("problems", "Problems", "?", (Sentence("Three are missed."), table("Missed", ("M",), [("row",)])))
    made = Report("R", "run", "not a date", "It leads.", sections=(before, after))
    pages = [page.extract_text() for page in reader(pdf(made)).pages]
    (begun,) = [page for page in pages if "Three are missed." in page]
    assert "row" in begun


def test_a_table_leaves_out_columns_without_a_text() -> None:
    told = table("t", ("Metric", "P", "n"), [("a", "–", "1"), ("b", "", "2")])
    assert _table(told)["heads"] == ["Metric", "n"]
    assert [body["rows"] for body in _table(told)["bodies"]] == [[["a", "1"], ["b", "2"]]]


def test_a_long_report_has_contents() -> None:
    report = made()
    long = replace(report, worst=(worst_text(),) * 20, methods=report.methods * 60, sections=report.sections * 2)
    found = reader(content := pdf(long))
    assert len(found.pages) >= 20
    contents = found.pages[0].extract_text()
    for title in ("Worst cases", "Methods"):
        page = next(entry for entry in found.outline if not isinstance(entry, list) and entry["/Title"] == title)
        assert re.search(rf"{title}\W*{found.get_destination_page_number(page) + 1}\b", contents)
    outline = [one for one in found.outline if not isinstance(one, list)]
    begun = next(found.get_destination_page_number(one) for one in outline if one["/Title"] == "Worst cases")
    assert found.pages[begun + 1].extract_text().lstrip()[:120].count("Worst cases") == 1, "the running head"
    assert len(content) < 3_000_000


def test_an_empty_report_is_a_page() -> None:
    content = pdf(Report("Nothing", "run", "not a date", "No metric has a value, so no model can be recommended."))
    assert len(reader(content).pages) == 1
    assert "no model can be recommended" in text_of(content)


def test_missing_fonts_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(typesetting, "FONT_PACKAGES", ("no_such_fonts",))
    typesetting.fonts.cache_clear()
    with pytest.raises(MissingResource, match=re.escape("typesetting needs assay[pdf]: pip install 'assay[pdf]'")):
        pdf(made())
    typesetting.fonts.cache_clear()
