"""Steps: the ordered steps that a text lists, in any script, line by line or within a line."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from metrics.text.code_blocks import without_fence
from metrics.text.json_text import JsonError, read_json
from metrics.text.sentences import worded_sentences

CLAUSE_ENDS = frozenset('.:;!?…。！？；：,，、)）]"”»*_—–-|\n')  # one of these, or nothing, precedes a first marker
SMALL = {word: number for number, word in enumerate("one two three four five six seven eight nine ten".split(), 1)}
CHINESE = {numeral: number for number, numeral in enumerate("一二三四五六七八九十", 1)}
ROMAN = {"i": 1, "v": 5, "x": 10}
AHEAD = r"(?=\s++(?:[^\w\s]|_)*+[^\W\d_])"  # the step begins with a letter: "version 2. 3 files" holds no marker
MARK = re.compile(
    r"(?i)(?<!\S)[*_`]{0,3}+(?P<open>\(?)(?P<number>\d{1,3}|[a-z]|[ivx]{2,5})"
    rf"(?P<close>[.):]|\s?[–—-](?=\s))[*_`]{{0,3}}+{AHEAD}"
    r"|(?P<circled>[①-⑳])|第\s?(?P<step>\d{1,3}|[一二三四五六七八九十])\s?[步歩][:：、，,]?"
    r"|(?<!\d)(?P<wide>\d{1,3}|[一二三四五六七八九十])[、．]"
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
    r"(?i)(?:\A|(?<=[.!?;:,\n]))[^\S\n]*+(?:(?:and|und|et|y|e)\s++)?+"
    rf"(?:(?P<first>{FIRST})|(?P<further>{FURTHER}))\b(?:\s+step\b)?+\s?[:,]?+\s++(?=\S)"
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


FENCE = re.compile(r"\s*(?:```|~~~)")
MARKER = re.compile(  # of an item of a list; \d is a digit of any script
    r"(?P<indent>\s*+)(?:(?P<bullet>[-*+•‣◦▪●○■–—·・►➤])\s++(?:\[[ xX✓]\]\s++)?+"
    r"|(?:#{1,6}\s++)?+[*_]{0,3}+(?:\(?\d{1,3}(?:[.):]+[*_]{0,3}+(?=\s|$)|[.)](?=[^\W\d_]{3})|[、．）：])|[①-⑳]"
    r"|第\s?[\d一二三四五六七八九十]{1,3}\s?[步歩][:：、，,.]?|[一二三四五六七八九十]{1,3}、|[^\W\d_]{1,12}\s?\d{1,3}\s?[:：]"
    rf"|(?i:{'|'.join(sorted(STEP_WORDS))})\s?\d{{1,3}}[*_]{{0,3}}+\s*$))"
)
EMPHASIS = re.compile(r"\*\*|__|`")
FIELDS = ("step", "steps", "action", "task", "description", "instruction", "text", "content", "title", "name")
RULE = re.compile(r"\|?(?:\s*+:?-++:?\s*+\|)++(?:\s*+:?-++:?)?")  # under the head of a table
LEVEL = 1  # columns by which items of one level may differ: " 9." above "10."


@dataclass(slots=True)
class _Item:
    indent: int
    lines: list[str]


def steps(text: str) -> list[str]:
    """Return the steps of `text` in order: the items of its outermost list, or its sentences if it has no list.

    An item begins with a number (`1.`, `2)`, `(3)`, `٤.`, `５．`, `⑥`, `七、`, `Step 8:`, `第9步`) or a bullet; what
    follows, including deeper items and code, belongs to it. If numbers and bullets have the same indent, the numbers
    are the list. Text before a list and, after a blank line, behind it is no step, nor is an item without a letter or
    digit. A single item among other text is no list. A line break ends a sentence.

    A JSON list (of texts, or of objects with one of FIELDS) and a Markdown table are lists too. Steps that share a line
    are parted by `inline_steps`.

    >>> steps("To brew:\n1. Grind the beans.\n   - finely\n2. **Pour** water.\n\nEnjoy!")
    ['Grind the beans. - finely', 'Pour water.']
    >>> steps("1. Load the data 2. Clean it 3. Plot it")
    ['Load the data', 'Clean it', 'Plot it']
    >>> steps("Grind the beans. Then pour water.")
    ['Grind the beans.', 'Then pour water.']

    Linear in the length of the text.
    """
    if entries := _json(text) or _table(text):
        return _worded(entries)
    items, whole = _list(text)
    found = _worded(" ".join(item.lines) for item in items)
    if len(found) >= 2 and not _shares_lines(text, len(found)):
        return found
    if len(inline := _worded(map(_unmarked, inline_steps(text)))) >= 2:
        return inline
    if found and whole:
        return found
    sentences = worded_sentences(text)
    marked = [sentence[mark.end() :] if (mark := MARKER.match(sentence)) else sentence for sentence in sentences]
    return [_tidy(own) or _tidy(sentence) for own, sentence in zip(marked, sentences, strict=True)]


def _shares_lines(text: str, items: int) -> bool:
    """Return whether the numbers that begin lines are only some of those that count up through the text."""
    places = marks(text)
    at_lines = sum(character_before(text, start) in (None, "\n") for start, _ in places)
    return at_lines == items < len(places)


def _json(text: str) -> list[str]:
    """Return the entries of a JSON list, or of the only list of a JSON object; none of anything else."""
    inner = without_fence(text)
    if not inner.lstrip().startswith(("[", "{")):
        return []
    try:
        value = read_json(inner).value
    except JsonError:
        return []
    if isinstance(value, dict):
        lists = [entry for entry in value.values() if isinstance(entry, list)]
        value = lists[0] if len(lists) == 1 else []
    if not isinstance(value, list):
        return []
    named = [
        next((entry[name] for name in FIELDS if isinstance(entry.get(name), str)), None)
        if isinstance(entry, dict)
        else entry
        for entry in value
    ]
    texts = [entry for entry in named if isinstance(entry, str)]
    return [_unmarked(entry) for entry in texts] if len(texts) == len(named) else []


def _table(text: str) -> list[str]:
    """Return a column of a Markdown table: that of a head in FIELDS, else the first that is not all numbers."""
    lines = [line.strip() for line in text.strip().splitlines()]
    rule = next((place for place, line in enumerate(lines) if place and RULE.fullmatch(line)), None)
    if rule is None:
        return []
    rows: list[list[str]] = []
    for line in [lines[rule - 1], *lines[rule + 1 :]]:
        if "|" not in line:
            break
        rows.append([cell.strip() for cell in line.strip("|").split("|")])
    if len({len(row) for row in rows}) != 1 or len(rows) < 2:
        return []
    head, *cells = rows
    columns = [list(column) for column in zip(*cells, strict=True)]
    worded = [place for place, column in enumerate(columns) if any(any(map(str.isalpha, cell)) for cell in column)]
    if not worded:
        return []
    return columns[next((place for place in worded if head[place].strip("*_ ").lower() in FIELDS), worded[0])]


def _unmarked(step: str) -> str:
    return step[mark.end() :] if (mark := MARKER.match(step)) and step[mark.end() :].strip() else step


def _worded(entries: Iterable[str]) -> list[str]:
    """Return the entries that hold a letter or digit, tidied."""
    found = [_tidy(entry) for entry in entries]
    return [step for step in found if any(character.isalnum() for character in step)]


def _list(text: str) -> tuple[list[_Item], bool]:
    """Return the items of the outermost list, and whether the text is nothing but that list."""
    lines = text.expandtabs(4).splitlines()
    marks: list[tuple[int, re.Match[str]]] = []
    fenced = False
    for place, line in enumerate(lines):
        if FENCE.match(line):
            fenced = not fenced
        elif not fenced and (match := MARKER.match(line)):
            marks.append((place, match))
    if not marks:
        return [], False
    outermost = min(len(match["indent"]) for _, match in marks) + LEVEL
    level = [(place, match) for place, match in marks if len(match["indent"]) <= outermost]
    numbered = [entry for entry in level if entry[1]["bullet"] is None]
    chosen = dict(numbered if len(numbered) >= 2 else level)
    first, last = min(chosen), max(chosen)
    items: list[_Item] = []
    for place, line in enumerate(lines[first:], first):
        if match := chosen.get(place):
            items.append(_Item(len(match["indent"]), [line[match.end() :]]))
        elif place > last and not lines[place - 1].strip() and not line.startswith(" " * (items[-1].indent + 1)):
            break  # after the list
        else:
            items[-1].lines.append(line)
    return items, not any(line.strip() for line in lines[:first])


def _tidy(step: str) -> str:
    return " ".join(EMPHASIS.sub("", step).split())
