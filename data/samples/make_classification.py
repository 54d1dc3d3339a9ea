"""Writes data/samples/classification: support tickets of a library network, and the class scores of two classifiers.

The tickets are put together from sentences written by hand; some speak of a second matter, too. minnow-linear favours
the most frequent class, loans. pike-deep is better over all, but can hardly tell account from digital. Run as
`python make_classification.py [FOLDER]`.
"""

import json
import sys
from collections.abc import Callable
from math import exp, log
from pathlib import Path
from random import Random

from make_rag import blocks, write_csv

SOURCE = Path(__file__).parent / "classification"
NUMBERS = {"loans": 132, "account": 72, "digital": 62, "rooms": 40, "fees": 28, "feedback": 18}
CHANNELS = ("e-mail", "e-mail", "web form", "chat", "chat", "boat crew")
Scores = dict[str, float]


def write(sentence: str, parts: dict[str, list[str]], random: Random) -> str:
    """The sentence with its blanks filled in."""
    blanks = {"title": "titles", "branch": "branches", "day": "days", "month": "months"}
    chosen = {blank: random.choice(parts[source]) for blank, source in blanks.items()}
    return sentence.format(number=random.randint(3, 12), **chosen)


def ticket(label: str, sentence: str, parts: dict[str, list[str]], random: Random) -> tuple[str, list[str]]:
    """The text of one ticket and its tags; in one of eight a second matter follows the first."""
    channel = random.choice(CHANNELS)
    tags, text = [channel], [write(sentence, parts, random)]
    if random.random() < 0.12:
        other = random.choice([name for name in NUMBERS if name != label])
        text.append(
            random.choice(("And by the way: ", "One more thing: ", ""))
            + write(random.choice(parts[other]), parts, random)
        )
        tags.append("two matters")
    if channel != "chat" and random.random() < 0.7:
        text.insert(0, write(random.choice(parts["openings"]), parts, random))
    if random.random() < (0.2 if channel == "chat" else 0.6):
        text.append(write(random.choice(parts["closings"]), parts, random))
    words = " ".join(text).replace(", ", ",\n", 1) if text[0].endswith(",") else " ".join(text)
    if len(words) < 90:
        tags.append("short")
    if channel == "chat" and random.random() < 0.4:
        words = words[0].lower() + words[1:].rstrip(".")
    return words, tags


def softmax(logits: Scores) -> Scores:
    """Scores that add up to 1, rounded to four places."""
    highest = max(logits.values())
    raised = {label: exp(logit - highest) for label, logit in logits.items()}
    total = sum(raised.values())
    return {label: round(value / total, 4) for label, value in raised.items()}


def minnow_linear(label: str, hard: bool, random: Random) -> Scores:
    """Evidence for the right class, and always some for loans."""
    weight = 1.6 if hard else 2.6
    logits = {name: random.gauss(weight if name == label else 0.0, 0.9) for name in NUMBERS}
    logits["loans"] += 1.7
    return softmax({name: 1.3 * logit for name, logit in logits.items()})


def pike_deep(label: str, hard: bool, random: Random) -> Scores:
    """The exact posterior given noisy evidence, in which account and digital differ by little."""
    pair, weight, difference = ("account", "digital"), 2.5 if hard else 3.6, 0.42
    logits = {}
    shared = random.gauss(weight if label in pair else 0.0, 1.0)
    apart = random.gauss(difference * ((label == "account") - (label == "digital")), 1.0)
    for name, number in NUMBERS.items():
        own = random.gauss(weight if name == label else 0.0, 1.0)
        evidence = weight * (shared if name in pair else own)
        lean = difference * apart * ((name == "account") - (name == "digital"))
        logits[name] = evidence + lean + log(number)
    return softmax(logits)


MODELS: dict[str, Callable[[str, bool, Random], Scores]] = {"minnow-linear": minnow_linear, "pike-deep": pike_deep}


def make(folder: Path) -> None:
    """Write suite.csv and one file of scores a model into `folder`."""
    parts = blocks((SOURCE / "tickets.txt").read_text("utf-8"))
    random = Random("tickets")  # noqa: S311
    seen: set[str] = set()
    tickets: list[tuple[str, str, list[str]]] = []
    for label, number in NUMBERS.items():
        for index in range(number):
            text, tags = "", ["e-mail"]
            while not text or text in seen:
                text, tags = ticket(label, parts[label][index % len(parts[label])], parts, random)
            seen.add(text)
            tickets.append((text, label, tags))
    random.shuffle(tickets)
    names = [f"ticket-{number:04}" for number in range(1, len(tickets) + 1)]
    suite = [[name, text, label, json.dumps(tags)] for name, (text, label, tags) in zip(names, tickets, strict=True)]
    write_csv(folder / "suite.csv", ["case_id", "question", "label", "tags"], suite)
    for model, scores_of in MODELS.items():
        random = Random(model)  # noqa: S311
        rows = []
        for name, (_, label, tags) in zip(names, tickets, strict=True):
            hard = "two matters" in tags or "short" in tags
            rows.append([name, *(f"{score:.4f}" for score in scores_of(label, hard, random).values())])
        write_csv(folder / f"{model}.csv", ["case_id", *NUMBERS], rows)


if __name__ == "__main__":
    make(Path(sys.argv[1]) if len(sys.argv) > 1 else SOURCE)
