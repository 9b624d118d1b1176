"""Rights of a user in a repository: as its owner, as a member of its organization, or in a team."""

from svc_env import HandlerContext, Row

from .answers.users import simple_user
from .viewer import role_in

#: From least to most, and what the roles are called.
ROLES = {"pull": "read", "triage": "triage", "push": "write", "maintain": "maintain", "admin": "admin"}
LEVELS = tuple(ROLES)

#: The words that there were before the roles: each role is one of these.
OF_OLD = {"read": "read", "triage": "read", "write": "write", "maintain": "write", "admin": "admin"}


def level_of(ctx: HandlerContext, repository: Row, login: str) -> str | None:
    """Returns the highest right of a user; None for a user without access."""
    role = role_in(ctx, repository["owner"], login)
    if role is None:
        return None
    if role == "admin":
        return "admin"
    teams = {row["team"] for row in ctx.query("team_members", {"login": login})}
    here = {"owner": repository["owner"], "repo": repository["name"]}
    shared = [row for row in ctx.query("team_repositories", here) if row["team"] in teams]
    return max(["push", *(row["permission"] for row in shared)], key=LEVELS.index)


def permissions_of(level: str) -> Row:
    """A level as flags: who may do much may do less."""
    return {name: LEVELS.index(name) <= LEVELS.index(level) for name in LEVELS}


def collaborators_of(ctx: HandlerContext, repository: Row) -> list[Row]:
    """Returns the users who may write, each with their rights."""
    owner = repository["owner"]
    logins = [row["login"] for row in ctx.query("memberships", {"org": owner})]
    users = ctx.query("users", {"login": logins or [owner]})
    return [collaborator(user, level_of(ctx, repository, user["login"]) or "pull") for user in users]


def collaborator(user: Row, level: str) -> Row:
    role = {"permissions": permissions_of(level), "role_name": ROLES[level]}
    return {**simple_user(user), **role}
