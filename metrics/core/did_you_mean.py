"""What may be meant by a name that is not known: the one place that words "did you mean"."""

from collections.abc import Iterable
from difflib import get_close_matches

LIKENESS = 0.7  # ratio of difflib, from which a name may be meant
NAMED = 3  # names that may be meant
LISTED = 12  # names, at most, that a message lists


def near(name: str, known: Iterable[str]) -> list[str]:
    """Return up to NAMED of the known names that are most like `name`, the likest first; case does not count.

    A known name that is one part of `name` or has it as a part (`rouge.rougel`, `rougeL`) is like it, too.
    """
    folded: dict[str, str] = {}
    for each in known:
        folded.setdefault(each.lower(), each)
        folded.setdefault(each.rpartition(".")[2].lower(), each)
    lower = name.lower()
    if lower in folded:
        return [folded[lower]]
    found = get_close_matches(lower, folded, 2 * NAMED, LIKENESS)
    parts = [each for each in folded if len(lower) > 2 and (each.startswith(lower) or lower in each.split("."))]
    return list(dict.fromkeys(folded[each] for each in (*found, *parts)))[:NAMED]


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return `did you mean 'rouge' or 'bleu'?`; empty where no known name is like it."""
    names = [repr(each) for each in near(name, known)]
    return f"did you mean {' or '.join(filter(None, [', '.join(names[:-1]), names[-1]]))}?" if names else ""


def one_of(name: str, known: Iterable[str], lists: str = "") -> str:
    """Return what was expected in place of `name`, for an InputProblem.

    A short list is given whole: `one of a, b (did you mean 'a'?)`; of a long one the likest names, and `lists`, the
    command that prints them all: `one of 95 (did you mean 'faithfulness'?; `… evaluators` lists them)`.
    """
    names = list(dict.fromkeys(known))
    hint = did_you_mean(name, names)
    whole = len(names) <= LISTED or not (hint or lists)
    hints = "; ".join(filter(None, [hint, "" if whole or not lists else f"`{lists}` lists them"]))
    return f"one of {', '.join(names) if whole else f'{len(names):,}'}" + (f" ({hints})" if hints else "")
