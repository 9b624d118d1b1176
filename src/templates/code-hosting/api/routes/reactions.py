"""Reactions to issues, comments and releases: the same for each of them."""

from svc_env import HandlerContext, Row

from ..answers.addresses import node_id
from ..answers.users import users_named
from ..finding import (
    find_comment,
    find_issue,
    find_reaction,
    find_release,
    find_repository,
    find_review_comment,
    place,
)
from ..paging import answer_page, by_id
from ..reacting import CONTENTS
from ..reading import asked_choice, body_of, choice_of
from ..refusals import forbidden
from ..viewer import VIEWER, role_in

#: What users may put under a release; the rest is for what people write to each other.
OF_RELEASES = ("+1", "laugh", "heart", "hooray", "rocket", "eyes")


def list_reactions(ctx: HandlerContext) -> None:
    """Oldest first; `content` asks for one of the signs."""
    repository = find_repository(ctx)
    subject, row = _subject(ctx)
    where: Row = {**place(ctx), "subject": subject, "subject_id": row["id"]}
    if ctx.args.get("content"):
        where["content"] = asked_choice(ctx, "Reaction", "content", CONTENTS, "")
    answer_page(
        ctx,
        ctx.query("reactions", where),
        lambda page: _answers(ctx, repository, page),
        by=by_id,
    )


def create_reaction(ctx: HandlerContext) -> None:
    """201; or 200 for a sign that the viewer has put there before."""
    repository = find_repository(ctx)
    subject, row = _subject(ctx)
    known = OF_RELEASES if subject == "release" else CONTENTS
    content = choice_of(ctx, "Reaction", "content", body_of(ctx).get("content"), known)
    own = {
        **place(ctx),
        "subject": subject,
        "subject_id": row["id"],
        "user": VIEWER,
        "content": content,
    }
    before = ctx.query("reactions", own, limit=1)
    if not before:
        reaction_id = ctx.ids.next("reactions", "id")
        ctx.insert("reactions", {"id": reaction_id, **own, "created_at": ctx.clock.now()})
    [answer] = _answers(ctx, repository, ctx.query("reactions", own, limit=1))
    ctx.respond(200 if before else 201, answer)


def delete_reaction(ctx: HandlerContext) -> None:
    """An own one; or anybody's, for who manages the repository."""
    repository = find_repository(ctx)
    reaction = find_reaction(ctx, *_subject(ctx))
    if reaction["user"] != VIEWER and role_in(ctx, repository["owner"]) != "admin":
        forbidden(ctx, "You do not have permission to delete this reaction.")
    ctx.delete("reactions", {"id": reaction["id"]})


def _subject(ctx: HandlerContext) -> tuple[str, Row]:
    """Returns the object that the path's reactions belong to."""
    if "issue_number" in ctx.args:
        return "issue", find_issue(ctx)
    if "release_id" in ctx.args:
        return "release", find_release(ctx)
    if "/pulls/" in ctx.route:
        return "review_comment", find_review_comment(ctx)
    return "comment", find_comment(ctx)


def _answers(ctx: HandlerContext, repository: Row, reactions: list[Row]) -> list[Row]:
    users = users_named(ctx, (reaction["user"] for reaction in reactions))
    return [
        {
            "id": reaction["id"],
            "node_id": node_id("REA", repository["id"], reaction["id"]),
            "user": users[reaction["user"]],
            "content": reaction["content"],
            "created_at": reaction["created_at"],
        }
        for reaction in reactions
    ]
