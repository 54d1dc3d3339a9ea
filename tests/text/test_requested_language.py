"""Requests that name the language of their answer, in many languages, and sentences that only mention one."""

from pathlib import Path

import pytest

from metrics.text.languages import asks_translation, requested_language

CORPUS = Path(__file__).parent.parent / "corpora" / "requested_languages.tsv"  # a language, or "" for none; the text
ROWS = [line.replace("\\n", "\n").split("\t") for line in CORPUS.read_text(encoding="utf-8").splitlines()[1:]]
REQUESTS = {text: language for language, text in ROWS if language}
MENTIONS = tuple(text for language, text in ROWS if not language)


@pytest.mark.parametrize(("language", "text"), ROWS)
def test_the_language_asked_for_and_none_that_is_only_mentioned(language: str, text: str) -> None:
    assert requested_language(text) == (language or None)


def test_a_translation_without_a_language() -> None:
    assert asks_translation("Translate the text below.")
    assert asks_translation("请翻译下面的句子")
    assert not asks_translation("How do translators work?")


@pytest.mark.parametrize("unit", ["translate ", "in ", "in French ", "answer ", '"', "(", "用", "英語"])
def test_a_large_request_is_read(unit: str) -> None:
    requested_language(unit * (200_000 // len(unit)))
