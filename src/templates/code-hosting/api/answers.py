"""Turns rows into the bodies that the code host answers with.

A row holds what is known once; a body repeats it: whole users where the row has a login, and a URL
for every neighbour. Bodies of a list are made together, so that a page costs a few queries and not
a few for each of its items.
"""

import base64
import struct
from collections import Counter, defaultdict
from urllib.parse import quote

from svc_env import HandlerContext, Row

API = "https://api.code.example"
WEB = "https://code.example"

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

#: A label's row without the two fields that say whose label it is.
LABEL = ("id", "node_id", "url", "name", "color", "default", "description")

#: What follows a repository's own URL in each of its `…_url` fields.
REPOSITORY_URLS = {
    "archive_url": "/{archive_format}{/ref}",
    "assignees_url": "/assignees{/user}",
    "blobs_url": "/git/blobs{/sha}",
    "branches_url": "/branches{/branch}",
    "collaborators_url": "/collaborators{/collaborator}",
    "comments_url": "/comments{/number}",
    "commits_url": "/commits{/sha}",
    "compare_url": "/compare/{base}...{head}",
    "contents_url": "/contents/{+path}",
    "contributors_url": "/contributors",
    "deployments_url": "/deployments",
    "downloads_url": "/downloads",
    "events_url": "/events",
    "forks_url": "/forks",
    "git_commits_url": "/git/commits{/sha}",
    "git_refs_url": "/git/refs{/sha}",
    "git_tags_url": "/git/tags{/sha}",
    "hooks_url": "/hooks",
    "issue_comment_url": "/issues/comments{/number}",
    "issue_events_url": "/issues/events{/number}",
    "issues_url": "/issues{/number}",
    "keys_url": "/keys{/key_id}",
    "labels_url": "/labels{/name}",
    "languages_url": "/languages",
    "merges_url": "/merges",
    "milestones_url": "/milestones{/number}",
    "notifications_url": "/notifications{?since,all,participating}",
    "pulls_url": "/pulls{/number}",
    "releases_url": "/releases{/id}",
    "stargazers_url": "/stargazers",
    "statuses_url": "/statuses/{sha}",
    "subscribers_url": "/subscribers",
    "subscription_url": "/subscription",
    "tags_url": "/tags",
    "teams_url": "/teams",
    "trees_url": "/git/trees{/sha}",
}

REACTIONS = ("+1", "-1", "laugh", "hooray", "confused", "heart", "rocket", "eyes")


def node_id(prefix: str, *ids: int) -> str:
    """The code host's second kind of id: a prefix and the numeric ids, packed and in base 64."""
    packed = bytes([0x91 + len(ids), 0]) + b"".join(map(_pack, ids))
    return f"{prefix}_{base64.urlsafe_b64encode(packed).decode().rstrip('=')}"


def _pack(number: int) -> bytes:
    return struct.pack(">BI", 0xCE, number) if number < 2**32 else struct.pack(">BQ", 0xCF, number)


def simple_user(user: Row) -> Row:
    return {field: user[field] for field in SIMPLE_USER}


def label_answer(label: Row) -> Row:
    return {field: label[field] for field in LABEL}


def repository_answer(ctx: HandlerContext, repository: Row) -> Row:
    """A repository with its owner, its URLs and its number of open issues."""
    where = {"owner": repository["owner"], "repo": repository["name"], "state": "open"}
    open_issues = len(ctx.query("issues", where))
    owner = simple_user(ctx.get("users", {"login": repository["owner"]}))
    full_name = f"{repository['owner']}/{repository['name']}"
    url = f"{API}/repos/{full_name}"
    html_url = f"{WEB}/{full_name}"
    counts = {
        "forks": repository["forks_count"],
        "network_count": repository["forks_count"],
        "open_issues": open_issues,
        "open_issues_count": open_issues,
        "watchers": repository["stargazers_count"],
        "watchers_count": repository["stargazers_count"],
    }
    return {
        **repository,
        "node_id": node_id("R", repository["id"]),
        "full_name": full_name,
        "owner": owner,
        "organization": owner if owner["type"] == "Organization" else None,
        "visibility": "private" if repository["private"] else "public",
        "fork": False,
        "url": url,
        "html_url": html_url,
        **{field: url + rest for field, rest in REPOSITORY_URLS.items()},
        "git_url": f"git://code.example/{full_name}.git",
        "ssh_url": f"git@code.example:{full_name}.git",
        "clone_url": f"{html_url}.git",
        "svn_url": html_url,
        "mirror_url": None,
        **counts,
        "has_issues": True,
        "has_projects": False,
        "has_wiki": False,
        "has_pages": False,
        "has_downloads": True,
        "is_template": False,
        "disabled": False,
        "allow_forking": True,
        "web_commit_signoff_required": False,
        "permissions": {
            "admin": False,
            "maintain": False,
            "push": True,
            "triage": True,
            "pull": True,
        },
    }


def issue_answer(ctx: HandlerContext, repository: Row, issue: Row) -> Row:
    return issue_answers(ctx, repository, [issue])[0]


def issue_answers(ctx: HandlerContext, repository: Row, issues: list[Row]) -> list[Row]:
    """Issues of one repository with their users, labels, assignees and numbers of comments."""
    whose = {"owner": repository["owner"], "repo": repository["name"]}
    where = {**whose, "issue_number": [issue["number"] for issue in issues]}
    comments = Counter(row["issue_number"] for row in ctx.query("comments", where))
    assignees = defaultdict(list)
    for row in ctx.query("issue_assignees", where):
        assignees[row["issue_number"]].append(row["login"])
    labels = labels_of(ctx, repository, issues)
    logins = [login for row in issues for login in (row["user"], row.get("closed_by"))]
    users = _users(ctx, logins + sum(assignees.values(), []))

    def answer(issue: Row) -> Row:
        number = issue["number"]
        assigned = [users[login] for login in assignees[number]]
        return {
            **_issue_urls(issue),
            "id": issue["id"],
            "node_id": node_id("I", repository["id"], issue["id"]),
            "number": number,
            "title": issue["title"],
            "user": users[issue["user"]],
            "labels": [label_answer(label) for label in labels[number]],
            "state": issue["state"],
            "locked": issue.get("locked", False),
            "assignee": assigned[0] if assigned else None,
            "assignees": assigned,
            "milestone": None,
            "comments": comments[number],
            "created_at": issue["created_at"],
            "updated_at": issue["updated_at"],
            "closed_at": issue.get("closed_at"),
            "author_association": issue.get("author_association", "NONE"),
            "active_lock_reason": issue.get("active_lock_reason") if issue.get("locked") else None,
            "body": issue.get("body"),
            "closed_by": users.get(issue.get("closed_by")),
            "reactions": _no_reactions(_issue_urls(issue)["url"]),
            "performed_via_github_app": None,
            "state_reason": issue.get("state_reason"),
        }

    return [answer(issue) for issue in issues]


def labels_of(ctx: HandlerContext, repository: Row, issues: list[Row]) -> dict[int, list[Row]]:
    """The labels of each issue, by its number; in the order of their names."""
    whose = {"owner": repository["owner"], "repo": repository["name"]}
    where = {**whose, "issue_number": [issue["number"] for issue in issues]}
    by_name = {label["name"]: label for label in ctx.query("labels", whose)}
    found = defaultdict(list)
    for row in ctx.query("issue_labels", where, order_by="label"):
        found[row["issue_number"]].append(by_name[row["label"]])
    return found


def comment_answer(ctx: HandlerContext, repository: Row, comment: Row) -> Row:
    return comment_answers(ctx, repository, [comment])[0]


def comment_answers(ctx: HandlerContext, repository: Row, comments: list[Row]) -> list[Row]:
    """Comments of one repository with their users."""
    users = _users(ctx, [comment["user"] for comment in comments])

    def answer(comment: Row) -> Row:
        full_name = f"{comment['owner']}/{comment['repo']}"
        number, comment_id = comment["issue_number"], comment["id"]
        url = f"{API}/repos/{full_name}/issues/comments/{comment_id}"
        return {
            "url": url,
            "html_url": f"{WEB}/{full_name}/issues/{number}#issuecomment-{comment_id}",
            "issue_url": f"{API}/repos/{full_name}/issues/{number}",
            "id": comment_id,
            "node_id": node_id("IC", repository["id"], comment_id),
            "user": users[comment["user"]],
            "created_at": comment["created_at"],
            "updated_at": comment["updated_at"],
            "author_association": comment.get("author_association", "NONE"),
            "body": comment["body"],
            "reactions": _no_reactions(url),
            "performed_via_github_app": None,
        }

    return [answer(comment) for comment in comments]


def label_url(label: Row) -> str:
    return f"{API}/repos/{label['owner']}/{label['repo']}/labels/{quote(label['name'], safe='')}"


def _users(ctx: HandlerContext, logins: list[str | None]) -> dict[str, Row]:
    wanted = sorted({login for login in logins if login})
    rows = ctx.query("users", {"login": wanted})
    return {row["login"]: simple_user(row) for row in rows}


def _issue_urls(issue: Row) -> Row:
    repository_url = f"{API}/repos/{issue['owner']}/{issue['repo']}"
    url = f"{repository_url}/issues/{issue['number']}"
    return {
        "url": url,
        "repository_url": repository_url,
        "labels_url": f"{url}/labels{{/name}}",
        "comments_url": f"{url}/comments",
        "events_url": f"{url}/events",
        "timeline_url": f"{url}/timeline",
        "html_url": f"{WEB}/{issue['owner']}/{issue['repo']}/issues/{issue['number']}",
    }


def _no_reactions(url: str) -> Row:
    """Nobody reacts in this world; the body has its place for reactions all the same."""
    return {"url": f"{url}/reactions", "total_count": 0, **dict.fromkeys(REACTIONS, 0)}
