"""Evidence: what a score rests on, as every page and report reads it, of one score or of many rows at once.

An evaluator that judges items builds one `Verdict` for each and decides itself whether the item holds; nothing that
reads the evidence interprets the evaluator's own words:

    hedged = [
        Verdict(claim, yes_or_no(not reply.hedged), "hedged" if reply.hedged else "plain", reply.reason)
        for claim, reply in zip(claims, replies, strict=True)
    ]
    return CaseScore({"plain_claims": share}, evidence=Evidence({"claims": hedged}, {"hedged": count}))

Stored, in the `evidence` column of the scores, it is the JSON object that `Evidence.record` returns (version 1):

    version   1
    verdicts  {group: [{text, holds, label, reason, rests_on, quote, expected, facts, probability}, …]}, without the
              empty fields
    judge     who judged: {model, calls: [{step, key}], notes, quotes, suspected_injection}, written by the engine
    panel     several judges: {judges, spread, left_out, notes}, written by the engine
    …         every fact, under its own name
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, Self

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from metrics.core.array_types import Ints
from metrics.core.unicode_forms import without_halves

Holds = Literal["yes", "no", "unknown"]
Words = tuple[str, str]  # for yes, and for no
# a group of verdicts, "contexts" for the retrieved contexts or "turns" for those of the conversation; the number in it,
# from 1
Link = tuple[str, int]

VERSION = 1
QUOTE_FOUND = "quote_found"  # the fact of a verdict with a judge's quote: whether it stands in what it rests on
QUOTE_GAP = " … "  # between pieces of a quote
RESERVED = frozenset({"version", "verdicts", "judge", "panel"})


@dataclass(frozen=True, slots=True)
class Verdict:
    """The judgement of one item: a claim, a nugget, a passage, a sentence, or the answer as a whole.

    text      the item
    holds     "yes" is good, "no" is bad; "unknown": it holds in part, cannot be decided, or neither end is good
    label     the verdict in the evaluator's own words: "supported", "grade 2", "hedged"
    reason    why, in the judge's words
    rests_on  what the verdict rests on
    quote     the words that decided it, verbatim: the closest sentence of a context
    expected  the text that the item is compared with, "" where nothing was expected in its place; None: not compared
    facts     further short facts about the item, by name
    probability  the judge's probability that the item holds, from 0 to 1; None: the judge does not tell
    """

    text: str
    holds: Holds
    label: str = ""
    reason: str = ""
    rests_on: tuple[Link, ...] = ()
    quote: str = ""
    expected: str | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)
    probability: float | None = None

    @property
    def record(self) -> dict[str, Any]:
        """The verdict as JSON data, without empty fields."""
        record: dict[str, Any] = {"text": self.text, "holds": self.holds}  # spelled out: runs write millions of them
        if self.label:
            record["label"] = self.label
        if self.reason:
            record["reason"] = self.reason
        if self.rests_on:
            record["rests_on"] = [list(link) for link in self.rests_on]
        if self.quote:
            record["quote"] = self.quote
        if self.expected is not None:
            record["expected"] = self.expected
        if self.facts:
            record["facts"] = dict(self.facts)
        if self.probability is not None:
            record["probability"] = self.probability
        return record

    @classmethod
    def of(
        cls, text: str, holds: bool | Holds, words: Words, reason: str = "", contexts: Iterable[int] = (), **more: Any
    ) -> Self:
        """Return the verdict labelled with the word for yes or for no, which rests on the `contexts` of these numbers.

        The side of a threshold is "unknown" where there is none.
        """
        held = holds if isinstance(holds, str) else yes_or_no(holds)
        label = {"yes": words[0], "no": words[1]}.get(held, "no threshold")
        return cls(text, held, label, reason, tuple(("contexts", number) for number in contexts), **more)

    @classmethod
    def of_record(cls, record: Mapping[str, Any]) -> Self:
        """Return the verdict that `record` was made of."""
        links = tuple((str(group), int(number)) for group, number in record.get("rests_on", ()))
        return cls(**{**record, "rests_on": links})


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a score rests on: verdicts in named groups, in the order to show them, and free facts (JSON data).

    A group's name is its title with underscores: "reference_claims". ValueError where a fact has a RESERVED name.
    """

    verdicts: Mapping[str, Sequence[Verdict]] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)
    judge: Mapping[str, Any] | None = None
    panel: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        """Refuse facts that the stored record could not keep apart from its own fields."""
        if taken := RESERVED & self.facts.keys():
            raise ValueError(f"no fact of an evidence can be called {' or '.join(sorted(taken))}")

    @property
    def record(self) -> dict[str, Any]:
        """The evidence as JSON data: what is stored."""
        stored: dict[str, Any] = {"version": VERSION}
        if self.verdicts:
            groups = {name: [verdict.record for verdict in group] for name, group in self.verdicts.items() if group}
            stored |= {"verdicts": groups} if groups else {}
        if self.judge is not None:
            stored["judge"] = dict(self.judge)
        if self.panel is not None:
            stored["panel"] = dict(self.panel)
        return stored | dict(self.facts)

    @classmethod
    def of_record(cls, record: Mapping[str, Any]) -> Self:
        """Return the evidence that `record` was made of."""
        groups = {
            name: tuple(Verdict.of_record(one) for one in group) for name, group in record.get("verdicts", {}).items()
        }
        facts = {name: value for name, value in record.items() if name not in RESERVED}
        return cls(groups, facts, record.get("judge"), record.get("panel"))


def evidence_json(evidence: Evidence | None) -> str | None:
    """Return the JSON text of an evidence's record, as it is stored; what JSON has no form for is written as text."""
    if evidence is None:
        return None
    try:
        return orjson.dumps(evidence.record, default=str, option=orjson.OPT_SERIALIZE_NUMPY).decode()
    except TypeError:  # a number of more than 64 bits, half a surrogate pair, keys that are no text
        return without_halves(json.dumps(evidence.record, ensure_ascii=False, default=str))


def yes_or_no(holds: bool | None) -> Holds:
    """Return the `holds` of a verdict: "unknown" for None."""
    return "unknown" if holds is None else "yes" if holds else "no"


FEW_TEXTS = 1_000  # different texts of which those of the rows are taken; with more, the rows' own are joined


def facts_json(**facts: pa.Array) -> pa.Array:
    """Return the JSON text of the evidence of each row [n] whose facts are these columns: text or numbers, or null.

    Text may be dictionary-encoded.
    """
    return _column(_with_members([_Texts([f'{{"version":{VERSION},'])], facts))


def verdicts_json(
    group: str,
    sizes: Ints,
    texts: pa.Array,
    kinds: Sequence[tuple[Holds, str]],
    kind: Ints,
    facts: Mapping[str, pa.Array],
    beside: Sequence[Mapping[str, Any]] = (),
) -> pa.Array:
    """Return the JSON text of the evidence of each row [n], whose verdicts are one group, one row's after the other's.

    sizes: [n] verdicts of each row, at least 1, m in all; texts: [m]; kinds: `holds` and `label` of the verdicts that
    there are, kind: [m] the place of each verdict's among them; facts: columns [m] of text or numbers, or null;
    beside: the further facts of each row [n], if any.
    """
    held = [orjson.dumps({"holds": holds} | ({"label": label} if label else {})).decode() for holds, label in kinds]
    pieces = _with(_with([_Texts(['{"text":'])], _Texts.of(texts)), _Texts([f",{one[1:-1]}," for one in held], kind))
    verdicts = _column(_with_members(_with(pieces, _Texts(['"facts":{'])), facts, closing="}"))
    listed = pa.ListArray.from_arrays(pa.array(np.append(0, np.cumsum(sizes)), pa.int32()), verdicts)
    head = f'{{"version":{VERSION},"verdicts":{{{orjson.dumps(group).decode()}:['
    tails = pa.array([f",{orjson.dumps(one).decode()[1:]}" if one else "}" for one in beside], pa.string())
    return pc.binary_join_element_wise(head, pc.binary_join(listed, ","), "]}", tails if beside else "}", "")


class _Texts(NamedTuple):
    """A text of every row: that of `texts` at its code [n]; one code where all rows have the same."""

    texts: Sequence[str]
    codes: NDArray[np.integer] | int = 0

    @classmethod
    def of(cls, column: pa.Array) -> "_Texts":
        """Return the JSON text of a column's values."""
        distinct = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
        texts = [orjson.dumps(value).decode() for value in distinct.dictionary.to_pylist()]
        return cls([*texts, "null"], pc.fill_null(distinct.indices, len(texts)).to_numpy().astype(np.int64))

    @property
    def column(self) -> pa.Array | pa.Scalar:
        """The texts as a column [n], or as the one that all rows have."""
        if isinstance(self.codes, int):
            return pa.scalar(self.texts[0])
        return pa.array(self.texts, pa.string()).take(pa.array(self.codes))


def _with(pieces: Sequence[_Texts | pa.Array], more: _Texts) -> list[_Texts | pa.Array]:
    """Return pieces of the texts of rows and one more, joined with the last where that makes few texts."""
    *others, last = pieces
    if isinstance(last, _Texts) and len(last.texts) * len(more.texts) <= FEW_TEXTS:
        texts = [before + after for before in last.texts for after in more.texts]
        return [*others, _Texts(texts, last.codes * len(more.texts) + more.codes)]
    return [*pieces, more]


def _with_members(
    pieces: list[_Texts | pa.Array], facts: Mapping[str, pa.Array], closing: str = ""
) -> list[_Texts | pa.Array]:
    """Return pieces with the members of an object: names and values of facts [n], the object's end and `closing`."""
    for left, (name, column) in enumerate(facts.items(), 1 - len(facts)):
        pieces = _with(pieces, _Texts([f"{orjson.dumps(name).decode()}:"]))
        end = "," if left else "}"
        if pa.types.is_floating(column.type):
            pieces = [*pieces, _number_texts(column, end)]
        else:
            pieces = _with(_with(pieces, _Texts.of(column)), _Texts([end]))
    return _with(pieces, _Texts([closing])) if closing else pieces


def _column(pieces: Sequence[_Texts | pa.Array]) -> pa.Array:
    columns = [piece.column if isinstance(piece, _Texts) else piece for piece in pieces]
    return columns[0] if len(columns) == 1 else pc.binary_join_element_wise(*columns, "")


def _number_texts(column: pa.Array, end: str) -> pa.Array:
    """Return numbers [n] as JSON text, each with the character `end` after it; null for NaN.

    The column's buffer is the text of the whole list, in which `end` takes the place of the commas.
    """
    if not len(column):
        return pa.array([], pa.string())
    listed = orjson.dumps(column.to_numpy(zero_copy_only=False), option=orjson.OPT_SERIALIZE_NUMPY)
    text = np.frombuffer(listed, np.uint8).copy()
    ends = np.append(np.flatnonzero(text == ord(",")), len(text) - 1)
    text[ends] = ord(end)
    places = np.append(1, ends + 1).astype(np.int32)  # the list's bracket is left out
    return pa.Array.from_buffers(pa.string(), len(column), [None, pa.py_buffer(places), pa.py_buffer(text)])
