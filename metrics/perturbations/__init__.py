"""Perturbations: variants of a suite's cases that show how robust a model is against the way it is asked.

    from metrics.perturbations import perturb

    made = perturb(suite, ["copy", "keyboard", "synonym"], intensity="medium", seed=1)
    made.suite          # the cases of the suite and their variants, which name their original in `perturbs`
    made.left           # what could not be varied, and why

A variant has the expected answers of its original. `copy` is the control: what flips there flips by chance.
"""

from metrics.perturbations.kinds import INTENSITIES, KINDS, RULE_KINDS, Intensity, Kind
from metrics.perturbations.perturb import FIELDS, Left, Perturbed, perturb

__all__ = ["FIELDS", "INTENSITIES", "KINDS", "RULE_KINDS", "Intensity", "Kind", "Left", "Perturbed", "perturb"]
