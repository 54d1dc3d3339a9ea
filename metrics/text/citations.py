"""Which passages the parts of an answer cite: [1], [1, 2], [1] and [2], [Source 1, p. 4], [doc-3], 【4:0†a.pdf】."""

import re
from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

LONGEST_RANGE = 20  # passages that [1-20] may stand for; [1990-2020] is no marker
LONGEST_ID = 200  # characters; no marker is longer
BLANKS = r"[\s\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]{0,3}"  # marks of writing direction are no text
OPEN, CLOSE, BETWEEN = r"[\[［【]", r"[\]］】]", r"[,，、;；،؛]"
MOST_ENTRIES = 1_000  # of a marker
AND = r"(?:&|(?i:and|or|as well as|und|oder|et|ou|y|e|и)(?!\w)|[和与與及])"  # joins two entries, and two markers
LEAD = (  # before a number, or a passage's id in round brackets
    r"(?i:sources?|src|docs?|documents?|ref(?:erence)?s?|passages?|contexts?|ctx|chunks?|excerpts?|snippets?|results?|web"
    r"|cit(?:e|ations?)|(?:foot)?notes?|quellen?|dokumente?|fuentes?|fontes?|font[ei]|bron|källa|kilde|źródło|kaynak"
    r"|источники?|المصدر|来源|來源|参考|資料|文献|文档|出典|출처)"
)
SEE = r"(?:(?i:see|cf|vgl|siehe)[.\s]{1,2})?"  # before an entry
LABEL = rf"(?:{LEAD}[.:：#\s_-]{{0,3}}|(?i:id|no|nr)[.:=\s]{{1,2}}|№|[SD](?=\d))?"  # before a number in square brackets
EDGE = r"[\s\u200b\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069*_\"“”^.]{0,3}"  # within the brackets
LOCATOR = (  # where in the passage: p. 4, pp. 4–5, § 3, Table 2
    rf"(?:{BLANKS}[,，;:(]?{BLANKS}(?:(?i:pp?|pages?|pg|seiten?|s|sec(?:tion)?s?|ch(?:ap(?:ter)?)?|tab(?:le)?|fig(?:ure)?"
    rf"|lines?|para(?:graph)?s?|art|стр|с)\.?|§§?|[#?]page=|第){BLANKS}\d{{1,6}}(?:{BLANKS}[-–—]{BLANKS}\d{{1,6}})?"
    rf"(?:{BLANKS}ff?\.?|[页頁])?\)?)"
)
FILE = r"(?![*_\"“])[^\[\]【】［］()†,;:\n]{1,100}\.(?:pdf|docx?|txt|md|html?|csv|xlsx?|pptx?|json|xml|epub)"
LINK = r"(?:\((?:[^()\s]|\([^()\s]{0,200}\)){1,2000}(?:\s\"[^\"\n]{0,200}\")?\))"
LIST_HEAD = re.compile(  # of the sources that an answer ends with
    r"(?m)^[^\w\n]{0,9}(?:\d+\.\s)?(?i:(?:relevant |cited |list of |the )?sources?(?:\(s\)| cited| used| consulted| are"
    r"| documents?)?|references?|citations?|bibliography|works cited|further reading|retrieved from|footnotes?|notes"
    r"|(?:informations)?quellen(?:verzeichnis|angaben)?|literatur(?:verzeichnis)?|références|bibliographie|fuentes"
    r"|referencias|bibliografía|fontes|referências|fonti|riferimenti|bronnen|källor|kilder|lähteet|źródła|zdroje"
    r"|források|πηγές|kaynaklar|nguồn|sumber|источники|(?:список )?литератур[аы]|المصادر|منابع|מקורות|स्रोत"
    r"|แหล่งที่มา|来源|來源|参考(?:文献|资料)?|引用|參考文獻|出典|출처|참고 ?문헌)(?: ?\(\d+\))?[*_\] \t]*"
    r"(?:[:：][*_]*(?P<inline>[^\n]*))?$"
)
LISTED = re.compile(r"[ \t>]*(?:[-*+•–]|\[?\^?\d{1,4}[\]).:]|【\d{1,4}】|https?://|<|\|)")  # a line of that list
ENTRY_NUMBER = re.compile(r"[ \t>]*(?:[-*+•–][ \t]+)?[\[【(]?\^?(\d{1,6})[\]】).:]+")
DEFINITION = re.compile(r"^\[\^?\w{1,50}\]:[^\n]*\n?", re.MULTILINE)  # of a footnote, or of a link
JOINER = re.compile(rf"[\s,;.]*{AND}[\s,;]*")
# a bracket about markers
OPENED = re.compile(rf"[(（]\s*(?:(?i:see(?: also)?|cf|vgl|siehe|e\.g|per|{LEAD}))?[\s.,:：]*$")
CODE = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)
BULLET = re.compile(r"(?:\A|\n)[^\S\n]*(?:[-*•·]|\d{1,3}[.)])\s*$")  # of the item that the next marker begins
AFTER_A_MARKER = " \t\r\n.,;:!?…)。．，、；：！？）।।؟،؛۔"  # closes what was cited, does not begin what follows

Reading = Literal["trailing", "leading", "none"]


class CitedPart(NamedTuple):
    """A stretch of an answer, without its markers, and the names of the passages it cites, each once, in order."""

    text: str
    citations: tuple[str, ...]


class CitedAnswer(NamedTuple):
    """The parts of an answer, how its markers were read, and the names in markers without text.

    `listed` are the passages in the list of sources that the answer ends with, which is no part.
    """

    parts: tuple[CitedPart, ...]
    reading: Reading
    stray: tuple[str, ...] = ()
    listed: tuple[str, ...] = ()


def passage_names(count: int, ids: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the name of each of `count` passages: its id without brackets around it, or its number where none has one.

    A passage without an id among others that have one is "": no marker can name it.
    """
    names = [_bare(id) for id in ids[:count]]
    if not any(names):
        return tuple(str(number) for number in range(1, count + 1))
    return (*names, *[""] * (count - len(names)))


def cited_parts(answer: str, ids: Sequence[str] = ()) -> CitedAnswer:
    """Return the parts into which citation markers divide an answer.

    A part is the text up to its markers (*trailing*). If the answer begins with a marker and every marker to its end is
    followed by text, a part is a marker's text up to the next marker (*leading*). Text without a following marker, or
    all of it if there is none, is a part without citations. Adjacent markers form one group.

    A marker contains `ids` of passages, names of files, or numbers in the digits of any script, separated by commas,
    semicolons or "and", or short ranges of numbers. A number may follow a word ([Source 1], [cite: 1]) and a place in
    the passage follow it ([1, p. 4]). It means the passage with that id, however many zeros begin it, or the one that
    the list of sources at the end of the answer gives that number; where there is none, it is a name of its own, "7".
    An id that ends a path may stand for it. Fullwidth and lenticular brackets, [^1], [1](link), [[1]](link) and
    (Source: doc.pdf) count as well, and of 【4:0†a.pdf】 the file, or else the result, counted from 0; brackets in code
    do not, nor do those around anything else. Markers with "and" between them form one group. A list of sources at the
    end of the answer is no part. A stretch without a letter or digit is no text. Linear in the length of the answer.

    >>> cited_parts("Paris is in France [1][2]. It rains [2, 3].").parts
    (CitedPart(text='Paris is in France', citations=('1', '2')), CitedPart(text='It rains', citations=('2', '3')))
    >>> cited_parts("[1] Paris is in France. [2] It rains.").reading
    'leading'
    >>> cited_parts("Seven [doc-3], and more [see above].", ["doc-3"]).parts[0]
    CitedPart(text='Seven', citations=('doc-3',))
    """
    own, sources = _without_sources(answer)
    markers = _Markers(ids, sources)
    pieces = _pieces(own, markers)
    listed = tuple(dict.fromkeys(name for line in sources for name in markers.names_of_line(line)))
    if not any(isinstance(piece, tuple) for piece in pieces):
        return CitedAnswer(tuple(CitedPart(part, ()) for part in pieces if isinstance(part, str)), "none", (), listed)
    leading = isinstance(pieces[0], tuple) and isinstance(pieces[-1], str)
    ordered = pieces if leading else pieces[::-1]  # each group of markers, then its text
    parts: list[CitedPart] = []
    waiting: tuple[str, ...] = ()
    for piece in ordered:
        if isinstance(piece, tuple):
            waiting = piece
        else:
            parts.append(CitedPart(piece, waiting))
            waiting = ()
    return CitedAnswer(tuple(parts if leading else parts[::-1]), "leading" if leading else "trailing", waiting, listed)


def without_sources(answer: str) -> str:
    """Return an answer without the list of sources that it ends with, which states nothing.

    >>> without_sources("It rains [1].\\n\\nSources:\\n[1] rain.pdf").strip()
    'It rains [1].'
    """
    return _without_sources(answer)[0]


def _without_sources(answer: str) -> tuple[str, list[str]]:
    """Return an answer without the list of sources that it ends with, and the lines of that list."""
    # The list has a heading of its own, and no line of text that cites: "Sources:" above statements heads no list.
    defined = DEFINITION.findall(answer)
    own = DEFINITION.sub("", answer) if defined else answer
    heads = list(LIST_HEAD.finditer(own))
    if heads and any(map(str.isalnum, own[: heads[-1].start()])):
        head = heads[-1]
        inline = (head["inline"] or "").strip(" *_")
        lines, after = list[str](), own[head.end() :].splitlines()
        while after and not inline and (not after[0].strip() or LISTED.match(after[0])):
            lines.append(after.pop(0))
        lines = [line for line in lines if line.strip()]
        rest = "\n".join(after)
        cites = any(re.search(rf"[^\W\d_].*{OPEN}\^?\d+{CLOSE}[.\s]*$", line) for line in lines)
        if (lines and not cites) or (inline and not rest.strip()):
            return f"{own[: head.start()]}{rest}", [*lines, *([inline] if inline else []), *defined]
    return own, defined


class _Markers:
    """The markers that an answer may contain, given the ids of its passages and the lines of its list of sources."""

    def __init__(self, ids: Iterable[str], sources: Sequence[str] = ()):
        known = [name for name in dict.fromkeys(map(_bare, ids)) if 0 < len(name) <= LONGEST_ID]
        self._numbered: dict[int, str] = {}
        self._known = {name: name for name in known}
        for name in known:
            if name.isdecimal():
                self._numbered.setdefault(int(name), name)
            if len(base := re.split(r"[/\\]", name)[-1]) < len(name) and base not in known:
                self._known[base] = "" if base in self._known else name  # "" for one that ends several paths
        self._known = {written: name for written, name in self._known.items() if written and name}
        spelled = "|".join(map(re.escape, sorted(self._known, key=len, reverse=True))) or "(?!)"
        lone = "|".join(re.escape(name) for name in self._known if re.search(r"[./\\_-]|[^\W\d]\d", name)) or "(?!)"
        # what was read as an entry is not read in another way: linear in the answer
        label = LABEL.replace("_-", "") if known else LABEL  # doc-9 beside doc-3 is no number
        self._entry = re.compile(_entry(spelled, label, "("))
        plain = _entry(spelled, label, "(?:")
        inside = rf"{plain}(?:{BLANKS}(?:{BETWEEN}|{AND}){BLANKS}(?:{AND}{BLANKS})?{plain}){{0,{MOST_ENTRIES}}}+"
        self.pattern = re.compile(
            rf"(?:<sup>)?\\?{OPEN}(?P<twice>{OPEN})??{EDGE}?(?P<inside>{inside}){EDGE}\\?{CLOSE}(?(twice){CLOSE}?){LINK}?(?:</sup>)?"
            rf"|[(（](?={LEAD}){LEAD}?(?:{BLANKS}[:：#]?{BLANKS})(?P<round>{inside})[)）]"
            rf"|[(（]{SEE}(?P<named>(?:{lone}){LOCATOR}{{0,2}})[)）]"
        )
        self._sources = self._numbers_of(sources)

    def _numbers_of(self, sources: Sequence[str]) -> dict[int, str]:
        """Return the passages that a list of sources gives numbers: those whose lines name one passage by its id."""
        found: dict[int, str] = {}
        for line in sources:
            named = {name for written, name in self._known.items() if not written.isdecimal() and written in line}
            if len(named) == 1 and (number := ENTRY_NUMBER.match(line)):
                found.setdefault(int(number[1]), named.pop())
        return found

    def names_of_line(self, line: str) -> tuple[str, ...]:
        """Return the names of the passages in a line of a list of sources."""
        inner = (match["inside"] or match["round"] or match["named"] for match in self.pattern.finditer(line))
        found = [name for inside in inner for name in self.names(inside)]
        if not found and (number := ENTRY_NUMBER.match(line)):
            return (self._name(int(number[1])),)
        return tuple(found) or tuple(name for written, name in self._known.items() if written in line)

    def _name(self, number: int) -> str:
        return self._numbered.get(number) or self._sources.get(number) or str(number)

    def names(self, inside: str) -> tuple[str, ...]:
        """Return the names in one marker; none if a range runs backwards or is too long."""
        names: list[str] = []
        for match in self._entry.finditer(inside):
            id, message, result, file, begin, end, other = match.groups()
            if id or other:
                names.append(self._known.get(id or other.strip(), id or other.strip()))
            elif message:
                named = self._known.get(file.strip()) or (file.strip() if self._known and "." in file else "")
                names.append(named or self._name(int(result) + 1 if result else int(message)))
            else:
                first = int(begin)
                last = int(end) if end else first
                if not first <= last < first + LONGEST_RANGE:
                    return ()
                names += [self._name(number) for number in range(first, last + 1)]
        return tuple(names)


def _entry(spelled: str, label: str, group: str) -> str:
    """Return the expression for an entry of a marker: the spelled ids, the longest first, a number or a file."""
    # Its groups begin with `group`: id, message, result and file of 【4:0†a.pdf】, number, last number, another file.
    after = rf"(?={EDGE}\\?(?:{BETWEEN}|{AND}|{CLOSE}|{LOCATOR}|[)）]|\Z))"
    dagger = rf"{group}\d{{1,6}})(?::{group}\d{{1,6}}))?†{group}[^\[\]【】†]{{0,200}})(?:†[^\[\]【】]{{0,200}})?"
    number = rf"{label}#?\^?{group}\d{{1,6}})(?:{BLANKS}(?:[-–—]|to(?=\s)|bis(?=\s)){BLANKS}{group}\d{{1,6}}))?"
    named = rf"(?:(?:{LEAD}|(?i:id)|\d{{1,6}})(?:[:：]\s{{0,3}}|\s))?\^?{group}{spelled}){after}"
    return rf"(?>{SEE}(?:{named}|{dagger}|{number}(?::\s?{FILE}|{after})|{group}{FILE}))){LOCATOR}{{0,2}}"


def _bare(id: str | None) -> str:
    """Return an id as a marker holds it: without blanks around it and one pair of brackets."""
    text = (id or "").strip()
    return text[1:-1].strip() if re.fullmatch(rf"{OPEN}.*{CLOSE}", text, re.DOTALL) else text


def _pieces(answer: str, markers_of: _Markers) -> list[str | tuple[str, ...]]:
    """Return texts and groups of names, in the answer's order."""
    code = [match.span() for match in CODE.finditer(answer)]
    markers = []
    for match in markers_of.pattern.finditer(answer):
        while code and code[0][1] <= match.start():
            code.pop(0)
        names = markers_of.names(match["inside"] or match["round"] or match["named"])
        if names and not (code and code[0][0] < match.end()):
            markers.append((*match.span(), names))
    pieces: list[str | tuple[str, ...]] = []
    begin = 0
    for start, end, names in [*markers, (len(answer), len(answer), ())]:
        between = OPENED.sub("", answer[begin:start]) if names else answer[begin:start]
        text = BULLET.sub("", between).lstrip(AFTER_A_MARKER if begin else None).strip()
        if any(map(str.isalnum, text)) and not (begin and names and JOINER.fullmatch(text)):
            pieces.append(text)
        if pieces and isinstance(pieces[-1], tuple):
            pieces[-1] = tuple(dict.fromkeys(pieces[-1] + names))
        elif names:
            pieces.append(tuple(dict.fromkeys(names)))
        begin = end
    return pieces
