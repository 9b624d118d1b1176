"""People and groups."""

from svc_env import HandlerContext, Row

from ..answers.people import group_answer, user_answer
from ..finding import find_user, issue_named, known, project_named
from ..paging import page_of, window
from ..reading import names_asked
from ..refusals import NO_ISSUE, not_found, refuse
from ..viewer import VIEWER


def get_myself(ctx: HandlerContext) -> Row:
    groups = _groups(ctx, VIEWER)
    answer = user_answer(ctx, known(ctx, "users", {"account_id": VIEWER}))
    roles = {"size": 1, "items": []}
    return {**answer, "groups": {"size": len(groups), "items": groups if "groups" in names_asked(ctx, "expand") else []}, "applicationRoles": roles, "expand": "groups,applicationRoles"}


def _groups(ctx: HandlerContext, account_id: str) -> list[Row]:
    rows = ctx.query("group_members", {"account_id": account_id})
    return [group_answer(ctx, known(ctx, "groups", {"group_id": row["group_id"]})) for row in rows]


def get_user(ctx: HandlerContext) -> Row:
    asked = ctx.args.get("accountId") or ctx.args.get("username") or ctx.args.get("key")
    if not asked:
        refuse(ctx, 400, "Either the accountId, username or the key query parameter needs to be provided")
    user = find_user(ctx, asked)
    groups = _groups(ctx, user["account_id"])
    return {**user_answer(ctx, user), "groups": {"size": len(groups), "items": groups if "groups" in names_asked(ctx, "expand") else []}, "applicationRoles": {"size": 1, "items": []}, "expand": "groups,applicationRoles"}


def list_user_groups(ctx: HandlerContext) -> list[Row]:
    return _groups(ctx, find_user(ctx, ctx.args.get("accountId"))["account_id"])


def get_users_in_bulk(ctx: HandlerContext) -> Row:
    ids = names_asked(ctx, "accountId")
    rows = [row for row in ctx.query("users") if row["account_id"] in ids]
    return page_of(ctx, rows, lambda row: user_answer(ctx, row), default=10)


def _matching(ctx: HandlerContext) -> list[Row]:
    """Whose name or address a word of begins like what is asked for."""
    text = str(ctx.args.get("query") or ctx.args.get("username") or "").casefold()
    account = ctx.args.get("accountId")

    def fits(row: Row) -> bool:
        words = [*row["display_name"].casefold().split(), row["display_name"].casefold(), (row.get("email") or "").casefold()]
        return (not account or row["account_id"] == account) and (not text or any(word.startswith(text) for word in words))

    return [row for row in ctx.query("users", order_by="display_name") if fits(row)]


def search_users(ctx: HandlerContext) -> list[Row]:
    if not any(ctx.args.get(name) for name in ("query", "username", "accountId", "property")):
        refuse(ctx, 400, "The query parameter 'query', 'accountId' or 'property' must be provided.")
    return _shown(ctx, _matching(ctx))


def _shown(ctx: HandlerContext, rows: list[Row]) -> list[Row]:
    start, size = window(ctx, largest=1000)
    return [user_answer(ctx, row) for row in rows[start : start + size]]


def list_users(ctx: HandlerContext) -> list[Row]:
    return _shown(ctx, ctx.query("users"))


def search_assignable(ctx: HandlerContext) -> list[Row]:
    """Lists the users who can be assigned issues of a project, or an issue."""
    if ctx.args.get("issueKey") or ctx.args.get("issueId"):
        issue_named(ctx, ctx.args.get("issueKey") or ctx.args.get("issueId")) or not_found(ctx, NO_ISSUE)
    elif ctx.args.get("project"):
        project_named(ctx, ctx.args["project"]) or not_found(ctx, f"No project could be found with key '{ctx.args['project']}'.")
    else:
        refuse(ctx, 400, "Either the 'project', 'issueKey' or 'issueId' query parameter must be provided.")
    return _shown(ctx, _assignable(_matching(ctx)))


def _assignable(rows: list[Row]) -> list[Row]:
    return [row for row in rows if row["active"] and row["account_type"] == "atlassian"]


def search_assignable_in_projects(ctx: HandlerContext) -> list[Row]:
    keys = names_asked(ctx, "projectKeys")
    if not keys:
        refuse(ctx, 400, "The 'projectKeys' query parameter must be provided.")
    for key in keys:
        project_named(ctx, key) or not_found(ctx, f"No project could be found with key '{key}'.")
    return _shown(ctx, _assignable(_matching(ctx)))


def search_viewers(ctx: HandlerContext) -> list[Row]:
    return _shown(ctx, [row for row in _matching(ctx) if row["active"]])


def pick_users(ctx: HandlerContext) -> Row:
    found = _matching(ctx)
    users = [{"accountId": row["account_id"], "accountType": row["account_type"], "displayName": row["display_name"], "html": row["display_name"], "name": row["display_name"], "key": row["account_id"]} for row in found[:50]]
    return {"users": users, "total": len(found), "header": f"Showing {len(users)} of {len(found)} matching users"}


def get_group(ctx: HandlerContext) -> Row:
    group = _group(ctx)
    members = _members(ctx, group)
    items = [user_answer(ctx, row) for row in members]
    users = {"size": len(items), "items": items[:50], "max-results": 50, "start-index": 0, "end-index": max(len(items) - 1, 0)}
    return {**group_answer(ctx, group), "users": users, "expand": "users"}


def _group(ctx: HandlerContext) -> Row:
    name, group_id = ctx.args.get("groupname"), ctx.args.get("groupId")
    rows = ctx.query("groups", {"group_id": group_id} if group_id else {"name": name or ""})
    return rows[0] if rows else not_found(ctx, f"The group named '{name or group_id}' does not exist")


def _members(ctx: HandlerContext, group: Row) -> list[Row]:
    rows = ctx.query("group_members", {"group_id": group["group_id"]})
    return [known(ctx, "users", {"account_id": row["account_id"]}) for row in rows]


def list_group_members(ctx: HandlerContext) -> Row:
    return page_of(ctx, [row for row in _members(ctx, _group(ctx)) if row["active"]], lambda row: user_answer(ctx, row))


def pick_groups(ctx: HandlerContext) -> Row:
    text = str(ctx.args.get("query", "")).casefold()
    found = [row for row in ctx.query("groups", order_by="name") if text in row["name"].casefold()]
    groups = [{"name": row["name"], "html": row["name"], "labels": [], "groupId": row["group_id"]} for row in found[:20]]
    return {"header": f"Showing {len(groups)} of {len(found)} matching groups", "total": len(found), "groups": groups}
