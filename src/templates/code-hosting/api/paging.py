"""Pages of a list, and the Link header by which clients find the next one."""

from collections.abc import Callable
from urllib.parse import urlencode

from svc_env import HandlerContext, Row

from .answers import API

DEFAULT_SIZE = 30
LARGEST_SIZE = 100

#: Arguments that stand in a path; all others came with the query.
PATH_ARGUMENTS = {"owner", "repo", "issue_number", "username", "org"}


def answer_page(
    ctx: HandlerContext, rows: list[Row], answer: Callable[[list[Row]], list[Row]]
) -> None:
    """Answers the page that `page` and `per_page` ask for; only its rows are made into bodies."""
    size = min(_number(ctx, "per_page", DEFAULT_SIZE), LARGEST_SIZE)
    page = _number(ctx, "page", 1)
    last = max(1, -(-len(rows) // size))
    start = (page - 1) * size
    ctx.respond(200, answer(rows[start : start + size]), _link_header(ctx, page, last))


def _number(ctx: HandlerContext, name: str, default: int) -> int:
    """A positive number of the query. The code host overlooks anything else."""
    text = str(ctx.args.get(name, ""))
    return int(text) if text.isdecimal() and int(text) > 0 else default


def _link_header(ctx: HandlerContext, page: int, last: int) -> dict[str, str]:
    targets = {
        "prev": page - 1 if page > 1 else None,
        "next": page + 1 if page < last else None,
        "last": last if page < last else None,
        "first": 1 if page > 1 else None,
    }
    links = [f'<{_url(ctx, to)}>; rel="{rel}"' for rel, to in targets.items() if to]
    return {"link": ", ".join(links)} if links else {}


def _url(ctx: HandlerContext, page: int) -> str:
    """The request's own URL with another page. A tool call has no host: it gets the vendor's."""
    host = ctx.headers.get("host")
    scheme = ctx.headers.get("x-forwarded-proto", "http")
    origin = f"{scheme}://{host}" if host else API
    query = {name: value for name, value in ctx.args.items() if name not in PATH_ARGUMENTS}
    return f"{origin}{ctx.path.split('?')[0]}?{urlencode({**query, 'page': page}, doseq=True)}"
