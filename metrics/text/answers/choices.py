"""The letter that an answer to a multiple-choice question chooses."""

import re
from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

from metrics.core.unicode_forms import normalized
from metrics.text.answers.forms import AnswerForm, without_ends

MAX_CHOICE = 200  # characters of an expected answer that is a letter with its text
MAX_SEARCHED = 2_000  # characters of an answer that are searched, from either end
LETTER = r"[A-Za-zА-ЯЁа-яёΑ-Ωα-ω]"
LABEL = rf"(?:[ivx]{{2,4}}|{LETTER}|\d{{1,2}})"  # of a choice: B, (ii), 2
ALONE = r"(?![0-9A-Za-z_\u00c0-\u052f]|\+\+|#|[.,:/]\d)"  # no word goes on; what is written without blanks may
# what may stand before and after the letter: brackets, quotes, emphasis, LaTeX
OPEN = r"(?:[\s#*_`$\"'“”„‘’«»「『【(\[{<]|\\[(\[]|\\(?:text|math)[a-z]{0,4}\{|<[a-z]{1,10}>){0,8}"
CLOSE = r"(?P<close>(?:[*_`$\"'“”‘’«»」』】)\]}>]|\\[)\]]|</[a-z]{1,10}>){0,8})"
MARKED = rf"{OPEN}(?P<letter>{LABEL}){ALONE}{CLOSE}"
NOUNS = (  # of what is answered, in the languages that models answer in, and verbs of choosing
    "answers?|ans\\.?|solution|result|choose|pick|select|antwort|lösung|wähle|réponse|choisis|respuesta|elijo|resposta|escolho|risposta|scelgo"
    "|antwoord|svaret|svar|vastaus|odpowiedź|odpověď|răspuns(?:ul)?|válasz|cevap|yanıt|jawaban(?:nya)?|jawapan"
    "|ответ|выбираю|відповідь|отговор|απάντηση|उत्तर|जवाब|الإجابة|الجواب|תשובה|התשובה|پاسخ"
    "|(?:richtig|korrekt|correct)(?= (?:ist|wäre|is)\\b|\\s*[:：])"
)
JOINED = "答案|正解|正答|答え|解答|回答|[选選][择擇]?|선택|정답|답|đáp án|câu trả lời|คำตอบ|ตอบ"  # to what follows
OPTIONS = (
    "option|choice|letter|variante?|opción|alternativa|opção|opzione|lettre|letra|lettera|buchstabe|optie|вариант|буква"
)
FILLERS = (  # what may stand between the noun and the letter
    "is|was|must be|would be|should be|correct|right|best|final|the|answer|my|ist|lautet|wäre|die|der|das|richtige?"
    "|est|la|le|correcte?|bonne|es|el|correcta|é|e|a|correta|è|corretta|het|juiste?|är|er|to|jest|adalah"
    "|правильный|верный|это|είναι|है|هي|هو|היא|الصحيحة|(?:đúng )?là|yang|benar|je|on"
    r"|(?:not|nicht|pas|non?) [*_(]{0,3}[A-Z][*_)]{0,3},? (?:but|sondern|mais|sino|ma)"  # not A but
)
JOINED_FILLERS = "คือ|ข้อ|是|为|為|应该是|應該是|は|が|은|는|选项|選項|選択肢|선택지"
WORD_ENDS = r"(?![^\W\d_])"
FILLED = rf"(?:[\s*_`\"']{{0,4}}(?:(?:{OPTIONS}|{FILLERS}){WORD_ENDS}|{JOINED_FILLERS})){{0,6}}"
STATED = re.compile(
    rf"(?i)(?:(?<![^\W_])(?:(?:{NOUNS})|(?P<weak>{OPTIONS})){WORD_ENDS}|(?:{JOINED}|选项|選項|選択肢))"
    rf"(?P<filled>{FILLED}[\s*_`\"'>\])]{{0,4}}(?:[-=]?>|[:=\-–—→⇒])?){MARKED}"
    rf"|\\f?boxed\{{\s*(?:\\(?:text|math)[a-z]{{0,4}}\{{)?[($]?(?P<boxed>{LETTER}){ALONE}"
    r"(?P<text>(?:[^{}]|\{[^{}]{0,200}\}){0,200})\}"
)
SAID = re.compile(  # the answer is …
    rf"(?:\w+ ){{0,3}}?(?:{NOUNS}|{JOINED}){FILLED}\s*(?:[:=\-–—]\s*)?(?P<text>[^\n]+)", re.IGNORECASE
)
LAST_SAID = re.compile(  # as SAID, anywhere in a text
    rf"(?<![^\W_])(?:(?:{NOUNS}){WORD_ENDS}|{JOINED}){FILLED}[\s*_`]{{0,4}}(?:[:=]|[-–—](?=\s))?(?=(?P<text>[^\n]+))",
    re.IGNORECASE,
)
SENTENCE_END = re.compile(
    r"[.;!?。]+[*_`\"')\]]*(?:\s|\Z)|[。！]|,?\s+(?:because|since|as|weil|denn|car|parce|porque)\b"
)
WHOLE = re.compile(rf"(?:\\f?boxed\{{)?{MARKED}[\s.,!]*", re.IGNORECASE)
CONCLUDED = re.compile(  # a letter that ends a sentence, after what draws a conclusion
    r"(?:(?<!\w)(?:therefore|thus|hence|so|consequently|it(?:['’]s| is)|(?:go|going) (?:with|for)|daher|also|deshalb"
    r"|somit|folglich|es ist|donc|ainsi|c['’]est|por (?:lo )?tanto|portanto|logo|quindi|dunque|dus|поэтому"
    rf"|следовательно|значит)(?!\w)|因此|所以|故|したがって|よって|따라서)[\s,:，]{{0,3}}{MARKED}",
    re.IGNORECASE,
)
TRUE = r"(?:correct|right|best|true|answer|appropriate|richtig|korrekt|bonne|réponse|respuesta|resposta|risposta)"
NAMED = re.compile(  # B is correct
    r"(?:\A|[.;,:!?\n]|\b(?i:so|hence|thus|therefore|that|think|believe|statement|but|since|ist)\b)"
    rf"\s*+{MARKED}\s*(?:(?:(?:is|seems|appears|looks|fits|ist|est|es|é|è)\s+)?(?:to be\s+)?"
    rf"(?:(?:the|die|la|a)\s+)?(?:most\s+)?{TRUE}|it is[.!]|[がは]正)(?![^.\n]{{0,40}}\?)"
)
BEGINNING = re.compile(
    rf"\s*[#*_`]{{0,3}}(?:[(\[](?P<bracketed>{LETTER})[)\]]|(?P<letter>{LETTER})(?:\s?[)\].:]|\s[-–—]\s|[*_`]{{0,3}}\s?(?=\n)))"
)
REASONED = re.compile(rf"\s*{MARKED},?\s+(?:because|since|weil|denn|car|parce|porque|perché)\b")
ANOTHER = re.compile(
    r"\s*(?:,|/|&|\b(?:or|and|oder|und|ou|et|o|y|e|или|и)\b|[或と和])\s*(?:(?:or|and|option)\s+){0,2}[*_`(\[]{0,4}"
    rf"(?:[A-ZА-Я]{ALONE}(?!['’])|\d|{LETTER}(?=\s*(?:[).,*_`\]]|\Z)))"
)
DENIED = re.compile(r"\s*(?:is|was|ist|est|es)(?:\s+not\b|n't|\s+(?:wrong|incorrect|false|nicht|falsch|faux))")
BESIDE = re.compile(r"[^\S\n]*(?:[:.,–—}]|-(?=\s))?[^\S\n]*(?P<bracket>\()?(?P<text>[^\n]*)")
EXPLAINS = re.compile(
    r"(?:because|since|as|explanation|(?:the )?reason(?:ing)?|(?:this|that|it|which) is|[iw]e? |option|weil|denn|da|car"
    r"|parce|puisque|porque|ya que|perché|потому|так как|is|was|ist|est|es|[a-h] is)\b"
    r"|</|因为|因為|理由|です|입니다|이다|だ",
    re.IGNORECASE,
)

MEMBER = re.compile(r"\"(?:\w*text|value|content|description)\":\s*\"(?P<text>[^\"]*)\"")  # of JSON, beside the letter
APPOSED = re.compile(r"(?:(?:which|that|this) is|i\.e\.,?|namely)\s+(?=[A-Z\d])")
LATEX_TEXT = re.compile(r"\\(?:text|math)[a-z]{0,4}\{([^{}]*)\}")
MAX_WORDS = 4  # of a text that is not in the letter's own line, or apposed to it
STATES = re.compile(r":|['’]s\b|\b(?:is|are|was|were|has|ist|sind|est|es|it|not)\b", re.IGNORECASE)
ENDED = re.compile(
    r"\Z|\s*(?:[.:](?!\d)|,(?!\s?\d)|[;!?)\]*—–(\n])|\s+(?:because|since|as|is|was|are|has|which|that|weil|ist|da|car|est|porque|es)\b"
)


class Choice(NamedTuple):
    """The letter that is chosen, upper case, and the text given with it ("" for none)."""

    letter: str
    text: str = ""


def choice(answer: str) -> Choice | None:
    r"""Return the letter that a whole answer chooses; None where it chooses none, or several.

    It is the whole answer ("b", "(B)", "**B**.", "$B$"), stands at its beginning with a bracket, point or colon
    ("B) Paris"), or is said to be the answer, in one of some thirty languages ("The answer is B", "ANSWER: $B$",
    "答案：B", "I choose option (B) because …", "Therefore, B.", "B is correct", \boxed{B}); of several statements the
    last counts, one of the answer before a conclusion, and that before one of an option. A number or (ii) is a letter
    where it is the answer or said to be. Letters joined by "or", "and" or a comma choose nothing. The text is what
    stands beside the letter in its line, or a few words below it, unless they begin as an explanation does.

    >>> choice("The correct answer is (B).")
    Choice(letter='B', text='')
    >>> choice("Die Antwort ist **B) Bern**.")
    Choice(letter='B', text='Bern')
    """
    begin, end = (normalized("NFKC", part) for part in (answer[:MAX_SEARCHED], answer[-MAX_SEARCHED:]))
    if len(answer) <= MAX_SEARCHED and (whole := WHOLE.fullmatch(begin)):
        return Choice(whole["letter"].upper())
    stated: dict[int, Choice] = {}  # the last of an answer, of a conclusion, of what is correct, of an option
    for found in STATED.finditer(end):
        if found["boxed"]:
            stated[0] = Choice(found["boxed"].upper(), _text(found["text"].strip(")$")))
        elif _chooses(found, end):
            named = bool(found["weak"]) and not found["filled"].strip()
            stated[3 * named] = Choice(found["letter"].upper(), _text(end[found.end() :]))
    for found in CONCLUDED.finditer(end):
        if found["letter"].isupper() and _chooses(found, end, ends=True):
            stated[1] = Choice(found["letter"].upper(), _text(end[found.end() :]))
    for found in NAMED.finditer(end):
        if found["letter"].isupper():
            stated[2] = Choice(found["letter"])
    if stated:
        return stated[min(stated)]
    if (said := REASONED.match(begin)) and not said["letter"].isdecimal():
        return Choice(said["letter"].upper())
    begun = BEGINNING.match(begin)
    if begun and not ANOTHER.match(begin, begun.end()):
        return Choice((begun["bracketed"] or begun["letter"]).upper(), _text(begin[begun.end() :]))
    return None


def said_answer(answer: str) -> str | None:
    """Return what an answer says last to be the answer, to the end of its sentence; None where it says nothing so.

    >>> said_answer("60 · 2 is 120. The answer is **120 km**, because it drives for two hours.")
    '120 km'
    """
    said = deque(LAST_SAID.finditer(normalized("NFKC", answer[-MAX_SEARCHED:])), 1)
    return without_ends(SENTENCE_END.split(said[0]["text"], 1)[0]) if said else None


def _chooses(found: re.Match[str], text: str, *, ends: bool = False) -> bool:
    """Return whether a letter after a lead is chosen: alone, not denied, and no word ("a cat")."""
    # `ends`: the sentence or the line must end with it, or a text stand beside it.
    if ANOTHER.match(text, found.end()) or DENIED.match(text, found.end()):
        return False
    letter, following = found["letter"], text[found.end() : found.end() + 1]
    if letter.isdecimal() and text[found.start("letter") - 1] in "-–—−./^":
        return False  # a negative number
    if found["close"] or not following or following in ".,;:!?)\n。":
        return True
    return letter.isupper() and len(letter) == 1 and not ends and following not in "'’-"


def _text(after: str) -> str:
    """Return the text of a choice that stands beside its letter, or below it; "" where an explanation does."""
    if member := MEMBER.search(after):
        return member["text"]
    beside = BESIDE.match(after)
    text = beside["text"].partition("</")[0] if beside else ""
    if beside and beside["bracket"]:
        text = text.partition(")")[0]
    if apposed := APPOSED.match(text):
        return _short(text[apposed.end() :])
    if without_ends(text):
        return "" if EXPLAINS.match(text) else without_ends(LATEX_TEXT.sub(r"\1", text))
    below = after.partition("\n")[2].strip().partition("\n")[0]
    return "" if EXPLAINS.match(below) else _short(below)


def _short(line: str) -> str:
    """Return a few words that state nothing; "" for others."""
    text = without_ends(line)
    return (
        text if line.lstrip('*_"“')[:1].isalnum() and len(text.split()) <= MAX_WORDS and not STATES.search(text) else ""
    )


def same_choice(made: Choice, wanted: Choice) -> bool:
    """Return whether two choices agree: in the letter, and in the text where both have one.

    What is made may go on after the wanted text, as a sentence does. The texts are in the form that is compared.
    """
    if made.letter != wanted.letter or not made.text or not wanted.text:
        return made.letter == wanted.letter
    return made.text.startswith(wanted.text) and ENDED.match(made.text, len(wanted.text)) is not None


def words(text: str) -> list[str]:
    """Return the words of a text, without case."""
    return re.findall(r"\w+", text.casefold())


def choice_of(text: str, choices: Sequence[str], form: AnswerForm) -> str | None:
    """Return the letter of the choice that a text is: by its letter, its text, or both; None where it is none of them.

    >>> [choice_of(text, ["Basel", "Bern"], AnswerForm()) for text in ("B", "bern.", "The answer is Bern", "B) Basel")]
    ['B', 'B', 'B', None]
    """
    texts = _texts_of(choices, form)
    led = SAID.fullmatch(text.strip()) if len(text) <= MAX_CHOICE else None
    for own in (form.of(text), form.of(led["text"]) if led else ""):
        if texts.count(own) == 1:
            return letter_at(texts.index(own))
    if said := choice(text):
        return None if names_another(text, choices, form) else said.letter
    spoken = words(text)
    return next((letter_at(at) for at, own in enumerate(texts) if words(f"{letter_at(at)} {own}") == spoken), None)


def names_another(answer: str, choices: Sequence[str], form: AnswerForm) -> bool:
    """Return whether the text beside the chosen letter is that of another of the choices."""
    made = choice(answer)
    if made is None or not made.text or not choices:
        return False
    text = Choice("", form.of(made.text))
    own = {letter_at(at) for at, one in enumerate(_texts_of(choices, form)) if same_choice(text, Choice("", one))}
    return bool(own) and made.letter not in own


def letter_at(place: int) -> str:
    """Return the letter of the choice at a place, from 0."""
    return chr(ord("A") + place)


def _texts_of(choices: Sequence[str], form: AnswerForm) -> list[str]:
    """Return the texts of choices in the form that is compared, without the letters that they may begin with."""
    said = [choice(text) for text in choices]
    lettered = all(one and one.text and one.letter == letter_at(place) for place, one in enumerate(said))
    return [form.of(one.text if lettered and one else text) for one, text in zip(said, choices, strict=True)]
