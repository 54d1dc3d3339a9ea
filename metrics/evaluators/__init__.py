"""One file per evaluator, in folders by what they evaluate; metrics.core.registry finds them.

The public function `metrics.evaluators()` has the package's name, and importing any evaluator binds that name to the
package. So the package itself can be called: `from metrics import evaluators; evaluators()["rouge"]`.
"""

import sys
from collections.abc import Mapping
from types import ModuleType
from typing import Any


class _CallablePackage(ModuleType):
    """A package that returns every evaluator by id when it is called."""

    def __call__(self) -> Mapping[str, Any]:
        from metrics.core.registry import evaluators

        return evaluators()


sys.modules[__name__].__class__ = _CallablePackage
