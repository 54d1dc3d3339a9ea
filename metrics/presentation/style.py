"""How reports look: the studio's light and dark colours and its way of writing numbers.

The studio's own tables are components/palette.py and components/format.py, which this package must not import; a test
holds the two equal.
"""

from dataclasses import dataclass
from datetime import datetime

ACCENT = {False: "#0f6b78", True: "#5cc5d0"}
SURFACE = {False: "#ffffff", True: "#14181d"}
INK = {False: "#16202a", True: "#e8edf2"}
MUTED = {False: "#5b6875", True: "#9aa7b4"}
LINE = {False: "#dfe4e9", True: "#2b333c"}

STEPS = 20  # the scale is drawn in this many steps from worst (0) to best (STEPS)
STOPS = {
    False: ("#fbe3c0", "#f1e3b4", "#cfe0b8", "#8fc6b8", "#4aa3ab", "#1c7d8c"),
    True: ("#46290f", "#54431c", "#4c602f", "#36795d", "#339a93", "#6bcdd0"),
}
INKS = ("#05080b", "#ffffff")
SERIES = {
    False: ("#0f6b78", "#c2571a", "#6a51a3", "#3f7f2f", "#b0327a", "#8a6d00", "#2f6fb5", "#6b7480"),
    True: ("#5cc5d0", "#f0985a", "#b3a2e8", "#93cf7f", "#ee8cc0", "#e0c050", "#84b8f5", "#b0bac4"),
}


@dataclass(frozen=True, slots=True)
class Mark:
    """How one kind of box is drawn: its name, colour, SVG dash and width."""

    title: str
    colour: str
    dash: str
    glyph: str


MARKS = {
    "tp": Mark("true positive", "#009e73", "", "✓"),
    "fp": Mark("false positive", "#d55e00", "8 5", "✗"),
    "fp_hallucination": Mark("false positive: nothing there", "#d55e00", "8 5", "✗"),
    "fp_misclassification": Mark("false positive: wrong label", "#cc79a7", "8 5", "✗"),
    "fn": Mark("missed", "#3b9be0", "2 4", "–"),
    "ignored": Mark("ignored", "#8a949e", "1 6", "·"),
    "annotation": Mark("ground truth, found", "#f0e442", "", ""),
}

MISSING = "–"
ARROWS = {"higher": "↑", "lower": "↓", "none": ""}
DIRECTIONS = {"higher": "higher is better", "lower": "lower is better", "none": "neither end is better"}
STATUSES = {
    "ok": "scored",
    "not_applicable": "not applicable",
    "parse_failure": "reply unreadable",
    "error": "error",
    "skipped": "skipped",
}
SCALES = ((1e9, "G"), (1e6, "M"), (1e3, "k"), (1, ""))


def mark(kind: str) -> Mark:
    """Return the mark of a match kind; one not listed takes that of its family (`fp_…` → fp), else that of `ignored`."""
    return MARKS.get(kind) or MARKS.get(kind.partition("_")[0], MARKS["ignored"])


def goodness_step(goodness: float | None) -> int | None:
    """Return the step of the scale, 0 … STEPS, of a goodness 0 … 1; None where there is none."""
    return None if goodness is None else round(min(1.0, max(0.0, goodness)) * STEPS)


def ramp(dark: bool = False) -> tuple[str, ...]:
    """Return the STEPS + 1 colours from worst to best."""
    stops = [_channels(stop) for stop in STOPS[dark]]
    colours = []
    for step in range(STEPS + 1):
        place = step / STEPS * (len(stops) - 1)
        left = min(int(place), len(stops) - 2)
        share = place - left
        mixed = (round(a + (b - a) * share) for a, b in zip(stops[left], stops[left + 1], strict=True))
        colours.append("#" + "".join(f"{channel:02x}" for channel in mixed))
    return tuple(colours)


def text_colour(background: str) -> str:
    """Return the ink, dark or white, that contrasts more with a background (WCAG 2)."""

    def contrast(ink: str) -> float:
        lighter, darker = sorted((_luminance(ink), _luminance(background)), reverse=True)
        return (lighter + 0.05) / (darker + 0.05)

    return max(INKS, key=contrast)


def number(value: float | None) -> str:
    """At most three significant digits: 0.842, 1.00, 12.3, 123, 4.57k; tiny ones as 4e-4; MISSING for None and NaN."""
    if value is None or value != value:
        return MISSING
    size = abs(value)
    if size == float("inf"):
        return "∞" if value > 0 else "-∞"
    if 0 < size < 0.0005:
        return f"{value:.0e}".replace("e-0", "e-")
    scale, suffix = next((scale, suffix) for scale, suffix in SCALES if size >= 0.9995 * scale or scale == 1)
    size /= scale
    decimals = 2 if size == 0 else 3 if size < 0.9995 else 2 if size < 9.995 else 1 if size < 99.95 else 0
    return f"{value / scale:.{decimals}f}{suffix}"


def interval(low: float | None, high: float | None) -> str:
    """Return a 95 % interval as `0.81–0.87`; empty where there is none."""
    if low is None or high is None or low != low or high != high:
        return ""
    dash = " – " if low < 0 or high < 0 else "–"
    return f"{number(low)}{dash}{number(high)}"


def plural(n: int, noun: str, many: str | None = None) -> str:
    """`1 case`, `12,345 cases`; `many` where the plural is not noun + s."""
    return f"{n:,} {noun if n == 1 else many or noun + 's'}"


def moment(iso: str) -> str:
    """Return an ISO date and time as `21 Nov 2026, 10:28`; the text itself where it is not one."""
    try:
        when = datetime.fromisoformat(iso)
    except ValueError:
        return iso
    return f"{when.day} {when:%b %Y, %H:%M}"


def range_text(low: float, high: float) -> str:
    """Return the range of a metric: `0 … 1`, `0 … ∞`."""
    return " … ".join(("-∞" if edge < 0 else "∞") if abs(edge) == float("inf") else f"{edge:g}" for edge in (low, high))


def _luminance(colour: str) -> float:
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in (v / 255 for v in _channels(colour))]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _channels(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)
