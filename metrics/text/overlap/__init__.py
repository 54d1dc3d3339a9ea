"""How similar two texts are: n-grams, subsequences, vectors."""
