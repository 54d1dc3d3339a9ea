"""How much text a judge takes at once, and longer texts: divided at ends of sentences, batched, put together again."""

import re
from collections.abc import Iterable, Mapping, Sequence

from metrics.core.errors import JudgeError
from metrics.core.prompt import Data
from metrics.core.unicode_forms import normalized
from metrics.judge.budget import about_tokens
from metrics.judge.local.model_process import WINDOW as LOCAL_WINDOW
from metrics.judge.settings import JudgeSettings
from metrics.judge.typical_reply import blocks
from metrics.text.chunks import LEAST_SIZE, passages
from metrics.text.sentences import sentences

UNKNOWN = 16_384  # tokens, of a model that litellm does not list and of a server of the user's own
INSTRUCTIONS = 1_500  # tokens of the frame, the prompt, the schema and the chat's own marks
MIN_WINDOW = 4_096  # tokens; a model that takes fewer is asked as if it took so many
TOO_LONG = (
    "the question may have {tokens:,} tokens{longest}, and the judge {judge} takes {most:,} beside its reply: shorten "
    "the text, choose a judge with a larger window, or set the judge's option window if it takes more"
)


def window_of(settings: JudgeSettings) -> int:
    """Return the tokens that prompt and reply may have together: the setting, else the model's, else UNKNOWN."""
    if settings.window is not None:
        return settings.window
    if settings.is_local:
        return LOCAL_WINDOW
    if settings.base_url is None:
        from metrics.judge.provider import listed_window

        return max(MIN_WINDOW, listed_window(settings.model) or UNKNOWN)
    return UNKNOWN


def question_room(settings: JudgeSettings) -> int:
    """Return the tokens that a question may have, instructions included, by the upper estimate of `about_tokens`.

    A reply is left `max_tokens`, at most half of the window; that of the local judge is one word.
    """
    window = window_of(settings)
    return window if settings.is_local else max(window - settings.max_tokens, window // 2)


def check_length(messages: Sequence[Mapping[str, str]], judge: str, tokens: int, most: int) -> None:
    """Raise JudgeError for a question that does not fit: a provider would refuse it, and some servers cut it."""
    if tokens > most:
        sizes = {name: about_tokens(text) for name, text in blocks(messages).items()}
        name = max(sizes, key=sizes.__getitem__, default=None)
        longest = f", {sizes[name]:,} of them in {name}" if name is not None else ""
        raise JudgeError(TOO_LONG.format(judge=judge, tokens=tokens, most=most, longest=longest))


PART = 1_000  # tokens of a text whose claims are listed in one call: 3 kB of any script
LEAST_PART = 100  # tokens; a text that is shorter is not divided again where the reply about it was cut
NUMBER = 4  # tokens of an item's number and line break
LEAD = 400  # characters of what is shown of the text before a part
TOPIC = 200  # … of the sentence that the whole text begins with
HEADINGS = re.compile(r"^#{1,6} .+$", re.MULTILINE)
ENDS = " \t\n.,;:!?。！？"


def pieces(text: str, most: int) -> list[str]:
    """Return a text as passages of at most `most` tokens, divided after paragraphs, else sentences, else words.

    One that fits is unchanged.
    """
    tokens = about_tokens(text)
    if tokens <= most:
        return [text]
    size = max(LEAST_SIZE, len(text) * most // tokens)
    divided = [chunk.text for chunk in passages(text, size)]
    if len(divided) < 2:
        return divided or [text]
    return [part for piece in divided for part in pieces(piece, most)]


def size_of(data: Data) -> int:
    """Return the approximate tokens of a question's data."""
    texts = (value for value in data.values() if value)
    return sum(listed_size([text]) if isinstance(text, str) else listed_size(text) for text in texts)


def left_by(data: Data, room: int) -> int:
    """Return the tokens of `room` that a question over `data` leaves for further texts, at least a quarter.

    Data that fills the room anyway is not asked about in ever smaller pieces.
    """
    return max(room - size_of(data), room // 4)


def listed_size(texts: Iterable[str]) -> int:
    """Return the approximate tokens of texts that are shown numbered."""
    return sum(about_tokens(text) + NUMBER for text in texts)


def batches(texts: Sequence[str], tokens: int, items: int | None = None) -> list[list[int]]:
    """Return the places of the texts in batches of at most `tokens` tokens and `items` texts, in their order.

    A text that is too long for a batch has one of its own.
    """
    groups: list[list[int]] = []
    filled = 0
    for place, text in enumerate(texts):
        own = listed_size([text])
        if not groups or filled + own > tokens or len(groups[-1]) == items:
            groups.append([])
            filled = 0
        groups[-1].append(place)
        filled += own
    return groups


def lead(before: Sequence[str]) -> str | None:
    """Return what a reader needs of the parts before to know what the next one speaks of; None without any.

    The last heading, or where there is none the first sentence of all, and the last sentences, at most LEAD characters.
    """
    if not before:
        return None
    headings = [heading for part in before for heading in HEADINGS.findall(part)]
    opening = headings[-1] if headings else next(iter(sentences(before[0])), "")[:TOPIC]
    last = ""
    for sentence in reversed(sentences(before[-1])):
        if len(sentence) + len(last) >= LEAD:
            break
        last = f"{sentence} {last}" if last else sentence
    return last if opening in last else f"{opening} … {last}"


def distinct(items: Iterable[str]) -> tuple[str, ...]:
    """Return the items in order, each once: forms of characters (NFKC), case, spaces and end marks may differ."""
    found: dict[str, str] = {}
    for item in items:
        plain = " ".join(normalized("NFKC", item).casefold().split()).rstrip(ENDS)
        found.setdefault(plain or item, item)
    return tuple(found.values())
