"""Watchers of issues, and votes for them."""

from svc_env import HandlerContext, Row

from ..addresses import rest
from ..answers.people import users_by_id
from ..finding import find_issue, find_user
from ..refusals import refuse
from ..viewer import VIEWER


def list_watchers(ctx: HandlerContext) -> Row:
    issue = find_issue(ctx)
    people = _accounts(ctx, "watchers", issue)
    users = users_by_id(ctx)
    return {"self": rest(ctx, "issue", issue["key"], "watchers"), "isWatching": VIEWER in people, "watchCount": len(people), "watchers": [users[one] for one in people]}


def _accounts(ctx: HandlerContext, entity: str, issue: Row) -> list[str]:
    return [row["account_id"] for row in ctx.query(entity, {"issue_id": issue["id"]})]


def add_watcher(ctx: HandlerContext) -> None:
    """The account that the body is, or the viewer."""
    issue = find_issue(ctx)
    if ctx.body is not None and not isinstance(ctx.body, str):
        refuse(ctx, 400, "The body must be an account ID.")
    user = find_user(ctx, ctx.body or VIEWER)
    if user["account_id"] not in _accounts(ctx, "watchers", issue):
        ctx.insert("watchers", {"issue_id": issue["id"], "account_id": user["account_id"]})


def remove_watcher(ctx: HandlerContext) -> None:
    issue = find_issue(ctx)
    asked = ctx.args.get("accountId") or ctx.args.get("username")
    if not asked:
        refuse(ctx, 400, "The accountId query parameter is required.")
    user = find_user(ctx, asked)
    if user["account_id"] in _accounts(ctx, "watchers", issue):
        ctx.delete("watchers", {"issue_id": issue["id"], "account_id": user["account_id"]})


def list_votes(ctx: HandlerContext) -> Row:
    issue = find_issue(ctx)
    people = _accounts(ctx, "votes", issue)
    users = users_by_id(ctx)
    return {"self": rest(ctx, "issue", issue["key"], "votes"), "votes": len(people), "hasVoted": VIEWER in people, "voters": [users[one] for one in people]}


def add_vote(ctx: HandlerContext) -> None:
    issue = find_issue(ctx)
    if issue["reporter"] == VIEWER:
        refuse(ctx, 404, "You cannot vote for an issue you have reported.")
    if issue.get("resolved"):
        refuse(ctx, 404, "You cannot vote or change your vote on resolved issues.")
    if VIEWER not in _accounts(ctx, "votes", issue):
        ctx.insert("votes", {"issue_id": issue["id"], "account_id": VIEWER})


def remove_vote(ctx: HandlerContext) -> None:
    issue = find_issue(ctx)
    if VIEWER not in _accounts(ctx, "votes", issue):
        refuse(ctx, 404, "Cannot remove a vote for an issue that the user has not already voted for.")
    ctx.delete("votes", {"issue_id": issue["id"], "account_id": VIEWER})
