"""Pages of the newer API: filtered, sorted, cut by `page` and `page-size`, with the count of all."""

from collections.abc import Callable, Iterable
from typing import Any

from svc_env import HandlerContext, Row

from .refusals import refuse
from .rsql import FilterError, matches, read_filter, sortable

MOST_ON_A_PAGE = 2000


def whole_number(ctx: HandlerContext, name: str, usual: int, least: int, most: int) -> int:
    """A query parameter that is a number."""
    given = ctx.args.get(name)
    if given is None or given == "":
        return usual
    if not str(given).isascii() or not str(given).isdigit() or not least <= int(given[:10]) <= most:
        refuse(ctx, 400, "INVALID_FIELD", f"{name} must be a whole number from {least} to {most}", name)
    return int(given)


def select(
    ctx: HandlerContext,
    rows: Iterable[Row],
    value_of: Callable[[Row, str], Any],
    fields: frozenset[str],
    sorts: frozenset[str],
    usual_sort: str,
) -> tuple[list[Row], int]:
    """The rows of the page that was asked for, and how many match in all."""
    size = whole_number(ctx, "page-size", 100, 1, MOST_ON_A_PAGE)
    page = whole_number(ctx, "page", 0, 0, 1_000_000)
    found = list(rows)
    if ctx.args.get("filter"):
        try:
            tree = read_filter(ctx.args["filter"], fields)
        except FilterError as error:
            refuse(ctx, 400, "INVALID_FIELD", str(error), error.field or "filter")
        found = [row for row in found if matches(tree, lambda field, row=row: value_of(row, field))]
    for field, is_falling in reversed(_orders(ctx, sorts, usual_sort)):
        found.sort(key=lambda row: sortable(value_of(row, field)), reverse=is_falling)
    return found[page * size : (page + 1) * size], len(found)


def _orders(ctx: HandlerContext, sorts: frozenset[str], usual: str) -> list[tuple[str, bool]]:
    given = ctx.args.get("sort") or [usual]
    orders = []
    for part in ",".join(given).split(","):
        field, _, direction = part.strip().partition(":")
        if field not in sorts:
            refuse(ctx, 400, "INVALID_FIELD", f"Invalid sort field: {field}", field or "sort")
        if direction.lower() not in ("", "asc", "desc"):
            refuse(ctx, 400, "INVALID_FIELD", f"Invalid sort direction: {direction}", field)
        orders.append((field, direction.lower() == "desc"))
    return orders


def path_value(row: Row, path: str) -> Any:
    """The value at a path such as `general.remoteManagement.managed`."""
    value: Any = row
    for part in path.split("."):
        value = value.get(part) if isinstance(value, dict) else None
    return value
