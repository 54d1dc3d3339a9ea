"""Whose answers are preferred, side by side: ranks, who wins against whom, position bias, agreement."""

from collections.abc import Iterator

from metrics.analysis import CorrectedTests, HeadToHead
from metrics.analysis.corrected_tests import of_matches
from metrics.analysis.preferences.matches import preference_criteria
from metrics.analysis.preferences.preferred import judge_and_people, position_bias, preferred
from metrics.analysis.preferences.style import style_control
from metrics.core.schema import By
from metrics.presentation import ranking_words
from metrics.presentation.blocks import Block, Head, Note, Sentence, Table, table, table_of
from metrics.presentation.format import count, interval, number, plural, short_names
from metrics.presentation.question import QUICK, question
from metrics.stats.corrections import is_significant
from metrics.store import Run

MOST_CRITERIA, MOST_MODELS = 3, 8
BYS: tuple[By, ...] = ("people", "judge")
SCORE = (
    "what the model scores on average against a model of average strength, a tie counting half: by Bradley and Terry's "
    "model with Davidson's ties; the interval takes all matches on one case (or one group of the suite) as one unit"
)
RANK = "the ranks that it may have: 1 + the number of significantly stronger models (Holm over all pairs, 5 %)"
METHOD = (
    "Each case on which two models' answers were compared is one match: what most people prefer, or the mean of a "
    "judge's two orders. The score is against a model of average strength (Bradley–Terry with Davidson's ties). Its "
    "interval and the ranks take all matches on one case as one unit (Holm over the pairs). A cell of the second table "
    "is the share of matches that the model of the row wins, a tie counting half, and their number."
)


@question("preferences", "Preferences", "Whose answers are preferred, side by side?", "leaderboard", short=QUICK)
def whose_answers_are_preferred(run: Run) -> list[Block]:
    """Return the standings and the win matrix by people's and by judges' preferences; nothing without any."""
    sentences, tables, notes = list[Block](), list[Table](), list[str]()
    for criterion, given in _criteria(run).items():
        for by in given:
            if (found := preferred(run, by, criterion)) is not None:
                sentences.append(Sentence(ranking_words.standing_sentence(found, by, criterion)))
                tables += _tables(found, f"{ranking_words.SOURCES[by]} ({criterion})")
                who = "people" if by == "people" else "the judge"
                notes.append(f"{plural(given[by], 'preference')} by {who} ({criterion}).")
                notes += filter(None, [ranking_words.style_sentence(style_control(run, by, criterion))])
                notes += map(ranking_words.bias_sentence, position_bias(run, by, criterion))
        notes += filter(None, [ranking_words.agreed_sentence(judge_and_people(run, criterion))])
    return [*sentences, *tables, Note(" ".join(notes)), Note(METHOD)] if tables else []


def preference_tests(run: Run) -> Iterator[CorrectedTests]:
    """Yield the tests behind the section: of the pairs of models, and of position bias."""
    sways = list[float]()
    for criterion, given in _criteria(run).items():
        for by in given:
            if (found := preferred(run, by, criterion)) is not None:
                yield of_matches(found, f"{ranking_words.SOURCES[by]} ({criterion})")
                sways += [one.p for one in position_bias(run, by, criterion) if one.p is not None]
    if sways:
        swayed = sum(is_significant(p) for p in sways)
        yield CorrectedTests("Does position sway preferences?", len(sways), len(sways), "none", swayed)


def _criteria(run: Run) -> dict[str, dict[By, int]]:
    """Return how many preferences of people, then of judges, the first criteria have."""
    counts = list(preference_criteria(run).items())[:MOST_CRITERIA]
    return {name: {by: own[by] for by in BYS if by in own} for name, own in counts}


def standings_table(found: HeadToHead, title: str) -> Table:
    """Return the models with their ranks, scores and matches."""
    rows = found.standings
    short = short_names([one.model for one in rows], 28)
    return table_of(
        title,
        (Head("Rank", False, RANK, 56), [ranking_words.rank_text(one.best_rank, one.worst_rank) for one in rows]),
        (Head("Model", width=110), [short[one.model] for one in rows]),
        (Head("Score", True, SCORE, 56), [number(one.score) for one in rows]),
        (Head("95 %", True, "95 % interval of the score", 96), [interval(one.low, one.high) for one in rows]),
        (Head("Wins", True, "matches won", 50), [count(one.wins) for one in rows]),
        (Head("Losses", True, "matches lost", 54), [count(one.losses) for one in rows]),
        (Head("Ties", True, "matches without a winner", 46), [count(one.ties) for one in rows]),
    )


def _tables(found: HeadToHead, title: str) -> Iterator[Table]:
    yield standings_table(found, f"By {title}")
    models = [one.model for one in found.standings]
    if 2 < len(models) <= MOST_MODELS:
        short = short_names(models, 14)
        cells = tuple((short[row], *(share_text(share_won(found, row, column)) for column in models)) for row in models)
        heads = ("Wins of", *(short[one] for one in models))
        yield table(f"Wins by {title}", heads, cells, tuple(range(1, len(heads))))


def share_won(found: HeadToHead, row: str, column: str) -> tuple[float, int] | None:
    """Return the share of matches that a model wins against another, a tie counting half, and their number."""
    wins, ties, losses = found.outcomes.get((row, column), (0, 0, 0))
    played = wins + ties + losses
    return ((wins + ties / 2) / played, played) if played else None


def share_text(share: tuple[float, int] | None) -> str:
    """Return a share of matches and their number; "" for none."""
    return "" if share is None else f"{number(share[0])} · {count(share[1])}"
