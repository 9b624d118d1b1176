"""Functions that find rows for handlers of any world, by the ids and names that requests contain.

    from svc_env.finding import by_id, by_name, indexed, known, whole_number

    def get_issue(ctx):
        return by_id(ctx, "issues", ctx.args["id"]) or ctx.fail(404, {"message": "Not Found"})

The functions refuse nothing, because each vendor has its own errors. Only `known` fails if there is no row,
which is a mistake of the code.
"""

from __future__ import annotations

from .ctx import _Reader as Reader
from .run import Row
from .typed import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

__all__ = ["by_id", "by_name", "indexed", "known", "same_name", "whole_number"]

#: Maximum number of digits. JSON does not represent all longer numbers exactly.
_LONGEST = 15


def whole_number(value: object) -> int | None:
    """Returns the whole number that a value of a path, a query or a body means, also if it is a text; None if
    it is no such number.

    >>> whole_number("10100"), whole_number("-1"), whole_number(True)
    (10100, None, None)
    """
    text = str(value)
    is_number = not isinstance(value, bool) and text.isascii() and text.isdecimal()
    return int(text) if is_number and len(text) <= _LONGEST else None


def same_name(one: str, other: str) -> bool:
    """Returns True if two names are equal or differ only in the case of their letters."""
    return one.casefold() == other.casefold()


def known(ctx: Reader, entity: str, key: Row) -> Row:
    """Returns a row that another row refers to. It must exist, because the contract says so."""
    row = ctx.get(entity, key)
    assert row is not None, f"no row of {entity} has the key {key}"
    return row


def by_id(ctx: Reader, entity: str, value: object, field: str = "id") -> Row | None:
    """Returns the row of an entity whose key is one number, by the text or number in a request; None if there
    is none.
    """
    number = whole_number(value)
    return None if number is None else ctx.get(entity, {field: number})


def by_name(
    ctx: Reader, entity: str, name: object, where: Row | None = None, field: str = "name"
) -> Row | None:
    """Returns the first row with this name in upper or lower case; a row with exactly this name comes first."""
    wanted = str(name)
    exact = ctx.query(entity, {**(where or {}), field: wanted}, limit=1)
    if exact:
        return exact[0]
    rows = ctx.query(entity, where or {})
    return next((row for row in rows if same_name(str(row.get(field, "")), wanted)), None)


def indexed(rows: list[Row], field: str = "id") -> dict[Any, Row]:
    """Returns the rows by the value of a field. No two rows may have the same value."""
    return {row[field]: row for row in rows}
