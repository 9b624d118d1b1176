"""Pages of a list, in the forms that the tracker's routes have."""

from collections.abc import Callable

from svc_env import HandlerContext, Row

from .addresses import SITE
from .reading import number_asked


def window(ctx: HandlerContext, default: int = 50, largest: int = 100) -> tuple[int, int]:
    """Returns the start of the requested page, and its size."""
    start = number_asked(ctx, "startAt", 0)
    return start, number_asked(ctx, "maxResults", default, largest)


def page_of(
    ctx: HandlerContext,
    rows: list[Row],
    answer: Callable[[Row], Row],
    default: int = 50,
    key: str = "values",
) -> Row:
    """The page that is asked for, with its address and whether it is the last."""
    start, size = window(ctx, default)
    shown = rows[start : start + size]
    return {
        "self": f"{SITE}{ctx.path}",
        "maxResults": size,
        "startAt": start,
        "total": len(rows),
        "isLast": start + size >= len(rows),
        key: [answer(row) for row in shown],
    }
