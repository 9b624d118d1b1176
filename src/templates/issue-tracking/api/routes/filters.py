"""Queries that people have saved."""

from svc_env import HandlerContext, Row

from ..addresses import SITE, rest
from ..answers.people import user_answer
from ..finding import find_by_id, known
from ..jql.matching import find_issues
from ..jql.parsing import QueryError
from ..paging import page_of
from ..reading import body_of, flag, needed_text, optional_text
from ..refusals import invalid, refuse
from ..viewer import VIEWER


def _answer(ctx: HandlerContext, row: Row) -> Row:
    return {
        "self": rest(ctx, "filter", row["id"]),
        "id": str(row["id"]),
        "name": row["name"],
        "description": row.get("description", ""),
        "owner": user_answer(ctx, known(ctx, "users", {"account_id": row["owner"]})),
        "jql": row["jql"],
        "viewUrl": f"{SITE}/issues/?filter={row['id']}",
        "searchUrl": rest(ctx, "search"),
        "favourite": row["favourite"],
        "favouritedCount": int(row["favourite"]),
        "sharePermissions": [],
        "editPermissions": [],
        "subscriptions": {"size": 0, "items": [], "max-results": 1000, "start-index": 0, "end-index": 0},
    }


def _found(ctx: HandlerContext) -> Row:
    message = "The selected filter is not available to you, perhaps it has been deleted or had its permissions changed."
    return find_by_id(ctx, "filters", ctx.args["id"], message)


def get_filter(ctx: HandlerContext) -> Row:
    return _answer(ctx, _found(ctx))


def list_favourite_filters(ctx: HandlerContext) -> list[Row]:
    return [_answer(ctx, row) for row in ctx.query("filters", {"favourite": True}, order_by="name")]


def list_own_filters(ctx: HandlerContext) -> list[Row]:
    return [_answer(ctx, row) for row in ctx.query("filters", {"owner": VIEWER}, order_by="name")]


def search_filters(ctx: HandlerContext) -> Row:
    text, owner = str(ctx.args.get("filterName", "")).casefold(), ctx.args.get("accountId")
    rows = [row for row in ctx.query("filters", order_by="name") if text in row["name"].casefold() and owner in (None, row["owner"])]
    return page_of(ctx, rows, lambda row: _answer(ctx, row))


def _query(ctx: HandlerContext, default: str | None = None) -> str:
    text = optional_text(ctx, "jql", default) or ""
    try:
        find_issues(ctx, text)
    except QueryError as error:
        refuse(ctx, 400, str(error))
    return text


def create_filter(ctx: HandlerContext) -> Row:
    name = needed_text(ctx, "name", "You must specify a name to save this filter as.")
    if any(row["name"].casefold() == name.casefold() for row in ctx.query("filters", {"owner": VIEWER})):
        invalid(ctx, "filterName", "Filter with same name already exists.")
    row = {"id": ctx.ids.next("filters", "id"), "name": name, "owner": VIEWER, "jql": _query(ctx), "favourite": flag(ctx, "favourite", False), "description": optional_text(ctx, "description", "") or ""}
    return _answer(ctx, ctx.insert("filters", row))


def update_filter(ctx: HandlerContext) -> Row:
    row = _own(ctx)
    patch = {"jql": _query(ctx, row["jql"]), "description": optional_text(ctx, "description", row.get("description", "")) or ""}
    if "name" in body_of(ctx):
        patch["name"] = needed_text(ctx, "name", "You must specify a name to save this filter as.")
    return _answer(ctx, ctx.update("filters", {"id": row["id"]}, patch))


def _own(ctx: HandlerContext) -> Row:
    row = _found(ctx)
    if row["owner"] != VIEWER:
        refuse(ctx, 400, "You are not the owner of this filter.")
    return row


def delete_filter(ctx: HandlerContext) -> None:
    ctx.delete("filters", {"id": _own(ctx)["id"]})


def set_favourite(ctx: HandlerContext) -> Row:
    return _answer(ctx, ctx.update("filters", {"id": _found(ctx)["id"]}, {"favourite": ctx.method == "PUT"}))
