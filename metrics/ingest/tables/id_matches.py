"""Ids and names as a suite spells them; of those that it does not have, what the likely reason is."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from difflib import get_close_matches
from itertools import chain
from unicodedata import is_normalized

import pyarrow as pa
import pyarrow.compute as pc

from metrics.core.array_types import Bools
from metrics.core.cases import compose_column
from metrics.core.suite import METADATA
from metrics.core.unicode_forms import normalized
from metrics.ingest.arrays import flat, is_null
from metrics.ingest.sheet import NAMES, Sheet
from metrics.ingest.tables.columns import FIELD_NAMES, Columns, fold, spellings

EXPECTED = "the id of a case of the suite"
LOOKED_AT = 2_000  # unknown ids, and rows of another column
KNOWN = 20_000  # ids of the suite among which a reason is looked for
ENOUGH = 0.9  # of the ids have to match for a reason to be likely
SHOWN = 60  # characters of an id

# What was done to an id, as a sentence after "they would match": the first that makes them match is the reason.
RULES: dict[str, Callable[[str], str]] = {
    "without the spaces around them": str.strip,
    "in the same upper and lower case": str.casefold,
    "without leading zeros": lambda text: re.sub(r"(?<![0-9.])0+(?=[0-9])", "", text),
    "without .0 at the end, which spreadsheets add": lambda text: re.sub(r"(?<=[0-9])\.0+$", "", text),
    "without the quotes around them": lambda text: text.strip("'\"“”"),
    "without folders": lambda text: re.split(r"[/\\]", text)[-1],
    "without file endings": lambda text: re.sub(r"\.[A-Za-z]{1,5}[0-9]?$", "", text),
    "with the same marks between their parts": lambda text: re.sub(r"[\s_\-.:/#]+", "-", text.strip()),
    "without leading zeros, in the same case and with the same marks": lambda text: re.sub(
        r"(?<![0-9])0+(?=[0-9])", "", re.sub(r"[\W_]+", "", text.casefold())
    ),
}
QUESTIONS = spellings("question")
LIKENESS = 0.75  # of difflib, from which a name may be meant
SHOWN_COLUMNS = 12  # columns
COMPOSED = (
    *(name for name in NAMES if name != "artifacts"), "predicted_label", "perturbs", "case_id", "model", "label",
    "group",
)  # fmt: skip


def compose_names(sheet: Sheet, columns: Columns, task: str | None, *known: pa.ChunkedArray | pa.Array) -> None:
    """Put ids, classes and tags into composed characters; those that a suite knows into its spelling."""
    others = chain.from_iterable(each.filter(pc.invert(pc.string_is_ascii(each))).to_pylist() for each in known)
    own_spelling = {normalized("NFC", text): text for text in others if not is_normalized("NFC", text)}
    for canonical in (*COMPOSED, *(["answer"] if task == "classification" else [])):
        name = columns.columns.get(canonical, "")
        for own in columns.numbered.get(name, (name,) if name in sheet.table.column_names else ()):
            place, column = sheet.table.column_names.index(own), sheet.table[own]
            composed = compose_column(column)
            if own_spelling:
                texts = composed.to_pylist()
                spelled = [own_spelling.get(text, text) if isinstance(text, str) else text for text in texts]
                composed = pa.array(spelled, column.type)
            if composed is not column:
                sheet.table = sheet.table.set_column(place, own, composed)


def check_known(
    sheet: Sheet, column: str, ids: pa.ChunkedArray | pa.Array, unknown: Bools, known: pa.ChunkedArray,
    thing: str = "case id", expected: str = EXPECTED, cases: pa.Table | None = None,
) -> None:  # fmt: skip
    """Record as problems the ids of rows that are `unknown`: none of the `known` ones; one problem where all are.

    `thing` and `expected` are the words for an id and for a known one; `cases` are those of the suite.
    """
    unknown = unknown & ~is_null(ids) & ~sheet.bad
    if not unknown.any():
        return
    strange = list(flat(pc.unique(flat(ids).filter(pa.array(unknown)))).slice(0, LOOKED_AT).to_pylist())
    reason = _reason(sheet, column, strange, known) or _column_of_suite(strange, cases)
    if len(strange) < 2 or (~unknown & ~is_null(ids) & ~sheet.bad).any():
        sheet.report(unknown, column, ids, expected + reason)
        return
    count = len(pc.unique(flat(ids)).drop_null())
    first = int(unknown.argmax())
    found = f"none of its {count:,} {thing}s in the suite, such as {_quoted(strange[0])} in row {sheet.rows[first]}"
    some = ", ".join(_quoted(text) for text in known.slice(0, 2).to_pylist())
    sheet.problems.add(sheet.file, found, f"{thing}s of the suite, such as {some}{reason}", column=column, fatal=True)


def _reason(sheet: Sheet, column: str, strange: list[str], known: pa.ChunkedArray) -> str:
    """Return the likely reason as the end of a sentence; "" where there is none."""
    ids = set(known.slice(0, KNOWN).to_pylist())
    needed = ENOUGH * len(strange)
    for what, rule in RULES.items():
        there = {rule(text): text for text in ids}
        matched = [text for text in strange if rule(text) in there]
        if len(matched) >= needed:
            mine, theirs = matched[0], there[rule(matched[0])]
            return f". They would match {what}: {_quoted(mine)} here is {_quoted(theirs)} in the suite"
    for what, mine, theirs in _affixes(strange, ids, needed):
        return f". They would match without {what}: {_quoted(mine)} here is {_quoted(theirs)} in the suite"
    for name in sheet.table.column_names:
        if name != column:
            values = sheet.text(name).slice(0, LOOKED_AT)
            given = values.drop_null()
            if len(given) and pc.sum(pc.is_in(given, flat(known))).as_py() >= ENOUGH * len(given):
                return f". The column {name} holds ids of the suite: map case_id to it"
    return ""


def _column_of_suite(strange: list[str], cases: pa.Table | None) -> str:
    """Return that another column of the suite holds the ids, as the end of a sentence; "" where none does."""
    if cases is None:
        return ""
    for name in cases.column_names:
        if name.startswith(METADATA) and pc.sum(pc.is_in(pa.array(strange), flat(cases[name]))).as_py() >= len(strange):
            given = name.removeprefix(METADATA)
            return f". The column {given} of the suite holds them: map case_id={given} in the suite's file"
    return ""


def _affixes(strange: list[str], ids: set[str], needed: float) -> Iterator[tuple[str, str, str]]:
    """Yield a beginning or end that all ids of one side have and whose removal makes them match, with an example."""
    for where, step in (("beginning", 1), ("end", -1)):  # an end is the beginning of what is read backwards
        mine = {text[::step]: text for text in strange}
        theirs = {text[::step]: text for text in ids}
        for whose, group in (("", mine), (" of the suite's", theirs)):
            affix = _affix(group)
            if not affix:
                continue
            cut = {text.removeprefix(affix): whole for text, whole in group.items()}
            here, there = (cut, theirs) if group is mine else (mine, cut)
            matched = [text for text in here if text in there]
            if len(matched) >= needed:
                yield f"the {where} {_quoted(affix[::step])}{whose}", here[matched[0]], there[matched[0]]


def _affix(texts: Collection[str]) -> str:
    """Return what all texts begin with, up to its last digit: 1 of 10, 11, 12 is a part of the ids."""
    first, last = min(texts), max(texts)  # all others are between these, also in what they begin with
    count = next((place for place, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), len(first))
    return re.sub(r"(?<![0-9])[0-9]+$", "", first[:count])


def _quoted(text: str) -> str:
    return repr(text if len(text) <= SHOWN else text[: SHOWN - 1] + "…")


HEADERS = {  # words of other languages in the names of columns: a proposal, never a guess
    "expected_answers": "erwartet|muster|referenz|attendu|esperad|atteso|attesa|verwacht|förvänta|oczekiwan|beklenen"
    "|diharapkan|ожидаем|эталон|标准|標準|参考|期待|正解|模範|정답|المتوقع|अपेक्षित|đáp_án",
    "question": "frage|pregunta|pergunta|domanda|vraag|fråga|pytanie|^soru|pertanyaan|câu_hỏi|вопрос|问题|問題|质问"
    "|質問|질문|سؤال|प्रश्न",
    "answer": "antwort|réponse|respuesta|resposta|risposta|antwoord|^svar|odpowied|cevap|yanıt|jawaban|trả_lời|ответ"
    "|答案|回答|답변|جواب|الإجابة|उत्तर",
    "retrieved_contexts": "kontext|kontekst|contexte|contexto|contesto|konteks|bağlam|контекст|上下文|检索"
    "|コンテキスト|컨텍스트|سياق|संदर्भ",
}


def only_columns(names: Iterable[str]) -> str:
    """Return the columns that there are, as what was found."""
    listed = list(names)
    if len(listed) == 1 and (mark := re.search(r"\w([^\w\s.()-])\w", listed[0])):
        return f"only the column {listed[0]!r}, in which {mark[1]!r} may separate columns (save it with commas)"
    more = f" and {len(listed) - SHOWN_COLUMNS:,} more" if len(listed) > SHOWN_COLUMNS else ""
    return "only the columns " + ", ".join(listed[:SHOWN_COLUMNS]) + more


def meant_by_words(names: Iterable[str], wanted: Collection[str]) -> dict[str, str]:
    """Return the fields that names of columns mean in other languages, where one column alone does, and that column."""
    meant = {
        name: next((field for field, word in HEADERS.items() if re.search(word, fold(name))), "") for name in names
    }
    told = [*meant.values()]
    return {field: name for name, field in meant.items() if field in wanted and told.count(field) == 1}


def suggestion(names: Iterable[str], wanted: Mapping[str, tuple[str, ...]]) -> str:
    """Return the columns that may be meant as sentences after what was expected; "" where no name is near.

    A column that is named like a field is no other one's typing error.
    """
    spelled = {alias: canonical for canonical, aliases in wanted.items() for alias in (canonical, *aliases)}
    names = list(names)
    near = meant_by_words(names, wanted)
    for name in names:
        folded = fold(name)
        if name in meant_by_words([name], HEADERS).values():
            continue
        parts = [folded, *folded.split("_")] if folded not in FIELD_NAMES else []
        found = next((match for part in parts for match in get_close_matches(part, spelled, 1, LIKENESS)), None)
        if found is not None:
            near.setdefault(spelled[found], name)
    maps = ", ".join(f"{canonical}={name}" for canonical, name in near.items())
    return f". Perhaps {maps}: map the column{'s' * (len(near) > 1)} so" if near else ""
