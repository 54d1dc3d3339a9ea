"""What a question about a run declares, and the answers of all of them: pages, reports and the terminal ask here.

A question is a function of a run in a file of its own under metrics/presentation/questions; it is found by walking.
"""

import pkgutil
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module
from typing import Any

from metrics.presentation.blocks import Answer, Block, Link, Sentence
from metrics.store import Run

PACKAGE = "metrics.presentation.questions"
QUICK = 20_000  # cases or boxes of a suite up to which most questions are answered at once
Ask = Callable[..., Sequence[Block]]
SECTIONS = (  # of a report, in their order
    "leaderboard",
    "comparison",
    "problems",
    "preferences",
    "slices",
    "perturbations",
    "defects",
    "agreement",
    "tests",
    "receipt",
    "compliance",
)


@dataclass(frozen=True, slots=True)
class Question:
    """One question: its section of the report, its title there, what it asks, and the page of the studio about it.

    place: where it stands among the questions of its section; appendix: after the charts and cases of a report;
    short: of suites of up to so many cases, or boxes, every place says its answer unasked; of larger ones that takes
    too long; knows_sections: whether it is told which sections are asked for. `ask` returns blocks, none where the run
    has nothing to answer with.
    """

    id: str
    section: str
    title: str
    asks: str
    page: str
    ask: Ask
    place: int = 0
    appendix: bool = False
    short: int = 0
    knows_sections: bool = False

    def answer(self, run: Run, sections: Collection[str] = SECTIONS) -> Answer | None:
        """Return the answer for a finished run, None where it has nothing to answer with."""
        blocks = self.ask(run, sections) if self.knows_sections else self.ask(run)
        return Answer(self.section, self.title, self.asks, tuple(blocks)) if blocks else None

    def is_quick(self, run: Run) -> bool:
        """Return whether its answer for a run is quick enough to be given unasked."""
        size = run.spec.suite.cases
        if size <= self.short and run.suite.annotations is not None:
            size = max(size, len(run.suite.annotations))
        return size <= self.short

    @property
    def link(self) -> Link:
        """The page that shows more."""
        return Link(self.page, self.title)


def question(section: str, title: str, asks: str, page: str, **more: Any) -> Callable[[Ask], Ask]:
    """Return a decorator that declares a function to be a question, see Question; its id is the function's name."""

    def declare(ask: Ask) -> Ask:
        ask.question = Question(ask.__name__, section, title, asks, page, ask, **more)  # type: ignore[attr-defined]
        return ask

    return declare


@cache
def questions() -> tuple[Question, ...]:
    """Return every question, in the order of a report's sections. ValueError where a file has none of its name."""
    found = []
    for module in pkgutil.iter_modules(import_module(PACKAGE).__path__):
        ask = getattr(import_module(f"{PACKAGE}.{module.name}"), module.name, None)
        if not isinstance(declared := getattr(ask, "question", None), Question):
            raise ValueError(f"{PACKAGE}.{module.name} declares no question of that name")
        found.append(declared)
    return tuple(sorted(found, key=lambda one: (SECTIONS.index(one.section), one.place, one.id)))


def answers(run: Run, sections: Collection[str] = SECTIONS, *, appendix: bool | None = None) -> Iterator[Answer]:
    """Yield the answers of the questions in these sections; of those in the appendix or not, where that is given."""
    for one in questions():
        if one.section in sections and appendix in (None, one.appendix) and (found := one.answer(run, sections)):
            yield found


def short_answers(run: Run) -> Iterator[Sentence]:
    """Yield what every place says beside the headline: the first sentence of each question that is quick to answer."""
    for one in questions():
        if one.is_quick(run) and (found := one.answer(run)) is not None and found.sentences:
            yield replace(found.sentences[0], link=found.sentences[0].link or one.link)
