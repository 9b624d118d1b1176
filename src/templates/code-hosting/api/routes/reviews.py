"""Reviews of pull requests and the comments on lines that belong to them."""

from svc_env import HandlerContext, Row

from ..answers.pulls import pull_answers
from ..answers.reviews import (
    review_answer,
    review_answers,
    review_comment_answer,
    review_comment_answers,
)
from ..dating import dated
from ..finding import find_pull, find_repository, find_review, find_review_comment, numbered, place
from ..history import as_stored, has_listeners, record, tell, touch
from ..paging import answer_page, by_id
from ..pulling import changed_files
from ..reacting import forget_reactions
from ..reading import asked_choice, body_of, is_downwards, needed_text, since_of, text_of
from ..refusals import impossible, invalid, not_found, refuse
from ..viewer import VIEWER, association, require_manage, require_write

#: What a review says when it is submitted, and the state that this brings it into.
EVENTS = {"APPROVE": "APPROVED", "REQUEST_CHANGES": "CHANGES_REQUESTED", "COMMENT": "COMMENTED"}

#: Verdicts that an author may not give on a pull request of their own.
NOT_OF_OWN = {"APPROVE": "approve", "REQUEST_CHANGES": "request changes on"}


def list_reviews(ctx: HandlerContext) -> None:
    """Oldest first. What is pending only its author sees."""
    repository, (_, pull) = find_repository(ctx), find_pull(ctx)
    rows = ctx.query("reviews", numbered(pull))
    seen = [row for row in rows if row["state"] != "PENDING" or row["user"] == VIEWER]
    answer_page(ctx, seen, lambda page: review_answers(ctx, repository, page), by=by_id)


def get_review(ctx: HandlerContext) -> Row:
    repository, _, _, review = _review(ctx)
    return review_answer(ctx, repository, review)


def create_review(ctx: HandlerContext) -> Row:
    """Without an `event` the review is kept back until it is submitted."""
    repository, (issue, pull), body = find_repository(ctx), find_pull(ctx), body_of(ctx)
    own = {**numbered(pull), "user": VIEWER, "state": "PENDING"}
    if ctx.query("reviews", own, limit=1):
        error = "User can only have one pending review per pull request"
        refuse(ctx, 422, "Unprocessable Entity", [error])
    review = {
        **own,
        "id": ctx.ids.next("reviews", "id"),
        "author_association": association(ctx, repository["owner"]),
        "body": text_of(ctx, "PullRequestReview", "body", body.get("body")) or "",
        "commit_id": _commit_id(ctx, pull),
        "submitted_at": None,
    }
    ctx.insert("reviews", review)
    comments = body.get("comments") or []
    if not isinstance(comments, list) or not all(isinstance(one, dict) for one in comments):
        invalid(ctx, "PullRequestReview", "comments", "invalid")
    for comment in comments:
        _insert_comment(ctx, repository, pull, review, comment)
    if body.get("event"):
        review = _submit(ctx, repository, issue, pull, review)
    return review_answer(ctx, repository, review)


def update_review(ctx: HandlerContext) -> Row:
    """Another text for an own review."""
    repository, _, _, review = _review(ctx, own=True)
    text = needed_text(ctx, "PullRequestReview", "body")
    changed = ctx.update("reviews", {"id": review["id"]}, {"body": text})
    return review_answer(ctx, repository, changed)


def submit_review(ctx: HandlerContext) -> Row:
    repository, issue, pull, review = _review(ctx, own=True)
    if review["state"] != "PENDING":
        impossible(ctx, "PullRequestReview", "Review has already been submitted")
    text = text_of(ctx, "PullRequestReview", "body", body_of(ctx).get("body"))
    if text is not None:
        review = ctx.update("reviews", {"id": review["id"]}, {"body": text})
    return review_answer(ctx, repository, _submit(ctx, repository, issue, pull, review))


def delete_review(ctx: HandlerContext) -> Row:
    """Only what was never submitted can be deleted."""
    repository, _, _, review = _review(ctx, own=True)
    if review["state"] != "PENDING":
        refuse(ctx, 422, "Can not delete a non-pending pull request review")
    answer = review_answer(ctx, repository, review)
    for comment in ctx.query("review_comments", {"review_id": review["id"]}):
        forget_reactions(ctx, "review_comment", comment)
        ctx.delete("review_comments", {"id": comment["id"]})
    ctx.delete("reviews", {"id": review["id"]})
    return answer


def dismiss_review(ctx: HandlerContext) -> Row:
    """Takes an approval, or a wish for changes, out of force."""
    repository, issue, pull, review = _review(ctx)
    require_manage(ctx, repository)
    message = needed_text(ctx, "PullRequestReview", "message")
    if review["state"] not in ("APPROVED", "CHANGES_REQUESTED"):
        refuse(ctx, 422, f"Can not dismiss a {review['state'].lower()} pull request review")
    dismissed = ctx.update("reviews", {"id": review["id"]}, {"state": "DISMISSED"})
    record(ctx, issue, "review_dismissed", review_id=review["id"], message=message)
    touch(ctx, issue)
    _tell(ctx, repository, pull, dismissed, "dismissed")
    return review_answer(ctx, repository, dismissed)


def list_comments_of_review(ctx: HandlerContext) -> None:
    repository, _, _, review = _review(ctx)
    rows = ctx.query("review_comments", {"review_id": review["id"]})
    answer_page(ctx, rows, lambda page: review_comment_answers(ctx, repository, page), by=by_id)


def _review(ctx: HandlerContext, own: bool = False) -> tuple[Row, Row, Row, Row]:
    """The review of the path and what it belongs to. A pending one of another user is not found."""
    repository, (issue, pull) = find_repository(ctx), find_pull(ctx)
    review = find_review(ctx, pull)
    if review["user"] != VIEWER and review["state"] == "PENDING":
        not_found(ctx)
    if own and review["user"] != VIEWER:
        require_manage(ctx, repository)
    return repository, issue, pull, review


def _commit_id(ctx: HandlerContext, pull: Row) -> str:
    sha = body_of(ctx).get("commit_id") or pull["head_sha"]
    known = isinstance(sha, str) and ctx.get("commits", {**place(ctx), "sha": sha})
    return sha if known else invalid(ctx, "PullRequestReview", "commit_id", "invalid")


def _submit(ctx: HandlerContext, repository: Row, issue: Row, pull: Row, review: Row) -> Row:
    """Brings a review into force. It fulfils the request for a review by this user."""
    event = body_of(ctx).get("event")
    if event not in EVENTS:
        invalid(ctx, "PullRequestReview", "event", "invalid")
    if issue["user"] == VIEWER and event in NOT_OF_OWN:
        words = f"Can not {NOT_OF_OWN[event]} your own pull request"
        refuse(ctx, 422, "Unprocessable Entity", [words])
    said = review["body"].strip() or ctx.query("review_comments", {"review_id": review["id"]})
    if event != "APPROVE" and not said:
        refuse(ctx, 422, "Unprocessable Entity", [f"Body can not be blank for {event}"])
    patch = {"state": EVENTS[event], "submitted_at": ctx.clock.now()}
    submitted = ctx.update("reviews", {"id": review["id"]}, patch)
    request = {**numbered(pull), "login": VIEWER}
    if ctx.get("review_requests", request) is not None:
        ctx.delete("review_requests", request)
    touch(ctx, issue)
    _tell(ctx, repository, pull, submitted, "submitted")
    return submitted


def _tell(ctx: HandlerContext, repository: Row, pull: Row, review: Row, action: str) -> None:
    if has_listeners(ctx, repository):
        with as_stored(ctx):
            body = {
                "review": review_answer(ctx, repository, review),
                "pull_request": pull_answers(ctx, repository, [pull])[0],
            }
        tell(ctx, repository, "pull_request_review", action, **body)


# Comments on lines


def list_review_comments(ctx: HandlerContext) -> None:
    """All comments on lines of a pull request, or, without one in the path, of a repository."""
    repository = find_repository(ctx)
    where = numbered(find_pull(ctx)[1]) if "pull_number" in ctx.args else place(ctx)
    since = since_of(ctx, "PullRequestReviewComment")
    choices = ("created", "updated")
    sort = asked_choice(ctx, "PullRequestReviewComment", "sort", choices, "created")
    rows = [row for row in ctx.query("review_comments", where) if row["updated_at"] >= since]
    answer_page(
        ctx,
        rows,
        lambda page: review_comment_answers(ctx, repository, page),
        by=lambda row: (row[f"{sort}_at"], row["id"]),
        downwards="sort" in ctx.args and is_downwards(ctx, "asc"),
    )


def get_review_comment(ctx: HandlerContext) -> Row:
    repository, comment = find_repository(ctx), find_review_comment(ctx)
    return dated(ctx, review_comment_answer(ctx, repository, comment), comment["updated_at"])


def create_review_comment(ctx: HandlerContext) -> None:
    """A comment outside of a review is a review of one comment. `in_reply_to` names another one."""
    _answer_new_comment(ctx, body_of(ctx), body_of(ctx).get("in_reply_to"))


def reply_to_review_comment(ctx: HandlerContext) -> None:
    find_repository(ctx)
    _answer_new_comment(ctx, body_of(ctx), find_review_comment(ctx)["id"])


def update_review_comment(ctx: HandlerContext) -> Row:
    repository, comment = _own_comment(ctx)
    patch = {
        "body": needed_text(ctx, "PullRequestReviewComment", "body"),
        "updated_at": ctx.clock.now(),
    }
    changed = ctx.update("review_comments", {"id": comment["id"]}, patch)
    return review_comment_answer(ctx, repository, changed)


def delete_review_comment(ctx: HandlerContext) -> None:
    _, comment = _own_comment(ctx)
    forget_reactions(ctx, "review_comment", comment)
    ctx.delete("review_comments", {"id": comment["id"]})


def _own_comment(ctx: HandlerContext) -> tuple[Row, Row]:
    repository, comment = find_repository(ctx), find_review_comment(ctx)
    if comment["user"] != VIEWER:
        require_write(ctx, repository)
    return repository, comment


def _answer_new_comment(ctx: HandlerContext, content: Row, replied: object) -> None:
    repository, (issue, pull) = find_repository(ctx), find_pull(ctx)
    review = {
        **numbered(pull),
        "id": ctx.ids.next("reviews", "id"),
        "user": VIEWER,
        "author_association": association(ctx, repository["owner"]),
        "state": "COMMENTED",
        "body": "",
        "commit_id": pull["head_sha"] if replied else _commit_id(ctx, pull),
        "submitted_at": ctx.clock.now(),
    }
    ctx.insert("reviews", review)
    if replied is not None:
        content = {**_thread(ctx, pull, replied), "body": content.get("body")}
    comment = _insert_comment(ctx, repository, pull, review, content)
    touch(ctx, issue)
    answer = review_comment_answer(ctx, repository, comment)
    if has_listeners(ctx, repository):
        with as_stored(ctx):
            body = {
                "comment": review_comment_answer(ctx, repository, comment),
                "pull_request": pull_answers(ctx, repository, [pull])[0],
            }
        tell(ctx, repository, "pull_request_review_comment", "created", **body)
    ctx.respond(201, answer, {"location": answer["url"]})


def _thread(ctx: HandlerContext, pull: Row, replied: object) -> Row:
    """Returns the place of the comment that is replied to. A reply to a reply goes to the first comment."""
    is_id = isinstance(replied, int) and not isinstance(replied, bool)
    comment = ctx.get("review_comments", {"id": replied}) if is_id else None
    if comment is None or numbered(comment) != numbered(pull):
        not_found(ctx)
    places = {name: comment[name] for name in ("path", "line", "side") if name in comment}
    return {**places, "in_reply_to_id": comment.get("in_reply_to_id") or comment["id"]}


def _insert_comment(
    ctx: HandlerContext, repository: Row, pull: Row, review: Row, content: Row
) -> Row:
    """A comment on a line of a file that the pull request changes."""
    path = content.get("path")
    text = text_of(ctx, "PullRequestReviewComment", "body", content.get("body")) or ""
    if not text.strip():
        invalid(ctx, "PullRequestReviewComment", "body", "missing_field")
    file = next((file for file in changed_files(ctx, pull) if file["filename"] == path), None)
    if file is None:
        invalid(ctx, "PullRequestReviewComment", "path", "invalid")
    line = content.get("line") or content.get("position")
    if line is not None and (not isinstance(line, int) or isinstance(line, bool) or line < 1):
        invalid(ctx, "PullRequestReviewComment", "line", "invalid")
    now = ctx.clock.now()
    comment = {
        **numbered(pull),
        "id": ctx.ids.next("review_comments", "id"),
        "review_id": review["id"],
        "user": VIEWER,
        "author_association": association(ctx, repository["owner"]),
        "path": path,
        "line": line,
        "side": "LEFT" if content.get("side") == "LEFT" else "RIGHT",
        "diff_hunk": file.get("patch", "").split("\n")[0],
        "commit_id": review["commit_id"],
        "in_reply_to_id": content.get("in_reply_to_id"),
        "body": text,
        "created_at": now,
        "updated_at": now,
    }
    return ctx.insert("review_comments", comment)
