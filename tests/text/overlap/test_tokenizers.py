"""Tokenizers against sacrebleu on random text of many scripts; the script of a text."""

import random
import unicodedata
from collections.abc import Callable
from typing import Any

import pytest
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a
from sacrebleu.tokenizers.tokenizer_char import TokenizerChar
from sacrebleu.tokenizers.tokenizer_intl import TokenizerV14International
from sacrebleu.tokenizers.tokenizer_zh import TokenizerZh

from metrics.text.overlap.bleu import bleu, bleu_counts
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


@pytest.mark.parametrize("name", ORACLES)
def test_bleu_on_them_is_that_of_sacrebleu(name: Tokenizer) -> None:
    rng = random.Random(name)
    oracle = BLEU(tokenize=name, smooth_method="none", effective_order=False)
    for _ in range(40):
        words = rng.choices(["猫", "坐在", "垫子", "the cat", "sat,", "on", "3.5", "кот"], k=12)
        reference, answer = " ".join(words), " ".join(words[: rng.randrange(8, 13)]) + rng.choice(["。", " here", ""])
        [counts] = bleu_counts([([tokens(reference, name)], tokens(answer, name))])
        expected = oracle.sentence_score(answer, [reference]).score / 100
        assert bleu(counts, [0.25] * 4) == pytest.approx(expected, abs=1e-9)
