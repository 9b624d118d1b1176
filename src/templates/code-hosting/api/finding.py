"""Finds the row that a path speaks of, or answers 404."""

from svc_env import HandlerContext, Row

from .refusals import not_found


def find_repository(ctx: HandlerContext) -> Row:
    """The repository of `/repos/{owner}/{repo}/…`."""
    key = {"owner": ctx.args["owner"], "name": ctx.args["repo"]}
    return ctx.get("repositories", key) or not_found(ctx)


def find_issue(ctx: HandlerContext) -> Row:
    """The issue of `…/issues/{issue_number}/…`."""
    number = whole_number(ctx, ctx.args["issue_number"])
    return ctx.get("issues", {**place(ctx), "number": number}) or not_found(ctx)


def find_comment(ctx: HandlerContext) -> Row:
    """The comment of `…/issues/comments/{comment_id}`, if it is one of this repository."""
    comment = ctx.get("comments", {"id": whole_number(ctx, ctx.args["comment_id"])})
    if comment is None or place(ctx) != place_of(comment):
        not_found(ctx)
    return comment


def find_label(ctx: HandlerContext) -> Row:
    """The label of `…/labels/{name}`."""
    return label_named(ctx, ctx.args["name"]) or not_found(ctx)


def label_named(ctx: HandlerContext, name: str) -> Row | None:
    """A label of the path's repository. The case of its letters does not matter."""
    labels = ctx.query("labels", place(ctx))
    return next((label for label in labels if same_name(label["name"], name)), None)


def same_name(one: str, other: str) -> bool:
    return one.casefold() == other.casefold()


def place(ctx: HandlerContext) -> Row:
    """Which repository the path is about, in the words of the rows."""
    return {"owner": ctx.args["owner"], "repo": ctx.args["repo"]}


def place_of(row: Row) -> Row:
    """Which repository a row belongs to."""
    return {"owner": row["owner"], "repo": row["repo"]}


def whole_number(ctx: HandlerContext, text: object) -> int:
    """A number in a path. Whatever is none cannot be found."""
    digits = str(text)
    return int(digits) if digits.isdecimal() and len(digits) < 16 else not_found(ctx)
