"""What an answer is made of, as plain frozen data: sentences, tables, charts, cases and notes, each with its link.

The questions (metrics.presentation.questions) answer with blocks; pages, reports, notebooks and the terminal draw them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from metrics.analysis import Cell, Column, Distribution


@dataclass(frozen=True, slots=True)
class Link:
    """Where to read on in the studio: a page, what its address asks for beside the run, and the words of a button."""

    page: str
    words: str
    where: Mapping[str, str | Sequence[str] | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Sentence:
    """One statement. The first of an answer is the answer; `detail` is what it rests on, in small print."""

    text: str
    detail: str = ""
    link: Link | None = None


@dataclass(frozen=True, slots=True)
class Note:
    """How to read what stands above it, in small print."""

    text: str
    link: Link | None = None


@dataclass(frozen=True, slots=True)
class Head:
    """The head of a column; numbers align at their `right`. `width` is in pixels, `help` appears on hover.

    page_only: a column that paper has no room for.
    """

    title: str
    right: bool = False
    help: str = ""
    width: int | None = None
    page_only: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of texts under heads; `links` has a link a row, or none at all.

    groups: headings with the number of rows below each, where rows belong together.
    """

    title: str
    heads: tuple[Head, ...]
    rows: tuple[tuple[str, ...], ...]
    links: tuple[Link, ...] = ()
    groups: tuple[tuple[str, int], ...] = ()


def table(
    title: str,
    heads: Sequence[str | Head],
    rows: Sequence[Sequence[str]],
    right: Sequence[int] = (),
    links: Sequence[Link] = (),
    groups: Sequence[tuple[str, int]] = (),
) -> Table:
    """Return a table from heads that may be bare titles; `right` has the positions of those that align at the right."""
    whole = tuple(one if isinstance(one, Head) else Head(one, place in right) for place, one in enumerate(heads))
    return Table(title, whole, tuple(map(tuple, rows)), tuple(links), tuple(groups))


def table_of(title: str, *columns: tuple[Head, Sequence[str]], links: Sequence[Link] = ()) -> Table:
    """Return a table from its columns, each a head and its texts."""
    return Table(
        title, tuple(head for head, _ in columns), tuple(zip(*(own for _, own in columns), strict=True)), tuple(links)
    )


@dataclass(frozen=True, slots=True)
class Heatmap:
    """Models × metrics: `cells` has a row per model and a cell per column."""

    models: tuple[str, ...]
    columns: tuple[Column, ...]
    cells: tuple[tuple[Cell, ...], ...]


# Charts


@dataclass(frozen=True, slots=True)
class Series:
    """One model's line: points (x, y) in the order they are joined, a point to mark, intervals (x, low, high)."""

    model: str
    points: tuple[tuple[float, float], ...]
    mark: tuple[float, float] | None = None
    spans: tuple[tuple[float, float, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Curve:
    """One chart: a line per model over two quantities; `diagonal` draws the line where both are equal.

    ticks: those of both axes, the first and the last their ends; dots: points that no line joins.
    """

    title: str
    x_title: str
    y_title: str
    series: tuple[Series, ...]
    diagonal: bool = False
    ticks: tuple[float, ...] = (0.0, 0.25, 0.5, 0.75, 1.0)
    dots: bool = False


@dataclass(frozen=True, slots=True)
class Bar:
    """One model's number with its 95 % interval; None where there is none."""

    model: str
    value: float | None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class BarGroup:
    """The bars of all models for one thing: a class, a kind of error."""

    name: str
    bars: tuple[Bar, ...]


@dataclass(frozen=True, slots=True)
class Bars:
    """One chart of bars in groups, a bar per model in the order of `models`; the axis ends at `high`, if given."""

    title: str
    groups: tuple[BarGroup, ...]
    models: tuple[str, ...]
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Radar:
    """One chart of several metrics: a spoke each, from 0 (worst, the centre) to 1 (best), and a closed line per model.

    `values` has a row per model, in the order of `models`; None where there is no value. about: for each value what it
    means, in lines; keys: of each spoke the column.
    """

    title: str
    spokes: tuple[str, ...]
    models: tuple[str, ...]
    values: tuple[tuple[float | None, ...], ...]
    about: tuple[tuple[str, ...], ...] = ()
    keys: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Matrix:
    """A confusion matrix: `counts` of each true label (rows) by predicted label (columns).

    With `margins` the last row counts predictions where there is no object, the last column missed objects.
    """

    title: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]
    margins: bool = False


@dataclass(frozen=True, slots=True)
class ScoreBox:
    """One model's values of a metric, one a question; `low` and `high` bound the mean with 95 % confidence.

    Of a run, mean and interval are those of its leaderboard: weighted, and resampled by group, where its suite asks so.
    """

    series: str
    values: tuple[float, ...] = ()
    spread: Distribution | None = None
    mean: float | None = None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class ScorePanel:
    """One metric on an axis from `low` to `high`; `share`: the metric is yes or no, so its mean is what there is."""

    title: str
    about: str
    low: float
    high: float
    share: bool
    boxes: tuple[ScoreBox, ...]


Chart = Curve | Bars | Radar | Matrix | ScorePanel


# Cases


@dataclass(frozen=True, slots=True)
class CaseMetric:
    """One score of one case, with the reason where there is no value; `unit` names what a whole number counts."""

    title: str
    value: float | None
    direction: str = "higher"
    status: str = "ok"
    reason: str | None = None
    unit: str = ""


@dataclass(frozen=True, slots=True)
class Passage:
    """A named text of a case: the question, a context, the answer."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Box:
    """One object drawn on an image: closed outlines (x1 y1 x2 y2 …, pixels), its match kind, label and score.

    filled: a mask, drawn as a surface by the rule "nonzero", in `colour` where it has one of its own. bones: the lines
    (x1 y1 x2 y2) of a pose, a point where both ends are one. outlined: whether the outlines are drawn, too.
    """

    kind: str
    rings: tuple[tuple[float, ...], ...]
    label: str
    score: float | None = None
    filled: bool = False
    bones: tuple[tuple[float, ...], ...] = ()
    outlined: bool = True
    colour: str = ""


@dataclass(frozen=True, slots=True)
class WorstCase:
    """One of the worst-scored outputs of a model: `because` has the bad scores, `scores` all its other ones.

    `evidence` lines are (glyph or "", text). `image` is drawn with its `boxes`, in an image of `image_size` (width,
    height); `image_note` says how they were matched, or why there is no image.
    """

    case_id: str
    model: str
    repeat: int
    because: tuple[CaseMetric, ...]
    passages: tuple[Passage, ...] = ()
    tags: tuple[str, ...] = ()
    scores: tuple[CaseMetric, ...] = ()
    evidence: tuple[tuple[str, str], ...] = ()
    image: Path | None = None
    boxes: tuple[Box, ...] = ()
    image_note: str = ""
    image_size: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Cases:
    """Outputs of cases in full."""

    cases: tuple[WorstCase, ...]


Block = Sentence | Note | Table | Heatmap | Chart | Cases


def kind_of(block: Block) -> str:
    """Return the kind of a block: sentence, note, table, heatmap, chart or cases."""
    return "chart" if isinstance(block, Chart) else type(block).__name__.lower()


@dataclass(frozen=True, slots=True)
class Answer:
    """What a question found in a run; `name` is that of its section in a report.

    The blocks begin with the answer in a sentence.
    """

    name: str
    title: str
    question: str
    blocks: tuple[Block, ...]

    @property
    def runs(self) -> Iterator[tuple[str, list[Any]]]:
        """Its blocks, neighbours of one kind together: the name of the kind and the blocks."""
        return ((kind, list(own)) for kind, own in groupby(self.blocks, key=kind_of))

    @property
    def sentences(self) -> tuple[Sentence, ...]:
        """Its sentences, the answer first."""
        return tuple(one for one in self.blocks if isinstance(one, Sentence))

    @property
    def tables(self) -> tuple[Table, ...]:
        """Its tables."""
        return tuple(one for one in self.blocks if isinstance(one, Table))

    @property
    def charts(self) -> tuple[Chart, ...]:
        """Its charts."""
        return tuple(one for one in self.blocks if isinstance(one, Chart))

    @property
    def notes(self) -> tuple[str, ...]:
        """The texts of its notes."""
        return tuple(one.text for one in self.blocks if isinstance(one, Note))
