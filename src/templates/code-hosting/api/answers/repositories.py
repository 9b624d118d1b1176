"""Repositories, their branches, and the settings that a row may leave out."""

from svc_env import HandlerContext, Row
from svc_env.finding import known

from ..finding import count_of
from ..viewer import role_in
from .addresses import API, WEB, api_url, node_id
from .users import simple_user

#: How pull requests are merged unless a repository's row says otherwise.
MERGE_SETTINGS = {
    "allow_merge_commit": True,
    "allow_squash_merge": True,
    "allow_rebase_merge": True,
    "delete_branch_on_merge": False,
}

#: What a repository is set to unless its row says otherwise.
SETTINGS = {
    "archived": False,
    "is_template": False,
    "has_issues": True,
    "has_projects": False,
    "has_wiki": False,
    "has_discussions": False,
    **MERGE_SETTINGS,
}

#: What a repository shows when it is asked for alone, and not in lists or in other bodies.
ONLY_ALONE = {*MERGE_SETTINGS, "organization", "subscribers_count", "network_count"}

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


def setting(repository: Row, name: str) -> bool:
    return repository.get(name, SETTINGS[name])


def repository_answer(ctx: HandlerContext, repository: Row) -> Row:
    """A repository as it stands in a list, or in another body."""
    whole = whole_repository_answer(ctx, repository)
    return {name: value for name, value in whole.items() if name not in ONLY_ALONE}


def whole_repository_answer(ctx: HandlerContext, repository: Row) -> Row:
    """A repository with its owner, its URLs and the number of its open issues and pull requests."""
    where = {"owner": repository["owner"], "repo": repository["name"], "state": "open"}
    open_issues = count_of(ctx, "issues", where)
    owner = simple_user(known(ctx, "users", {"login": repository["owner"]}))
    role = role_in(ctx, repository["owner"])
    full_name = f"{repository['owner']}/{repository['name']}"
    url = f"{API}/repos/{full_name}"
    html_url = f"{WEB}/{full_name}"
    return {
        **SETTINGS,
        **repository,
        "node_id": node_id("R", repository["id"]),
        "full_name": full_name,
        "owner": owner,
        **({"organization": owner} if owner["type"] == "Organization" else {}),
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
        "forks": repository["forks_count"],
        "network_count": repository["forks_count"],
        "open_issues": open_issues,
        "open_issues_count": open_issues,
        "watchers": repository["stargazers_count"],
        "watchers_count": repository["stargazers_count"],
        "has_pages": False,
        "has_downloads": True,
        "disabled": False,
        "allow_forking": True,
        "web_commit_signoff_required": False,
        "permissions": {
            "admin": role == "admin",
            "maintain": role == "admin",
            "push": role is not None,
            "triage": role is not None,
            "pull": True,
        },
    }


def branch_answer(branch: Row) -> Row:
    """A branch as it stands in a list of branches."""
    url = api_url(branch, "branches", branch["name"])
    approvals = "non_admins" if branch["protected"] else "off"
    checks = {"enforcement_level": approvals, "contexts": [], "checks": []}
    return {
        "name": branch["name"],
        "commit": {"sha": branch["sha"], "url": api_url(branch, "commits", branch["sha"])},
        "protected": branch["protected"],
        "protection": {"enabled": branch["protected"], "required_status_checks": checks},
        "protection_url": f"{url}/protection",
    }


def protection_answer(branch: Row) -> Row:
    """Returns the protection of a branch: one approval, which managers of the repository need, too."""
    url = f"{api_url(branch, 'branches', branch['name'])}/protection"
    off = ("required_linear_history", "allow_force_pushes", "allow_deletions", "block_creations")
    return {
        "url": url,
        "required_pull_request_reviews": {
            "url": f"{url}/required_pull_request_reviews",
            "dismiss_stale_reviews": False,
            "require_code_owner_reviews": False,
            "require_last_push_approval": False,
            "required_approving_review_count": 1,
        },
        "enforce_admins": {"url": f"{url}/enforce_admins", "enabled": True},
        **{name: {"enabled": False} for name in off},
    }


def ref_answer(repository: Row, branch: Row, kind: str = "heads") -> Row:
    """A branch, or a tag where the kind is "tags", as git refers to it."""
    ref = f"refs/{kind}/{branch['name']}"
    return {
        "ref": ref,
        "node_id": f"{node_id('REF', repository['id'])}:{ref}",
        "url": f"{API}/repos/{branch['owner']}/{branch['repo']}/git/{ref}",
        "object": {
            "type": "commit",
            "sha": branch["sha"],
            "url": api_url(branch, "git", "commits", branch["sha"]),
        },
    }
