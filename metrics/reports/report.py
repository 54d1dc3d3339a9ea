"""A Report: what is reported about a finished run, as plain frozen data that every renderer draws."""

from dataclasses import dataclass
from pathlib import Path

from metrics.analysis import Distribution


@dataclass(frozen=True, slots=True)
class Fact:
    """One named fact; with `code` (fingerprints, ids) it is set in a fixed-width font."""

    name: str
    value: str
    code: bool = False


@dataclass(frozen=True, slots=True)
class FactGroup:
    """Facts under one heading."""

    title: str
    facts: tuple[Fact, ...]


@dataclass(frozen=True, slots=True)
class Column:
    """One metric of the leaderboard; `key` is unique, `direction` is higher, lower or none."""

    key: str
    evaluator: str
    evaluator_title: str
    title: str
    direction: str = "higher"
    threshold: float | None = None
    primary: bool = True


@dataclass(frozen=True, slots=True)
class Cell:
    """One model's number: value, 95 % interval, number of scored (`n`) and of unscored cases.

    `goodness` 0 … 1 gives the colour; `best`: no model is significantly better; `problem`: on the wrong side of the
    threshold; `reason`: why there is no value.
    """

    value: float | None = None
    low: float | None = None
    high: float | None = None
    n: int = 0
    unscored: int = 0
    goodness: float | None = None
    best: bool = False
    problem: bool = False
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Standing:
    """The leader in one metric, its number, and the models tied with it (`level`); `tested`: by paired tests."""

    column: Column
    leader: str
    cell: Cell
    level: tuple[str, ...]
    tested: bool = True


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

    `values` has a row per model, in the order of `models`; None where there is no value.
    """

    title: str
    spokes: tuple[str, ...]
    models: tuple[str, ...]
    values: tuple[tuple[float | None, ...], ...]


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
    """One metric on an axis from `low` to `high`; `share`: every value is 0 or 1, so their mean is what there is."""

    title: str
    about: str
    low: float
    high: float
    share: bool
    boxes: tuple[ScoreBox, ...]


Chart = Curve | Bars | Radar | Matrix | ScorePanel


@dataclass(frozen=True, slots=True)
class ChartGroup:
    """Charts that answer one question, and a note on what they leave out."""

    title: str
    question: str
    charts: tuple[Chart, ...]
    note: str = ""


@dataclass(frozen=True, slots=True)
class Problem:
    """A model on the wrong side of a threshold; `affected`: how many of its cases are, None where none has a value."""

    model: str
    evaluator: str
    evaluator_title: str
    title: str
    value: float | None
    low: float | None
    high: float | None
    threshold: float | None
    direction: str
    n: int
    severity: str
    message: str
    affected: int | None = None


@dataclass(frozen=True, slots=True)
class Insight:
    """A finding about the run, in words, and the evidence for it."""

    kind: str
    message: str
    severity: str = "info"
    evidence: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of texts under heads; `right` has the positions of right-aligned columns."""

    title: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    right: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Section:
    """Tables that answer one question, and paragraphs that say how to read them; `name` is that of its choice."""

    name: str
    title: str
    question: str
    tables: tuple[Table, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Summary:
    """The first page after the headline: the numbers behind it, and sentences on certainty, failures and next steps."""

    table: Table
    sure: tuple[str, ...]
    fails: tuple[str, ...]
    steps: tuple[str, ...]


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
class MethodMetric:
    """What one number of an evaluator means."""

    name: str
    description: str
    low: float
    high: float
    direction: str
    threshold: float | None


@dataclass(frozen=True, slots=True)
class Method:
    """How an evaluator computes its numbers: definition, details (formula, edge cases), metrics, parameters."""

    evaluator: str
    title: str
    version: int
    definition: str
    details: tuple[str, ...] = ()
    metrics: tuple[MethodMetric, ...] = ()
    parameters: tuple[Fact, ...] = ()
    sources: tuple[str, ...] = ()
    standards: tuple[str, ...] = ()
    differs_from: str = ""
    differs_from_source: str = ""


@dataclass(frozen=True, slots=True)
class Report:
    """A finished run, ready to be rendered; what was not chosen is empty.

    `headline` answers the reader's question in one sentence, `summary` makes a page of it, `standings` say who leads by
    metric; `evaluators` are titles. `cells` has a row per model and a cell per column. `sections` come before the
    charts, `appendices` after the cases; `notes` on the leaderboard, `remarks` on what the report leaves out.
    """

    title: str
    run: str
    created: str
    headline: str
    evaluators: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    summary: Summary | None = None
    standings: tuple[Standing, ...] = ()
    facts: tuple[FactGroup, ...] = ()
    columns: tuple[Column, ...] = ()
    cells: tuple[tuple[Cell, ...], ...] = ()
    charts: tuple[ChartGroup, ...] = ()
    problems: tuple[Problem, ...] = ()
    insights: tuple[Insight, ...] = ()
    sections: tuple[Section, ...] = ()
    worst: tuple[WorstCase, ...] = ()
    appendices: tuple[Section, ...] = ()
    methods: tuple[Method, ...] = ()
    notes: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
