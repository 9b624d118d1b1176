"""Finds the row that a path or a body speaks of, or answers in the tracker's words that there is none."""

from svc_env import HandlerContext, Row
from svc_env.finding import by_id, by_name, indexed, known, whole_number

from .refusals import NO_ISSUE, not_found

__all__ = [
    "by_id",
    "by_name",
    "find_by_id",
    "find_issue",
    "find_part",
    "find_project",
    "find_user",
    "indexed",
    "issue_named",
    "known",
    "project_named",
    "whole_number",
]


def issue_named(ctx: HandlerContext, id_or_key: object) -> Row | None:
    """An issue by its id or its key, whose letters may be small."""
    found = by_id(ctx, "issues", id_or_key)
    if found is not None:
        return found
    rows = ctx.query("issues", {"key": str(id_or_key).upper()}, limit=1)
    return rows[0] if rows else None


def find_issue(ctx: HandlerContext) -> Row:
    """The issue of `/issue/{issueIdOrKey}/…`."""
    return issue_named(ctx, ctx.args["issueIdOrKey"]) or not_found(ctx, NO_ISSUE)


def project_named(ctx: HandlerContext, id_or_key: object) -> Row | None:
    found = by_id(ctx, "projects", id_or_key)
    if found is not None:
        return found
    rows = ctx.query("projects", {"key": str(id_or_key).upper()}, limit=1)
    return rows[0] if rows else None


def find_project(ctx: HandlerContext, argument: str = "projectIdOrKey") -> Row:
    """The project of `/project/{projectIdOrKey}/…`."""
    asked = ctx.args[argument]
    what = "id" if whole_number(asked) else "key"
    return project_named(ctx, asked) or not_found(
        ctx, f"No project could be found with {what} '{asked}'."
    )


def find_user(ctx: HandlerContext, account_id: object) -> Row:
    user = ctx.get("users", {"account_id": str(account_id)}) if account_id else None
    return user or not_found(ctx, f"Specified user does not exist or you do not have required permissions")


def find_by_id(ctx: HandlerContext, entity: str, value: object, message: str) -> Row:
    return by_id(ctx, entity, value) or not_found(ctx, message)


def find_part(ctx: HandlerContext, entity: str, issue: Row, value: object, message: str) -> Row:
    """A row that belongs to an issue."""
    row = by_id(ctx, entity, value)
    return row if row and row["issue_id"] == issue["id"] else not_found(ctx, message)
