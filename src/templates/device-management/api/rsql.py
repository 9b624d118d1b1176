"""The filter language of the newer API: comparisons such as `general.name=="Ada*"` joined by `;` (and) and `,` (or).

A filter is read into a tree of tuples, which `matches` holds to a row's values. What is no filter raises
`FilterError` with the place.
"""

import re
from collections.abc import Callable
from typing import Any

#: Nested parentheses, and comparisons in all.
MOST_DEPTH = 20
MOST_COMPARISONS = 200

_OPERATORS = {
    "==": "eq", "!=": "ne", "<": "lt", "=lt=": "lt", "<=": "le", "=le=": "le",
    ">": "gt", "=gt=": "gt", ">=": "ge", "=ge=": "ge", "=in=": "in", "=out=": "out",
}
_TOKEN = re.compile(
    r"""\s*(?:
      (?P<op>==|!=|<=|>=|<|>|=[a-z]+=)
    | (?P<mark>[();,])
    | "(?P<double>(?:[^"\\]|\\.)*)"
    | '(?P<single>(?:[^'\\]|\\.)*)'
    | (?P<word>[^"'();,<>=!~\s]+)
    )""",
    re.VERBOSE,
)

Tree = tuple[Any, ...]


class FilterError(Exception):
    """Mistake in a filter, with its field if it concerns one."""

    def __init__(self, description: str, field: str | None = None) -> None:
        super().__init__(description)
        self.field = field


class _Reader:
    def __init__(self, text: str) -> None:
        self._tokens = list(_tokens(text))
        self._at = 0
        self._comparisons = 0

    def read(self) -> Tree:
        tree = self._either(0)
        if self._at < len(self._tokens):
            raise FilterError(f"Unexpected '{self._tokens[self._at][1]}' in the filter")
        return tree

    def _either(self, depth: int) -> Tree:
        return self._joined(",", "or", lambda: self._both(depth))

    def _both(self, depth: int) -> Tree:
        return self._joined(";", "and", lambda: self._one(depth))

    def _joined(self, mark: str, word: str, read: Callable[[], Tree]) -> Tree:
        parts = [read()]
        while self._takes(("mark", mark)) or self._takes(("word", word)):
            parts.append(read())
        return parts[0] if len(parts) == 1 else (word, parts)

    def _one(self, depth: int) -> Tree:
        if depth > MOST_DEPTH:
            raise FilterError("The filter nests too deep")
        if self._takes(("mark", "(")):
            tree = self._either(depth + 1)
            self._needs(("mark", ")"))
            return tree
        self._comparisons += 1
        if self._comparisons > MOST_COMPARISONS:
            raise FilterError("The filter has too many comparisons")
        field = self._next("word", "a field")
        written = self._next("op", "an operator")
        operator = _OPERATORS.get(written)
        if operator is None:
            raise FilterError(f"Unknown operator: {written}", field)
        return (operator, field, self._values(operator in ("in", "out")))

    def _values(self, is_list: bool) -> list[str]:
        if not is_list:
            return [self._value()]
        self._needs(("mark", "("))
        values = [self._value()]
        while self._takes(("mark", ",")):
            values.append(self._value())
        self._needs(("mark", ")"))
        return values

    def _value(self) -> str:
        kind, text = self._peek()
        if kind not in ("word", "text"):
            raise FilterError("A value is missing in the filter")
        self._at += 1
        return text

    def _peek(self) -> tuple[str, str]:
        return self._tokens[self._at] if self._at < len(self._tokens) else ("end", "")

    def _takes(self, token: tuple[str, str]) -> bool:
        if self._peek() != token:
            return False
        self._at += 1
        return True

    def _needs(self, token: tuple[str, str]) -> None:
        if not self._takes(token):
            raise FilterError(f"'{token[1]}' is missing in the filter")

    def _next(self, kind: str, what: str) -> str:
        found, text = self._peek()
        if found != kind:
            raise FilterError(f"The filter needs {what} at '{text}'")
        self._at += 1
        return text


def _tokens(text: str) -> list[tuple[str, str]]:
    found, at = [], 0
    text = text.rstrip()
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise FilterError(f"Unexpected '{text[at]}' in the filter")
        kind = match.lastgroup or ""
        value = match.group(kind)
        if kind in ("double", "single"):
            kind, value = "text", re.sub(r"\\(.)", r"\1", value)
        found.append((kind, value))
        at = match.end()
    return found


def read_filter(text: str, fields: frozenset[str]) -> Tree:
    """The filter as a tree, all of whose fields are known."""
    tree = _Reader(text).read()
    _check(tree, fields)
    return tree


def _check(tree: Tree, fields: frozenset[str]) -> None:
    if tree[0] in ("and", "or"):
        for part in tree[1]:
            _check(part, fields)
    elif tree[1] not in fields:
        raise FilterError(f"Invalid filter field: {tree[1]}", tree[1])


def matches(tree: Tree, value_of: Callable[[str], Any]) -> bool:
    """Returns true if a row matches; `value_of` finds its values."""
    operator, *rest = tree
    if operator == "and":
        return all(matches(part, value_of) for part in rest[0])
    if operator == "or":
        return any(matches(part, value_of) for part in rest[0])
    field, wanted = rest
    return _holds(operator, value_of(field), wanted)


def _holds(operator: str, value: Any, wanted: list[str]) -> bool:
    if operator in ("eq", "in"):
        return any(_equals(value, one) for one in wanted)
    if operator in ("ne", "out"):
        return not any(_equals(value, one) for one in wanted)
    if value is None:
        return False
    ours, theirs = sortable(value), sortable(_alike(value, wanted[0]))
    if operator in ("lt", "le"):
        return ours < theirs or (operator == "le" and ours == theirs)
    return ours > theirs or (operator == "ge" and ours == theirs)


def _equals(value: Any, wanted: str) -> bool:
    text = "" if value is None else text_of(value)
    if "*" not in wanted:
        return text.lower() == wanted.lower()
    # Piece by piece, as a pattern could take very long over a text.
    pieces = wanted.lower().split("*")
    rest = text.lower()
    if not rest.startswith(pieces[0]) or len(rest) < sum(map(len, pieces)):
        return False
    rest = rest[len(pieces[0]) :]
    for piece in pieces[1:-1]:
        at = rest.find(piece)
        if at < 0:
            return False
        rest = rest[at + len(piece) :]
    return rest.endswith(pieces[-1])


def _alike(value: Any, wanted: str) -> Any:
    """Converts the written text to the type of the row's value."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        try:
            return float(wanted)
        except ValueError:
            return wanted
    return wanted


def text_of(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def sortable(value: Any) -> tuple[int, float, str]:
    """A key to order values by: nothing first, then numbers, then texts in any case."""
    if value is None:
        return (0, 0.0, "")
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return (1, float(value), "")
    return (2, 0.0, text_of(value).lower())
