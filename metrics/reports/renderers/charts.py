"""The figure of any chart of a report."""

from metrics.reports.renderers.box_plots import box_plots
from metrics.reports.renderers.figures import Figure
from metrics.reports.renderers.plots import Inks, plot
from metrics.reports.report import Chart, ScorePanel


def figure_of(chart: Chart, inks: Inks) -> Figure:
    """Return the figure of a chart; its title is set by the renderer."""
    return box_plots([chart], inks) if isinstance(chart, ScorePanel) else plot(chart, inks)
