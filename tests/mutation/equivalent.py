"""Faults that change nothing, each read: (file under metrics/, function, change) and why the program is the same."""

EQUIVALENT: dict[tuple[str, str, str], str] = {}
