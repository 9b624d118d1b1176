"""Pull requests. What they share with issues is taken from the body of their issue."""

from collections import defaultdict

from svc_env import HandlerContext, Row
from svc_env.finding import known

from ..finding import count_of
from ..matching import comment_counts, place_and_number
from ..pulling import changed_files, commits_between, mergeable_state
from .addresses import api_url, links, node_id, web_url
from .issues import issue_answers
from .repositories import repository_answer
from .teams import team_answer
from .users import users_named

#: Fields that a pull request has like its issue.
SHARED = (
    "number",
    "state",
    "locked",
    "title",
    "user",
    "created_at",
    "updated_at",
    "closed_at",
    "assignee",
    "assignees",
    "labels",
    "milestone",
    "author_association",
    "active_lock_reason",
)


#: The text, in whichever of these fields the media type has it.
WRITTEN = ("body", "body_html", "body_text")


def pull_answers(ctx: HandlerContext, repository: Row, pulls: list[Row]) -> list[Row]:
    """Pull requests of one repository as they stand in a list."""
    whose = {"owner": repository["owner"], "repo": repository["name"]}
    where = {**whose, "number": [pull["number"] for pull in pulls]}
    issues = {
        issue["number"]: issue
        for issue in issue_answers(ctx, repository, ctx.query("issues", where))
    }
    reviewers, teams = _requested_reviewers(ctx, where), requested_teams(ctx, where)
    whole_repository = repository_answer(ctx, repository)

    def end(branch: str, sha: str) -> Row:
        return {
            "label": f"{repository['owner']}:{branch}",
            "ref": branch,
            "sha": sha,
            "user": whole_repository["owner"],
            "repo": whole_repository,
        }

    def answer(pull: Row) -> Row:
        number = pull["number"]
        issue = issues[number]
        return {
            **_urls(pull),
            **{field: issue[field] for field in SHARED},
            **{field: issue[field] for field in WRITTEN if field in issue},
            "id": pull["id"],
            "node_id": node_id("PR", repository["id"], pull["id"]),
            "draft": pull["draft"],
            "merged_at": pull.get("merged_at"),
            "merge_commit_sha": pull.get("merge_commit_sha"),
            "requested_reviewers": reviewers[number],
            "requested_teams": teams[number],
            "head": end(pull["head"], pull["head_sha"]),
            "base": end(pull["base"], pull["base_sha"]),
            "auto_merge": None,
        }

    return [answer(pull) for pull in pulls]


def pull_answer(ctx: HandlerContext, repository: Row, pull: Row) -> Row:
    """A pull request alone: with its size, and whether it can be merged."""
    where = {"owner": pull["owner"], "repo": pull["repo"], "number": pull["number"]}
    files = changed_files(ctx, pull)
    is_open = not pull["merged"] and known(ctx, "issues", where)["state"] == "open"
    mergeable = not pull.get("conflicts", False) if is_open else None
    merger = pull.get("merged_by")
    comments = comment_counts(ctx, {**_whose(pull), "issue_number": pull["number"]})
    return {
        **pull_answers(ctx, repository, [pull])[0],
        "merged": pull["merged"],
        "mergeable": mergeable,
        "rebaseable": mergeable,
        "mergeable_state": mergeable_state(ctx, pull) if is_open else "unknown",
        "merged_by": users_named(ctx, [merger])[merger] if merger else None,
        "comments": comments[place_and_number(pull)],
        "review_comments": count_of(ctx, "review_comments", where),
        "maintainer_can_modify": False,
        "commits": len(commits_between(ctx, pull)),
        "additions": sum(file["additions"] for file in files),
        "deletions": sum(file["deletions"] for file in files),
        "changed_files": len(files),
    }


def _requested_reviewers(ctx: HandlerContext, where: Row) -> dict[int, list[Row]]:
    """Whose review is waited for, by the number of the pull request."""
    asked = ctx.query("review_requests", where)
    users = users_named(ctx, (row["login"] for row in asked))
    found = defaultdict(list)
    for row in asked:
        found[row["number"]].append(users[row["login"]])
    return found


def requested_teams(ctx: HandlerContext, where: Row) -> dict[int, list[Row]]:
    """The teams whose review is waited for, by the number of the pull request."""
    found = defaultdict(list)
    for row in ctx.query("team_review_requests", where):
        team = known(ctx, "teams", {"org": row["org"], "slug": row["team"]})
        found[row["number"]].append(team_answer(ctx, team))
    return found


def _whose(row: Row) -> Row:
    return {"owner": row["owner"], "repo": row["repo"]}


def _urls(pull: Row) -> Row:
    number = pull["number"]
    url, page = api_url(pull, "pulls", number), web_url(pull, "pull", number)
    issue_url = api_url(pull, "issues", number)
    statuses_url = api_url(pull, "statuses", pull["head_sha"])
    comment_url = api_url(pull, "pulls", "comments") + "{/number}"
    return {
        "url": url,
        "html_url": page,
        "diff_url": f"{page}.diff",
        "patch_url": f"{page}.patch",
        "issue_url": issue_url,
        "commits_url": f"{url}/commits",
        "review_comments_url": f"{url}/comments",
        "review_comment_url": comment_url,
        "comments_url": f"{issue_url}/comments",
        "statuses_url": statuses_url,
        "_links": links(
            self=url,
            html=page,
            issue=issue_url,
            comments=f"{issue_url}/comments",
            review_comments=f"{url}/comments",
            review_comment=comment_url,
            commits=f"{url}/commits",
            statuses=statuses_url,
        ),
    }
