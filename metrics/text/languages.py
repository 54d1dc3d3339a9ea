"""Which language a text is in, by py3langid's local model."""

import re
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import version
from typing import Any

from metrics.core.unicode_forms import normalized

DETECTOR = "py3langid"
MAX_LANGUAGES_SHOWN = 3
WEIGHT_OF_A_SIGN = 3  # letters that a Chinese, Japanese or Korean character counts as
LEFT_OUT = re.compile(
    r"```.{0,20000}?```|`[^`\n]{1,500}`|https?://\S{1,2000}|\b[\w.+-]{1,64}@[\w.-]{1,255}|<[a-zA-Z/][^<>]{0,200}>",
    re.DOTALL,
)
SIGNS = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]")
# Individual languages that a detector cannot tell apart in a sentence, under their ISO 639-3 macrolanguage.
MACROLANGUAGES = {
    "ary": "ar", "arz": "ar", "wuu": "zh", "yue": "zh", "bs": "hbs", "hr": "hbs", "sr": "hbs", "nn": "no", "id": "ms",
    "uzs": "uz", "sdh": "ku", "ltg": "lv",
}  # fmt: skip
NO_LANGUAGE = "zxx"  # what the model calls text without any


@dataclass(frozen=True, slots=True)
class Detected:
    """The most likely language (ISO 639 code) of a text with its probability, the runners-up, and the letters read."""

    language: str
    probability: float
    candidates: tuple[tuple[str, float], ...]
    letters: int


def detect(text: str) -> Detected:
    """Return the language of the prose in `text`: code, links, e-mail addresses and mark-up are ignored.

    Languages of one ISO 639-3 macrolanguage count as one (Bosnian, Croatian and Serbian; Bokmål and Nynorsk; Indonesian
    and Malay; the forms of Chinese and of Arabic), because no detector can distinguish them in a sentence. Source:
    py3langid, a naive Bayes model of byte n-grams over 140 languages (Lui & Baldwin 2012).
    """
    prose = LEFT_OUT.sub(" ", text)
    shares: dict[str, float] = {}
    for language, probability in _identifier().rank(normalized("NFC", prose)):
        language = MACROLANGUAGES.get(language, language)
        shares[language] = shares.get(language, 0.0) + float(probability)
    ranked = sorted(shares.items(), key=lambda share: -share[1])
    language, probability = ranked[0]
    return Detected(language, min(1.0, probability), tuple(ranked[:MAX_LANGUAGES_SHOWN]), letters_in(prose))


def letters_in(text: str) -> int:
    """Return the number of letters of `text`; a Chinese, Japanese or Korean character counts as three."""
    return sum(map(str.isalpha, text)) + (WEIGHT_OF_A_SIGN - 1) * len(SIGNS.findall(text))


def detector() -> str:
    """Return the detector's name and version, for the evidence."""
    return f"{DETECTOR} {version(DETECTOR)}"


@lru_cache(maxsize=1)
def _identifier() -> Any:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier  # type: ignore[import-untyped]  # on use: a second

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
