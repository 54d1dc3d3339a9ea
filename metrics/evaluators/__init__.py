"""One file an evaluator, in folders by what they judge; metrics.core.registry walks them.

Calling the package lists them: `from metrics import evaluators; evaluators()["rouge"]`.
"""

import sys
from collections.abc import Mapping
from types import ModuleType
from typing import Any


class _Catalogue(ModuleType):
    """The package as a function: `metrics.evaluators` is both the folder and the public name of what is in it."""

    def __call__(self) -> Mapping[str, Any]:
        from metrics.core.registry import evaluators

        return evaluators()


sys.modules[__name__].__class__ = _Catalogue
