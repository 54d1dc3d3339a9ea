"""A plugin of mypy that refuses the built-in `sum` of floats: Pythons round it differently.

It is `metrics.core.rounding.exact_sum` that is meant. Where mypy looks for a form of `sum` that fits, it says that
none does: 'Argument 1 to "sum" has incompatible type "list[float]"'.
"""

from collections.abc import Callable

from mypy.plugin import FunctionContext, Plugin
from mypy.types import Instance, Type, UnionType, get_proper_type


def holds_float(one: Type) -> bool:
    kind = get_proper_type(one)
    if isinstance(kind, UnionType):
        return any(map(holds_float, kind.items))
    return isinstance(kind, Instance) and kind.type.fullname == "builtins.float"


def refuse_floats(context: FunctionContext) -> Type:
    if holds_float(context.default_return_type):
        context.api.fail("Pythons round a sum of floats differently: use exact_sum", context.context)
    return context.default_return_type


class FloatSums(Plugin):
    def get_function_hook(self, fullname: str) -> Callable[[FunctionContext], Type] | None:
        return refuse_floats if fullname == "builtins.sum" else None


def plugin(version: str) -> type[Plugin]:
    return FloatSums
