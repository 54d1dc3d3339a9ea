"""Tokens of a text in any script, for BLEU and ROUGE: the tokenizers of sacrebleu under its names, chosen by script."""

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence, Sized
from functools import lru_cache
from typing import Any, Literal, TypeVar

from metrics.core.errors import MissingResource
from metrics.core.unicode_forms import normalized

Tokenizer = Literal["whitespace", "ascii", "13a", "intl", "char", "zh", "ja-mecab"]
TokenizerChoice = Literal["auto", Tokenizer]
CHOICES = (  # what a parameter of this type means
    "auto: by the script of the texts; whitespace: as nltk; ascii: runs of a–z and 0–9 in lower case, as rouge_score; "
    "13a, intl, zh, char: as sacrebleu; ja-mecab: Japanese words, needs the packages mecab-python3 and ipadic."
)
Text = TypeVar("Text", bound=Sized)  # as its tokens
# the scripts that are tokenized differently; "none" is a text without letters and digits, such as emoji
Script = Literal["latin", "spaced", "chinese", "japanese", "unspaced", "none"]
WEIGHT_OF_A_SIGN = 3  # letters that a Chinese or Japanese character counts as, where a text mixes scripts
LEAST_KANA = 0.1  # of the characters, in Japanese; a Chinese text may quote some
ASCII_RUN = re.compile(r"[a-z0-9]+")
MARKUP = {"&quot;": '"', "&amp;": "&", "&lt;": "<", "&gt;": ">"}
PUNCTUATION = re.compile(r"([ !-&(-+/:-@\[-`{-~])")  # of ASCII, without ' , - . which depend on what stands beside them
CJK = re.compile(  # Chinese characters, radicals and strokes, full-width forms, Bopomofo, symbols that zh separates
    "([\u2000-\u2a6d\u2e80-\u2fdf\u2ff0-\u303f\u3100-\u312f\u31a0-\u31bf\u31c0-\u31ef\u3200-\u4db5\u4e00-\u9fbb"
    "\uf900-\ufa2d\ufa30-\ufa6a\ufa70-\ufad9\ufe10-\ufe1f\ufe30-\ufe4f\uff00-\uffef\U00020000-\U0002fa1f])"
)


def tokens(text: str, tokenizer: Tokenizer) -> list[str]:
    """Return the tokens of `text`, composed characters first (NFC), so that one spelling has one form.

    `whitespace` splits at white space. `ascii` takes runs of a–z and 0–9 of the lower-cased text (as it is, without
    NFC). `13a`, `intl`, `char` and `zh` are those of sacrebleu: the mteval-v13a and mteval-v14 rules, every character,
    and Chinese characters one by one amid 13a; Chinese characters beyond U+FFFF are separated too. `ja-mecab` is
    MeCab's words with the dictionary ipadic.

    Raises MissingResource where `ja-mecab` is not installed.

    >>> tokens("Die U-Bahn fährt.", "13a")
    ['Die', 'U-Bahn', 'fährt', '.']
    >>> tokens("我用Python 3.11。", "zh")
    ['我', '用', 'Python', '3.11', '。']
    """
    if tokenizer == "ascii":
        return ASCII_RUN.findall(text.lower())
    text = normalized("NFC", text)
    return list("".join(text.split())) if tokenizer == "char" else _SPACED[tokenizer](text).split()


def script(text: str) -> Script:
    """Return the script of most letters of `text`; a Chinese or Japanese character counts as three.

    `unspaced` are Thai, Lao, Khmer, Burmese, Tibetan and others that put no space between words; `spaced` are all that
    do (Cyrillic, Arabic, Devanagari, Hangul, Ethiopic …). ASCII digits alone are `latin`, others `spaced`.
    """
    if text.isascii():
        return "latin" if any(map(str.isalnum, text)) else "none"
    letters, latin, chinese, kana, unspaced = (len(pattern.findall(text)) for pattern in _scripts())
    if not letters:
        digits = [character for character in text if character.isdigit()]
        return "none" if not digits else "latin" if "".join(digits).isascii() else "spaced"
    shares: dict[Script, int] = {
        "latin": latin,
        "chinese": WEIGHT_OF_A_SIGN * (chinese + kana),
        "unspaced": unspaced,
        "spaced": letters - latin - chinese - kana - unspaced,
    }
    most = max(shares, key=lambda name: shares[name])
    return "japanese" if most == "chinese" and kana >= LEAST_KANA * (chinese + kana) else most


def tokenized(
    references: Sequence[str],
    answer: str,
    tokenizer: TokenizerChoice,
    tokenizer_of: Mapping[Script, Tokenizer],
    tokens_of: Callable[[str, Tokenizer], Text],
) -> tuple[Tokenizer, list[Text], Text]:
    """Return the tokenizer in force, and the tokens of the references and of the answer.

    Under `auto` it is that of the script of the references; where theirs differ, that of the answer's script if it is
    among them, else `char`. An answer that then has no token, as it is in another script, makes it `char` for all.
    `tokens_of` gives the tokens of a text that count, or what holds them and has their number as its length.
    """
    if tokenizer != "auto":
        chosen = tokenizer
    else:
        names = {tokenizer_of[script(reference)] for reference in references if reference.strip()} or {"char"}
        own = tokenizer_of[script(answer)]
        chosen = names.pop() if len(names) == 1 else own if own in names else "char"
    wanted, made = [tokens_of(reference, chosen) for reference in references], tokens_of(answer, chosen)
    seen = any(wanted) and (made or not answer.strip())
    if tokenizer == "auto" and chosen != "char" and not seen:
        return tokenized(references, answer, "char", tokenizer_of, tokens_of)
    return chosen, wanted, made


def is_punctuation(token: str) -> bool:
    """Return whether a token has nothing but punctuation; emoji and mathematical signs are none."""
    return all(unicodedata.category(character).startswith("P") for character in token)


def _13a(text: str) -> str:
    text = text.replace("<skipped>", "").replace("-\n", "").replace("\n", " ")
    for written, meant in MARKUP.items():
        text = text.replace(written, meant)
    return _apart(f" {text} ")


def _apart(text: str) -> str:
    """Return `text` with spaces around punctuation, except a point or comma between digits."""
    text = PUNCTUATION.sub(r" \1 ", text)
    text = re.sub(r"([^0-9])([.,])", r"\1 \2 ", text)
    text = re.sub(r"([.,])([^0-9])", r" \1 \2", text)
    return re.sub(r"([0-9])(-)", r"\1 \2 ", text)


def _intl(text: str) -> str:
    after_others, before_others, symbol = _unicode_rules()
    text = after_others.sub(r"\1 \2 ", text)
    text = before_others.sub(r" \1 \2", text)
    return str(symbol.sub(r" \1 ", text))


def _mecab(text: str) -> str:
    tagger = _tagger()
    return " ".join(str(tagger.parse(line)) for line in text.splitlines() if line.strip())


_SPACED: Mapping[str, Callable[[str], str]] = {  # the text with spaces between its tokens
    "whitespace": str,
    "13a": _13a,
    "intl": _intl,
    "zh": lambda text: _apart(CJK.sub(r" \1 ", text.strip())),
    "ja-mecab": _mecab,
}


@lru_cache(maxsize=1)
def _scripts() -> tuple[Any, ...]:
    import regex  # type: ignore[import-untyped]  # on use: the properties of Unicode that re does not know

    unspaced = r"[\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}\p{Tibetan}\p{Tai_Le}\p{New_Tai_Lue}\p{Tai_Tham}\p{Javanese}]"
    kinds = (r"\p{Latin}", r"\p{Han}", r"[\p{Hiragana}\p{Katakana}]", unspaced)
    return tuple(regex.compile(kind) for kind in (r"\p{L}", *(rf"(?=\p{{L}}){kind}" for kind in kinds)))


@lru_cache(maxsize=1)
def _unicode_rules() -> tuple[Any, Any, Any]:
    import regex

    return regex.compile(r"(\P{N})(\p{P})"), regex.compile(r"(\p{P})(\P{N})"), regex.compile(r"(\p{S})")


@lru_cache(maxsize=1)
def _tagger() -> Any:
    try:
        import ipadic  # type: ignore[import-not-found]
        import MeCab  # type: ignore[import-not-found]
    except ImportError:
        raise MissingResource(
            "the tokenizer ja-mecab needs two packages: pip install mecab-python3 ipadic; or choose char"
        ) from None
    return MeCab.Tagger(ipadic.MECAB_ARGS + " -Owakati")
