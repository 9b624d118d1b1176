"""Teams of an organization: who belongs to them, and what they may do to repositories."""

import re
from collections.abc import Callable

from svc_env import HandlerContext, Row
from svc_env.finding import known

from ..answers.repositories import repository_answer
from ..answers.teams import membership_url, team_answer, team_of_repository, whole_team_answer
from ..answers.users import simple_user
from ..finding import find_owner, find_repository, find_team, find_user, named, place
from ..paging import answer_page, by_id, each
from ..permitting import LEVELS, ROLES, permissions_of
from ..reading import asked_choice, body_of, choice_of, needed_text, text_of
from ..refusals import forbidden, impossible, invalid, not_found
from ..viewer import VIEWER, role_in

PRIVACIES = ("closed", "secret")
NOTIFICATIONS = ("notifications_enabled", "notifications_disabled")
MEMBER_ROLES = ("member", "maintainer")


def list_teams(ctx: HandlerContext) -> None:
    org = find_owner(ctx)["login"]
    if role_in(ctx, org) is None:
        forbidden(ctx, "Must be a member of this organization to see its teams.")
    answer_page(ctx, ctx.query("teams", {"org": org}), _answers(ctx), by=by_id)


def list_own_teams(ctx: HandlerContext) -> None:
    """Those that the viewer belongs to, of all organizations."""
    keys = {(row["org"], row["team"]) for row in ctx.query("team_members", {"login": VIEWER})}
    rows = [row for row in ctx.query("teams") if (row["org"], row["slug"]) in keys]
    answer_page(ctx, rows, each(lambda row: whole_team_answer(ctx, row)), by=by_id)


def list_teams_of_repository(ctx: HandlerContext) -> None:
    find_repository(ctx)
    shared = ctx.query("team_repositories", place(ctx))
    levels = {row["team"]: row["permission"] for row in shared}
    rows = ctx.query("teams", {"org": ctx.args["owner"], "slug": list(levels)}) if levels else []
    answer_page(
        ctx, rows, each(lambda row: team_of_repository(ctx, row, levels[row["slug"]])), by=by_id
    )


def get_team(ctx: HandlerContext) -> Row:
    return whole_team_answer(ctx, find_team(ctx))


def create_team(ctx: HandlerContext) -> None:
    """The user who makes a team is its maintainer."""
    org, body, now = find_owner(ctx)["login"], body_of(ctx), ctx.clock.now()
    if role_in(ctx, org) is None:
        forbidden(ctx, "Must be a member of this organization to create teams.")
    name = needed_text(ctx, "Team", "name", 255)
    slug = re.sub(r"[^a-z0-9_]+", "-", name.lower()).strip("-")[:100]
    if not slug:
        invalid(ctx, "Team", "name", "invalid")
    if ctx.get("teams", {"org": org, "slug": slug}) is not None:
        impossible(ctx, "Team", "Name must be unique for this org")
    team = {
        "id": ctx.ids.next("teams", "id"),
        "org": org,
        "slug": slug,
        "name": name,
        "description": None,
        "privacy": "secret",
        "notification_setting": NOTIFICATIONS[0],
        "created_at": now,
        **_patch(ctx),
        "updated_at": now,
    }
    ctx.insert("teams", team)
    logins = (_member(ctx, org, login) for login in _list(ctx, "maintainers"))
    for login in dict.fromkeys([VIEWER, *logins]):
        ctx.insert("team_members", {**_of(team), "login": login, "role": "maintainer"})
    for name in _list(ctx, "repo_names"):
        owner, _, repo = str(name).partition("/")
        repository = named(ctx, "repositories", {"owner": owner, "name": repo})
        if repository is None or repository["owner"] != org:
            invalid(ctx, "Team", "repo_names", "invalid", value=name)
        _share(ctx, team, repository, body.get("permission") or "pull")
    answer = whole_team_answer(ctx, team)
    ctx.respond(201, answer, {"location": answer["url"]})


def update_team(ctx: HandlerContext) -> None:
    """Changes what the body names but the name: every row of a team bears that."""
    team = _managed_team(ctx)
    if body_of(ctx).get("name") not in (None, team["name"]):
        impossible(ctx, "Team", "Teams of this world cannot be renamed.")
    patch = {**_patch(ctx), "updated_at": ctx.clock.now()}
    ctx.respond(200, whole_team_answer(ctx, ctx.update("teams", _key(team), patch)))


def delete_team(ctx: HandlerContext) -> None:
    """Deletes a team and first what belongs to it."""
    team = _managed_team(ctx)
    for row in ctx.query("team_members", _of(team)):
        ctx.delete("team_members", {**_of(team), "login": row["login"]})
    for row in ctx.query("team_repositories", _of(team)):
        ctx.delete("team_repositories", {**_of(team), "owner": row["owner"], "repo": row["repo"]})
    for row in ctx.query("team_review_requests", _of(team)):
        ctx.delete("team_review_requests", row)
    ctx.delete("teams", _key(team))


# Members


def list_members_of_team(ctx: HandlerContext) -> None:
    team = find_team(ctx)
    role = asked_choice(ctx, "Team", "role", ("all", *MEMBER_ROLES), "all")
    where = _of(team) if role == "all" else {**_of(team), "role": role}
    logins = [row["login"] for row in ctx.query("team_members", where)]
    rows = ctx.query("users", {"login": logins}) if logins else []
    answer_page(ctx, rows, each(simple_user), by=by_id)


def get_membership_of_team(ctx: HandlerContext) -> Row:
    team, user = find_team(ctx), find_user(ctx)
    member = ctx.get("team_members", {**_of(team), "login": user["login"]}) or not_found(ctx)
    return _membership(team, member)


def put_membership_of_team(ctx: HandlerContext) -> Row:
    """Puts a member of the organization into a team, or gives another role there."""
    team, user = _managed_team(ctx), find_user(ctx)
    asked = body_of(ctx).get("role") or "member"
    role = choice_of(ctx, "TeamMember", "role", asked, MEMBER_ROLES)
    key = {**_of(team), "login": _member(ctx, team["org"], user["login"])}
    if ctx.get("team_members", key) is None:
        return _membership(team, ctx.insert("team_members", {**key, "role": role}))
    return _membership(team, ctx.update("team_members", key, {"role": role}))


def remove_membership_of_team(ctx: HandlerContext) -> None:
    team, user = _managed_team(ctx), find_user(ctx)
    key = {**_of(team), "login": user["login"]}
    if ctx.get("team_members", key) is None:
        not_found(ctx)
    ctx.delete("team_members", key)


# Repositories


def list_repositories_of_team(ctx: HandlerContext) -> None:
    team = find_team(ctx)
    answer_page(
        ctx,
        [_repository(ctx, row) for row in ctx.query("team_repositories", _of(team))],
        list,
        by=by_id,
    )


def check_repository_of_team(ctx: HandlerContext) -> None:
    """204 for a repository that the team works on, 404 for any other."""
    team = find_team(ctx)
    find_repository(ctx)
    if ctx.get("team_repositories", {**_of(team), **place(ctx)}) is None:
        not_found(ctx)


def put_repository_of_team(ctx: HandlerContext) -> None:
    team, repository = _managed_team(ctx), find_repository(ctx)
    _share(ctx, team, repository, body_of(ctx).get("permission") or "push")


def remove_repository_of_team(ctx: HandlerContext) -> None:
    team = _managed_team(ctx)
    find_repository(ctx)
    key = {**_of(team), **place(ctx)}
    if ctx.get("team_repositories", key) is not None:
        ctx.delete("team_repositories", key)


def _answers(ctx: HandlerContext) -> Callable[[list[Row]], list[Row]]:
    return each(lambda row: team_answer(ctx, row))


def _list(ctx: HandlerContext, field: str) -> list:
    """A list of the body, which need not be there."""
    value = body_of(ctx).get(field) or []
    return value if isinstance(value, list) else invalid(ctx, "Team", field, "invalid")


def _managed_team(ctx: HandlerContext) -> Row:
    """The team of the path, for an owner of the organization or a maintainer of the team."""
    team = find_team(ctx)
    own = ctx.get("team_members", {**_of(team), "login": VIEWER})
    if role_in(ctx, team["org"]) != "admin" and (own or {}).get("role") != "maintainer":
        forbidden(ctx, "Must be a maintainer of this team.")
    return team


def _share(ctx: HandlerContext, team: Row, repository: Row, asked: object) -> None:
    """Lets a team work on a repository of its organization."""
    permission = choice_of(ctx, "Team", "permission", asked, LEVELS)
    if repository["owner"] != team["org"]:
        impossible(ctx, "Team", "The repository belongs to another organization.")
    key = {**_of(team), "owner": repository["owner"], "repo": repository["name"]}
    if ctx.get("team_repositories", key) is None:
        ctx.insert("team_repositories", {**key, "permission": permission})
    else:
        ctx.update("team_repositories", key, {"permission": permission})


def _member(ctx: HandlerContext, org: str, login: object) -> str:
    """Returns the login of a user who belongs to the organization."""
    key = {"org": org, "login": login}
    membership = named(ctx, "memberships", key) if isinstance(login, str) else None
    if membership is None:
        impossible(ctx, "TeamMember", "Users must belong to the organization first.")
    return membership["login"]


def _membership(team: Row, member: Row) -> Row:
    url = membership_url(team, member["login"])
    return {"url": url, "role": member["role"], "state": "active"}


def _repository(ctx: HandlerContext, row: Row) -> Row:
    key = {"owner": row["owner"], "name": row["repo"]}
    body = repository_answer(ctx, known(ctx, "repositories", key))
    level = row["permission"]
    return {**body, "permissions": permissions_of(level), "role_name": ROLES[level]}


def _patch(ctx: HandlerContext) -> Row:
    body, found = body_of(ctx), {}
    if "description" in body:
        found["description"] = text_of(ctx, "Team", "description", body["description"])
    choices = {"privacy": PRIVACIES, "notification_setting": NOTIFICATIONS}
    for name, values in choices.items():
        if body.get(name) is not None:
            found[name] = choice_of(ctx, "Team", name, body[name], values)
    return found


def _key(team: Row) -> Row:
    return {"org": team["org"], "slug": team["slug"]}


def _of(team: Row) -> Row:
    """Returns the fields by which rows refer to a team."""
    return {"org": team["org"], "team": team["slug"]}
