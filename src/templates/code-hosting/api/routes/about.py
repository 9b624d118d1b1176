"""The code host itself: where its parts are, and what it says of itself."""

from svc_env import HandlerContext, Row

from ..answers.addresses import API
from ..answers.repositories import whole_repository_answer
from ..dating import dated
from ..finding import find_by_id
from ..reading import body_of, text_of
from ..refusals import invalid, not_found
from ..viewer import can_see

VERSIONS = ["2022-11-28"]

#: Characters of a text that is rendered.
LONGEST_MARKDOWN = 400 * 1024

#: Addresses that no machine has: they are reserved for texts like this one.
ADDRESSES = ["192.0.2.0/24", "198.51.100.0/24"]

#: What begins in the root of the API, by name.
BEGINNINGS = {
    "current_user_url": "/user",
    "hub_url": "/hub",
    "emails_url": "/user/emails",
    "events_url": "/events",
    "issues_url": "/issues",
    "issue_search_url": "/search/issues?q={query}{&page,per_page,sort,order}",
    "notifications_url": "/notifications",
    "organization_url": "/orgs/{org}",
    "organization_repositories_url": "/orgs/{org}/repos{?type,page,per_page,sort}",
    "organization_teams_url": "/orgs/{org}/teams",
    "rate_limit_url": "/rate_limit",
    "repository_url": "/repos/{owner}/{repo}",
    "repository_search_url": "/search/repositories?q={query}{&page,per_page,sort,order}",
    "current_user_repositories_url": "/user/repos{?type,page,per_page,sort}",
    "user_url": "/users/{user}",
    "user_organizations_url": "/user/orgs",
    "user_repositories_url": "/users/{user}/repos{?type,page,per_page,sort}",
    "user_search_url": "/search/users?q={query}{&page,per_page,sort,order}",
}


def get_root(ctx: HandlerContext) -> Row:
    return {name: API + path for name, path in BEGINNINGS.items()}


def get_meta(ctx: HandlerContext) -> Row:
    parts = ("hooks", "web", "api", "git", "packages", "pages", "importer", "actions")
    return {
        "verifiable_password_authentication": False,
        "ssh_key_fingerprints": {},
        "ssh_keys": [],
        **dict.fromkeys(parts, ADDRESSES),
    }


def list_versions(ctx: HandlerContext) -> list[str]:
    return VERSIONS


def get_zen(ctx: HandlerContext) -> None:
    content_type = {"content-type": "text/plain; charset=utf-8"}
    ctx.respond(200, "Keep it logically awesome.", content_type)


def render_markdown(ctx: HandlerContext) -> None:
    """The text of a body as HTML. Both modes come to the same: what is rendered is their common part."""
    text = body_of(ctx).get("text")
    if text is None:
        invalid(ctx, "Markdown", "text", "missing_field")
    _answer_html(ctx, text_of(ctx, "Markdown", "text", text, LONGEST_MARKDOWN) or "")


def render_markdown_raw(ctx: HandlerContext) -> None:
    """The same of a body that is the text."""
    text = ctx.body or ""
    _answer_html(ctx, text_of(ctx, "Markdown", "text", text, LONGEST_MARKDOWN) or "")


def _answer_html(ctx: HandlerContext, text: str) -> None:
    from ..markdown import html_of  # It takes memory, and most ask for no HTML.

    ctx.respond(200, html_of(text), {"content-type": "text/html; charset=utf-8"})


def get_repository_by_id(ctx: HandlerContext) -> Row:
    """A repository by the number that it keeps, whatever it is called."""
    repository = find_by_id(ctx, "repositories", "repository_id")
    if not can_see(ctx, repository):
        not_found(ctx)
    return dated(ctx, whole_repository_answer(ctx, repository), repository["updated_at"])


def get_user_by_id(ctx: HandlerContext) -> Row:
    user = find_by_id(ctx, "users", "account_id")
    return dated(ctx, user, user["updated_at"])
