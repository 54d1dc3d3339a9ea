"""Levenshtein's distance between two sequences and the edits it is made of, by rapidfuzz."""

from collections.abc import Sequence
from typing import NamedTuple

from metrics.core.errors import MissingResource

MOST_CELLS = 10**11  # of a table of two sequences: some ten seconds
MOST_EDITED = 10**8  # and of one whose edits are found as well


class Edits(NamedTuple):
    """The fewest edits that make the candidate of the reference: their number, and how many are of each kind.

    The kinds are None where the sequences are too long to find them.
    """

    distance: int
    substitutions: int | None = None
    insertions: int | None = None
    deletions: int | None = None


def edits(reference: Sequence[str], candidate: Sequence[str]) -> Edits | None:
    """Return the edits from one text, or list of tokens, to another; None where they are too long to compare.

    An edit replaces, inserts or deletes one item. Of several ways with as few edits the one that rapidfuzz finds is
    counted. Raises MissingResource where rapidfuzz is not installed.
    """
    try:
        from rapidfuzz.distance import Levenshtein
    except ImportError:
        raise MissingResource("edit distances are computed by the package rapidfuzz: pip install rapidfuzz") from None
    cells = len(reference) * len(candidate)
    if cells > MOST_CELLS:
        return None
    if cells > MOST_EDITED:
        return Edits(Levenshtein.distance(reference, candidate))
    kinds = [edit.tag for edit in Levenshtein.editops(reference, candidate)]
    return Edits(len(kinds), kinds.count("replace"), kinds.count("insert"), kinds.count("delete"))
