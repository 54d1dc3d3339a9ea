"""COCO run lengths: column-major runs of 0s and 1s in turn, as numbers or in COCO's compressed text."""

from collections.abc import Sequence

MAX_RUNS = 10_000_000


def decode(text: str) -> list[int]:
    """Return the runs of a compressed text; ValueError on text that cannot be read.

    It has 6 bits a character, and from the fourth run on the difference from the last but one.
    """
    runs: list[int] = []
    value, shift = 0, 0
    for byte in text.encode():
        code = byte - 48
        if not 0 <= code < 64 or shift > 60:
            raise ValueError(f"character {chr(byte)!r} is no run-length code")
        value |= (code & 0x1F) << shift
        shift += 5
        if not code & 0x20:
            if code & 0x10:
                value -= 1 << shift
            if len(runs) > 2:
                value += runs[-2]
            runs.append(value)
            value, shift = 0, 0
            if len(runs) > MAX_RUNS:
                raise ValueError(f"more than {MAX_RUNS:,} runs")
    if shift:
        raise ValueError("the code ends inside a run")
    return runs


def encode(runs: Sequence[int]) -> str:
    """Return the compressed text of runs; the inverse of `decode`."""
    text = bytearray()
    for place, run in enumerate(runs):
        value = run - (runs[place - 2] if place > 2 else 0)
        more = True
        while more:
            code = value & 0x1F
            value >>= 5
            more = value != (-1 if code & 0x10 else 0)
            text.append((code | 0x20 if more else code) + 48)
    return text.decode()


def box(runs: Sequence[int], height: int) -> tuple[float, float, float, float]:
    """Return x, y, width, height of the smallest box around the 1s, as pycocotools has it; all 0 for an empty mask."""
    left, top, right, bottom = float("inf"), float("inf"), -1.0, -1.0
    end = 0
    for place, run in enumerate(runs):
        start, end = end, end + run
        if place % 2 == 0 or run == 0:
            continue
        x0, y0 = divmod(start, height)
        x1, y1 = divmod(end - 1, height)
        left, right = min(left, x0), max(right, x1)
        if x0 < x1:  # a run over several columns touches the upper and the lower edge
            y0, y1 = 0, height - 1
        top, bottom = min(top, y0), max(bottom, y1)
    if right < 0:
        return 0.0, 0.0, 0.0, 0.0
    return float(left), float(top), right - left + 1.0, bottom - top + 1.0


def area(runs: Sequence[int]) -> int:
    """Return how many pixels are 1."""
    return sum(runs[1::2])
