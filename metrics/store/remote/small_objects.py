"""How much of an object is read at once: the list of a run at a place."""

from metrics.core.errors import RemoteError

LONGEST = 1 << 28  # bytes


def too_long(place: str, name: str) -> RemoteError:
    """Return that what should be a small object has more than LONGEST bytes."""
    return RemoteError(f"{place}/{name} has more than {LONGEST:,} bytes: it is no list of a run; remove it")
