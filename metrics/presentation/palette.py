"""The colours: one scale of goodness, the marks of boxes and verdicts with their second channel, the series of models.

Every colour is given for the light and the dark theme; `dark` chooses. Along the scale the luminance falls (light) or
rises (dark) steadily, so that it is readable in grey and for colour-blind readers.
"""

from dataclasses import dataclass
from functools import cache

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


def goodness_step(goodness: float | None) -> int | None:
    """Return the step of the scale, 0 … STEPS, of a goodness 0 (worst) … 1 (best); None where there is none."""
    return None if goodness is None else round(min(1.0, max(0.0, goodness)) * STEPS)


@cache
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
    """Return the ink, dark or white, that contrasts more with a background."""
    return max(INKS, key=lambda ink: contrast(ink, background))


def contrast(a: str, b: str) -> float:
    """Return the WCAG 2 contrast ratio of two hex colours, 1 … 21."""
    lighter, darker = sorted((luminance(a), luminance(b)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def luminance(colour: str) -> float:
    """Return the WCAG 2 relative luminance of a hex colour, 0 … 1."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in (v / 255 for v in _channels(colour))]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@dataclass(frozen=True, slots=True)
class Mark:
    """How one kind of box is drawn: a colour that reads on photographs and both themes; line and glyph beside it."""

    title: str
    colour: str
    line: str  # CSS border style
    dash: str  # SVG stroke-dasharray, plotly's `dash` is `line` with "dashed" → "dash", "dotted" → "dot"
    glyph: str


MARKS = {
    "tp": Mark("true positive", "#009e73", "solid", "", "✓"),
    "fp": Mark("false positive", "#d55e00", "dashed", "8 5", "✗"),
    "fp_hallucination": Mark("false positive: background", "#d55e00", "dashed", "8 5", "✗"),
    "fp_misclassification": Mark("false positive: wrong class", "#cc79a7", "dashed", "9 3 2 3", "≠"),
    "fn": Mark("missed", "#3b9be0", "dotted", "2 4", "–"),
    "ignored": Mark("ignored", "#8a949e", "dotted", "1 6", "·"),
    "annotation": Mark("ground truth, found", "#f0e442", "solid", "", ""),
}


def mark(kind: str) -> Mark:
    """Return the mark of a match kind; an unlisted kind gets that of its family (`fp_…` → fp), else of `ignored`."""
    return MARKS.get(kind) or MARKS.get(kind.partition("_")[0], MARKS["ignored"])


GLYPHS = {True: "✓", False: "✗", None: "–"}  # supported, unsupported, unknown

SERIES = {
    False: ("#0f6b78", "#c2571a", "#6a51a3", "#3f7f2f", "#b0327a", "#8a6d00", "#2f6fb5", "#6b7480"),
    True: ("#5cc5d0", "#f0985a", "#b3a2e8", "#93cf7f", "#ee8cc0", "#e0c050", "#84b8f5", "#b0bac4"),
}

# Of classes on pictures. Each is the colour furthest from those before it, for the nearest of normal sight, protanopia
# and deuteranopia in OKLab, among those that stand out from both surfaces: the fewer classes, the further apart.
CLASSES = (
    "#5cc5d0", "#f0985a", "#2449aa", "#aa0000", "#6186ff", "#318692", "#db4900", "#3131ff", "#ffce00", "#793d61",
    "#92e7b6", "#496dc2", "#559ece", "#61e7ff", "#f30c86", "#318655", "#55b6ff", "#61c292", "#e77900", "#c23118",
    "#ffc279", "#ffaa18", "#316df3", "#4986c2",
)  # fmt: skip


def series(dark: bool = False) -> tuple[str, ...]:
    """Return the colours of models in charts, in order; they repeat beyond the last."""
    return SERIES[dark]


def _channels(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)
