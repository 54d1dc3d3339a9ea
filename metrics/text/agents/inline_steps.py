"""Steps within a line: numbered in any common way, joined by arrows or bullets, or by words of order."""

import re
from collections.abc import Iterator, Sequence
from itertools import chain

CLAUSE_ENDS = frozenset('.:;!?…。！？；：,，、)）]"”»*_—–-|\n')  # one of these, or nothing, precedes a first marker
SMALL = {word: number for number, word in enumerate("one two three four five six seven eight nine ten".split(), 1)}
CHINESE = {numeral: number for number, numeral in enumerate("一二三四五六七八九十", 1)}
ROMAN = {"i": 1, "v": 5, "x": 10}
AHEAD = r"(?=\s++(?:[^\w\s]|_)*+[^\W\d_])"  # the step begins with a letter: "version 2. 3 files" holds no marker
MARK = re.compile(
    r"(?<!\S)[*_`]{0,3}+(?P<open>\(?)(?P<number>\d{1,3}|[a-z]|[ivx]{2,5})"
    rf"(?P<close>[.):]|\s?[–—-](?=\s))[*_`]{{0,3}}+{AHEAD}"
    r"|(?P<circled>[①-⑳])|第\s?(?P<step>\d{1,3}|[一二三四五六七八九十])\s?[步歩][:：、，,]?"
    r"|(?<!\d)(?P<wide>\d{1,3}|[一二三四五六七八九十])[、．]",
    re.IGNORECASE,
)
WORD_MARK = re.compile(
    r"(?<!\S)[*_`]{0,3}+(?P<word>[^\W\d_]{1,12})\s?(?P<number>\d{1,3}|" + "|".join(SMALL) + ")"
    rf"(?P<close>\s?[:.)]|\s?[–—-](?=\s))[*_`]{{0,3}}+{AHEAD}",
    re.IGNORECASE,
)
STEP_WORDS = frozenset("step schritt étape paso etapa passo stap steg krok шаг".split())  # others need a colon
REFERENCES = frozenset(  # before a number: it refers to something, and numbers no step
    "version versions release section sections chapter page figure fig table step steps part option item line no number"
    " python java level phase type class room day week grade question point rule".split()
)
BEFORE = re.compile(r"([^\W\d_]*)\s*\Z")
WORDS_BACK = 24  # characters before a marker in which the word before it is looked for
ARROW = re.compile(r"→|⇒|➜|➔|⟶|(?<![-=])[-=]{1,2}>|(?<=\s)[•‣▪●■►➤](?=\s)")
FIRST = (
    "first of all|first|firstly|to begin with|to start with|to begin|to start|zuerst|zunächst|erstens"
    "|d'abord|tout d'abord|premièrement|primero|en primer lugar|primeiro|innanzitutto|prima"
)
FURTHER = (
    "second|secondly|third|thirdly|fourth|fifth|then|next|after that|afterwards|afterward|subsequently|finally|lastly"
    "|last|at last|dann|danach|anschließend|schließlich|zuletzt|zweitens|drittens|ensuite|puis|enfin|deuxièmement"
    "|troisièmement|luego|después|finalmente|por último|segundo|tercero|depois|por fim|poi|quindi|infine"
)
ORDER = re.compile(
    r"(?:\A|(?<=[.!?;:,\n]))[^\S\n]*+(?:(?:and|und|et|y|e)\s++)?+"
    rf"(?:(?P<first>{FIRST})|(?P<further>{FURTHER}))\b(?:\s+step\b)?+\s?[:,]?+\s++(?=\S)",
    re.IGNORECASE,
)
PARTS = 3  # that semicolons must make of one sentence
JOINTS = (" and", " then", " und", " et", " y")  # before the next marker


def inline_steps(text: str) -> list[str]:
    """Return the steps that markers, arrows, words of order or semicolons separate in `text`; none without two.

    Markers of one style count up from one: `1.`, `2)`, `(3)`, `4:`, `**5.**`, `6 -`, `Step 7:`, `a.`, `(b)`, `C)`,
    `iv.`, `⑤`, `第六步：`. The first stands at the beginning of a clause, and a letter follows each, so that neither
    "section 1." nor "in 1999. 2 people" nor "A. Smith and B. Jones" is a list. Words of order begin with a first one
    ("First, … then … finally …"). Linear in the length of the text.

    >>> inline_steps("1. Load the data 2. Clean it 3. Plot it")
    ['Load the data', 'Clean it', 'Plot it']
    >>> inline_steps("Load the data → clean it → plot it")
    ['Load the data', 'clean it', 'plot it']
    """
    places = marks(text)
    if places:
        ends = [start for start, _ in places[1:]] + [_last_end(text, places[-1][1])]
        steps = (_joined(text[begin:end]) for (_, begin), end in zip(places, ends, strict=True))
        return [*filter(None, steps)]
    arrows = [part.strip() for part in ARROW.split(text) if part.strip()]
    if len(arrows) >= 2:
        return arrows
    return _in_order(text) or _by_semicolons(text)


def marks(text: str) -> list[tuple[int, int]]:
    """Return where each marker of the outermost numbering begins and ends; none without two."""
    found: dict[tuple[str, ...], list[tuple[int, int]]] = {}
    for match in chain(MARK.finditer(text), WORD_MARK.finditer(text)):
        for style, number in _readings(match):
            own = found.setdefault(style, [])
            if number == len(own) + 1 and _fits(text, match, style, number):
                own.append((match.start(), match.end()))
    lists = [own for own in found.values() if len(own) >= 2]
    return min(lists, key=lambda places: (places[0][0], -len(places)), default=[])


def _readings(match: re.Match[str]) -> Iterator[tuple[tuple[str, ...], int]]:
    """Yield the styles that a marker may belong to, each with its number: `i.` is a letter and a numeral."""
    found = match.groupdict()
    if word := found.get("word"):
        close, number = found["close"].strip(), found["number"].lower()
        if close == ":" or word.lower() in STEP_WORDS:
            yield ("word", word.lower(), close), SMALL.get(number) or int(number)
    elif text := found["number"]:
        style = found["open"], found["close"].strip()
        if style[0] and style[1] != ")":
            return
        if text.isdigit():
            yield ("digits", *style), int(text)
        elif style[1] in (".", ")"):
            case = "upper" if text.isupper() else "lower"
            if len(text) == 1:
                yield ("letters", case, *style), ord(text.lower()) - ord("a") + 1
            if set(text.lower()) <= set(ROMAN):
                yield ("numerals", case, *style), _roman(text.lower())
    elif found["circled"]:
        yield ("circled",), ord(found["circled"]) - ord("①") + 1
    else:
        numeral = found["step"] or found["wide"]
        yield ("step" if found["step"] else "wide",), CHINESE.get(numeral) or int(numeral)


def _fits(text: str, match: re.Match[str], style: Sequence[str], number: int) -> bool:
    """Return whether the marker can be the next of its style."""
    begins = (before := character_before(text, match.start())) is None or before in CLAUSE_ENDS
    if number == 1 or (style[:2] in (("letters", "upper"), ("numerals", "upper")) and style[-1] == "."):
        return begins
    word = BEFORE.search(text[max(0, match.start() - WORDS_BACK) : match.start()])
    return begins or word is None or word[1].lower() not in REFERENCES


def character_before(text: str, place: int) -> str | None:
    """Return the last character before `place` that is a line break or not white space; None at the beginning."""
    while place and text[place - 1].isspace() and text[place - 1] != "\n":
        place -= 1
    return text[place - 1] if place else None


def _roman(text: str) -> int:
    values = [ROMAN[letter] for letter in text]
    return sum(-value if value < max(values[place:]) else value for place, value in enumerate(values))


def _last_end(text: str, start: int) -> int:
    """Return where the last step ends: at a blank line, or with the text."""
    blank = re.compile(r"\n[^\S\n]*\n").search(text, start)
    return len(text) if blank is None else blank.start()


def _joined(step: str) -> str:
    """Return a step without the comma and conjunction that join it to the next one."""
    step = step.strip()
    for joint in JOINTS:
        step = step.removesuffix(joint)
    return step.rstrip(" ,;")


def _in_order(text: str) -> list[str]:
    found = list(ORDER.finditer(text))
    place = next((place for place, match in enumerate(found) if match["first"]), None)
    if place is None or len(found) - place < 2:
        return []
    found = [found[place], *(match for match in found[place + 1 :] if match["further"])]
    ends = [match.start() for match in found[1:]] + [_last_end(text, found[-1].end())]
    return [_joined(text[match.end() : end]) for match, end in zip(found, ends, strict=True)]


def _by_semicolons(text: str) -> list[str]:
    parts = [part for part in re.split(r"[;；]", text) if part.strip()]
    if len(parts) < PARTS or "\n" in text.strip() or any(re.search(r"[.!?]\s", part.strip()) for part in parts):
        return []
    return [_joined(part) for part in parts]
