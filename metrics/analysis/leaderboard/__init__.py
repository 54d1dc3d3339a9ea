"""Which model is best? Cells, ranks, distributions, significance and cost."""
