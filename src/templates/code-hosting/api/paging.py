"""Pages of a list, and the Link header by which clients find the next one.

A client may ask for any page by its number. The link to the next one says more: after which row it
begins. Whoever follows links therefore sees every row once, whatever is inserted in the meantime.
"""

import base64
import json
import re
from collections.abc import Callable
from typing import Any
from urllib.parse import quote, urlencode

from svc_env import HandlerContext, Row

from .answers.addresses import API

DEFAULT_SIZE = 30
LARGEST_SIZE = 100

#: An argument of a route's path, as in `/repos/{owner}`. All other arguments came with the query.
PATH_ARGUMENT = re.compile(r"\{(\w+)(\.\.\.)?\}")

#: Where a row stands in its list: values that no other row has together, none of them None.
Position = tuple[Any, ...]


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
    wrap: Callable[[list[Row]], Any] = list,
    default_size: int = DEFAULT_SIZE,
) -> None:
    """Orders rows and answers the page that is asked for; only its rows are made into bodies.

    wrap: makes the answer of the page's bodies, where that is not the list of them.
    default_size: of a page where no size is asked for; it may be larger than any that can be.
    """
    ordered = sorted(rows, key=by, reverse=downwards)
    size = min(_number(ctx, "per_page", 0), LARGEST_SIZE) or default_size
    page = _number(ctx, "page", 1)
    start = _start_after(ctx, [by(row) for row in ordered], downwards)
    if start is None:
        start = (page - 1) * size
    shown = ordered[start : start + size]
    links: dict[str, Row] = {}
    if page > 1:
        links["prev"] = {"page": page - 1}
    if start + size < len(ordered):
        links["next"] = {"page": page + 1, "after": _cursor(by(shown[-1]))}
        links["last"] = {"page": -(-len(ordered) // size)}
    if page > 1:
        links["first"] = {"page": 1}
    texts = [f'<{_url(ctx, target)}>; rel="{rel}"' for rel, target in links.items()]
    ctx.respond(200, wrap(answer(shown)), {"link": ", ".join(texts)} if texts else {})


def _number(ctx: HandlerContext, name: str, default: int) -> int:
    """A positive number of the query. The code host overlooks anything else."""
    text = str(ctx.args.get(name, ""))
    return int(text) if text.isdecimal() and 0 < int(text) < 10**9 else default


def _cursor(position: Position) -> str:
    return base64.urlsafe_b64encode(json.dumps(position).encode()).decode()


def _start_after(ctx: HandlerContext, positions: list[Position], downwards: bool) -> int | None:
    """The index of the first row behind the cursor; None without one, or with a broken one."""
    try:
        cursor = tuple(json.loads(base64.urlsafe_b64decode(ctx.args["after"])))
        return sum(not (at < cursor if downwards else at > cursor) for at in positions)
    except (KeyError, TypeError, ValueError):
        return None


def _url(ctx: HandlerContext, target: Row) -> str:
    """The request's own URL with another page: the vendor's, as in every answer. The host puts the
    address in its place at which the client called, which alone knows what of a request to believe."""
    own = {*(name for name, _ in PATH_ARGUMENT.findall(ctx.route)), "page", "after"}
    query = {name: value for name, value in ctx.args.items() if name not in own}
    return f"{API}{_path(ctx)}?{urlencode({**query, **target}, doseq=True)}"


def _path(ctx: HandlerContext) -> str:
    """The request's path, without the prefix that it may have been asked for below."""

    def written(match: re.Match[str]) -> str:
        return quote(str(ctx.args[match[1]]), safe="/" if match[2] else "")

    return PATH_ARGUMENT.sub(written, ctx.route)
