"""Where the numbers of a board come from, in words: for each model its runs, their dates, versions and judges."""

from collections.abc import Iterator

from metrics.analysis import judged_by
from metrics.analysis.boards.origins import Origin, origins
from metrics.core.registry import title_of
from metrics.presentation.format import moment
from metrics.store import Run


def origin_lines(run: Run) -> Iterator[tuple[str, str]]:
    """Yield each entry of a board with a run that it comes from, in words; nothing for a single run."""
    yield from ((one.entry, _line(one)) for one in origins(run))


def _line(one: Origin) -> str:
    judges = judged_by(one.run)
    scored = [f"{title_of(id)} version {one.run.spec.version(id)}" for id in one.evaluators]
    asked = dict.fromkeys(judges[id] for id in one.evaluators if id in judges)
    parts = [", ".join(scored) or "answers only", *([f"judged by {', '.join(asked)}"] if asked else [])]
    renamed = f" (there {one.model})" if one.model != one.entry else ""
    return f"run {one.run.id}{renamed}, {moment(one.run.sealed)} UTC: {'; '.join(parts)}"
