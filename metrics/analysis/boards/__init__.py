"""Boards: the models of all sealed runs of a suite side by side, as one run would have them."""
