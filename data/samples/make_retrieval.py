"""Writes data/samples/retrieval: suite.csv and outputs.csv, searches in a library's catalogue and what engines find.

The titles are written by hand, the grades follow from them: 3 what is asked for, 2 and 1 what is near it. dunlin-words
looks for the words of a query and misses what is put in other words. knot-vectors goes by the meaning: it finds the
subject, but not whether a film or a novel is wanted. curlew-rerank sorts the first titles of dunlin-words, and well,
but can find no others. Run as `python make_retrieval.py [FOLDER]`.
"""

import json
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random

from make_rag import blocks, fields, write_csv

SOURCE = Path(__file__).parent / "retrieval"
ASKED = (  # kind and form of a title, as text before and after the subject
    ("", "", "", ""),
    ("handbook", "", "a handbook on ", ""),
    ("children's book", "", "", " for children"),
    ("novel", "", "a novel about ", ""),
    ("novel", "large print", "a novel in large print about ", ""),
    ("film", "film", "", " on film"),
)
BEST = 3  # the grade of what is asked for
SHOWN, RERANKED = 12, 8  # titles in a list; those that are sorted again


@dataclass(frozen=True)
class Title:
    """A title of the catalogue: its id, what it is about, what kind of title it is and in which form."""

    id: str
    name: str
    subject: str
    kind: str
    form: str


@dataclass(frozen=True)
class Query:
    """A search for a subject, which has another near it, in the catalogue's words or others (`meant`).

    `kind` and `form` are those wished for, or empty.
    """

    id: str
    text: str
    subject: str
    near: str
    meant: bool
    kind: str
    form: str

    def met(self, title: Title) -> int:
        """How many of the wishes, for a kind and for a form, a title meets."""
        return (self.kind == title.kind) + (self.form == title.form)

    def grade(self, title: Title) -> int:
        """3 for the subject and all that is wished, less for what is missing; 1 for the near subject with all of it."""
        wishes = bool(self.kind) + bool(self.form)
        if title.subject == self.subject:
            return BEST - wishes + self.met(title)
        return int(title.subject == self.near and bool(wishes) and self.met(title) == wishes)


def words(query: Query, title: Title, chance: Random) -> float:
    """How many words of the query the title has: few, where it is put in other words."""
    hit = title.subject == query.subject and chance.random() < (0.45 if query.meant else 0.95)
    return 2.0 * hit + 0.6 * query.met(title) + chance.gauss(0, 0.5)


def vectors(query: Query, title: Title, chance: Random) -> float:
    """How near the meanings of query and title are."""
    near = {query.subject: 1.0, query.near: 0.6}.get(title.subject, 0.0)
    return 2.0 * near + 0.1 * query.met(title) + chance.gauss(0, 0.5)


def ranked(
    score: Callable[[Query, Title, Random], float], query: Query, titles: list[Title], chance: Random
) -> list[Title]:
    """The titles by falling score."""
    scores = {title: score(query, title, chance) for title in titles}
    return sorted(titles, key=lambda title: -scores[title])[:SHOWN]


def found(query: Query, titles: list[Title], chance: Random) -> dict[str, list[Title]]:
    """The lists of the three engines, by name."""
    by_words = ranked(words, query, titles, chance)
    by_meaning = ranked(vectors, query, titles, chance)
    again = {title: query.grade(title) + chance.gauss(0, 0.5) for title in by_words[:RERANKED]}
    return {
        "dunlin-words": by_words,
        "knot-vectors": by_meaning,
        "curlew-rerank": sorted(again, key=lambda title: -again[title]),
    }


def make(folder: Path) -> None:
    """Write suite.csv and outputs.csv into `folder`."""
    catalogue = {name: fields(lines) for name, lines in blocks((SOURCE / "catalogue.txt").read_text("utf-8")).items()}
    titles = [
        Title(re.sub(r"\W+", "-", name.lower().replace("'", "")).strip("-"), name, subject, *about.split(", "))
        for subject, facts in catalogue.items()
        for about, names in facts.items()
        if ", " in about
        for name in names
    ]
    queries = [
        Query(f"{subject}-{place}{'-meant' * meant}", before + facts["meant" if meant else "words"][0] + after,
              subject, facts["near"][0], meant, kind, form)
        for subject, facts in catalogue.items()
        for meant in (False, True)
        for place, (kind, form, before, after) in enumerate(ASKED, 1)
    ]  # fmt: skip
    chance = Random("catalogue")  # noqa: S311 - the same sample each time
    suite, lists = [], dict[str, list[list[str]]]()
    for query in queries:
        grades = {title.id: grade for title in titles if (grade := query.grade(title))}
        if max(grades.values()) < BEST:
            continue  # the catalogue has nothing of that kind and form
        tags = ["other words" if query.meant else "catalogue's words", query.kind or "any kind"]
        suite.append([query.id, query.text, *map(json.dumps, (list(grades), list(grades.values()), tags))])
        for model, listed in found(query, titles, chance).items():
            texts = [f"{title.name} ({', '.join(dict.fromkeys((title.kind, title.form)))})" for title in listed]
            lists.setdefault(model, []).append(
                [query.id, model, json.dumps([title.id for title in listed]), json.dumps(texts)]
            )
    write_csv(folder / "suite.csv", ["case_id", "question", "reference_context_ids", "reference_grades", "tags"], suite)
    header = ["case_id", "model", "context_ids", "retrieved_contexts"]
    write_csv(folder / "outputs.csv", header, [row for rows in lists.values() for row in rows])


if __name__ == "__main__":
    make(Path(sys.argv[1]) if len(sys.argv) > 1 else SOURCE)
