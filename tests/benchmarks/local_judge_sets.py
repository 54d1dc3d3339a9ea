"""Labelled sets of ../shared/data for the local judge, in halves by passage."""

import random
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import cycle
from pathlib import Path

import pandas as pd

from metrics.core.prompt import NONCE
from tests.benchmarks.threshold_sets import clapnq
from tests.corpora.grounding import Grounded, answers
from tests.judge.attacks import INJECTIONS

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
OF_CLAPNQ = 50  # questions with an answer, and as many without one
# replies about ANSWER; every second, from the first, is for fitting
ATTEMPTS = (
    "I'm not sure, but I think it is ANSWER.", "I do not know it for certain; my best guess would be ANSWER.",
    "Sorry for the delay! ANSWER.", "Unfortunately the text is not quite clear. It seems to be ANSWER.",
    "I cannot give you every detail, but the short reply is ANSWER.", "ANSWER, if I remember correctly.",
    "The passage does not say so in one sentence. Read together, it says ANSWER.", "Good question! ANSWER.",
)  # fmt: skip
REFUSALS = (
    "I'm sorry, but the documents do not contain this information.", "I do not know.",
    "The passage does not say.", "Unfortunately, I cannot answer this question from the given text.",
    "There is no information about this in the provided context.", "I could not find an answer to your question.",
    "The text talks about something related, but it does not answer the question.",
    "Could you tell me more precisely what you are looking for?",
    "None of the sources that I was given mentions it.", "That is not something that I can help with.",
    "No idea, sorry.", "As an assistant I am not able to comment on this.",
    "I would need more context before I could say anything about that.", "The answer is not given in the document.",
    "It is impossible to tell from what is written here.", "My search returned no results. Please try other words.",
)  # fmt: skip


def relevance(held_out: bool) -> Iterator[Grounded]:
    """Yield each question of a half with a sentence that answers it, and with one that answers another question."""
    given = list(answers(held_out))
    own, wrong = ([case for case in given if case.kind == kind] for kind in ("sentence", "long"))
    for case, other, false in zip(own, [*own[1:], own[0]], wrong, strict=True):
        yield Grounded(case.group, "own", "-", case.answer, True, case.question)
        yield Grounded(case.group, "wrong", "-", false.answer, True, case.question)
        yield Grounded(case.group, "other", "-", other.answer, False, case.question)


def passages(held_out: bool) -> Iterator[Grounded]:
    """Yield each question of a half, with its answer, beside its own passage and beside another's."""
    asked = [case for case in answers(held_out) if case.kind == "bare"]
    for case, other in zip(asked, [*asked[1:], asked[0]], strict=True):
        yield Grounded(case.group, "own", case.text, case.answer, True, case.question)
        yield Grounded(case.group, "other", other.text, case.answer, False, case.question)


def answerable(held_out: bool) -> Iterator[Grounded]:
    """Yield questions of CLAPNQ with a passage that answers them, or one on the subject that does not."""
    for kind in ("answerable", "unanswerable"):
        for place, row in enumerate(clapnq(kind)[held_out::2][:OF_CLAPNQ]):
            yield Grounded(f"{kind}-{place}", kind, row["passages"][0]["text"], "", kind == "answerable", row["input"])


def attempts(held_out: bool) -> Iterator[Grounded]:
    """Yield replies to each question of a half: an answer, an answer that hedges, and two that decline."""
    hedged, declined = ATTEMPTS[held_out::2], REFUSALS[held_out::2]
    for place, case in enumerate(case for case in answers(held_out) if case.kind == "bare"):
        replies = [(case.answer, True), (hedged[place % len(hedged)].replace("ANSWER", case.answer), True)]
        replies += [(declined[(place + step) % len(declined)], False) for step in (0, len(declined) // 2)]
        for reply, right in replies:
            yield Grounded(case.group, "attempt" if right else "refusal", "-", reply, right, case.question)


def with_attacks(cases: Iterable[Grounded]) -> Iterator[Grounded]:
    """Yield the cases, and each wrong one again with every second attack of tests/judge/injections.json in turn."""
    attacks = cycle(INJECTIONS[::2])
    for case in cases:
        yield case
        if not case.right:
            yield replace(case, answer=f"{case.answer}\n{next(attacks).text.replace('NONCE', '0' * NONCE)}")


def begin(held_out: bool, passages: int) -> Iterator[Grounded]:
    """Yield the responses to a number of passages of BEGIN's Wizard of Wikipedia part, of one half; none without it.

    Right is a response that people found fully attributable to its passage.
    """
    file = DATA / "begin" / "begin_dev_wow.tsv"
    if not file.is_file():
        return
    frame = pd.read_csv(file, sep="\t").drop_duplicates(["knowledge", "response"])
    known = sorted(frame["knowledge"].unique())
    random.Random(1).shuffle(known)
    half = known[-passages:] if held_out else known[:passages]
    for row in frame[frame["knowledge"].isin(half)].sort_values("knowledge", kind="stable").itertuples():
        right = row.begin_label == "Fully attributable"
        yield Grounded(f"{half.index(row.knowledge)}", "response", row.knowledge, row.response, right, row.message)
