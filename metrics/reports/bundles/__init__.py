"""Bundles: a run as a folder of static files that a browser opens from a disk or any web host."""

MOST_OF_NUMBER = 100  # cases of each number that a bundle shows, unless asked otherwise
MOST_CASES = 2_000  # of all numbers together
