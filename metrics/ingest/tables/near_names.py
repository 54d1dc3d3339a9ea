"""Columns whose names nearly are known ones: suggested where a file has none of the columns that it needs."""

from collections.abc import Iterable, Mapping
from difflib import get_close_matches

from metrics.ingest.tables.columns import fold

LIKENESS = 0.75  # of difflib, from which a name may be meant
SHOWN = 12  # columns


def only_columns(names: Iterable[str]) -> str:
    """Return the columns that there are, as what was found."""
    listed = list(names)
    more = f" and {len(listed) - SHOWN:,} more" if len(listed) > SHOWN else ""
    return "only the columns " + ", ".join(listed[:SHOWN]) + more


def suggestion(names: Iterable[str], wanted: Mapping[str, tuple[str, ...]]) -> str:
    """Return the columns that may be meant as sentences after what was expected; "" where no name is near."""
    spelled = {alias: canonical for canonical, aliases in wanted.items() for alias in (canonical, *aliases)}
    near: dict[str, str] = {}
    for name in names:
        folded = fold(name)
        parts = [folded, *folded.split("_")] if folded not in spelled else []
        found = next((match for part in parts for match in get_close_matches(part, spelled, 1, LIKENESS)), None)
        if found is not None:
            near.setdefault(spelled[found], name)
    maps = ", ".join(f"{canonical}={name}" for canonical, name in near.items())
    return f". Perhaps {maps}: map the column{'s' * (len(near) > 1)} so" if near else ""
