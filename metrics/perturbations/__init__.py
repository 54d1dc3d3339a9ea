"""Perturbations: variants of a suite's cases that show how robust a model is to the wording of its input.

    from metrics.perturbations import perturb

    made = perturb(suite, ["copy", "keyboard", "synonym"], intensity="medium", seed=1)
    made.suite          # the cases of the suite and their variants, which name their original in `perturbs`
    made.skipped        # the cases without a variant of some kind, and why

A variant has the expected answers of its original. `copy` is the control: what flips there flips by chance.
"""

from metrics.perturbations.kind import INTENSITIES, Kind
from metrics.perturbations.kinds import KINDS, RULE_KINDS
from metrics.perturbations.perturb import FIELDS, Perturbed, perturb
from metrics.perturbations.variant_rows import Skipped
