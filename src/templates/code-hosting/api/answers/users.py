"""Users and organizations. Both are rows of `users`, whose fields are the body of a whole user."""

from collections.abc import Iterable

from svc_env import HandlerContext, Row
from svc_env.finding import known

from ..finding import count_of
from .addresses import API

#: What a user is cut down to inside another body.
SIMPLE_USER = (
    "login",
    "id",
    "node_id",
    "avatar_url",
    "gravatar_id",
    "url",
    "html_url",
    "followers_url",
    "following_url",
    "gists_url",
    "starred_url",
    "subscriptions_url",
    "organizations_url",
    "repos_url",
    "events_url",
    "received_events_url",
    "type",
    "user_view_type",
    "site_admin",
)

#: What an organization has in common with a user.
ORGANIZATION = (
    "login",
    "id",
    "node_id",
    "avatar_url",
    "html_url",
    "type",
    "name",
    "company",
    "blog",
    "location",
    "email",
    "twitter_username",
    "public_repos",
    "public_gists",
    "followers",
    "following",
    "created_at",
    "updated_at",
)


def simple_user(user: Row) -> Row:
    return {field: user[field] for field in SIMPLE_USER}


def users_named(ctx: HandlerContext, logins: Iterable[str | None]) -> dict[str, Row]:
    """Users as they stand in other bodies, by login."""
    wanted = sorted({login for login in logins if login})
    return {row["login"]: simple_user(row) for row in ctx.query("users", {"login": wanted})}


def simple_organization(user: Row) -> Row:
    url = f"{API}/orgs/{user['login']}"
    return {
        "login": user["login"],
        "id": user["id"],
        "node_id": user["node_id"],
        "url": url,
        "repos_url": f"{url}/repos",
        "events_url": f"{url}/events",
        "hooks_url": f"{url}/hooks",
        "issues_url": f"{url}/issues",
        "members_url": f"{url}/members{{/member}}",
        "public_members_url": f"{url}/public_members{{/member}}",
        "avatar_url": user["avatar_url"],
        "description": user["bio"],
    }


def organization_answer(ctx: HandlerContext, user: Row) -> Row:
    private = {"owner": user["login"], "private": True}
    count = count_of(ctx, "repositories", private)
    return {
        **{field: user[field] for field in ORGANIZATION if user[field] is not None},
        **simple_organization(user),
        "is_verified": False,
        "has_organization_projects": True,
        "has_repository_projects": True,
        "total_private_repos": count,
        "owned_private_repos": count,
        "default_repository_permission": "write",
        "members_can_create_repositories": True,
        "web_commit_signoff_required": False,
        "archived_at": None,
    }


def membership_answer(ctx: HandlerContext, membership: Row) -> Row:
    organization = known(ctx, "users", {"login": membership["org"]})
    user = known(ctx, "users", {"login": membership["login"]})
    url = f"{API}/orgs/{membership['org']}"
    return {
        "url": f"{url}/memberships/{membership['login']}",
        "state": "active",
        "role": membership["role"],
        "organization_url": url,
        "organization": simple_organization(organization),
        "user": simple_user(user),
    }
