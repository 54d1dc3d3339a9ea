"""The sections that a report can be made of, in their order; light enough for the command line."""

from collections.abc import Collection, Mapping

from metrics.core.errors import InputError, InputProblem

SECTIONS: Mapping[str, str] = {
    "summary": "Summary",
    "leaderboard": "Leaderboard",
    "comparison": "Is it really better?",
    "problems": "Problems",
    "slices": "Slices",
    "perturbations": "Perturbations",
    "defects": "Defects",
    "charts": "Charts",
    "worst-cases": "Worst cases",
    "agreement": "Judge agreement",
    "compliance": "Compliance",
    "methods": "Methods",
    "data": "Data and run",
}


def chosen_sections(names: Collection[str] | None) -> frozenset[str]:
    """Return the sections with these names, all of them for None; InputError listing every name that is none."""
    if names is None:
        return frozenset(SECTIONS)
    unknown = [name for name in names if name not in SECTIONS]
    if unknown or not names:
        found = ", ".join(map(repr, unknown)) or "none"
        raise InputError([InputProblem("report sections", found, f"some of {', '.join(SECTIONS)}")])
    return frozenset(names)
