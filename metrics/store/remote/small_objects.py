"""How much of an object is read at once: the list of a run at a place."""

from metrics.core.errors import RemoteError

MAX_SMALL_OBJECT = 1 << 28  # bytes


def too_long(place: str, name: str) -> RemoteError:
    """Return that what should be a small object has more than MAX_SMALL_OBJECT bytes."""
    return RemoteError(f"{place}/{name} has more than {MAX_SMALL_OBJECT:,} bytes: it is no list of a run; remove it")
