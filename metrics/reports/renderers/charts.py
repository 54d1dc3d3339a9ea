"""The figure of any chart of a report."""

from metrics.presentation.blocks import Bars, Chart, Radar, ScorePanel
from metrics.presentation.palette import SERIES
from metrics.reports.renderers.box_plots import box_plots
from metrics.reports.renderers.figures import Figure
from metrics.reports.renderers.plots import Inks, plot
from metrics.reports.report import Report


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
