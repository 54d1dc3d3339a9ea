"""Which cases tell models apart, in sentences: the same on the page and in the report."""

from metrics.analysis import CaseItems, ShortSuites
from metrics.presentation.format import exact, number, plural
from metrics.presentation.phrases import named
from metrics.stats.model_families import FEWEST

MOST_FAMILIES, MOST_NAMED = 3, 4  # families that are listed, and models of each


def needs(found: CaseItems) -> str:
    """Return what is missing for a fit, in a sentence; "" where there is one."""
    if found.needs_models:
        have = len(found.models)
        return f"Difficulty and discrimination need {have + found.needs_models} models; you have {have}."
    if found.needs_cases:
        have = len(found.rows)
        return f"Difficulty and discrimination need {have + found.needs_cases} cases; you have {have}."
    return ""


def alike(found: CaseItems) -> str:
    """Return which models share mistakes, and as how many they count, in a sentence; "" where none do."""
    models, counted = len(found.models), len(found.families)
    if counted == models:
        return "" if found.are_labels_checked else "These models answer too much alike."
    groups = [named(own[:MOST_NAMED]) + (" …" if len(own) > MOST_NAMED else "") for own in found.families]
    shown = "; ".join(group for group, own in zip(groups[:MOST_FAMILIES], found.families, strict=False) if len(own) > 1)
    return f"These {models} models count as {counted}, since some share mistakes: {shown}."


def suspects(found: CaseItems) -> str:
    """Return how many labels are suspect, and how many more cases are unusual, in sentences."""
    sure, odd, hard = (found.of(verdict) for verdict in ("suspect", "unusual", "all wrong"))
    of = f"of {plural(len(found.rows), 'case')}"
    told = [f"None {of} is significantly likely to be mislabelled."]
    if not found.are_labels_checked:
        told = [f"{alike(found)} Labels are not checked: it takes {FEWEST} that answer independently."]
    elif shared := alike(found):
        told.append(shared)
    if sure:
        verb = "is" if len(sure) == 1 else "are"
        told[0] = f"{len(sure)} {of} {verb} probably mislabelled: {named([row.case_id for row in sure])}."
    if odd:
        more = " more" if sure else ""
        looks = f"{more} case looks" if len(odd) == 1 else f"{more} cases look"
        told.append(f"{len(odd)}{looks} unusual ({exact(round(found.by_chance, 1))} expected by chance).")
    if hard:
        told.append(f"No model is right on {plural(len(hard), 'case')}.")
    return " ".join(told)


def shortest(found: ShortSuites) -> str:
    """Return how few cases keep the ranking, in a sentence; "" where there are too few cases to ask."""
    if not found.sizes:
        return ""
    if found.smallest is None:
        most = found.sizes[-1].cases
        return f"No suite of up to {most} of these cases keeps the ranking of the models (Kendall's τ ≥ 0.9)."
    best = found.smallest
    return (
        f"{best.cases} cases keep the ranking of the models: Kendall's τ {number(best.tau)} with the ranking by all "
        f"cases ({number(best.random)} with {best.cases} at random)."
    )
