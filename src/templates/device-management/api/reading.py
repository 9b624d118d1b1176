"""Rows of a large fleet: all of its devices are more than one query answers, which is 4 MiB."""

from collections.abc import Callable, Iterator
from typing import Any

from svc_env import Row

#: Inventories of so many devices are well below that.
ROWS_AT_ONCE = 200


def all_rows(query: Callable[..., list[Row]], entity: str, order_by: Any = None) -> Iterator[Row]:
    """All rows of an entity, however many, by `ctx.query` or the `query` of tools."""
    start = 0
    while True:
        rows = query(entity, limit=ROWS_AT_ONCE, offset=start, order_by=order_by)
        yield from rows
        if len(rows) < ROWS_AT_ONCE:
            return
        start += ROWS_AT_ONCE
