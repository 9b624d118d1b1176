"""Reviews of pull requests, and the comments on lines that were said in them."""

from svc_env import HandlerContext, Row

from ..media import said
from ..reacting import counts_of, rollup
from .addresses import api_url, links, node_id, web_url
from .users import users_named


def review_answer(ctx: HandlerContext, repository: Row, review: Row) -> Row:
    return review_answers(ctx, repository, [review])[0]


def review_answers(ctx: HandlerContext, repository: Row, reviews: list[Row]) -> list[Row]:
    users = users_named(ctx, (review["user"] for review in reviews))

    def answer(review: Row) -> Row:
        page = f"{web_url(review, 'pull', review['number'])}#pullrequestreview-{review['id']}"
        pull_url = api_url(review, "pulls", review["number"])
        submitted = review.get("submitted_at")
        return {
            "id": review["id"],
            "node_id": node_id("PRR", repository["id"], review["id"]),
            "user": users[review["user"]],
            **said(ctx, review["body"]),
            "state": review["state"],
            "html_url": page,
            "pull_request_url": pull_url,
            "_links": links(html=page, pull_request=pull_url),
            **({"submitted_at": submitted} if submitted else {}),
            "commit_id": review["commit_id"],
            "author_association": review.get("author_association", "NONE"),
        }

    return [answer(review) for review in reviews]


def review_comment_answer(ctx: HandlerContext, repository: Row, comment: Row) -> Row:
    return review_comment_answers(ctx, repository, [comment])[0]


def review_comment_answers(ctx: HandlerContext, repository: Row, comments: list[Row]) -> list[Row]:
    users = users_named(ctx, (comment["user"] for comment in comments))
    reactions = counts_of(ctx, "review_comment", comments)

    def answer(comment: Row) -> Row:
        comment_id, number = comment["id"], comment["number"]
        url = api_url(comment, "pulls", "comments", comment_id)
        page = f"{web_url(comment, 'pull', number)}#discussion_r{comment_id}"
        pull_url = api_url(comment, "pulls", number)
        line, replied = comment.get("line"), comment.get("in_reply_to_id")
        return {
            "id": comment_id,
            "node_id": node_id("PRRC", repository["id"], comment_id),
            "url": url,
            "html_url": page,
            "pull_request_url": pull_url,
            "pull_request_review_id": comment["review_id"],
            "path": comment["path"],
            "diff_hunk": comment.get("diff_hunk", ""),
            "position": 1,
            "original_position": 1,
            **({"line": line, "original_line": line} if line else {}),
            "start_line": None,
            "original_start_line": None,
            "side": comment.get("side", "RIGHT"),
            "start_side": None,
            "subject_type": "line" if line else "file",
            "commit_id": comment["commit_id"],
            "original_commit_id": comment["commit_id"],
            **({"in_reply_to_id": replied} if replied else {}),
            "user": users[comment["user"]],
            **said(ctx, comment["body"]),
            "created_at": comment["created_at"],
            "updated_at": comment["updated_at"],
            "author_association": comment.get("author_association", "NONE"),
            "reactions": rollup(url, reactions[comment_id]),
            "_links": links(self=url, html=page, pull_request=pull_url),
        }

    return [answer(comment) for comment in comments]
