"""Statuses of commits, runs of checks, and the app that makes the runs."""

from svc_env import HandlerContext, Row
from svc_env.finding import known

from ..checking import FAILED
from .addresses import API, WEB, api_url, node_id, web_url
from .commits import email_of, git_id
from .repositories import repository_answer
from .users import simple_user, users_named

#: The app that runs the checks of this world: its number, its name in URLs, and whose it is.
APP_ID = 318204
APP = "harbour-checks"
APP_OWNER = "northquay"


def status_answers(
    ctx: HandlerContext, statuses: list[Row], with_creator: bool = True
) -> list[Row]:
    users = users_named(ctx, (status["creator"] for status in statuses))

    def answer(status: Row) -> Row:
        user = users[status["creator"]]
        return {
            "url": api_url(status, "statuses", status["sha"]),
            "avatar_url": user["avatar_url"],
            "id": status["id"],
            "node_id": node_id("SC", status["id"]),
            "state": status["state"],
            "description": status["description"],
            "target_url": status["target_url"],
            "context": status["context"],
            "created_at": status["created_at"],
            "updated_at": status["updated_at"],
            **({"creator": user} if with_creator else {}),
        }

    return [answer(status) for status in statuses]


def run_answers(ctx: HandlerContext, repository: Row, runs: list[Row]) -> list[Row]:
    app = _app(ctx)

    def answer(run: Row) -> Row:
        url = api_url(run, "check-runs", run["id"])
        page = web_url(run, "runs", run["id"])
        fields = ("id", "name", "status", "conclusion", "started_at", "completed_at")
        return {
            **{field: run[field] for field in fields},
            "head_sha": run["sha"],
            "node_id": node_id("CR", repository["id"], run["id"]),
            "external_id": "",
            "url": url,
            "html_url": page,
            "details_url": page,
            "output": {
                "title": run["title"],
                "summary": run["summary"],
                "text": None,
                "annotations_count": 0,
                "annotations_url": f"{url}/annotations",
            },
            "check_suite": {"id": run["suite_id"]},
            "app": app,
            "pull_requests": _pulls(ctx, repository, run["sha"]),
        }

    return [answer(run) for run in runs]


def suite_answers(
    ctx: HandlerContext, repository: Row, commit: Row, runs: list[Row]
) -> list[Row]:
    """The suite of a commit's runs, where there are any."""
    if not runs:
        return []
    here = {"owner": commit["owner"], "repo": commit["repo"], "sha": commit["sha"]}
    branches = ctx.query("branches", here, limit=1)
    author = known(ctx, "users", {"login": commit["author"]})
    who = {"name": author["name"] or author["login"], "email": email_of(author)}
    is_done = all(run["status"] == "completed" for run in runs)
    failed = any(run["conclusion"] in FAILED for run in runs)
    suite_id = runs[0]["suite_id"]
    url = api_url(commit, "check-suites", suite_id)
    times = [time for run in runs for time in (run["started_at"], run["completed_at"]) if time]
    suite = {
        "id": suite_id,
        "node_id": node_id("CS", repository["id"], suite_id),
        "head_branch": branches[0]["name"] if branches else None,
        "head_sha": commit["sha"],
        "status": "completed" if is_done else "in_progress",
        "conclusion": ("failure" if failed else "success") if is_done else None,
        "url": url,
        "before": commit["parents"][0] if commit["parents"] else None,
        "after": commit["sha"],
        "pull_requests": _pulls(ctx, repository, commit["sha"]),
        "app": _app(ctx),
        "repository": repository_answer(ctx, repository),
        "created_at": min(times, default=commit["committed_at"]),
        "updated_at": max(times, default=commit["committed_at"]),
        "head_commit": {
            "id": commit["sha"],
            "tree_id": git_id("tree", commit["sha"]),
            "message": commit["message"],
            "timestamp": commit["committed_at"],
            "author": who,
            "committer": who,
        },
        "latest_check_runs_count": len(runs),
        "check_runs_url": f"{url}/check-runs",
    }
    return [suite]


def _pulls(ctx: HandlerContext, repository: Row, sha: str) -> list[Row]:
    """The pull requests whose head a commit is, in short."""
    here = {"owner": repository["owner"], "repo": repository["name"]}
    whose = {
        "id": repository["id"],
        "url": f"{API}/repos/{repository['owner']}/{repository['name']}",
        "name": repository["name"],
    }
    return [
        {
            "url": api_url(pull, "pulls", pull["number"]),
            "id": pull["id"],
            "number": pull["number"],
            "head": {"ref": pull["head"], "sha": pull["head_sha"], "repo": whose},
            "base": {"ref": pull["base"], "sha": pull["base_sha"], "repo": whose},
        }
        for pull in ctx.query("pulls", {**here, "head_sha": sha})
    ]


def _app(ctx: HandlerContext) -> Row:
    owner = known(ctx, "users", {"login": APP_OWNER})
    return {
        "id": APP_ID,
        "slug": APP,
        "node_id": node_id("A", APP_ID),
        "owner": simple_user(owner),
        "name": "Harbour checks",
        "description": "Runs the tests.",
        "external_url": "https://checks.northquay.example",
        "html_url": f"{WEB}/apps/{APP}",
        "created_at": "2023-03-14T09:20:00Z",
        "updated_at": "2023-03-14T09:20:00Z",
        "permissions": {"checks": "write", "contents": "read", "metadata": "read"},
        "events": ["push", "pull_request"],
    }
