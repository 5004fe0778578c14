"""Point mutations: the places in a source where one small change makes another program.

Drawn over the syntax tree: comparisons turned round or moved by their boundary, arithmetic, constants, `and`
and `or`, `not`, returned values, statements. Left out is what no test of behaviour could notice: docstrings,
annotations, decorators, `__all__`, `__slots__`, blocks for type checkers, and tables of words and rules; and
what every test would notice, such as the only assignment of a local variable.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from fnmatch import fnmatch
from itertools import accumulate

TABLES = ("rules.py", "*_rules.py", "words.py")  # files that hold nothing but rows

_BOUNDARY: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
}
_OPPOSITE: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.GtE,
    ast.LtE: ast.Gt,
    ast.Gt: ast.LtE,
    ast.GtE: ast.Lt,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
_ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
_REMOVABLE = (ast.Assign, ast.AugAssign, ast.Break, ast.Continue, ast.Delete, ast.Expr, ast.If, ast.Raise)
_WRITTEN_FOR_TOOLS = {"__all__", "__slots__", "__version__"}
_TYPE_FORMS = {"NewType", "ParamSpec", "TypeVar", "cast"}  # their first arguments are types and names


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutation:
    """One small change of one source.

    Args:
        line: Line of the change, from 1.
        column: Its first byte in that line, from 1.
        start: First byte that is replaced.
        end: First byte after that.
        text: What stands there instead.
        change: The change for readers, `before -> after`, shortened.
    """

    line: int
    column: int
    start: int
    end: int
    text: str
    change: str

    def apply(self, source: str) -> str:
        """The source with this change."""
        code = source.encode()
        return (code[: self.start] + self.text.encode() + code[self.end :]).decode()


def mutations(source: str, name: str = "") -> list[Mutation]:
    """All point mutations of a source, in the order of its lines; none of a file of tables."""
    if any(fnmatch(name, pattern) for pattern in TABLES):
        return []
    visitor = _Points(source)
    visitor.visit(ast.parse(source))
    return sorted(visitor.points, key=lambda point: (point.start, point.end, point.text))


class _Points(ast.NodeVisitor):
    def __init__(self, source: str) -> None:
        self.points: list[Mutation] = []
        self._code = source.encode()
        self._starts = [0, *accumulate(map(len, self._code.splitlines(keepends=True)))]
        self._depth = 0  # functions around

    def _replace(self, node: ast.expr | ast.stmt, text: str) -> None:
        start = self._starts[node.lineno - 1] + node.col_offset
        end = self._starts[(node.end_lineno or 0) - 1] + (node.end_col_offset or 0)
        before = " ".join(self._code[start:end].decode().split())
        change = f"{before[:70]} -> {text[:70]}"
        line, column = node.lineno, node.col_offset + 1
        point = Mutation(line=line, column=column, start=start, end=end, text=text, change=change)
        self.points.append(point)

    def visit(self, node: ast.AST) -> None:
        if self._depth and isinstance(node, _REMOVABLE) and not _is_needed(node):
            self._replace(node, "pass")
        super().visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        for place, operator in enumerate(node.ops):
            for table in (_BOUNDARY, _OPPOSITE):
                if other := table.get(type(operator)):
                    ops = [*node.ops[:place], other(), *node.ops[place + 1 :]]
                    self._replace(node, f"({ast.unparse(ast.Compare(node.left, ops, node.comparators))})")
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        other = _ARITHMETIC.get(type(node.op))
        if other and (self._depth or not isinstance(node.op, ast.BitOr)):  # `A | B` up there is a type
            self._replace(node, f"({ast.unparse(ast.BinOp(node.left, other(), node.right))})")
        self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        if other := _ARITHMETIC.get(type(node.op)):
            self._replace(node, ast.unparse(ast.AugAssign(node.target, other(), node.value)))
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        self._replace(node, f"({ast.unparse(ast.BoolOp(other, node.values))})")
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, ast.Not):
            self._replace(node, f"({ast.unparse(node.operand)})")
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        value = node.value
        if isinstance(value, bool):
            self._replace(node, str(not value))
        elif isinstance(value, int):
            self._replace(node, f"({value + 1})")
            self._replace(node, f"({value - 1})")
        elif isinstance(value, float):  # most of them are shares: one more would be noticed by a blind test
            self._replace(node, f"({value * 1.1 or 0.1!r})")

    def visit_Return(self, node: ast.Return) -> None:
        if node.value and not (isinstance(node.value, ast.Constant) and node.value.value is None):
            self._replace(node, "return None")
        self.generic_visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        if any("overload" in ast.unparse(decorator) for decorator in node.decorator_list):
            return
        for default in (*node.args.defaults, *node.args.kw_defaults):
            if default is not None:
                self.visit(default)
        self._depth += 1
        for statement in node.body:
            self.visit(statement)
        self._depth -= 1

    visit_AsyncFunctionDef = visit_FunctionDef  # noqa: N815 - the name that ast looks for

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        for statement in node.body:
            self.visit(statement)

    def visit_Assign(self, node: ast.Assign) -> None:
        self._assigned(node.targets[0], node.value)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value and "TypeAlias" not in ast.unparse(node.annotation):
            self._assigned(node.target, node.value)

    def _assigned(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, ast.Name) and target.id in _WRITTEN_FOR_TOOLS:
            return
        if self._depth or not any(_is_table(part) for part in ast.walk(value)):
            self.visit(value)

    def visit_If(self, node: ast.If) -> None:
        if not any(name in ast.unparse(node.test) for name in ("TYPE_CHECKING", "__name__")):
            self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        types = isinstance(node.func, ast.Name) and node.func.id in _TYPE_FORMS
        self.visit(node.func)
        for argument in (*node.args[types:], *node.keywords):
            self.visit(argument)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """Before Python 3.12 the places inside are not where the tree says."""

    def visit_Import(self, node: ast.Import | ast.ImportFrom) -> None:
        """Nothing to change."""

    visit_ImportFrom = visit_Import  # noqa: N815 - likewise


def _is_needed(node: ast.stmt) -> bool:
    """Whether a statement is a docstring, or gives a local variable a value without which nothing runs."""
    if isinstance(node, ast.Assign):
        names = {target.id for target in node.targets if isinstance(target, ast.Name)}
        reads = {part.id for part in ast.walk(node.value) if isinstance(part, ast.Name)}
        return len(names) == len(node.targets) and not names & reads
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _is_table(node: ast.AST) -> bool:
    return isinstance(node, ast.Dict | ast.List | ast.Set | ast.Tuple)
