"""One file a question about a run: each answers with the blocks that every place draws."""
