"""Teams of an organization."""

from svc_env import HandlerContext, Row
from svc_env.finding import known

from ..finding import count_of
from ..permitting import permissions_of
from .addresses import API, WEB, node_id
from .users import organization_answer

#: What a team may do where no repository is spoken of.
PERMISSION = "pull"


def team_answer(ctx: HandlerContext, team: Row) -> Row:
    """A team as it stands in a list."""
    organization = known(ctx, "users", {"login": team["org"]})
    url = f"{API}/organizations/{organization['id']}/team/{team['id']}"
    fields = ("id", "name", "slug", "description", "privacy", "notification_setting")
    return {
        **{field: team[field] for field in fields},
        "node_id": node_id("T", organization["id"], team["id"]),
        "permission": PERMISSION,
        "url": url,
        "html_url": f"{WEB}/orgs/{team['org']}/teams/{team['slug']}",
        "members_url": f"{url}/members{{/member}}",
        "repositories_url": f"{url}/repos",
        "type": "organization",
        "organization_id": organization["id"],
        "parent": None,
    }


def team_of_repository(ctx: HandlerContext, team: Row, level: str) -> Row:
    """A team as a repository has it: with what it may do there."""
    return {
        **team_answer(ctx, team),
        "permission": level,
        "permissions": permissions_of(level),
    }


def whole_team_answer(ctx: HandlerContext, team: Row) -> Row:
    """A team alone: with its organization, and how much belongs to it."""
    of_team = {"org": team["org"], "team": team["slug"]}
    organization = known(ctx, "users", {"login": team["org"]})
    return {
        **team_answer(ctx, team),
        "created_at": team["created_at"],
        "updated_at": team["updated_at"],
        "members_count": count_of(ctx, "team_members", of_team),
        "repos_count": count_of(ctx, "team_repositories", of_team),
        "organization": organization_answer(ctx, organization),
    }


def membership_url(team: Row, login: str) -> str:
    return f"{API}/orgs/{team['org']}/teams/{team['slug']}/memberships/{login}"
