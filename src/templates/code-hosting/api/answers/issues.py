"""Issues, their labels, and their comments.

A row holds what is known once; a body repeats it: whole users where the row has a login, and a URL
for every neighbour. Bodies of a list are made together, so that a page costs a few queries and not
a few for each of its items.
"""

from collections import defaultdict

from svc_env import HandlerContext, Row

from ..matching import comment_counts, place_and_number
from ..media import said
from ..reacting import counts_of, rollup
from .addresses import API, api_url, node_id, web_url
from .milestones import milestone_answers
from .users import users_named

#: A label's row without the two fields that say whose label it is.
LABEL = ("id", "node_id", "url", "name", "color", "default", "description")

def label_answer(label: Row) -> Row:
    archived = {"archived_at": label.get("archived_at"), "archived_by": label.get("archived_by")}
    return {**{field: label[field] for field in LABEL}, **archived}


def issue_answer(ctx: HandlerContext, repository: Row, issue: Row) -> Row:
    return issue_answers(ctx, repository, [issue])[0]


def issue_answers(ctx: HandlerContext, repository: Row, issues: list[Row]) -> list[Row]:
    """Issues of one repository with all that belongs to them; pull requests say that they are."""
    whose = {"owner": repository["owner"], "repo": repository["name"]}
    numbers = [issue["number"] for issue in issues]
    comments = comment_counts(ctx, {**whose, "issue_number": numbers})
    labels = labels_of(ctx, repository, issues)
    assignees = assignees_of(ctx, repository, issues)
    milestones = milestones_of(ctx, repository, issues)
    pulls = {pull["number"]: pull for pull in ctx.query("pulls", {**whose, "number": numbers})}
    logins = [login for issue in issues for login in (issue["user"], issue.get("closed_by"))]
    users = users_named(ctx, logins)
    reactions = counts_of(ctx, "issue", issues)

    def answer(issue: Row) -> Row:
        number = issue["number"]
        pull = pulls.get(number)
        urls = issue_urls(issue, pull)
        return {
            **urls,
            "id": issue["id"],
            "node_id": node_id("I", repository["id"], issue["id"]),
            "number": number,
            "title": issue["title"],
            "user": users[issue["user"]],
            "labels": [label_answer(label) for label in labels[number]],
            "state": issue["state"],
            "locked": issue.get("locked", False),
            "assignee": assignees[number][0] if assignees[number] else None,
            "assignees": assignees[number],
            "milestone": milestones.get(issue.get("milestone") or 0),
            "comments": comments[place_and_number(issue)],
            "created_at": issue["created_at"],
            "updated_at": issue["updated_at"],
            "closed_at": issue.get("closed_at"),
            "author_association": issue.get("author_association", "NONE"),
            "active_lock_reason": issue.get("active_lock_reason") if issue.get("locked") else None,
            **said(ctx, issue.get("body")),
            "closed_by": users.get(issue.get("closed_by") or ""),
            "reactions": rollup(urls["url"], reactions[issue["id"]]),
            "performed_via_github_app": None,
            "state_reason": issue.get("state_reason"),
            **({} if pull is None else _pull_part(pull)),
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


def assignees_of(ctx: HandlerContext, repository: Row, issues: list[Row]) -> dict[int, list[Row]]:
    """The users who are to take care of each issue, by its number; in the order they were put."""
    whose = {"owner": repository["owner"], "repo": repository["name"]}
    where = {**whose, "issue_number": [issue["number"] for issue in issues]}
    rows = ctx.query("issue_assignees", where)
    users = users_named(ctx, (row["login"] for row in rows))
    found = defaultdict(list)
    for row in rows:
        found[row["issue_number"]].append(users[row["login"]])
    return found


def milestones_of(ctx: HandlerContext, repository: Row, issues: list[Row]) -> dict[int, Row]:
    """The milestones of issues, by number."""
    numbers = sorted({issue["milestone"] for issue in issues if issue.get("milestone")})
    whose = {"owner": repository["owner"], "repo": repository["name"]}
    rows = ctx.query("milestones", {**whose, "number": numbers}) if numbers else []
    return {body["number"]: body for body in milestone_answers(ctx, repository, rows)}


def comment_answer(ctx: HandlerContext, repository: Row, comment: Row) -> Row:
    return comment_answers(ctx, repository, [comment])[0]


def comment_answers(ctx: HandlerContext, repository: Row, comments: list[Row]) -> list[Row]:
    """Comments of one repository with their users."""
    users = users_named(ctx, (comment["user"] for comment in comments))
    reactions = counts_of(ctx, "comment", comments)

    def answer(comment: Row) -> Row:
        comment_id, number = comment["id"], comment["issue_number"]
        url = api_url(comment, "issues", "comments", comment_id)
        return {
            "url": url,
            "html_url": f"{web_url(comment, 'issues', number)}#issuecomment-{comment_id}",
            "issue_url": api_url(comment, "issues", number),
            "id": comment_id,
            "node_id": node_id("IC", repository["id"], comment_id),
            "user": users[comment["user"]],
            "created_at": comment["created_at"],
            "updated_at": comment["updated_at"],
            "author_association": comment.get("author_association", "NONE"),
            **said(ctx, comment["body"]),
            "reactions": rollup(url, reactions[comment_id]),
            "performed_via_github_app": None,
        }

    return [answer(comment) for comment in comments]


def issue_urls(issue: Row, pull: Row | None = None) -> Row:
    url = api_url(issue, "issues", issue["number"])
    return {
        "url": url,
        "repository_url": f"{API}/repos/{issue['owner']}/{issue['repo']}",
        "labels_url": f"{url}/labels{{/name}}",
        "comments_url": f"{url}/comments",
        "events_url": f"{url}/events",
        "timeline_url": f"{url}/timeline",
        "html_url": web_url(issue, "issues" if pull is None else "pull", issue["number"]),
    }


def _pull_part(pull: Row) -> Row:
    page = web_url(pull, "pull", pull["number"])
    addresses = {
        "url": api_url(pull, "pulls", pull["number"]),
        "html_url": page,
        "diff_url": f"{page}.diff",
        "patch_url": f"{page}.patch",
        "merged_at": pull.get("merged_at"),
    }
    return {"draft": pull["draft"], "pull_request": addresses}
