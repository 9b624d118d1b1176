"""Comments and worklogs of issues."""

from svc_env import HandlerContext, Row

from ..answers.people import users_by_id
from ..answers.talk import comment_answer, worklog_answer
from ..finding import find_issue, find_part
from ..history import tell_of_part, touch
from ..making import add_comment, add_worklog, adjust_estimate, seconds_of, started_of
from ..paging import window
from ..reading import body_of, list_of, names_asked, rich_text
from ..refusals import invalid, refuse
from ..viewer import VIEWER


def list_comments(ctx: HandlerContext) -> Row:
    """Oldest first, unless `orderBy` is -created."""
    issue, users = find_issue(ctx), users_by_id(ctx)
    downwards = ctx.args.get("orderBy", "") == "-created"
    if ctx.args.get("orderBy", "created") not in ("created", "-created", "+created"):
        refuse(ctx, 400, f"Unknown order by field: {ctx.args['orderBy']}")
    order = ["-created", "-id"] if downwards else ["created", "id"]
    rows = ctx.query("comments", {"issue_id": issue["id"]}, order_by=order)
    start, size = window(ctx, default=5000, largest=5000)
    rendered = "renderedBody" in names_asked(ctx, "expand")
    comments = [comment_answer(ctx, row, users, rendered) for row in rows[start : start + size]]
    return {"startAt": start, "maxResults": size, "total": len(rows), "comments": comments}


def fetch_comments(ctx: HandlerContext) -> Row:
    """Comments by their ids."""
    users, ids = users_by_id(ctx), list_of(ctx, "ids", int)
    rows = ctx.query("comments", {"id": ids}) if ids else []
    start, size = window(ctx)
    return {"startAt": start, "maxResults": size, "total": len(rows), "isLast": start + size >= len(rows), "values": [comment_answer(ctx, row, users) for row in rows[start : start + size]]}


def create_comment(ctx: HandlerContext) -> None:
    comment = add_comment(ctx, find_issue(ctx), body_of(ctx))
    ctx.respond(201, comment_answer(ctx, comment, users_by_id(ctx)))


def _found_comment(ctx: HandlerContext) -> tuple[Row, Row]:
    issue = find_issue(ctx)
    missing = f"Can not find a comment for the id: {ctx.args['id']}."
    return issue, find_part(ctx, "comments", issue, ctx.args["id"], missing)


def get_comment(ctx: HandlerContext) -> Row:
    _, comment = _found_comment(ctx)
    return comment_answer(ctx, comment, users_by_id(ctx), "renderedBody" in names_asked(ctx, "expand"))


def update_comment(ctx: HandlerContext) -> Row:
    issue, comment = _found_comment(ctx)
    document = rich_text(ctx, "comment", body_of(ctx).get("body"))
    if document is None:
        invalid(ctx, "comment", "Comment body can not be empty!")
    patch = {"body": document, "update_author": VIEWER, "updated": ctx.clock.now()}
    changed = ctx.update("comments", {"id": comment["id"]}, patch)
    touch(ctx, issue)
    answer = comment_answer(ctx, changed, users_by_id(ctx))
    tell_of_part(ctx, "comment_updated", issue, "comment", answer)
    return answer


def delete_comment(ctx: HandlerContext) -> None:
    issue, comment = _found_comment(ctx)
    tell_of_part(ctx, "comment_deleted", issue, "comment", comment_answer(ctx, comment, users_by_id(ctx)))
    ctx.delete("comments", {"id": comment["id"]})
    touch(ctx, issue)


def list_worklogs(ctx: HandlerContext) -> Row:
    issue, users = find_issue(ctx), users_by_id(ctx)
    rows = ctx.query("worklogs", {"issue_id": issue["id"]}, order_by=["started", "id"])
    start, size = window(ctx, default=5000, largest=5000)
    return {"startAt": start, "maxResults": size, "total": len(rows), "worklogs": [worklog_answer(ctx, row, users) for row in rows[start : start + size]]}


def create_worklog(ctx: HandlerContext) -> None:
    worklog = add_worklog(ctx, find_issue(ctx), body_of(ctx))
    ctx.respond(201, worklog_answer(ctx, worklog, users_by_id(ctx)))


def _found_worklog(ctx: HandlerContext) -> tuple[Row, Row]:
    issue = find_issue(ctx)
    missing = f"Cannot find worklog with id: '{ctx.args['id']}'."
    return issue, find_part(ctx, "worklogs", issue, ctx.args["id"], missing)


def get_worklog(ctx: HandlerContext) -> Row:
    return worklog_answer(ctx, _found_worklog(ctx)[1], users_by_id(ctx))


def update_worklog(ctx: HandlerContext) -> Row:
    (issue, worklog), body = _found_worklog(ctx), body_of(ctx)
    patch = {
        "seconds": seconds_of(ctx, body, worklog["seconds"]),
        "started": started_of(ctx, body, worklog["started"]),
        "update_author": VIEWER,
        "updated": ctx.clock.now(),
    }
    if "comment" in body:
        patch["comment"] = rich_text(ctx, "comment", body["comment"])
    changed = ctx.update("worklogs", {"id": worklog["id"]}, patch)
    adjust_estimate(ctx, issue, changed["seconds"] - worklog["seconds"])
    answer = worklog_answer(ctx, changed, users_by_id(ctx))
    tell_of_part(ctx, "worklog_updated", issue, "worklog", answer)
    return answer


def delete_worklog(ctx: HandlerContext) -> None:
    issue, worklog = _found_worklog(ctx)
    tell_of_part(ctx, "worklog_deleted", issue, "worklog", worklog_answer(ctx, worklog, users_by_id(ctx)))
    ctx.delete("worklogs", {"id": worklog["id"]})
    adjust_estimate(ctx, issue, -worklog["seconds"])
