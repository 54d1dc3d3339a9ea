"""How large an upload may become: counted while it is decoded, in one table for every kind of compression.

What a file declares about itself is not believed. A limit grows with the file, so that large data pass and a small file
cannot fill the memory; the same data without compression have nothing to decode, and always pass up to `most`.
"""

from dataclasses import dataclass
from typing import Literal

from metrics.core.errors import InputError, InputProblem

Kind = Literal["archive", "texts", "gzip", "workbook", "table"]


@dataclass(frozen=True, slots=True)
class Limit:
    """Decoded bytes: a file of any size may have `free`, a larger one `ratio` times its own, none more than `most`.

    `otherwise` says how to give the same data where they are legitimate.
    """

    free: int
    ratio: int
    most: int
    otherwise: str

    def of(self, packed: int) -> int:
        """Return how many bytes a file of `packed` bytes may become."""
        return min(max(self.free, self.ratio * packed), self.most)


LIMITS: dict[Kind, Limit] = {
    "archive": Limit(64 << 20, 200, 20 << 30, "the folder itself, or a zip of fewer files"),
    "texts": Limit(64 << 20, 50, 1 << 30, "the folder itself, or fewer files"),
    "gzip": Limit(10 << 20, 200, 2 << 30, "a smaller file, or one that is not compressed"),
    "workbook": Limit(64 << 20, 200, 1 << 30, "a CSV or Parquet file"),
    "table": Limit(256 << 20, 50, 16 << 30, "a CSV, or the table written with compression and dictionaries off"),
}


class Decoded:
    """The decoded bytes of one file so far."""

    def __init__(self, file: str, packed: int, kind: Kind):
        self._file, self._packed, self._limit = file, packed, LIMITS[kind]
        self.most = self._limit.of(packed)
        self._size = 0

    def add(self, size: int) -> None:
        """Count `size` bytes more, before they are kept; InputError beyond the limit."""
        self._size += size
        if self._size > self.most:
            raise InputError([self.problem()])

    def problem(self) -> InputProblem:
        """Return that the file becomes larger than it may."""
        limit = self._limit
        found = f"{self._packed:,} bytes that unpack to more than {self.most:,}"
        expected = (
            f"at most {limit.ratio} times the size of the file ({limit.free >> 20} MiB where that is less, "
            f"{limit.most >> 30} GiB for any); or {limit.otherwise}"
        )
        return InputProblem(self._file, found, expected, fatal=True)
