"""Tokenizers against sacrebleu on random text of many scripts; the script of a text."""

import random
import unicodedata
from collections.abc import Callable
from typing import Any

import pytest
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a
from sacrebleu.tokenizers.tokenizer_char import TokenizerChar
from sacrebleu.tokenizers.tokenizer_intl import TokenizerV14International
from sacrebleu.tokenizers.tokenizer_zh import TokenizerZh

from metrics.text.overlap.tokenizers import Script, Tokenizer, is_punctuation, script, tokens

ORACLES: dict[Tokenizer, Callable[[], Any]] = {
    "13a": Tokenizer13a, "intl": TokenizerV14International, "zh": TokenizerZh, "char": TokenizerChar,
}  # fmt: skip
CHARACTERS = (
    "abcXYZ 0129 .,-'\"!?()&;:/\n@%$^`~ &amp; <skipped> 一二三漢字。，「」カナひらがな한국어 тест λόγος สวัสดี ሰላም "
    "العربية हिन्दी 😀→✓①Ａ；·…—€ ½²³ ́ "
)


@pytest.mark.parametrize("name", ORACLES)
def test_tokens_are_those_of_sacrebleu(name: Tokenizer) -> None:
    rng, oracle = random.Random(name), ORACLES[name]()
    for _ in range(300):
        text = unicodedata.normalize("NFC", "".join(rng.choices(CHARACTERS, k=rng.randrange(40))))
        assert tokens(text, name) == oracle(text).split(), text


@pytest.mark.parametrize(("text", "expected"), [
    ("Hello", "latin"), ("Größe", "latin"), ("2024", "latin"), ("Việt Nam", "latin"), ("Привет", "spaced"),
    ("١٢٣", "spaced"), ("한국어", "spaced"), ("አማርኛ", "spaced"), ("你好", "chinese"), ("東京タワー", "japanese"),
    ("ひらがな", "japanese"), ("中文里的「の」很少见但也有人用", "chinese"), ("ไทย", "unspaced"),
    ("မြန်မာ", "unspaced"), ("ខ្មែរ", "unspaced"), ("ລາວ", "unspaced"), ("🎉", "none"), ("?!", "none"), ("", "none"),
    ("用Python编程", "chinese"),
])  # fmt: skip
def test_script(text: str, expected: Script) -> None:
    assert script(text) == expected


@pytest.mark.parametrize(
    ("token", "expected"), [("。", True), ("...", True), ("🎉", False), ("+", False), ("a.", False)]
)
def test_punctuation(token: str, expected: bool) -> None:
    assert is_punctuation(token) is expected


def test_one_spelling_has_one_form() -> None:
    for text in ("한국어 텍스트", "हिन्दी क़लम", "café"):
        assert tokens(unicodedata.normalize("NFD", text), "intl") == tokens(text, "intl")
