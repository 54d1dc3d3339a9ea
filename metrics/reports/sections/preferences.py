"""The report's section on preferences: the models ranked by them, who wins against whom, position bias, agreement."""

from collections.abc import Iterator

from metrics.analysis import CorrectedTests, HeadToHead
from metrics.analysis.corrected_tests import of_matches
from metrics.analysis.preferences.matches import preference_criteria
from metrics.analysis.preferences.preferred import judge_and_people, position_bias, preferred
from metrics.core.label_schema import By
from metrics.presentation.format import count, number, plural
from metrics.presentation.names import short_names
from metrics.presentation.phrases import with_interval
from metrics.presentation.preference_words import SOURCES, agreed_sentence, bias_sentence
from metrics.presentation.ranking_words import rank_text
from metrics.reports.report import Section, Table
from metrics.stats.corrections import is_significant
from metrics.store import Run

TITLE, QUESTION = "Preferences", "Whose answers are preferred, side by side?"
MOST_CRITERIA, MOST_MODELS = 3, 8
BYS: tuple[By, ...] = ("people", "judge")
METHOD = (
    "Each case on which two models' answers were compared is one match: what most people prefer, or the mean of a "
    "judge's two orders. The score is against a model of average strength (Bradley–Terry with Davidson's ties). Its "
    "interval and the ranks take all matches on one case as one unit (Holm over the pairs). A cell of the second table "
    "is the share of matches that the model of the row wins, a tie counting half, and their number."
)


def preferences_section(run: Run) -> Section | None:
    """Return the standings and the win matrix by people's and by judges' preferences; None without any."""
    tables, notes = list[Table](), list[str]()
    for criterion, given in _criteria(run).items():
        for by in given:
            found = preferred(run, by, criterion)
            if found is not None:
                tables += _tables(found, f"{SOURCES[by]} ({criterion})")
                who = "people" if by == "people" else "the judge"
                notes.append(f"{plural(given[by], 'preference')} by {who} ({criterion}).")
                notes += map(bias_sentence, position_bias(run, by, criterion))
        notes += filter(None, [agreed_sentence(judge_and_people(run, criterion))])
    return Section("preferences", TITLE, QUESTION, tuple(tables), (" ".join(notes), METHOD)) if tables else None


def preference_tests(run: Run) -> Iterator[CorrectedTests]:
    """Yield the tests behind the section: of the pairs of models, and of position bias."""
    sways = list[float]()
    for criterion, given in _criteria(run).items():
        for by in given:
            found = preferred(run, by, criterion)
            if found is not None:
                yield of_matches(found, f"{SOURCES[by]} ({criterion})")
                sways += [one.p for one in position_bias(run, by, criterion) if one.p is not None]
    if sways:
        swayed = sum(is_significant(p) for p in sways)
        yield CorrectedTests("Does position sway preferences?", len(sways), len(sways), "none", swayed)


def _criteria(run: Run) -> dict[str, dict[By, int]]:
    """Return how many preferences of people, then of judges, the first criteria have."""
    counts = list(preference_criteria(run).items())[:MOST_CRITERIA]
    return {name: {by: own[by] for by in BYS if by in own} for name, own in counts}


def _tables(found: HeadToHead, title: str) -> Iterator[Table]:
    rows = tuple(
        (
            rank_text(one.best_rank, one.worst_rank), one.model, with_interval(one.score, one.low, one.high),
            count(one.wins), count(one.losses), count(one.ties),
        )
        for one in found.standings
    )  # fmt: skip
    yield Table(f"By {title}", ("Rank", "Model", "Score", "Wins", "Losses", "Ties"), rows, (2, 3, 4, 5))
    models = [one.model for one in found.standings]
    if 2 < len(models) <= MOST_MODELS:
        short = short_names(models, 14)
        cells = tuple((short[row], *(_cell(found, row, column) for column in models)) for row in models)
        heads = ("Wins of", *(short[one] for one in models))
        yield Table(f"Wins by {title}", heads, cells, tuple(range(1, len(heads))))


def _cell(found: HeadToHead, row: str, column: str) -> str:
    wins, ties, losses = found.outcomes.get((row, column), (0, 0, 0))
    played = wins + ties + losses
    return f"{number((wins + ties / 2) / played)} · {count(played)}" if played else ""
