"""Values as models write them, brought into the types asked for: labels, numbers, truth values, lists, objects.

Decided by the types of the fields alone. A value that could mean two things, or none that is asked for, is returned as
it is and fails the validation that follows.
"""

import re
from collections.abc import Callable, Mapping, Sequence, Set
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel

from metrics.core.unicode_forms import normalized
from metrics.judge.reply_text import AROUND, TICKS, Twice, decoded, lines_of, plain, refused, spaced
from metrics.text.json_text import JsonError

# yes and no in other languages: in place of a label, without any word beside it
TRUE = "true ja oui sí sì si sim да так tak ano evet 是 是的 はい 예 네 نعم हाँ हां có ya ναι כן"
FALSE = "false nein non não nee nej нет ні nie ne hayır 否 不是 いいえ 아니요 아니오 لا नहीं không tidak όχι לא"
TRUTHS = dict.fromkeys(TRUE.split(), "yes") | dict.fromkeys(FALSE.split(), "no")
LONGEST_LABEL = 20_000  # characters of a label and the words that explain it
INFLECTED = re.compile(r"(?<=\w{3})(?:ed|ly|s)\b")  # supported, partially, agrees
UNITS = (
    "[a-z]|context|claim|item|passage|source|document|doc|chunk|text|statement|sentence|fact|nugget|opinion|criterion|"
    "dimension|step|number|no|id|grade|level|score|rating"
)
# [1]  1.  #1  1.0  claim 1  context_1  C1
NUMBER = re.compile(rf"[^\w-]*(?:(?:{UNITS})s?[\s._#:-]*)?(\d{{1,9}})(?:\.0+)?[^\w%]*", re.IGNORECASE)
OF_SCALE = re.compile(r"\s*(\d{1,3}(?:\.\d{1,9})?)\s*(?:/|of|out of)\s*(\d{1,3})\W*")  # 4/5
STARS = re.compile(r"\s*((?:[★⭐🌟]\ufe0f?){1,99})([☆✩]*)\s*")
# a number and words that explain it, which hold no other number and no doubt
NUMBER_EXPLAINED = re.compile(
    r"[\s*_\"'`]*(\d{1,3}(?:\.\d{1,9})?)[*_\"'`]*\s*(?:[:,(–—]|-\s|\s-)(?!.*\b(?:maybe|perhaps|possibly|higher|lower|almost|"
    r"nearly|unsure|uncertain|not (?:sure|certain)|out of|at (?:most|least))\b)[^\d\n]*[^\W\d][^\d\n]*",
    re.IGNORECASE,
)
PERCENT = re.compile(r"(\d{1,3}(?:\.\d{1,9})?)\s*%")
DECIMAL_COMMA = re.compile(r"0,\d{1,9}")
# between a label and the words that explain it; not as in No. 1
EXPLAINED = re.compile(r"[*_\"'`]*(?:\s*(?:[,:;!()\]\n–—]|\.(?!\s*\d))|\s+-|-\s)\s*")
HEDGES = re.compile(
    r"\b(but|however|although|though|partial(?:ly)?|partly|mostly|maybe|perhaps|possibly|unclear|unsure|uncertain|"
    r"depends|except|unless|not (?:sure|certain|entirely|quite)|pero|aber|mais|però|mas|maar|но)\b"
)
EMPTY = frozenset({"none", "null", "nil", "n/a", "nothing", "empty"})
DASHES = frozenset({"", "-", "–", "—"})  # … where no list is
NOTHING = rf"none of the (?:{UNITS})s?|no (?:{UNITS})s?|not supported|unsupported|(?:there are )?no (?:\w+ )?{{name}}"
# other names that models give to the one value asked for, and to the reason
ANSWERS = frozenset(
    "answer finalanswer label verdict finalverdict result output judgement judgment decision score rating value "
    "response classification category conclusion choice".split()
)
REASONS = frozenset("explanation rationale reasoning justification thought thoughts analysis why comment".split())
NUMBERS = frozenset("number no num index item itemid claim claimid context contextid statement statementid".split())
NUMBERS |= {""}  # of "#"
TEXTS = ("claim", "text", "statement", "fact", "sentence", "content", "nugget", "opinion")
FAILURES = frozenset("error errors warning warnings choices".split())  # names under which never stands a reply
OTHER = FAILURES | frozenset("refusal message messages type object status detail details".split())  # … or a value
FENCED = re.compile(r"\s*```\w*\s(.*)```\s*", re.DOTALL)
BETWEEN = re.compile(rf"[\s,;&\[\]()#]+|\b(?:and|(?:{UNITS})s?)\b", re.IGNORECASE)  # the numbers of a list in words
QUOTED_JSON = re.compile(r"```|\{\s*\\?\"")  # … which is no text to be listed
LONGEST_LIST = 1_000  # characters of numbers in words
DEEPEST = 8  # wrappings of a reply


def fitted(value: Any, form: type[BaseModel]) -> Any:
    """Return a value in the shape of `form`: unwrapped, keys renamed, fields in their types.

    What cannot be brought into that shape is returned as it is; `form` then refuses it.
    """
    value = _unwrapped(value, form)
    if not isinstance(value, dict):
        sole = sole_field(form)
        if sole is None or isinstance(value, list) or is_list(form, sole):
            return value
        value = {sole: value}
    found = _renamed(value, form)
    fields = form.model_fields
    shaped = {name: coerced(part, fields[name].annotation, name) for name, part in found.items()}
    # null for a field that may be missing: missing
    return {name: part for name, part in shaped.items() if part is not None or fields[name].is_required()}


def coerced(value: Any, kind: Any, name: str = "") -> Any:
    """Return `value` as a value of the type `kind` where it stands for one without doubt, else as it is."""
    kind = _bare(kind)
    if isinstance(value, Twice):
        return value
    if get_origin(kind) is list:
        return _listed(value, get_args(kind)[0], name)
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return fitted(value, kind)
    if isinstance(value, list) and len(value) == 1 and kind is not str:
        value = value[0]
    if isinstance(value, dict) and kind is not str:
        value = _sole_value(value, NUMBERS | {"id"} if kind is int else ANSWERS | {_key(name)})
    if get_origin(kind) is Literal:
        return as_label(value, get_args(kind))
    convert: Callable[[Any], Any] | None = {bool: as_truth, int: whole_number, float: as_decimal, str: as_text}.get(
        kind
    )
    return convert(value) if convert else value


def labels_of(form: type[BaseModel], name: str) -> tuple[Any, ...]:
    """Return the labels that a field can have; none for a field that is no choice."""
    kind = _bare(form.model_fields[name].annotation)
    return ("yes", "no") if kind is bool else get_args(kind) if get_origin(kind) is Literal else ()


def sole_field(form: type[BaseModel]) -> str | None:
    """Return the one field that a form requires, apart from the number of an item; None if there are several."""
    required = [name for name, field in form.model_fields.items() if field.is_required() and name != "id"]
    return required[0] if len(required) == 1 else None


def is_list(form: type[BaseModel], name: str) -> bool:
    """Return whether a field is a list."""
    return get_origin(_bare(form.model_fields[name].annotation)) is list


def entry_of(form: type[BaseModel], name: str) -> Any:
    """Return the type of the entries of a list field."""
    return _bare(get_args(_bare(form.model_fields[name].annotation))[0])


def _bare(kind: Any) -> Any:
    if get_origin(kind) is Annotated:
        return _bare(get_args(kind)[0])
    if get_origin(kind) in (Union, UnionType):
        others = [one for one in get_args(kind) if one is not type(None)]
        return _bare(others[0]) if len(others) == 1 else kind
    return kind


def _key(name: str) -> str:
    return "".join(letter for letter in name.partition("(")[0].casefold() if letter.isalnum())


def _sole_value(value: Mapping[Any, Any], names: Set[str]) -> Any:
    """Return the value of an object under one of the names, if nothing else is there but words about it."""
    parts = {_key(str(key)): part for key, part in value.items()}
    given = [part for key, part in parts.items() if key in names]
    words = {"reason", "quote", *REASONS, *TEXTS} - names
    return given[0] if len(given) == 1 and parts.keys() <= names | words else value


def _unwrapped(value: Any, form: type[BaseModel]) -> Any:
    """Return what a value holds under names that are not asked for: {"result": …}, {"name": …, "arguments": "…"}."""
    required = {_key(name) for name, field in form.model_fields.items() if field.is_required()}
    sole = sole_field(form)
    entry = entry_of(form, sole) if sole and is_list(form, sole) else None
    for _ in range(DEEPEST):
        inner = None
        if isinstance(value, str):
            inner = _container(value)
        elif isinstance(value, list):
            alone = value[0] if len(value) == 1 and isinstance(value[0], dict) else None
            if entry is not None and not _has(alone, required):
                return {sole: value}
            inner = alone
        elif isinstance(value, dict) and isinstance(value.get("properties"), dict):
            inner = value["properties"]  # the form was filled in as if it were a schema
        elif isinstance(value, dict) and not _has(value, required):
            if entry is not None and (keyed := _keyed(value, entry)) is not None:
                return {sole: keyed}
            given = _renamed(value, form).get(sole) if sole else None
            held = _container(given)
            if isinstance(held, list) or (held is None and entry is str and isinstance(given, str)):
                return value
            inner = _inner(value, form)
            if inner is None and entry is not None and _is_entry(value, entry):
                return {sole: [value]}
        if inner is None:
            return value
        value = inner
    return value


def _inner(value: Mapping[str, Any], form: type[BaseModel]) -> Any:
    """Return the one object or list that an object holds; None if it holds none or several."""
    own = {_key(name) for name in form.model_fields} | FAILURES
    parts = [part for key, one in value.items() if (part := _container(one)) is not None and _key(str(key)) not in own]
    if len(parts) != 1:
        return None
    # a reason may stand beside it
    beside = {key: part for key, part in value.items() if _container(part) is None}
    return beside | parts[0] if isinstance(parts[0], dict) else parts[0]


def _has(value: Any, keys: set[str]) -> bool:
    return isinstance(value, dict) and any(_key(str(key)) in keys for key in value)


def _container(value: Any) -> Any:
    """Return an object or list, also one written as a string of JSON, in a fence or not; None for anything else."""
    if isinstance(value, str) and (fenced := FENCED.fullmatch(value)):
        value = fenced[1]
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        try:
            value = decoded(value)
        except JsonError:
            return None
    return value if isinstance(value, dict | list) else None


def _is_entry(value: Mapping[str, Any], entry: Any) -> bool:
    """Return whether an object is one entry of a list, given without the list."""
    if entry is str:
        return isinstance(_text_in(value), str)
    return isinstance(entry, type) and issubclass(entry, BaseModel) and len(_renamed(value, entry)) > 1


def _renamed(value: Mapping[Any, Any], form: type[BaseModel]) -> dict[str, Any]:
    """Return the values by field: keys in any case and spelling, or by another name where only one can be meant."""
    names = {_key(name): name for name in form.model_fields}
    found: dict[str, Any] = {}
    spare: dict[str, Any] = {}
    for key, part in value.items():
        name = names.get(_key(str(key)))
        if name is None:
            spare[_key(str(key))] = part
        else:
            found[name] = part if found.get(name, part) == part else Twice()
    if "id" in names and "id" not in found:
        numbers = [part for key, part in spare.items() if key in NUMBERS and isinstance(whole_number(part), int)]
        if len(numbers) == 1:
            found["id"] = numbers[0]
    if "reason" in names and "reason" not in found:
        found.update(("reason", part) for key, part in spare.items() if key in REASONS)
    sole = sole_field(form)
    if sole and sole not in found:
        given = [
            part
            for key, part in spare.items()
            if key not in OTHER and (key in ANSWERS or len(form.model_fields) == 1) and _may_be(part, form, sole, key)
        ]
        lists = [part for part in given if isinstance(_container(part), list)] if is_list(form, sole) else []
        given = lists or given
        if len(given) == 1:
            found[sole] = given[0]
    return found


def _may_be(value: Any, form: type[BaseModel], name: str, key: str) -> bool:
    """Return whether a value under another name, the key, can be that of a field."""
    if not is_list(form, name):
        return not isinstance(value, dict)
    if isinstance(_container(value), list):
        return True
    if entry_of(form, name) is not str or not isinstance(value, str | None):
        return False
    return key.removesuffix("s") in TEXTS or (key in ANSWERS and value is not None)


def _keyed(value: Mapping[Any, Any], entry: Any) -> list[Any] | None:
    """Return the entries of an object whose keys are their numbers; None for another object."""
    numbers = [whole_number(str(key)) for key in value]
    if not numbers or not all(isinstance(number, int) for number in numbers):
        return None
    if not (isinstance(entry, type) and issubclass(entry, BaseModel)):
        return list(value.values())
    if "id" not in entry.model_fields:
        return list(value.values())
    sole = sole_field(entry)
    return [
        {"id": number} | (part if isinstance(part, dict) else {sole: part} if sole else {})
        for number, part in zip(numbers, value.values(), strict=True)
    ]


def _listed(value: Any, kind: Any, name: str) -> Any:
    kind = _bare(kind)
    if value is None or (value is False and kind is int) or says_none(value, name):
        return []
    if isinstance(value, str):
        value = _entries(value, kind)
    elif isinstance(value, dict):
        keyed = _keyed(value, kind)
        value = [value] if keyed is None else keyed
    elif not isinstance(value, list):
        value = [value]
    if not isinstance(value, list):
        return value
    alone = value[0] if len(value) == 1 and isinstance(value[0], str) else ""
    if alone.strip() not in DASHES and says_none(alone, name):
        return []
    if kind is str:
        # a refusal is no entry, and a text no list
        return alone if refused(alone) else [_text_in(part) for part in value if part is not None]
    return [coerced(part, kind, name) for part in value]


def says_none(value: Any, name: str) -> bool:
    """Return whether a text in place of a list says that the list, a field's, is empty."""
    if not isinstance(value, str):
        return False
    said = plain(value)
    nothing = re.fullmatch(NOTHING.format(name=re.escape(plain(name))), said)
    return value.strip() in DASHES or said in EMPTY or nothing is not None


def _entries(value: str, kind: Any) -> Any:
    """Return the entries of a list that was written as a string."""
    found = _container(value)
    if isinstance(found, list):
        return found
    if kind is int and len(value) <= LONGEST_LIST:
        words = [word for word in BETWEEN.split(value.strip().removesuffix(".")) if word]
        return [whole_number(word) for word in words] if words else value
    if kind is not str or QUOTED_JSON.search(value):
        return value
    return lines_of(value) or [value]


def _text_in(value: Any) -> Any:
    """Return the text of an entry of a list of texts, which may be an object with the text under some name."""
    if not isinstance(value, dict):
        return value
    texts = {key: own for key, own in ((_key(str(key)), own) for key, own in value.items()) if isinstance(own, str)}
    named = [texts[key] for key in TEXTS if key in texts]
    others = [part for key, part in texts.items() if key not in OTHER and key != "reason" and len(value) == 1]
    return next(iter(named + others), value)


def label_text(label: Any) -> str:
    """Return a label as plain() text; yes and no for a boolean."""
    return {True: "yes", False: "no"}[label] if isinstance(label, bool) else plain(str(label))


def whole_number(value: Any) -> Any:
    """Return the whole number in 1.0, "1", "[1]", "#1" or "claim 1", else `value`; true is no number."""
    if isinstance(value, bool):
        return str(value)
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, str) and (match := NUMBER.fullmatch(value.strip())):
        return int(match[1])
    return value


def as_label(value: Any, labels: Sequence[Any]) -> Any:
    """Return the label that a value stands for; the value itself where it stands for none or for several."""
    if all(isinstance(one, int) for one in labels):
        if isinstance(value, str) and (stars := STARS.fullmatch(value)):
            given = len(stars[1].replace("\ufe0f", ""))
            return given if not stars[2] or given + len(stars[2]) == max(labels) else value
        return whole_number(_rating(value, max(labels)) if isinstance(value, str) else value)
    if value in labels and isinstance(value, str):
        return value
    known: dict[str, Any] = {}
    for one in labels:
        known[plain(str(one))] = None if plain(str(one)) in known else one
    alike = {word: known[said] for word, said in TRUTHS.items()} if {"yes", "no"} <= known.keys() else {}
    known = {word: alike[word] for word in ("true", "false") if word in alike} | known
    if isinstance(value, bool | int) or (isinstance(value, float) and value.is_integer()):
        value = str(value if isinstance(value, bool) else int(value))
    if not isinstance(value, str) or len(value) > LONGEST_LABEL:
        return value
    said = plain(value)
    if said in known:
        return known[said] if known[said] is not None else value
    inflected = [label for word, label in known.items() if INFLECTED.sub("", word) == INFLECTED.sub("", said)]
    other = inflected[0] if len(inflected) == 1 else alike.get(said)
    found = other if other is not None else _explained(value, known)
    return found if found is not None else value


def _rating(value: str, best: int) -> str:
    """Return the number in 4/5 or "4 - good" on a scale up to `best`, else `value`."""
    if match := OF_SCALE.fullmatch(value):
        return match[1] if int(match[2]) == best else value
    match = NUMBER_EXPLAINED.fullmatch(value)
    return match[1] if match else value


def _explained(value: str, known: Mapping[str, Any]) -> Any:
    """Return the label that a text begins with, if what follows explains it and names no other label."""
    text = normalized("NFKC", value).strip().lstrip(AROUND + TICKS).casefold()
    if refused(text):
        return None
    for word, label in sorted(known.items(), key=lambda entry: -len(entry[0])):
        if word and label is not None and text.startswith(word) and (after := EXPLAINED.match(text, len(word))):
            rest = spaced(text[after.end() :])
            said = INFLECTED.sub("", rest)
            others = (INFLECTED.sub("", one) for one in known if one != word)
            named = any(re.search(rf"\b{re.escape(other)}\b", said) for other in others)
            return None if named or HEDGES.search(rest) else label
    return None


def as_truth(value: Any) -> Any:
    """Return True or False for a boolean, yes, no, true or false in any case, else `value`."""
    if isinstance(value, bool):
        return value
    return {"yes": True, "no": False}.get(as_label(value, ("yes", "no")), value) if isinstance(value, str) else value


def as_decimal(value: Any) -> Any:
    """Return the number in a text from 0 to 1, such as **0.6**, 60 %, 0,6 or 0.6/1, else `value`; true is no number."""
    if isinstance(value, bool):
        return str(value)
    if not isinstance(value, str):
        return value
    text = value.strip("*_`\"' ").rstrip(".")
    if match := PERCENT.fullmatch(text):
        return float(match[1]) / 100
    return text.replace(",", ".") if DECIMAL_COMMA.fullmatch(text) else _rating(text, 1)


def as_text(value: Any) -> Any:
    """Return texts in a list as one text and a number as text, else `value`."""
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        return " ".join(value)
    return value if isinstance(value, bool | str | dict | list | None) else str(value)
