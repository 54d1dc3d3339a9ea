"""METEOR against nltk, whose WordNet knows no synonym here."""

from random import Random

import pytest
from nltk.translate.meteor_score import meteor_score

from metrics.text.overlap.meteor import meteor, meteor_counts

WORDS = "the cat cats sat sitting on mat runs running a quickly quick über x".split()


class NoSynonyms:
    """WordNet without its data."""

    def synsets(self, word: str) -> list[object]:
        return []


def test_it_is_nltks() -> None:
    chance = Random(4)
    for _ in range(400):
        texts = [[chance.choice(WORDS) for _ in range(chance.randrange(12))] for _ in range(chance.randrange(2, 5))]
        weights = chance.choice([(0.9, 3, 0.5), (0.5, 2, 0.3), (0.85, 0.2, 0.6)])
        candidate, *references = texts
        best = max(meteor(meteor_counts(reference, candidate), *weights) for reference in references)
        alpha, beta, gamma = weights
        wanted = meteor_score(references, candidate, wordnet=NoSynonyms(), alpha=alpha, beta=beta, gamma=gamma)
        assert best == pytest.approx(wanted, abs=1e-12)
