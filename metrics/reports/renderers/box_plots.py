"""Box plots of scores by question, a panel a metric, a row a model; and the figure of any chart of a report."""

from collections.abc import Sequence

from metrics.analysis import Distribution
from metrics.presentation.blocks import Bars, Chart, Radar, ScoreBox, ScorePanel
from metrics.presentation.format import interval, number, short_names, shorten
from metrics.presentation.palette import ACCENT, INK, LINE, MUTED, SERIES, SURFACE, series
from metrics.reports.renderers.figures import Figure, Label
from metrics.reports.renderers.plots import Inks, plot
from metrics.reports.report import Report

WIDE = 680.0
NAMES, NUMBERS = 150.0, 210.0  # room for the names on the left, for the numbers on the right
COLUMNS = ((52.0, "mean"), (124.0, "95 % interval"), (168.0, "median"), (208.0, "n"))  # where each ends
HEAD, ROW, FOOT, APART = 24.0, 30.0, 14.0, 16.0  # of a panel: its title, a model, the axis; between panels
BOX = 15.0
DOTS = 200  # values of a model up to which each is a dot
SPIN = 0.618  # golden section: neighbours lie apart
KEY = (
    "One value a question, the mean of its repeats. Box: the middle half, with the median; whiskers: to the farthest "
    "value within 1.5 boxes; ◆ mean with its 95 % interval."
)


def box_plots(panels: Sequence[ScorePanel], inks: Inks | None = None) -> Figure:
    """Return the panels below each other as one figure; in a report in its `inks`, which sets their titles itself."""
    names = list(dict.fromkeys(box.series for panel in panels for box in panel.boxes))
    palette = series()
    own = {name: palette[place % len(palette)] for place, name in enumerate(names)}
    drawn_in = inks or Inks(
        INK[False], MUTED[False], LINE[False], SURFACE[False], ACCENT[False], SERIES[False][1], own, short_names(names)
    )
    shapes: list[str] = []
    labels: list[Label] = []
    top = 0.0
    for panel in panels:
        drawn, written = _panel(panel, top, drawn_in, titled=inks is None)
        shapes += drawn
        labels += written
        top += HEAD + ROW * len(panel.boxes) + FOOT + APART
    labels.append(Label(0, top + 4, KEY, size=6.5))
    if any(panel.share for panel in panels):
        labels.append(
            Label(0, top + 14, "Bar, where a metric is yes or no: the share of questions with yes.", size=6.5)
        )
        top += 10
    about = f"Box plots of {', '.join(panel.title for panel in panels)} of {', '.join(names)}"
    return Figure(WIDE, top + 8, "".join(shapes), tuple(labels), about)


def _panel(panel: ScorePanel, top: float, inks: Inks, *, titled: bool) -> tuple[list[str], list[Label]]:
    left, right = NAMES, WIDE - NUMBERS
    first, bottom = top + HEAD, top + HEAD + ROW * len(panel.boxes)
    ink, muted, line = inks.ink, inks.muted, inks.line

    def x_of(value: float) -> float:
        return left + (value - panel.low) / (panel.high - panel.low) * (right - left)

    labels = [Label(0, top + 9, panel.title, ink, size=10)] if titled else []
    labels += [Label(right + end, top + 9, head, align="end", size=7) for end, head in COLUMNS]
    if panel.about:
        labels.append(Label(0, top + 19, shorten(panel.about, 130), size=7))
    shapes = []
    for tick in _ticks(panel.low, panel.high):
        stroke = f"stroke:{muted if tick == 0 else line};stroke-width:{0.8 if tick == 0 else 0.5}"
        shapes.append(f'<path d="M{x_of(tick):.1f} {first:.1f}V{bottom:.1f}" style="{stroke}"/>')
        text = f"{tick * 100:g} %" if panel.share else f"{tick:g}"
        labels.append(Label(x_of(tick), bottom + 9, text, align="middle", size=7))
    for place, box in enumerate(panel.boxes):
        middle = first + ROW * place + ROW / 2 - 2
        colour = inks.models.get(box.series, muted)
        labels.append(Label(left - 8, middle + 3, inks.name(box.series, 28), ink, "end", 8))
        if box.spread is None or box.mean is None:
            labels.append(Label(left + 6, middle + 3, "no value", size=7.5))
            labels.append(Label(right + COLUMNS[-1][0], middle + 3, "0", ink, "end", 8))
            continue
        scale = [x_of(value) for value in (*box.spread.box, box.spread.whisker_low, box.spread.whisker_high)]
        if panel.share:
            shapes.append(
                f'<rect x="{x_of(0):.1f}" y="{middle - BOX / 2:.1f}" width="{x_of(box.mean) - x_of(0):.1f}" '
                f'height="{BOX}" style="fill:{colour};fill-opacity:0.75"/>'
            )
        else:
            shapes += _box(scale, middle, colour)
            shapes += _dots([x_of(value) for value in box.values], middle, colour, inks.surface, box)
        shapes += _mean(x_of(box.mean), [x_of(end) for end in (box.low, box.high) if end is not None],
                        middle if panel.share else middle + BOX / 2 + 4, ink)  # fmt: skip
        pairs = zip(COLUMNS, _numbers(box, box.spread, panel.share), strict=True)
        labels += [Label(right + end, middle + 3, text, ink, "end", 8) for (end, _), text in pairs]
    return shapes, labels


def _numbers(box: ScoreBox, spread: Distribution, share: bool) -> tuple[str, ...]:
    """Return what stands in COLUMNS; of a share, per cent and no median."""
    if not share or box.mean is None:
        return number(box.mean), interval(box.low, box.high), number(spread.box[1]), f"{spread.n:,}"
    ends = "" if box.low is None or box.high is None else f"{box.low * 100:.0f}–{box.high * 100:.0f} %"
    return f"{box.mean * 100:.0f} %", ends, "", f"{spread.n:,}"


def _box(scale: Sequence[float], middle: float, colour: str) -> list[str]:
    """Return box, median and whiskers; `scale` has the three quartiles and both whiskers."""
    lower, median, upper, start, end = scale
    line = f"stroke:{colour};stroke-width:1.2"
    high = middle - BOX / 2
    ends = f"M{start:.1f} {middle - 3:.1f}v6M{end:.1f} {middle - 3:.1f}v6"
    return [
        f'<path d="M{start:.1f} {middle:.1f}H{lower:.1f}M{upper:.1f} {middle:.1f}H{end:.1f}{ends}" style="{line}"/>',
        f'<rect x="{lower:.1f}" y="{high:.1f}" width="{max(0.0, upper - lower):.1f}" height="{BOX}" '
        f'style="fill:{colour};fill-opacity:0.18;{line}"/>',
        f'<path d="M{median:.1f} {high:.1f}v{BOX}" style="stroke:{colour};stroke-width:3"/>',
    ]


def _dots(places: Sequence[float], middle: float, colour: str, surface: str, box: ScoreBox) -> list[str]:
    """Return a dot a value, of many values only of those beyond the whiskers."""
    if (spread := box.spread) is not None and len(places) > DOTS:
        beyond = (not spread.whisker_low <= value <= spread.whisker_high for value in box.values)
        places = [place for place, far in zip(places, beyond, strict=True) if far]
    heights = (middle + ((place * SPIN) % 1 - 0.5) * (BOX - 4) for place in range(len(places)))
    style = f"fill:{colour};fill-opacity:0.55;stroke:{surface};stroke-width:0.3"
    return [
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="1.5" style="{style}"/>' for x, y in zip(places, heights, strict=True)
    ]


def _mean(x: float, ends: Sequence[float], y: float, ink: str) -> list[str]:
    """Return a diamond at the mean, and its interval as a line with ends."""
    shapes = [f'<path d="M{x - 3.2:.1f} {y:.1f}l3.2 -3.2l3.2 3.2l-3.2 3.2Z" style="fill:{ink}"/>']
    if len(ends) == 2:
        caps = "".join(f"M{end:.1f} {y - 2.2:.1f}v4.4" for end in ends)
        path = f"M{ends[0]:.1f} {y:.1f}H{ends[1]:.1f}{caps}"
        shapes.append(f'<path d="{path}" style="stroke:{ink};stroke-width:1"/>')
    return shapes


def _ticks(low: float, high: float) -> list[float]:
    """Return round numbers from `low` to `high`, some five."""
    span = high - low
    step = next(
        step for power in range(-6, 9) for step in (10.0**power, 2.5 * 10.0**power, 5 * 10.0**power) if span / step <= 5
    )
    first = -(-low // step)
    return [round(step * index, 9) for index in range(int(first), int(high / step + 1e-9) + 1)]


def figure_of(chart: Chart, inks: Inks) -> Figure:
    """Return the figure of a chart; its title is set by the renderer."""
    return box_plots([chart], inks) if isinstance(chart, ScorePanel) else plot(chart, inks)


def coloured_models(report: Report) -> tuple[str, ...]:
    """Return the models that have a colour in charts; if there are more, those that charts choose."""
    most = len(SERIES[False])
    if len(report.models) <= most:
        return report.models
    charts = (chart for group in report.charts for chart in group.charts)
    chosen = [model for chart in charts if isinstance(chart, Bars | Radar) for model in chart.models]
    return tuple(dict.fromkeys([*chosen, *report.models]))[:most]
