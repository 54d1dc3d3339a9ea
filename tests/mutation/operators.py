"""Mutants of a module: each is its syntax tree with one small fault, of the kinds that people make."""

import ast
import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import CodeType

OTHER_COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE), ast.LtE: (ast.Lt, ast.Gt), ast.Gt: (ast.GtE, ast.LtE), ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,), ast.NotEq: (ast.Eq,), ast.In: (ast.NotIn,), ast.NotIn: (ast.In,),
    ast.Is: (ast.IsNot,), ast.IsNot: (ast.Is,),
}  # fmt: skip
OTHER_OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult, ast.Mod: ast.Mult,
    ast.Pow: ast.Mult, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.LShift: ast.RShift, ast.RShift: ast.LShift,
}  # fmt: skip
SWAPPED = {"min": "max", "minimum": "maximum", "any": "all", "argmin": "argmax", "floor": "ceil", "cumsum": "cumprod"}
SWAPPED |= {value: key for key, value in SWAPPED.items()}


@dataclass(frozen=True)
class Mutant:
    """The number-th fault of a file: where it stands, the outermost function around it, and what it changes."""

    file: Path
    number: int
    line: int
    function: str  # as in a traceback, Class.method; empty in a constant of the module
    change: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line} {self.function}: {self.change}"

    def code(self) -> CodeType:
        tree = ast.parse(self.file.read_text(encoding="utf-8"))
        for number, fault in enumerate(_faults(tree)):
            if number == self.number:
                fault.put()
                break
        return compile(ast.fix_missing_locations(tree), str(self.file), "exec")


@dataclass(frozen=True)
class _Fault:
    node: ast.AST
    function: str
    before: str
    after: str
    put: Callable[[], None]


def mutants(file: Path) -> list[Mutant]:
    """Return every mutant of a file, in the order of its tree."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    return [
        Mutant(file, number, getattr(fault.node, "lineno", 0), fault.function, f"{fault.before} → {fault.after}")
        for number, fault in enumerate(_faults(tree))
    ]


def _faults(tree: ast.Module) -> Iterator[_Fault]:
    for statement in tree.body:
        if isinstance(statement, ast.Assign | ast.AnnAssign) and statement.value:
            yield from _inside(statement, "value", "")
        elif isinstance(statement, ast.FunctionDef):
            yield from _of_function(statement, statement.name)
        elif isinstance(statement, ast.ClassDef):
            for member in statement.body:
                if isinstance(member, ast.FunctionDef):
                    yield from _of_function(member, f"{statement.name}.{member.name}")


def _of_function(function: ast.FunctionDef, name: str) -> Iterator[_Fault]:
    """Yield the faults of defaults and body; decorators and annotations are none of a function's behaviour."""
    for field in ("defaults", "kw_defaults"):
        yield from _inside(function.args, field, name)
    yield from _inside(function, "body", name)


def _inside(parent: ast.AST, field: str, function: str) -> Iterator[_Fault]:
    value = getattr(parent, field)
    for place, node in enumerate(value) if isinstance(value, list) else [(None, value)]:
        if not isinstance(node, ast.AST):
            continue
        for other in _others(node):
            if not function and isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
                continue  # a union of types
            put = _putting(parent, field, place, other)
            shown = parent if isinstance(node, ast.Constant) and isinstance(parent, ast.expr | ast.keyword) else None
            before = _text(shown or node)
            put()
            after = _text(shown or other)
            _putting(parent, field, place, node)()
            yield _Fault(node, function, before, after, put)
        if isinstance(node, ast.FunctionDef):
            yield from _of_function(node, function)
            continue
        if isinstance(node, ast.Assert) or (isinstance(node, ast.keyword) and node.arg == "strict"):
            continue  # what they check is so
        for name in node._fields:
            if not (name == "annotation" or isinstance(node, ast.JoinedStr)):
                yield from _inside(node, name, function)


def _putting(parent: ast.AST, field: str, place: int | None, other: ast.AST) -> Callable[[], None]:
    def put() -> None:
        if place is None:
            setattr(parent, field, other)
        else:
            getattr(parent, field)[place] = other

    return put


def _text(node: ast.AST) -> str:
    return " ".join(ast.unparse(node).split())[:160]


def _others(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what may stand in a node's place."""
    match node:
        case ast.Compare():
            for place, found in enumerate(node.ops):
                for other in OTHER_COMPARISONS[type(found)]:
                    yield _with(node, ops=[*node.ops[:place], other(), *node.ops[place + 1 :]])
        case ast.BinOp() | ast.AugAssign() if type(node.op) in OTHER_OPERATORS:
            yield _with(node, op=OTHER_OPERATORS[type(node.op)]())
        case ast.BoolOp():
            yield _with(node, op=ast.Or() if isinstance(node.op, ast.And) else ast.And())
        case ast.UnaryOp(op=ast.Not() | ast.USub() | ast.Invert()):
            yield node.operand
        case ast.Constant(value=bool()):
            yield ast.copy_location(ast.Constant(not node.value), node)
        case ast.Constant(value=int() | float()):
            for step in (1, -1):
                yield ast.copy_location(ast.Constant(node.value + step), node)
        case ast.Return(value=ast.expr()) if not (isinstance(node.value, ast.Constant) and node.value.value is None):
            yield _with(node, value=ast.Constant(None))
        case ast.If() | ast.IfExp() | ast.While() if isinstance(node.test, ast.Name | ast.Call | ast.Attribute):
            yield _with(node, test=ast.UnaryOp(ast.Not(), node.test))
        case ast.Call(func=ast.Name(id=name)) if name in SWAPPED:
            yield _with(node, func=ast.copy_location(ast.Name(SWAPPED[name], ast.Load()), node.func))
        case ast.Call(func=ast.Attribute(value=value, attr=name)) if name in SWAPPED:
            yield _with(node, func=ast.copy_location(ast.Attribute(value, SWAPPED[name], ast.Load()), node.func))
        case ast.Slice():
            for bound in ("lower", "upper"):
                if (end := getattr(node, bound)) is not None and not isinstance(end, ast.Constant):
                    step = ast.Add() if bound == "lower" else ast.Sub()
                    yield _with(node, **{bound: ast.BinOp(end, step, ast.Constant(1))})


def _with(node: ast.AST, **changes: object) -> ast.AST:
    other = copy.copy(node)
    for name, value in changes.items():
        setattr(other, name, value)
    return other
