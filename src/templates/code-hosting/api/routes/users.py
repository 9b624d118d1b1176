"""Users, organizations, and who belongs to them."""

from svc_env import HandlerContext, Row
from svc_env.finding import known

from ..answers.users import (
    membership_answer,
    organization_answer,
    simple_organization,
    simple_user,
)
from ..dating import dated
from ..finding import count_of, find_owner, named
from ..paging import answer_page, by_id, each
from ..reading import asked_choice
from ..refusals import forbidden, not_found
from ..viewer import VIEWER, role_in


def get_authenticated_user(ctx: HandlerContext) -> Row:
    private = count_of(ctx, "repositories", {"owner": VIEWER, "private": True})
    return {
        **known(ctx, "users", {"login": VIEWER}),
        "private_gists": 0,
        "total_private_repos": private,
        "owned_private_repos": private,
        "disk_usage": 0,
        "collaborators": 0,
        "two_factor_authentication": True,
    }


def get_user(ctx: HandlerContext) -> Row:
    """A user or an organization: their row is the body as it is sent."""
    owner = find_owner(ctx)
    return dated(ctx, owner, owner["updated_at"])


def list_users(ctx: HandlerContext) -> None:
    """Everybody, in the order they signed up; `since` is the id of the last one seen."""
    since = str(ctx.args.get("since") or "0")
    first = int(since) if since.isdecimal() else 0
    rows = [row for row in ctx.query("users") if row["id"] > first]
    answer_page(ctx, rows, each(simple_user), by=by_id)


def get_organization(ctx: HandlerContext) -> Row:
    owner = find_owner(ctx)
    return dated(ctx, organization_answer(ctx, owner), owner["updated_at"])


def list_organizations_of_user(ctx: HandlerContext) -> None:
    """Those that the user is publicly a member of."""
    _answer_organizations(ctx, {"login": find_owner(ctx)["login"], "public": True})


def list_own_organizations(ctx: HandlerContext) -> None:
    _answer_organizations(ctx, {"login": VIEWER})


def list_members(ctx: HandlerContext) -> None:
    """All members for a member, the public ones for everybody else."""
    org = find_owner(ctx)["login"]
    role = asked_choice(ctx, "Organization", "role", ("all", "admin", "member"), "all")
    where = {"org": org} if role == "all" else {"org": org, "role": role}
    _answer_members(ctx, where if role_in(ctx, org) else {**where, "public": True})


def list_public_members(ctx: HandlerContext) -> None:
    _answer_members(ctx, {"org": find_owner(ctx)["login"], "public": True})


def check_membership(ctx: HandlerContext) -> None:
    """204 for a member, 404 for anybody else."""
    if _membership(ctx) is None:
        not_found(ctx)


def check_public_membership(ctx: HandlerContext) -> None:
    membership = _membership(ctx)
    if membership is None or not membership["public"]:
        not_found(ctx)


def get_membership(ctx: HandlerContext) -> Row:
    if role_in(ctx, find_owner(ctx)["login"]) is None:
        forbidden(ctx, "You must be a member of this organization to see its memberships.")
    return membership_answer(ctx, _membership(ctx) or not_found(ctx))


def get_own_membership(ctx: HandlerContext) -> Row:
    key = {"org": ctx.args["org"], "login": VIEWER}
    return membership_answer(ctx, named(ctx, "memberships", key) or not_found(ctx))


def _membership(ctx: HandlerContext) -> Row | None:
    key = {"org": ctx.args["org"], "login": ctx.args["username"]}
    return named(ctx, "memberships", key)


def _answer_members(ctx: HandlerContext, where: Row) -> None:
    logins = [row["login"] for row in ctx.query("memberships", where)]
    rows = ctx.query("users", {"login": logins})
    answer_page(ctx, rows, each(simple_user), by=by_id)


def _answer_organizations(ctx: HandlerContext, where: Row) -> None:
    logins = [row["org"] for row in ctx.query("memberships", where)]
    rows = ctx.query("users", {"login": logins})
    answer_page(ctx, rows, each(simple_organization), by=by_id)
