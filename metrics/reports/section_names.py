"""The sections that a report can be made of, in their order; light enough for the command line."""

from collections.abc import Collection, Mapping

from metrics.core.errors import InputError, InputProblem

SECTIONS: Mapping[str, tuple[str, str]] = {  # name: title, what it holds
    "summary": ("Summary", "one page for whoever decides"),
    "leaderboard": ("Leaderboard", "metrics with their intervals"),
    "comparison": ("Is it really better?", "tested differences"),
    "problems": ("Problems", "missed thresholds and insights"),
    "preferences": ("Preferences", "whose answers people and the judge prefer"),
    "slices": ("Slices", "groups of cases that are worse than the rest"),
    "perturbations": ("Perturbations", "verdicts that flip"),
    "defects": ("Defects", "broken files, answers too short to compare"),
    "charts": ("Charts", "scores, curves, confusion, classes"),
    "worst-cases": ("Worst cases", "in full, with evidence and boxes"),
    "agreement": ("Judge agreement", "the judge beside people's labels"),
    "tests": ("What was tested", "how many tests, with which correction"),
    "receipt": ("What was read", "what became of each part of the files"),
    "compliance": ("Compliance", "metrics as evidence for standards"),
    "methods": ("Methods", "what each number means, parameters, sources"),
    "formulas": ("Formulas", "each definition in full, below Methods"),
    "data": ("Data and run", "fingerprints, versions, the judge"),
}
ON_REQUEST = frozenset({"receipt", "compliance", "formulas"})  # long, and for few readers


def chosen_sections(names: Collection[str] | None) -> frozenset[str]:
    """Return the sections with these names, for None all but those ON_REQUEST.

    InputError listing every name that is none.
    """
    if names is None:
        return frozenset(SECTIONS) - ON_REQUEST
    if (unknown := [name for name in names if name not in SECTIONS]) or not names:
        found = ", ".join(map(repr, unknown)) or "none"
        raise InputError([InputProblem("report sections", found, f"some of {', '.join(SECTIONS)}")])
    return frozenset(names)
