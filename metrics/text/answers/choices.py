"""The letter that an answer to a multiple-choice question chooses."""

import re
from typing import NamedTuple

from metrics.core.unicode_forms import normalized
from metrics.text.answers.forms import without_ends

MAX_SEARCHED = 2_000  # characters of an answer that are searched, from either end
LETTER = r"[A-Za-zА-ЯЁа-яёΑ-Ωα-ω]"
ALONE = r"(?![0-9A-Za-z_\u00c0-\u052f])"  # no word goes on; what is written without blanks may
# what may stand before and after the letter: brackets, quotes, emphasis, LaTeX
OPEN = r"(?:[\s#*_`$\"'“”„‘’«»「『【(\[{<]|\\[(\[]|\\(?:text|math)[a-z]{0,4}\{|<[a-z]{1,10}>){0,8}"
CLOSE = r"(?P<close>(?:[*_`$\"'“”‘’«»」』】)\]}>]|\\[)\]]|</[a-z]{1,10}>){0,8})"
MARKED = rf"{OPEN}(?P<letter>{LETTER}){ALONE}{CLOSE}"
NOUNS = (  # of what is answered, in the languages that models answer in, and verbs of choosing
    "answers?|choose|pick|select|antwort|lösung|wähle|réponse|choisis|respuesta|elijo|resposta|escolho|risposta|scelgo"
    "|antwoord|svaret|svar|vastaus|odpowiedź|odpověď|răspuns(?:ul)?|válasz|cevap|yanıt|jawaban(?:nya)?|jawapan"
    "|ответ|выбираю|відповідь|отговор|απάντηση|उत्तर|जवाब|الإجابة|الجواب|תשובה|התשובה|پاسخ"
    "|(?:richtig|korrekt|correct)(?= (?:ist|wäre|is)\\b)"
)
JOINED = "答案|正解|正答|答え|解答|回答|[选選][择擇]?|선택|정답|답|đáp án|câu trả lời|คำตอบ|ตอบ"  # to what follows
OPTIONS = (
    "option|choice|letter|variante?|opción|alternativa|opção|opzione|lettre|letra|lettera|buchstabe|optie|вариант|буква"
)
FILLERS = (  # what may stand between the noun and the letter
    "is|was|must be|would be|should be|correct|right|best|final|the|answer|my|ist|lautet|wäre|die|der|das|richtige?"
    "|est|la|le|correcte?|bonne|es|el|correcta|é|e|a|correta|è|corretta|het|juiste?|är|er|to|jest|adalah"
    "|правильный|верный|это|είναι|है|هي|هو|היא|là"
)
JOINED_FILLERS = "คือ|ข้อ|是|为|為|应该是|應該是|は|が|은|는|选项|選項|選択肢|선택지"
WORD_ENDS = r"(?![^\W\d_])"
FILLED = rf"(?:[\s*_`\"']{{0,4}}(?:(?:{OPTIONS}|{FILLERS}){WORD_ENDS}|{JOINED_FILLERS})){{0,6}}"
STATED = re.compile(
    rf"(?:(?<!\w)(?:(?:{NOUNS})|(?P<weak>{OPTIONS})){WORD_ENDS}|(?:{JOINED}|选项|選項|選択肢))"
    rf"(?P<filled>{FILLED}[\s*_`\"'>\])]{{0,4}}[:=\-–—]?){MARKED}"
    rf"|\\f?boxed\{{\s*(?:\\(?:text|math)[a-z]{{0,4}}\{{)?[($]?(?P<boxed>{LETTER}){ALONE}(?P<text>[^{{}}]{{0,200}})\}}",
    re.IGNORECASE,
)
WHOLE = re.compile(rf"(?:\\f?boxed\{{)?{MARKED}[\s.,!]*", re.IGNORECASE)
NAMED = re.compile(
    rf"\s*{MARKED}\s*(?:(?:is|ist|est|es|é|è)\s+(?:the\s+|die\s+|la\s+|a\s+)?"
    r"(?:correct|right|best|answer|richtig|bonne|réponse|respuesta|resposta|risposta)|[がは]正)"
)
BEGINNING = re.compile(
    rf"\s*[#*_`]{{0,3}}(?:[(\[](?P<bracketed>{LETTER})[)\]]|(?P<letter>{LETTER})(?:\s?[)\].:]|\s[-–—]\s|[*_`]{{0,3}}\s?(?=\n)))"
)
ANOTHER = re.compile(
    r"\s*(?:,|/|&|\b(?:or|and|oder|und|ou|et|o|y|e|или|и)\b|[或と和])\s*(?:(?:or|and|option)\s+){0,2}[*_`(\[]{0,4}"
    rf"(?:[A-ZА-Я]{ALONE}(?!['’])|{LETTER}(?=\s*(?:[).,*_`\]]|\Z)))"
)
DENIED = re.compile(r"\s*(?:is|was|ist|est|es)(?:\s+not\b|n't|\s+(?:wrong|incorrect|false|nicht|falsch|faux))")
BESIDE = re.compile(r"[^\S\n]*(?:[:.,–—}]|-(?=\s))?[^\S\n]*(?P<bracket>\()?(?P<text>[^\n]*)")
EXPLAINS = re.compile(
    r"(?:because|since|as|explanation|(?:the )?reason(?:ing)?|(?:this|that|it|which) is|[iw]e? |option|weil|denn|da|car"
    r"|parce|puisque|porque|ya que|perché|потому|так как|is|was|ist|est|es|[a-h] is)\b"
    r"|</|因为|因為|理由|です|입니다|이다|だ",
    re.IGNORECASE,
)

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
    "答案：B", "I choose option (B) because …", "B is correct", \boxed{B}); of several statements the last counts, and
    one of the answer before one of an option. Letters joined by "or", "and" or a comma choose nothing. The text is what
    stands beside the letter in its line, unless it begins as an explanation does.

    >>> choice("The correct answer is (B).")
    Choice(letter='B', text='')
    >>> choice("Die Antwort ist **B) Bern**.")
    Choice(letter='B', text='Bern')
    """
    begin, end = (normalized("NFKC", part) for part in (answer[:MAX_SEARCHED], answer[-MAX_SEARCHED:]))
    if len(answer) <= MAX_SEARCHED and (whole := WHOLE.fullmatch(begin)):
        return Choice(whole["letter"].upper())
    stated: dict[bool, Choice] = {}  # the last of an answer, and of an option that is only named
    for found in STATED.finditer(end):
        if found["boxed"]:
            stated[False] = Choice(found["boxed"].upper(), _text(found["text"].strip(")}$")))
        elif _chooses(found, end):
            named = bool(found["weak"]) and not found["filled"].strip()
            stated[named] = Choice(found["letter"].upper(), _text(end[found.end() :]))
    if stated:
        return stated.get(False) or stated[True]
    if (said := NAMED.match(begin)) and said["letter"].isupper():
        return Choice(said["letter"])
    begun = BEGINNING.match(begin)
    if begun and not ANOTHER.match(begin, begun.end()):
        return Choice((begun["bracketed"] or begun["letter"]).upper(), _text(begin[begun.end() :]))
    return None


def _chooses(found: re.Match[str], text: str) -> bool:
    """Return whether a letter after a lead is chosen: alone, not denied, and no word ("a cat")."""
    if ANOTHER.match(text, found.end()) or DENIED.match(text, found.end()):
        return False
    following = text[found.end() : found.end() + 1]
    if found["close"] or not following or following in ".,;:!?)\n":
        return True
    return found["letter"].isupper() and following not in "'’-"


def _text(after: str) -> str:
    """Return the text of a choice that stands in the line after its letter; "" where an explanation does."""
    beside = BESIDE.match(after)
    if beside is None or EXPLAINS.match(beside["text"]):
        return ""
    text = beside["text"].partition(")")[0] if beside["bracket"] else beside["text"]
    return without_ends(text)


def same_choice(made: Choice, wanted: Choice) -> bool:
    """Return whether two choices agree: in the letter, and in the text where both have one.

    What is made may go on after the wanted text, as a sentence does. The texts are in the form that is compared.
    """
    if made.letter != wanted.letter or not made.text or not wanted.text:
        return made.letter == wanted.letter
    return made.text.startswith(wanted.text) and ENDED.match(made.text, len(wanted.text)) is not None
