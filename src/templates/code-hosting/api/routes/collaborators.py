"""Collaborators of a repository, and invitations of users from outside."""

from svc_env import HandlerContext, Row

from ..answers.addresses import api_url, node_id, web_url
from ..answers.repositories import repository_answer
from ..answers.users import users_named
from ..finding import find_invitation, find_managed_repository, find_repository, find_user, place
from ..paging import answer_page, by_id
from ..permitting import (
    LEVELS,
    OF_OLD,
    ROLES,
    collaborator,
    collaborators_of,
    level_of,
)
from ..reading import asked_choice, body_of, choice_of
from ..refusals import forbidden, not_found
from ..viewer import VIEWER, role_in

AFFILIATIONS = ("outside", "direct", "all")


def list_collaborators(ctx: HandlerContext) -> None:
    """All of them are members: who comes from outside has yet to answer."""
    repository = find_repository(ctx)
    _require_push(ctx, repository, "Must have push access to view repository collaborators.")
    kind = asked_choice(ctx, "Repository", "affiliation", AFFILIATIONS, "all")
    wanted = asked_choice(ctx, "Repository", "permission", LEVELS, "pull")
    rows = [] if kind == "outside" else collaborators_of(ctx, repository)
    able = [row for row in rows if row["permissions"][wanted]]
    answer_page(ctx, able, list, by=by_id)


def check_collaborator(ctx: HandlerContext) -> None:
    """204 for a collaborator, 404 for anybody else."""
    repository = find_repository(ctx)
    _require_push(ctx, repository, "Must have push access to view repository collaborators.")
    if level_of(ctx, repository, find_user(ctx)["login"]) is None:
        not_found(ctx)


def get_permission(ctx: HandlerContext) -> Row:
    """Returns the permission of a user; every user may read a public repository."""
    repository = find_repository(ctx)
    _require_push(ctx, repository, "Must have push access to view collaborator permission.")
    user = find_user(ctx)
    level = level_of(ctx, repository, user["login"])
    if level is None and repository["private"]:
        flags = dict.fromkeys(LEVELS, False)
        whose = {**collaborator(user, "pull"), "permissions": flags, "role_name": ""}
        return {"permission": "none", "user": whose, "role_name": ""}
    role = ROLES[level or "pull"]
    user = collaborator(user, level or "pull")
    return {"permission": OF_OLD[role], "user": user, "role_name": role}


def add_collaborator(ctx: HandlerContext) -> None:
    """Invites a user from outside, 201; 204 for a user who may work on it already."""
    repository, user = find_managed_repository(ctx), find_user(ctx)
    asked = body_of(ctx).get("permission") or "push"
    permission = choice_of(ctx, "Repository", "permission", asked, LEVELS)
    if level_of(ctx, repository, user["login"]) is not None:
        return ctx.respond(204)
    here = {**place(ctx), "invitee": user["login"]}
    before = ctx.query("invitations", here, limit=1)
    if before:
        row = ctx.update("invitations", {"id": before[0]["id"]}, {"permission": permission})
    else:
        about = {"inviter": VIEWER, "permission": permission, "created_at": ctx.clock.now()}
        row = ctx.insert("invitations", {"id": ctx.ids.next("invitations", "id"), **here, **about})
    ctx.respond(201, _answers(ctx, repository, [row])[0])


def remove_collaborator(ctx: HandlerContext) -> None:
    """Takes an invitation back. Members are let in by their organization, which this leaves alone."""
    find_managed_repository(ctx)
    for row in ctx.query("invitations", {**place(ctx), "invitee": find_user(ctx)["login"]}):
        ctx.delete("invitations", {"id": row["id"]})


def list_invitations(ctx: HandlerContext) -> None:
    repository = find_managed_repository(ctx)
    rows = ctx.query("invitations", place(ctx))
    answer_page(ctx, rows, lambda page: _answers(ctx, repository, page), by=by_id)


def update_invitation(ctx: HandlerContext) -> Row:
    repository, body = find_managed_repository(ctx), body_of(ctx)
    row, levels = find_invitation(ctx), {role: level for level, role in ROLES.items()}
    if body.get("permissions") is not None:
        roles = tuple(levels)
        role = choice_of(ctx, "RepositoryInvitation", "permissions", body["permissions"], roles)
        row = ctx.update("invitations", {"id": row["id"]}, {"permission": levels[role]})
    return _answers(ctx, repository, [row])[0]


def delete_invitation(ctx: HandlerContext) -> None:
    find_managed_repository(ctx)
    ctx.delete("invitations", {"id": find_invitation(ctx)["id"]})


def _require_push(ctx: HandlerContext, repository: Row, message: str) -> None:
    if role_in(ctx, repository["owner"]) is None:
        forbidden(ctx, message)


def _answers(ctx: HandlerContext, repository: Row, rows: list[Row]) -> list[Row]:
    users = users_named(ctx, (login for row in rows for login in (row["invitee"], row["inviter"])))
    return [
        {
            "id": row["id"],
            "node_id": node_id("RI", row["id"]),
            "repository": repository_answer(ctx, repository),
            "invitee": users[row["invitee"]],
            "inviter": users[row["inviter"]],
            "permissions": ROLES[row["permission"]],
            "created_at": row["created_at"],
            "expired": False,
            "url": api_url(row, "invitations", row["id"]),
            "html_url": web_url(row, "invitations"),
        }
        for row in rows
    ]
