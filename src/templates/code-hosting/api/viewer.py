"""The caller, and the caller's rights.

Every caller of the API is the same user, whose role in an organization decides what they may do there:
members write to its repositories, admins manage them too. Elsewhere one may read, open issues and
comment, as anybody may.
"""

from svc_env import HandlerContext, Row

from .refusals import forbidden

#: The user that a session's token belongs to.
VIEWER = "quay-triage"


def role_in(ctx: HandlerContext, owner: str, login: str = VIEWER) -> str | None:
    """ "admin", "member" or None. Everybody is the admin of what is their own."""
    if owner == login:
        return "admin"
    membership = ctx.get("memberships", {"org": owner, "login": login})
    return membership["role"] if membership else None


def own_logins(ctx: HandlerContext) -> list[str]:
    """The viewer, and the organizations that the viewer belongs to."""
    return [VIEWER, *(row["org"] for row in ctx.query("memberships", {"login": VIEWER}))]


def can_see(ctx: HandlerContext, repository: Row) -> bool:
    return not repository["private"] or role_in(ctx, repository["owner"]) is not None


def require_write(ctx: HandlerContext, repository: Row) -> None:
    """403 unless the viewer may write to the repository: label, assign, merge."""
    if role_in(ctx, repository["owner"]) is None:
        forbidden(ctx, "Must have admin rights to Repository.")


def require_manage(ctx: HandlerContext, repository: Row) -> None:
    """403 unless the viewer may change the repository itself: settings, hooks, its deletion."""
    if role_in(ctx, repository["owner"]) != "admin":
        forbidden(ctx, "Must have admin rights to Repository.")


def association(ctx: HandlerContext, owner: str, login: str = VIEWER) -> str:
    """Returns the association of a user with an owner's repositories, as comments and issues show it."""
    if owner == login:
        return "OWNER"
    return "MEMBER" if role_in(ctx, owner, login) else "NONE"
