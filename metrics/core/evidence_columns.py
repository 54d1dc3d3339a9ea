"""Evidence of many rows at once, written from columns as the JSON text that core.evidence describes."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from metrics.core.array_types import Ints
from metrics.core.evidence import VERSION, Holds

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
