"""Autolinks of a repository: where a short reference such as SUP-2214 leads."""

from svc_env import HandlerContext, Row

from ..finding import find_autolink, find_managed_repository, place
from ..paging import answer_page, by_id, each
from ..reading import body_of, flag_of, needed_text
from ..refusals import invalid

LONGEST_PREFIX = 32

#: Stands for what follows the prefix.
NUMBER = "<num>"


def list_autolinks(ctx: HandlerContext) -> None:
    find_managed_repository(ctx)
    answer_page(ctx, ctx.query("autolinks", place(ctx)), each(_answer), by=by_id)


def get_autolink(ctx: HandlerContext) -> Row:
    find_managed_repository(ctx)
    return _answer(find_autolink(ctx))


def create_autolink(ctx: HandlerContext) -> Row:
    find_managed_repository(ctx)
    autolink = {
        "id": ctx.ids.next("autolinks", "id"),
        "key_prefix": _free_prefix(ctx),
        "url_template": _template(ctx),
        "is_alphanumeric": flag_of(
            ctx, "KeyLink", "is_alphanumeric", body_of(ctx).get("is_alphanumeric", True)
        ),
        "updated_at": ctx.clock.now(),
        **place(ctx),
    }
    return _answer(ctx.insert("autolinks", autolink))


def delete_autolink(ctx: HandlerContext) -> None:
    find_managed_repository(ctx)
    ctx.delete("autolinks", {"id": find_autolink(ctx)["id"]})


def _answer(autolink: Row) -> Row:
    return {name: value for name, value in autolink.items() if name not in ("owner", "repo")}


def _free_prefix(ctx: HandlerContext) -> str:
    prefix = needed_text(ctx, "KeyLink", "key_prefix", LONGEST_PREFIX)
    if ctx.query("autolinks", {**place(ctx), "key_prefix": prefix}, limit=1):
        invalid(ctx, "KeyLink", "key_prefix", "already_exists")
    return prefix


def _template(ctx: HandlerContext) -> str:
    template = needed_text(ctx, "KeyLink", "url_template")
    if NUMBER not in template:
        message = f"url_template must contain a {NUMBER} token"
        invalid(ctx, "KeyLink", "url_template", "custom", message=message)
    return template
