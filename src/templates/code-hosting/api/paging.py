"""Pages of a list, and the Link header by which clients find the next one.

A client may ask for any page by its number. The link to the next one says more: after which row it
begins. A client that follows links therefore sees every row once, whatever is inserted in the meantime.
"""

import base64
import json
from bisect import bisect_left
import re
from collections.abc import Callable

from svc_env import HandlerContext, Row

from .answers.addresses import API
from .escaping import escaped, query_of
from .finding import count_of

DEFAULT_SIZE = 30
LARGEST_SIZE = 100

#: An argument of a route's path, as in `/repos/{owner}`. All other arguments came with the query.
PATH_ARGUMENT = re.compile(r"\{(\w+)(\.\.\.)?\}")

#: Where a row stands in its list: values that no other row has together, none of them None.
Position = tuple[object, ...]


def by_id(row: Row) -> Position:
    """The order in which rows came into being."""
    return (row["id"],)


def each(answer: Callable[[Row], Row]) -> Callable[[list[Row]], list[Row]]:
    """Makes the bodies of a page one by one."""
    return lambda rows: [answer(row) for row in rows]


def answer_page(
    ctx: HandlerContext,
    rows: list[Row],
    answer: Callable[[list[Row]], list[Row]],
    by: Callable[[Row], Position],
    downwards: bool = False,
    wrap: Callable[[list[Row]], object] = list,
    default_size: int = DEFAULT_SIZE,
) -> None:
    """Orders rows and answers the page that is asked for; only its rows are made into bodies.

    wrap: makes the answer of the page's bodies, where that is not the list of them.
    default_size: of a page where no size is asked for; it may be larger than any that can be.
    """
    ordered = sorted(rows, key=by, reverse=downwards)
    size, page = _size_and_page(ctx, default_size)
    start = _start_after(ctx, ordered, by, downwards)
    if start is None:
        start = (page - 1) * size
    shown = ordered[start : start + size]
    is_last = start + size >= len(ordered)
    headers = _links(ctx, None if is_last else by(shown[-1]), len(ordered), size, page)
    ctx.respond(200, wrap(answer(shown)), headers)


def answer_query(
    ctx: HandlerContext,
    entity: str,
    where: Row,
    fields: tuple[str, ...],
    answer: Callable[[list[Row]], list[Row]],
    downwards: bool = False,
) -> None:
    """Answers the page that is asked for of the rows that match, as `answer_page` does, and reads no
    other rows; behind a cursor it reads those that match.

    fields: the order; no two rows have the same values of all of them.
    """

    def by(row: Row) -> Position:
        return tuple(row[field] for field in fields)

    if "after" in ctx.args:
        answer_page(ctx, ctx.query(entity, where), answer, by, downwards)
        return
    size, page = _size_and_page(ctx, DEFAULT_SIZE)
    order = [f"-{field}" if downwards else field for field in fields]
    start = (page - 1) * size
    shown = ctx.query(entity, where, limit=size, offset=start, order_by=order)
    total = count_of(ctx, entity, where)
    headers = _links(ctx, None if start + size >= total else by(shown[-1]), total, size, page)
    ctx.respond(200, answer(shown), headers)


def _links(
    ctx: HandlerContext, last_shown: Position | None, total: int, size: int, page: int
) -> dict[str, str]:
    """The header by which clients find other pages, if there are any.

    last_shown: where the next page begins, if there is one.
    """
    links: dict[str, Row] = {}
    if page > 1:
        links["prev"] = {"page": page - 1}
    if last_shown is not None:
        links["next"] = {"page": page + 1, "after": _cursor(last_shown)}
        links["last"] = {"page": -(-total // size)}
    if page > 1:
        links["first"] = {"page": 1}
    texts = [f'<{_url(ctx, target)}>; rel="{rel}"' for rel, target in links.items()]
    return {"link": ", ".join(texts)} if texts else {}


def _size_and_page(ctx: HandlerContext, default_size: int) -> tuple[int, int]:
    size = min(_number(ctx, "per_page", 0), LARGEST_SIZE) or default_size
    return size, _number(ctx, "page", 1)


def _number(ctx: HandlerContext, name: str, default: int) -> int:
    """A positive number of the query. The code host overlooks anything else."""
    text = str(ctx.args.get(name, ""))
    return int(text) if text.isdecimal() and 0 < int(text) < 10**9 else default


def _cursor(position: Position) -> str:
    return base64.urlsafe_b64encode(json.dumps(position).encode()).decode()


def _start_after(
    ctx: HandlerContext, ordered: list[Row], by: Callable[[Row], Position], downwards: bool
) -> int | None:
    """The index of the first row behind the cursor; None without one, or with a broken one."""
    try:
        cursor = tuple(json.loads(base64.urlsafe_b64decode(ctx.args["after"])))

        def is_behind(row: Row) -> bool:
            return by(row) < cursor if downwards else by(row) > cursor

        return bisect_left(ordered, True, key=is_behind)
    except (KeyError, TypeError, ValueError):
        return None


def _url(ctx: HandlerContext, target: Row) -> str:
    """The request's own URL with another page: the vendor's, as in every answer. The host puts the
    address in its place at which the client called, which alone knows what of a request to believe."""
    own = {*(name for name, _ in PATH_ARGUMENT.findall(ctx.route)), "page", "after"}
    query = {name: value for name, value in ctx.args.items() if name not in own}
    return f"{API}{_path(ctx)}?{query_of({**query, **target})}"


def _path(ctx: HandlerContext) -> str:
    """The request's path, without the prefix that it may have been asked for below."""

    def written(match: re.Match[str]) -> str:
        return escaped(str(ctx.args[match[1]]), "/" if match[2] else "")

    return PATH_ARGUMENT.sub(written, ctx.route)
