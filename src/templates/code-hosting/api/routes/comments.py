"""Comments on issues and pull requests."""

from svc_env import HandlerContext, Row
from svc_env.finding import known

from ..answers.issues import comment_answer, comment_answers, issue_answer
from ..dating import dated
from ..finding import find_comment, find_issue, find_repository, on_issue, place
from ..history import as_stored, has_listeners, tell, touch
from ..paging import answer_page, by_id
from ..reacting import forget_reactions
from ..reading import asked_choice, is_downwards, needed_text, since_of
from ..references import forget_references, record_references
from ..refusals import forbidden
from ..viewer import VIEWER, association, require_write, role_in


def list_issue_comments(ctx: HandlerContext) -> None:
    """Oldest first, as one reads them."""
    repository, issue = find_repository(ctx), find_issue(ctx)
    since = since_of(ctx, "IssueComment")
    rows = [row for row in ctx.query("comments", on_issue(issue)) if row["updated_at"] >= since]
    answer_page(ctx, rows, lambda page: comment_answers(ctx, repository, page), by=by_id)


def list_repository_comments(ctx: HandlerContext) -> None:
    """The comments on all issues of a repository."""
    repository, since = find_repository(ctx), since_of(ctx, "IssueComment")
    sort = asked_choice(ctx, "IssueComment", "sort", ("created", "updated"), "created")
    rows = [row for row in ctx.query("comments", place(ctx)) if row["updated_at"] >= since]
    answer_page(
        ctx,
        rows,
        lambda page: comment_answers(ctx, repository, page),
        by=lambda row: (row[f"{sort}_at"], row["id"]),
        # Without a `sort` the direction is overlooked.
        downwards="sort" in ctx.args and is_downwards(ctx, "asc"),
    )


def get_comment(ctx: HandlerContext) -> Row:
    repository, comment = find_repository(ctx), find_comment(ctx)
    return dated(ctx, comment_answer(ctx, repository, comment), comment["updated_at"])


def create_comment(ctx: HandlerContext) -> None:
    repository, issue = find_repository(ctx), find_issue(ctx)
    if issue.get("locked") and role_in(ctx, repository["owner"]) is None:
        forbidden(ctx, "Unable to create comment because issue is locked.")
    comment_id, now = ctx.ids.next("comments", "id"), ctx.clock.now()
    comment = {
        **on_issue(issue),
        "id": comment_id,
        "user": VIEWER,
        "author_association": association(ctx, repository["owner"]),
        "body": needed_text(ctx, "IssueComment", "body"),
        "created_at": now,
        "updated_at": now,
    }
    ctx.insert("comments", comment)
    record_references(ctx, comment)
    touch(ctx, issue)
    answer = comment_answer(ctx, repository, comment)
    _tell(ctx, repository, comment, "created")
    ctx.respond(201, answer, {"location": answer["url"]})


def update_comment(ctx: HandlerContext) -> Row:
    repository, comment = _own_comment(ctx)
    text = needed_text(ctx, "IssueComment", "body")
    patch = {"body": text, "updated_at": ctx.clock.now()}
    changed = ctx.update("comments", {"id": comment["id"]}, patch)
    forget_references(ctx, changed)
    record_references(ctx, changed)
    _tell(ctx, repository, changed, "edited", changes={"body": {"from": comment["body"]}})
    return comment_answer(ctx, repository, changed)


def delete_comment(ctx: HandlerContext) -> None:
    repository, comment = _own_comment(ctx)
    forget_references(ctx, comment)
    forget_reactions(ctx, "comment", comment)
    ctx.delete("comments", {"id": comment["id"]})
    _tell(ctx, repository, comment, "deleted")


def _own_comment(ctx: HandlerContext) -> tuple[Row, Row]:
    """A comment that the viewer may change: an own one, or any where the viewer may write."""
    repository, comment = find_repository(ctx), find_comment(ctx)
    if comment["user"] != VIEWER:
        require_write(ctx, repository)
    return repository, comment


def _tell(ctx: HandlerContext, repository: Row, comment: Row, action: str, **parts: Row) -> None:
    if not has_listeners(ctx, repository):
        return
    issue = known(ctx, "issues", {**place(ctx), "number": comment["issue_number"]})
    with as_stored(ctx):
        body = {
            "issue": issue_answer(ctx, repository, issue),
            "comment": comment_answer(ctx, repository, comment),
        }
    tell(ctx, repository, "issue_comment", action, **body, **parts)
