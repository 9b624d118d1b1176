"""History of issues: the events, and the timeline, which also has the comments."""

from svc_env import HandlerContext, Row

from ..answers.commits import commit_answers
from ..answers.events import event_answers
from ..answers.issues import comment_answers, issue_answers
from ..answers.reviews import review_answers
from ..answers.users import users_named
from ..finding import find_issue, find_repository, numbered, on_issue, place
from ..paging import answer_page, by_id
from ..pulling import commits_between
from ..refusals import not_found
from .issues import issues_of_repositories, visible_issues


def list_issue_events(ctx: HandlerContext) -> None:
    repository, issue = find_repository(ctx), find_issue(ctx)
    rows = ctx.query("issue_events", on_issue(issue))
    answer_page(ctx, rows, lambda page: event_answers(ctx, repository, page), by=_by_time)


def list_repository_events(ctx: HandlerContext) -> None:
    """Lists the events of all issues of a repository, newest first, each with its issue."""
    repository = find_repository(ctx)
    rows = ctx.query("issue_events", place(ctx))
    answer_page(
        ctx,
        rows,
        lambda page: _with_issues(ctx, repository, page),
        by=_by_time,
        downwards=True,
    )


def get_event(ctx: HandlerContext) -> Row:
    repository, number = find_repository(ctx), str(ctx.args["event_id"])
    event = ctx.get("issue_events", {"id": int(number)}) if number.isdecimal() else None
    if event is None or (event["owner"], event["repo"]) != tuple(place(ctx).values()):
        not_found(ctx)
    return _with_issues(ctx, repository, [event])[0]


def _with_issues(ctx: HandlerContext, repository: Row, events: list[Row]) -> list[Row]:
    numbers = sorted({event["issue_number"] for event in events})
    rows = ctx.query("issues", {**place(ctx), "number": numbers})
    issues = {issue["number"]: issue for issue in issue_answers(ctx, repository, rows)}
    answers = event_answers(ctx, repository, events)
    return [
        {**answer, "issue": issues[event["issue_number"]]}
        for answer, event in zip(answers, events, strict=True)
    ]


def list_timeline(ctx: HandlerContext) -> None:
    """Events, comments, references, reviews and commits of one issue, in the order they came."""
    repository, issue = find_repository(ctx), find_issue(ctx)
    moments = [
        *_events(ctx, repository, issue),
        *_comments(ctx, repository, issue),
        *_references(ctx, issue),
        *_reviews(ctx, repository, issue),
        *_commits(ctx, repository, issue),
    ]
    numbered_moments = [
        {"at": at, "id": index, "body": body} for index, (at, body) in enumerate(moments)
    ]
    answer_page(
        ctx,
        numbered_moments,
        lambda page: [moment["body"] for moment in page],
        by=lambda moment: (moment["at"], moment["id"]),
    )


#: When something happened, and the body that says what.
Moment = tuple[str, Row]


def _events(ctx: HandlerContext, repository: Row, issue: Row) -> list[Moment]:
    rows = ctx.query("issue_events", on_issue(issue))
    bodies = event_answers(ctx, repository, rows)
    return [(body["created_at"], _without(body, "assigner")) for body in bodies]


def _comments(ctx: HandlerContext, repository: Row, issue: Row) -> list[Moment]:
    bodies = comment_answers(ctx, repository, ctx.query("comments", on_issue(issue)))
    return [
        (body["created_at"], {"event": "commented", "actor": body["user"], **body})
        for body in bodies
    ]


def _references(ctx: HandlerContext, issue: Row) -> list[Moment]:
    """Comments elsewhere that name the issue; strangers do not learn of private repositories."""
    rows = ctx.query("cross_references", on_issue(issue))
    users, sources = users_named(ctx, (row["user"] for row in rows)), {}
    for row in rows:
        key = {"owner": row["from_owner"], "repo": row["from_repo"], "number": row["from_number"]}
        for body in issues_of_repositories(ctx, visible_issues(ctx, key)):
            sources[row["comment_id"]] = body
    return [
        (
            row["created_at"],
            {
                "event": "cross-referenced",
                "actor": users[row["user"]],
                "created_at": row["created_at"],
                "updated_at": row["created_at"],
                "source": {"type": "issue", "issue": sources[row["comment_id"]]},
            },
        )
        for row in rows
        if row["comment_id"] in sources
    ]


def _reviews(ctx: HandlerContext, repository: Row, issue: Row) -> list[Moment]:
    rows = ctx.query("reviews", numbered(issue))
    submitted = [row for row in rows if row.get("submitted_at")]
    return [
        (body["submitted_at"], {"event": "reviewed", **body, "state": body["state"].lower()})
        for body in review_answers(ctx, repository, submitted)
    ]


def _commits(ctx: HandlerContext, repository: Row, issue: Row) -> list[Moment]:
    pull = ctx.get("pulls", numbered(issue))
    if pull is None:
        return []
    bodies = commit_answers(ctx, repository, commits_between(ctx, pull))
    return [(body["commit"]["author"]["date"], _committed(body)) for body in bodies]


def _committed(body: Row) -> Row:
    kept = ("sha", "node_id", "html_url", "parents")
    said = ("url", "author", "committer", "message", "tree", "verification")
    return {
        "event": "committed",
        **{name: body[name] for name in kept},
        **{name: body["commit"][name] for name in said},
    }


def _without(body: Row, name: str) -> Row:
    return {field: value for field, value in body.items() if field != name}


def _by_time(event: Row) -> tuple[str, int]:
    return (event["created_at"], *by_id(event))
