"""Topics of the questions: clusters of their embeddings, named by the words that set them apart."""

import re
from collections import Counter
from collections.abc import Sequence

import numpy as np

from metrics.analysis.slices.slice_features import Categories
from metrics.core.array_types import Ints, Singles
from metrics.core.errors import InputError
from metrics.core.files import read_json, write_json
from metrics.store import Run

TOPIC = "topic"
FOLDER = "topics-1"  # in the workspace's cache, for a suite never changes; raise it when the method does
MAX_TOPICS = 24
A_TOPIC = 40  # cases of a topic, about
ROUNDS = 50
WORDS = 4
WORD = re.compile(r"[^\W\d_]{3,}")


def topics(run: Run) -> Categories:
    """Return the topic of each case's question, −1 without one, by the bundled embedder: k-means on unit vectors.

    About √(n / 2) topics, no more than MAX_TOPICS and of A_TOPIC cases on average. Kept in the workspace's cache: the
    second time nothing is embedded. InputError where fewer than 2 × A_TOPIC cases have a question, MissingResource
    without an embedder.
    """
    path = run.workspace.cache_file(f"{FOLDER}/{run.spec.suite.fingerprint}.json")
    kept = read_json(path)
    if kept is None:
        kept = _find_topics(run)
        write_json(path, kept)
    names = tuple(str(place) for place in range(len(kept["titles"])))
    return Categories(names, np.array(kept["codes"], np.int64), tuple(kept["titles"]))


def has_topics(run: Run) -> bool:
    """Return whether enough cases have a question to be grouped by."""
    column = run.case_columns(["question"])["question"]
    return len(column) - int(column.null_count) >= 2 * A_TOPIC


def _find_topics(run: Run) -> dict[str, list[int] | list[str]]:
    from metrics.models import provide

    if not has_topics(run):
        raise InputError(f"topics need {2 * A_TOPIC} cases with a question or more")
    questions = run.case_columns(["question"])["question"].to_pylist()
    asked = [place for place, text in enumerate(questions) if text]
    texts = [questions[place] for place in asked]
    cache = run.workspace.cache_file(".")
    embedder = provide(["embedder"], {}, cache)["embedder"]
    count = int(min(MAX_TOPICS, max(2, min(len(texts) / A_TOPIC, np.sqrt(len(texts) / 2)))))
    own = clustered(embedder.encode(texts), count)
    codes = np.full(len(questions), -1)
    codes[asked] = own
    return {"codes": codes.tolist(), "titles": [", ".join(words) for words in representative(texts, own)]}


def clustered(vectors: Singles, count: int, seed: int = 0) -> Ints:
    """Return spherical k-means of unit vectors [n, d]: codes [n], the largest cluster first.

    Begins as k-means++ does, ends when no vector changes its cluster or after ROUNDS. Sources: Dhillon & Modha 2001;
    Arthur & Vassilvitskii 2007.
    """
    rng = np.random.default_rng(seed)
    chosen = [int(rng.integers(len(vectors)))]
    far = 1 - vectors @ vectors[chosen[0]]
    while len(chosen) < count:
        weight = np.clip(far, 0, None).astype(np.float64)
        if weight.sum() == 0:
            break
        chosen.append(int(rng.choice(len(vectors), p=weight / weight.sum())))
        far = np.minimum(far, 1 - vectors @ vectors[chosen[-1]])
    centres = vectors[chosen]
    codes = np.full(len(vectors), -1)
    for _ in range(ROUNDS):
        nearest = (vectors @ centres.T).argmax(axis=1)
        if (nearest == codes).all():
            break
        codes = nearest
        member = (codes[:, None] == np.arange(len(centres))).astype(np.float32)
        sums = member.T @ vectors
        lengths = np.linalg.norm(sums, axis=1, keepdims=True)
        centres = np.where(lengths > 0, sums / np.maximum(lengths, 1e-12), centres)
    sizes = np.bincount(codes, minlength=len(centres))
    rank = np.empty(len(centres), np.int64)
    rank[np.argsort(-sizes, kind="stable")] = np.arange(len(centres))
    filled = np.unique(rank[codes])  # those without a vector go
    return np.asarray(np.searchsorted(filled, rank[codes]).astype(np.int64))


def representative(texts: Sequence[str], codes: Ints) -> list[list[str]]:
    """Return the WORDS words of each cluster that set it apart, by c-TF-IDF: tf·log(1 + A / f).

    tf: how often the word is in the cluster's texts; f: in all; A: words a cluster on average. Words of one text alone
    represent no member. Source: Grootendorst, arXiv:2203.05794.
    """
    inside = [Counter[str]() for _ in range(int(codes.max(initial=-1)) + 1)]
    texts_with = Counter[str]()
    for text, code in zip(texts, codes.tolist(), strict=True):
        words = WORD.findall(text.lower())
        inside[code].update(words)
        texts_with.update(set(words))
    everywhere = sum(inside, Counter[str]())
    average = sum(everywhere.values()) / max(1, len(inside))
    found = []
    for own in inside:
        weight = {
            word: times * np.log1p(average / everywhere[word]) for word, times in own.items() if texts_with[word] > 1
        }
        found.append(sorted(weight, key=lambda word: (-weight[word], word))[:WORDS])
    return found
