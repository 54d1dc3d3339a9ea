"""Run and Workspace as the library gives them: a stored run that also answers what `metrics.analysis` finds in it."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from metrics import store
from metrics.analysis.boards import board as boards
from metrics.core.errors import InputError, InputProblem, MissingResource
from metrics.core.schema import TABLES
from metrics.reports.bundles import MOST_OF_NUMBER
from metrics.store.board import BOARD, is_board

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    from metrics.core.receipt import Receipt
    from metrics.presentation.blocks import WorstCase
    from metrics.store.table_files import Format


class ShownCase:
    """A case of a run as notebooks and terminals show it; `outputs` has an entry per model and repeat."""

    def __init__(self, outputs: "Sequence[WorstCase]"):
        self.outputs = tuple(outputs)

    def _repr_html_(self) -> str:
        from metrics.reports.renderers.notebook import case_html

        return case_html(self.outputs)

    def __repr__(self) -> str:
        from metrics.reports.renderers.notebook import case_text

        return case_text(self.outputs)


class Run(store.Run):
    """One evaluation in a workspace. Reads only; a finished run never changes. A notebook shows its leaderboard."""

    def _repr_html_(self) -> str:
        from metrics.reports.renderers.notebook import run_html

        return run_html(self)

    def __str__(self) -> str:
        """Return the leaderboard as plain text."""
        from metrics.reports.renderers.notebook import run_text

        return run_text(self)

    def show(self, case_id: str, evaluator: str | None = None, model: str | None = None) -> "ShownCase":
        """Return a case as each model, or one `model`, answered it, for a notebook or a terminal to show.

        Text with its verdicts and evidence (of one `evaluator`, or of all), an image with its boxes. Raises InputError
        where the run has no such case, evaluator or model.
        """
        from metrics.reports.sections.worst_cases import case_in_full

        return ShownCase(case_in_full(self, case_id, evaluator, model))

    def arrow(self, table: str = "scores") -> "pa.Table":
        """Return a table of the finished run as Arrow: scores, aggregates, judgements, curves/ID … InputError else."""
        import pyarrow as pa

        own = [f"curves/{id}" for id in self.curve_names()] + [f"matches/{id}" for id in self.match_names()]
        known = [*TABLES, *own]
        if table not in known:
            raise InputError([InputProblem(f"run {self.id}", f"the table {table!r}", "one of " + ", ".join(known))])
        if table == "aggregates":  # the evaluators' own columns are spread as in the data frame
            return pa.Table.from_pandas(self.aggregates, preserve_index=False)
        found = self.stored_table(table)
        return found.drop_columns("position") if table == "scores" else found

    def polars(self, table: str = "scores") -> "pl.DataFrame":
        """Return the same as a polars data frame. Raises MissingResource where polars is not installed."""
        try:
            import polars as pl
        except ImportError:
            how = "pip install polars, or take run.arrow(...), which needs no other package"
            raise MissingResource(f"polars is not installed: {how}") from None
        frame = pl.from_arrow(self.arrow(table))
        assert isinstance(frame, pl.DataFrame)
        return frame

    @property
    def receipt(self) -> "Receipt":
        """What became of each part of the files that the run was made from; of earlier versions' runs nothing."""
        return self.spec.receipt

    @property
    def headline(self) -> str:
        """Which model leads, in the sentence that the studio, the command and the reports begin with."""
        from metrics.analysis import headline, leaderboard

        return headline(leaderboard(self)).sentence

    @property
    def problems(self) -> "pd.DataFrame":
        """The models on the wrong side of a threshold, a row each; see metrics.analysis.findings.problems."""
        from metrics.analysis import problems

        return problems(self)

    @property
    def insights(self) -> "pd.DataFrame":
        """What stands out, a row per finding; see metrics.analysis.findings.insights."""
        from metrics.analysis import insights

        return insights(self)

    @property
    def slices(self) -> "pd.DataFrame":
        """The slices of the cases that are significantly worse than the rest; see metrics.analysis.slices."""
        from metrics.analysis import slices

        return slices(self)

    def summarize(self, evaluator: str | None = None, pass_mark: float | None = None) -> dict[str, dict[str, Any]]:
        """Return cases passed and failed, averages and failures by model; see metrics.analysis.summary.summarize."""
        from metrics.analysis.summary import summarize

        return summarize(self, evaluator, pass_mark)

    def export(
        self, what: str, format: "Format | None" = None, model: str | None = None, benchmark: str | None = None
    ) -> bytes:
        """Return the finished run as one of metrics.reports.exchange.exporters: its tables (json, csv or parquet),
        formats of other tools (a folder is a zip). `model` and `benchmark` are of those that ask for one.
        """
        from metrics.reports.exchange.exporters import export

        return export(self, what, format, model, benchmark)

    def archive(self, file: str | Path, media: bool = True, replies: bool = True) -> None:
        """Write the finished run with all that it rests on as a zip; see metrics.reports.archives.write."""
        from metrics.reports.archives.write import write_file

        write_file(self, Path(file), media, replies)

    def bundle(self, folder: str | Path, cases: int = MOST_OF_NUMBER, media: bool = True) -> None:
        """Write the finished run as static pages into a new folder; see metrics.reports.bundles.bundle_files."""
        from metrics.reports.bundles.bundle_files import write_bundle

        write_bundle(self, Path(folder), cases, media)


class Board(Run, boards.Board):
    """The models of all runs of a suite side by side, read as a run; `entries` say where each number comes from."""

    def __init__(self, board: boards.Board):
        vars(self).update(vars(board))

    def archive(self, *_given: Any, **_named: Any) -> NoReturn:
        """Raise InputError: only a run can be archived, named or noted."""
        runs = ", ".join(run.id for run in self.sources)
        found = "a board, joined from runs, and only read"
        raise InputError([InputProblem(self.id, found, f"one of its runs: {runs}")])

    describe = archive


def board(suite: str | None = None, workspace: str | Path | None = None) -> Board:
    """Return the board of a suite, by its name or the first digits of its fingerprint; None: of the newest run.

    `SUITE:all` has every evaluation of a model, not only the latest. Raises RunNotFound without a finished run.
    """
    return Board(boards.open_board(store.Workspace(workspace), f"{BOARD}{suite or ''}".rstrip(":")))


class Workspace(store.Workspace):
    """A folder of suites, outputs and runs; `path` defaults to $ASSAY_WORKSPACE, else ./workspace."""

    def run(self, run_id: str, finished: bool = False) -> Run:
        """Return the run of that id; `latest` is the newest, or the newest `finished` one; `board:SUITE` a board.

        Raises RunNotFound.
        """
        if is_board(run_id):
            return Board(boards.open_board(store.Workspace(self.path), run_id))
        return Run(super().run(run_id, finished).folder)

    def runs(self) -> list[Run]:
        """Return every run, the newest first."""
        return [Run(run.folder) for run in super().runs()]

    def import_archive(self, file: str | Path, replies: bool = False) -> Run:
        """Open the archive of a run in this workspace and return the run; see metrics.reports.archives.read."""
        from metrics.reports.archives.read import read_archive

        return Run(read_archive(Path(file), self, replies=replies).run.folder)
