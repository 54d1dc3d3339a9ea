"""The table of perturbations. A new kind is a function that finds its sites, and a Kind in the list below it.

Lists: characters.KINDS, wording.KINDS, judged_kinds.KINDS.
"""

from metrics.perturbations import characters, judged_kinds, wording
from metrics.perturbations.kind import Kind

COPY = Kind("copy", "Copy", "The text as it is: the control. What flips here flips by chance")
# in the order in which a suite lists the variants of a case
ALL = (COPY, *characters.KINDS, *wording.KINDS, characters.LAYOUT, *judged_kinds.KINDS)
KINDS: dict[str, Kind] = {kind.name: kind for kind in ALL}
RULE_KINDS = tuple(kind.name for kind in ALL if not kind.is_judged)
