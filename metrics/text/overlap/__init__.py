"""How alike two texts are: n-grams, subsequences, vectors."""
