"""Finding rows, for handlers of any world: what requests write for ids and names, and where they lead.

    from svc_env.finding import by_id, by_name, indexed, known, whole_number

    def get_issue(ctx):
        return by_id(ctx, "issues", ctx.args["id"]) or ctx.fail(404, {"message": "Not Found"})

Nothing here refuses by itself but `known`, whose failure is a mistake of the code: how to say no is the vendor's.
"""

from __future__ import annotations

from .ctx import _Reader as Reader
from .run import Row
from .typed import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

__all__ = ["by_id", "by_name", "indexed", "known", "same_name", "whole_number"]

#: Longer numbers are beyond what JSON carries unaltered.
_LONGEST = 15


def whole_number(value: object) -> int | None:
    """The number that a path, a query or a body names a row by, also where it is written as a text.

    >>> whole_number("10100"), whole_number("-1"), whole_number(True)
    (10100, None, None)
    """
    text = str(value)
    is_number = not isinstance(value, bool) and text.isascii() and text.isdecimal()
    return int(text) if is_number and len(text) <= _LONGEST else None


def same_name(one: str, other: str) -> bool:
    """Whether two names differ by nothing but the case of their letters."""
    return one.casefold() == other.casefold()


def known(ctx: Reader, entity: str, key: Row) -> Row:
    """The row that another row refers to: the contract says that it is there."""
    row = ctx.get(entity, key)
    assert row is not None, f"no row of {entity} has the key {key}"
    return row


def by_id(ctx: Reader, entity: str, value: object, field: str = "id") -> Row | None:
    """The row of an entity whose key is one number, by what a request says of it."""
    number = whole_number(value)
    return None if number is None else ctx.get(entity, {field: number})


def by_name(
    ctx: Reader, entity: str, name: object, where: Row | None = None, field: str = "name"
) -> Row | None:
    """The first row of this name, whatever the case of its letters; an exact one goes before."""
    wanted = str(name)
    exact = ctx.query(entity, {**(where or {}), field: wanted}, limit=1)
    if exact:
        return exact[0]
    rows = ctx.query(entity, where or {})
    return next((row for row in rows if same_name(str(row.get(field, "")), wanted)), None)


def indexed(rows: list[Row], field: str = "id") -> dict[Any, Row]:
    """Rows by the value of a field that no two of them share."""
    return {row[field]: row for row in rows}
