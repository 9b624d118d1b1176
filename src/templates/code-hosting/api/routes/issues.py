"""Issues: lists, and opening, changing, closing and assigning them. Pull requests are issues, too."""

from collections.abc import Callable

from svc_env import HandlerContext, Row
from svc_env.finding import known

from ..answers.issues import issue_answer, issue_answers
from ..answers.repositories import repository_answer
from ..closing import close_issue, reopen_issue
from ..dating import dated
from ..finding import (
    find_assignee,
    find_issue,
    find_owner,
    find_repository,
    named,
    next_number,
    numbered,
    place,
)
from ..history import record, tell_of_issue, touch
from ..labelling import (
    assign,
    replace_assignees,
    replace_labels,
    tell_of_assignee,
    tell_of_label,
    unassign,
    write_assignees,
    write_labels,
)
from ..matching import (
    Test,
    assigned_to,
    carries_all,
    comment_counts,
    in_milestone,
    mentions,
    place_and_number,
    updated_since,
    written_by,
)
from ..paging import answer_page, answer_query
from ..reading import (
    asked_choice,
    body_of,
    choice_of,
    is_downwards,
    label_names,
    since_of,
    text_of,
    title_of,
    user_logins,
)
from ..refusals import invalid, refuse
from ..viewer import VIEWER, association, can_see, own_logins, require_write, role_in

LOCK_REASONS = ("off-topic", "too heated", "resolved", "spam")
STATE_REASONS = ("completed", "not_planned", "duplicate", "reopened")

#: Parameters of a list: each makes a question that an issue must answer with yes.
FILTERS: dict[str, Callable[[HandlerContext, Row, str], Test]] = {
    "labels": carries_all,
    "assignee": assigned_to,
    "mentioned": mentions,
    "creator": lambda _ctx, _where, login: written_by(login),
    "milestone": lambda _ctx, _where, number: in_milestone(number),
}

#: What the viewer may have to do with an issue, for lists over all repositories.
ROLES: dict[str, Callable[[HandlerContext], list[Test]]] = {
    "assigned": lambda ctx: [assigned_to(ctx, {}, VIEWER)],
    "created": lambda _ctx: [written_by(VIEWER)],
    "mentioned": lambda ctx: [mentions(ctx, {}, VIEWER)],
    "subscribed": lambda _ctx: [],
    "repos": lambda _ctx: [],
    "all": lambda _ctx: [],
}


def list_repository_issues(ctx: HandlerContext) -> None:
    repository = find_repository(ctx)
    _check_milestone(ctx)

    def answer(page: list[Row]) -> list[Row]:
        return issue_answers(ctx, repository, page)

    where = _in_asked_state(ctx, place(ctx))
    is_filtered = any(ctx.args.get(name) for name in ("since", *FILTERS))
    if is_filtered or _asked_sort(ctx) == "comments":
        _answer_issues(ctx, _wanted(ctx, place(ctx), []), answer)
        return
    fields = (f"{_asked_sort(ctx)}_at", "number", "id")
    answer_query(ctx, "issues", where, fields, answer, is_downwards(ctx))


def list_own_issues(ctx: HandlerContext) -> None:
    """Issues that have to do with the viewer, of all repositories or of those that the path names;
    unless `filter` says otherwise, those assigned to the viewer."""
    role = asked_choice(ctx, "Issue", "filter", tuple(ROLES), "assigned")
    where: Row = {}
    if "org" in ctx.args:
        where = {"owner": find_owner(ctx)["login"]}
    elif ctx.route == "/user/issues":
        where = {"owner": own_logins(ctx)}
    rows = _wanted(ctx, where, ROLES[role](ctx))
    _answer_issues(ctx, rows, lambda page: _with_repositories(ctx, page))


def _with_repositories(ctx: HandlerContext, issues: list[Row]) -> list[Row]:
    """Bodies of issues with that of the repository that each is of."""
    keys = {(issue["owner"], issue["repo"]) for issue in issues}
    repositories = {
        key: repository_answer(ctx, known(ctx, "repositories", {"owner": key[0], "name": key[1]}))
        for key in sorted(keys)
    }
    bodies = issues_of_repositories(ctx, issues)
    return [
        {**body, "repository": repositories[issue["owner"], issue["repo"]]}
        for issue, body in zip(issues, bodies, strict=True)
    ]


def issues_of_repositories(ctx: HandlerContext, issues: list[Row]) -> list[Row]:
    """Bodies of issues of several repositories, in their order."""
    bodies = {}
    for owner, name in {(issue["owner"], issue["repo"]) for issue in issues}:
        repository = known(ctx, "repositories", {"owner": owner, "name": name})
        its = [issue for issue in issues if (issue["owner"], issue["repo"]) == (owner, name)]
        bodies.update({body["id"]: body for body in issue_answers(ctx, repository, its)})
    return [bodies[issue["id"]] for issue in issues]


def visible_issues(ctx: HandlerContext, where: Row) -> list[Row]:
    """Issues of the repositories that the viewer can see."""
    seen = {(row["owner"], row["name"]) for row in ctx.query("repositories") if can_see(ctx, row)}
    rows = ctx.query("issues", where)
    return [row for row in rows if (row["owner"], row["repo"]) in seen]


def _wanted(ctx: HandlerContext, where: Row, tests: list[Test]) -> list[Row]:
    """The issues that pass the parameters of the query and further tests."""
    wanted = _in_asked_state(ctx, where)
    asked = {name: ctx.args.get(name) for name in FILTERS}
    tests = [
        *tests,
        updated_since(since_of(ctx, "Issue")),
        *(FILTERS[name](ctx, where, value) for name, value in asked.items() if value),
    ]
    return [row for row in visible_issues(ctx, wanted) if all(test(row) for test in tests)]


def _in_asked_state(ctx: HandlerContext, where: Row) -> Row:
    state = asked_choice(ctx, "Issue", "state", ("open", "closed", "all"), "open")
    return where if state == "all" else {**where, "state": state}


def _asked_sort(ctx: HandlerContext) -> str:
    return asked_choice(ctx, "Issue", "sort", ("created", "updated", "comments"), "created")


def _check_milestone(ctx: HandlerContext) -> None:
    number = ctx.args.get("milestone") or "*"
    key = {**place(ctx), "number": int(number) if number.isdecimal() else 0}
    if number not in ("*", "none") and ctx.get("milestones", key) is None:
        invalid(ctx, "Issue", "milestone", "invalid", value=number)


def _answer_issues(
    ctx: HandlerContext, rows: list[Row], answer: Callable[[list[Row]], list[Row]]
) -> None:
    """Newest first, unless `sort` and `direction` say otherwise."""
    sort = _asked_sort(ctx)
    values: dict[str, Callable[[Row], object]] = {
        "created": lambda issue: issue["created_at"],
        "updated": lambda issue: issue["updated_at"],
    }
    if sort == "comments":
        where = place(ctx) if "repo" in ctx.args else {}
        counts = comment_counts(ctx, where)
        values["comments"] = lambda issue: counts[place_and_number(issue)]
    value = values[sort]
    answer_page(
        ctx,
        rows,
        answer,
        by=lambda issue: (value(issue), issue["number"], issue["id"]),
        downwards=is_downwards(ctx),
    )


def get_issue(ctx: HandlerContext) -> Row:
    repository, issue = find_repository(ctx), find_issue(ctx)
    return dated(ctx, issue_answer(ctx, repository, issue), issue["updated_at"])


def create_issue(ctx: HandlerContext) -> None:
    repository, body = find_repository(ctx), body_of(ctx)
    if repository.get("has_issues") is False:
        refuse(ctx, 410, "Issues are disabled for this repo")
    title = title_of(ctx, "Issue", body.get("title"))
    issue = insert_issue(ctx, repository, title, text_of(ctx, "Issue", "body", body.get("body")))
    # Strangers may open an issue, not sort it in: what they say of that is overlooked.
    given = body if role_in(ctx, repository["owner"]) else {}
    labels = write_labels(ctx, repository, issue, _labels_in(ctx, given) or [])
    logins = write_assignees(ctx, issue, _assignees_in(ctx, given) or [])
    events = _write_milestone(ctx, issue, given)
    # Webhooks hear that there is an issue before they hear what it was given.
    tell_of_issue(ctx, repository, issue, "opened")
    for label in labels:
        tell_of_label(ctx, repository, issue, label, "labeled")
    for login in logins:
        tell_of_assignee(ctx, repository, issue, login, "assigned")
    for event in events:
        tell_of_issue(ctx, repository, issue, event)
    answer = issue_answer(ctx, repository, known(ctx, "issues", numbered(issue)))
    ctx.respond(201, answer, {"location": answer["url"]})


def insert_issue(ctx: HandlerContext, repository: Row, title: str, body: str | None) -> Row:
    """A new open issue of the viewer's, with the next number of the repository."""
    now = ctx.clock.now()
    issue = {
        **place(ctx),
        "id": ctx.ids.next("issues", "id"),
        "number": next_number(ctx, "issues"),
        "title": title,
        "body": body,
        "user": VIEWER,
        "author_association": association(ctx, repository["owner"]),
        "state": "open",
        "state_reason": None,
        "locked": False,
        "created_at": now,
        "updated_at": now,
        "closed_at": None,
        "closed_by": None,
        "milestone": None,
    }
    return ctx.insert("issues", issue)


def update_issue(ctx: HandlerContext) -> Row:
    """Changes what the body names. `labels` and `assignees` replace what was there."""
    repository, issue, body = find_repository(ctx), find_issue(ctx), body_of(ctx)
    if issue["user"] != VIEWER:
        require_write(ctx, repository)
    issue = write_texts(ctx, repository, issue, body, "Issue")
    _write_lists(ctx, repository, issue, body)
    for event in _write_milestone(ctx, issue, body):
        tell_of_issue(ctx, repository, issue, event)
    _write_state(ctx, repository, known(ctx, "issues", numbered(issue)), body)
    return issue_answer(ctx, repository, touch(ctx, issue))


def write_texts(ctx: HandlerContext, repository: Row, issue: Row, body: Row, resource: str) -> Row:
    """Title and text."""
    patch: Row = {}
    if body.get("title") is not None:
        patch["title"] = title_of(ctx, resource, body["title"])
    if "body" in body:
        patch["body"] = text_of(ctx, resource, "body", body["body"])
    changes = {name: {"from": issue.get(name)} for name in patch if patch[name] != issue.get(name)}
    if not changes:
        return issue
    changed = ctx.update("issues", numbered(issue), patch)
    if "title" in changes:
        record(ctx, issue, "renamed", rename={"from": issue["title"], "to": changed["title"]})
    tell_of_issue(ctx, repository, changed, "edited", changes=changes)
    return changed


def _write_state(ctx: HandlerContext, repository: Row, issue: Row, body: Row) -> None:
    """Opens or closes. A reason without a state says nothing and is overlooked."""
    state, reason = body.get("state"), body.get("state_reason")
    if state is None:
        return
    if state not in ("open", "closed"):
        invalid(ctx, "Issue", "state", "invalid")
    if reason not in (None, *STATE_REASONS) or (state, reason) == ("closed", "reopened"):
        invalid(ctx, "Issue", "state_reason", "invalid")
    if state != issue["state"] and state == "open":
        reopen_issue(ctx, repository, issue)
    elif state != issue["state"]:
        close_issue(ctx, repository, issue, reason or "completed")
    elif state == "closed" and reason:
        ctx.update("issues", numbered(issue), {"state_reason": reason})


def _write_lists(ctx: HandlerContext, repository: Row, issue: Row, body: Row) -> None:
    """The parts of an issue that are rows of their own."""
    labels, logins = _labels_in(ctx, body), _assignees_in(ctx, body)
    if labels is not None:
        replace_labels(ctx, repository, issue, labels)
    if logins is not None:
        replace_assignees(ctx, repository, issue, logins)


def _labels_in(ctx: HandlerContext, body: Row) -> list[str] | None:
    """The names that the body gives; None when it says nothing of labels."""
    return None if body.get("labels") is None else label_names(ctx, body["labels"])


def _assignees_in(ctx: HandlerContext, body: Row) -> list[str] | None:
    """The logins that the body gives as a list or, as clients of old do, one by itself."""
    logins = body.get("assignees")
    if logins is None and "assignee" in body:
        logins = [body["assignee"]] if body["assignee"] else []
    return None if logins is None else user_logins(ctx, "Issue", "assignees", logins)


def _write_milestone(ctx: HandlerContext, issue: Row, body: Row) -> list[str]:
    """`milestone` is a number; null or an empty text takes the issue out of its own. Answers what
    happened."""
    if "milestone" not in body:
        return []
    before, after = _milestone(ctx, issue.get("milestone")), _milestone(ctx, body["milestone"])
    if before == after:
        return []
    ctx.update("issues", numbered(issue), {"milestone": after and after["number"]})
    moves = [("demilestoned", before), ("milestoned", after)]
    happened = {event: milestone for event, milestone in moves if milestone is not None}
    for event, milestone in happened.items():
        record(ctx, issue, event, milestone=milestone["title"])
    return list(happened)


def _milestone(ctx: HandlerContext, number: object) -> Row | None:
    if number in (None, ""):
        return None
    # Clients may send the number as a text.
    digits = str(number) if isinstance(number, (int, str)) else ""
    is_number = digits.isdecimal() and len(digits) < 16
    key = {**place(ctx), "number": int(digits) if is_number else 0}
    return ctx.get("milestones", key) or invalid(ctx, "Issue", "milestone", "invalid", value=number)


def lock_issue(ctx: HandlerContext) -> None:
    """Leaves talking about the issue to those who may write to the repository."""
    repository, issue, body = find_repository(ctx), find_issue(ctx), body_of(ctx)
    require_write(ctx, repository)
    patch: Row = {"locked": True}
    if body.get("lock_reason") is not None:
        reason = choice_of(ctx, "Issue", "lock_reason", body["lock_reason"], LOCK_REASONS)
        patch["active_lock_reason"] = reason
    ctx.update("issues", numbered(issue), patch)


def unlock_issue(ctx: HandlerContext) -> None:
    repository, issue = find_repository(ctx), find_issue(ctx)
    require_write(ctx, repository)
    ctx.update("issues", numbered(issue), {"locked": False, "active_lock_reason": None})


def check_assignee_of_issue(ctx: HandlerContext) -> None:
    """204, or 404 for whom the issue cannot be given to."""
    find_repository(ctx)
    find_issue(ctx)
    find_assignee(ctx)


def add_assignees(ctx: HandlerContext) -> None:
    repository, issue, logins = _assignees(ctx)
    assign(ctx, repository, issue, user_logins(ctx, "Issue", "assignees", logins))
    ctx.respond(201, issue_answer(ctx, repository, touch(ctx, issue)))


def remove_assignees(ctx: HandlerContext) -> Row:
    repository, issue, logins = _assignees(ctx)
    rows = [named(ctx, "users", {"login": one}) for one in logins if isinstance(one, str)]
    unassign(ctx, repository, issue, [row["login"] for row in rows if row])
    return issue_answer(ctx, repository, touch(ctx, issue))


def _assignees(ctx: HandlerContext) -> tuple[Row, Row, list]:
    repository, issue = find_repository(ctx), find_issue(ctx)
    require_write(ctx, repository)
    logins = body_of(ctx).get("assignees", [])
    return repository, issue, logins if isinstance(logins, list) else [logins]
