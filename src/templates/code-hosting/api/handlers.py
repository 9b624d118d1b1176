"""The routes that are more than a row: one function for each `handler` of connector.toml.

What a handler returns is the JSON body, with the status of its route. What it writes counts once it
has returned, and nothing of it does when it fails. The modules beside this one are what they share.
"""

from svc_env import HandlerContext, Row

from .answers import (
    comment_answer,
    comment_answers,
    issue_answer,
    issue_answers,
    label_answer,
    labels_of,
    repository_answer,
)
from .finding import (
    find_comment,
    find_issue,
    find_label,
    find_repository,
    label_named,
    place,
    place_of,
    same_name,
)
from .labelling import (
    DEFAULT_COLOR,
    attach_labels,
    delete_label_rows,
    make_label,
    rename_label,
    replace_assignees,
    replace_labels,
)
from .paging import answer_page
from .reading import (
    body_of,
    color_of,
    comment_text,
    description_of,
    label_names,
    text_of,
    title_of,
)
from .references import forget_references, record_references
from .refusals import invalid, not_found

#: The user that a session's token belongs to: whoever calls the API acts under this name.
VIEWER = "quay-triage"

STATE_REASONS = ("completed", "not_planned", "duplicate", "reopened")


# Users and repositories


def get_authenticated_user(ctx: HandlerContext) -> Row:
    private = {
        "private_gists": 0,
        "total_private_repos": 0,
        "owned_private_repos": 0,
        "disk_usage": 0,
        "collaborators": 0,
        "two_factor_authentication": True,
    }
    return {**ctx.get("users", {"login": VIEWER}), **private}


def get_repository(ctx: HandlerContext) -> Row:
    return repository_answer(ctx, find_repository(ctx))


def list_repositories_of_user(ctx: HandlerContext) -> None:
    """Serves users and organizations: both are rows of `users`."""
    owner = ctx.get("users", {"login": ctx.args.get("org") or ctx.args.get("username")})
    if owner is None or ("org" in ctx.args and owner["type"] != "Organization"):
        not_found(ctx)
    rows = ctx.query("repositories", {"owner": owner["login"]}, order_by="name")
    answer_page(ctx, rows, lambda page: [repository_answer(ctx, row) for row in page])


# Issues


def list_repository_issues(ctx: HandlerContext) -> None:
    repository = find_repository(ctx)
    rows = [row for row in _issues_in_state(ctx) if _is_wanted(ctx, row)]
    rows = _sort_issues(ctx, _with_labels(ctx, repository, _with_assignee(ctx, rows)))
    answer_page(ctx, rows, lambda page: issue_answers(ctx, repository, page))


def _issues_in_state(ctx: HandlerContext) -> list[Row]:
    state = ctx.args.get("state", "open")
    if state not in ("open", "closed", "all"):
        invalid(ctx, "Issue", "state", "invalid")
    return ctx.query("issues", place(ctx) if state == "all" else {**place(ctx), "state": state})


def _is_wanted(ctx: HandlerContext, issue: Row) -> bool:
    """The filters that one row can answer: `creator` and `since`."""
    creator, since = ctx.args.get("creator"), ctx.args.get("since", "")
    return issue["updated_at"] >= since and (creator is None or same_name(issue["user"], creator))


def _with_assignee(ctx: HandlerContext, issues: list[Row]) -> list[Row]:
    """`assignee` is a login, `*` for anybody, or `none`."""
    wanted = ctx.args.get("assignee")
    if wanted is None:
        return issues
    assignments = ctx.query("issue_assignees", place(ctx))
    if wanted not in ("*", "none"):
        assignments = [row for row in assignments if same_name(row["login"], wanted)]
    assigned = {row["issue_number"] for row in assignments}
    return [issue for issue in issues if (issue["number"] in assigned) != (wanted == "none")]


def _with_labels(ctx: HandlerContext, repository: Row, issues: list[Row]) -> list[Row]:
    """`labels` is a list of names with commas between; an issue must carry all of them."""
    wanted = {name.strip().casefold() for name in ctx.args.get("labels", "").split(",")} - {""}
    if not wanted:
        return issues
    carried = labels_of(ctx, repository, issues)
    names = {number: {label["name"].casefold() for label in carried[number]} for number in carried}
    return [issue for issue in issues if wanted <= names.get(issue["number"], set())]


def _sort_issues(ctx: HandlerContext, issues: list[Row]) -> list[Row]:
    """Newest first, unless `sort` and `direction` say otherwise."""
    comments: dict[int, int] = {}
    if ctx.args.get("sort") == "comments":
        for row in ctx.query("comments", place(ctx)):
            comments[row["issue_number"]] = comments.get(row["issue_number"], 0) + 1
    value = {
        "updated": lambda issue: issue["updated_at"],
        "comments": lambda issue: comments.get(issue["number"], 0),
    }.get(ctx.args.get("sort"), lambda issue: issue["created_at"])
    upwards = ctx.args.get("direction") == "asc"
    return sorted(issues, key=lambda row: (value(row), row["number"]), reverse=not upwards)


def get_issue(ctx: HandlerContext) -> Row:
    return issue_answer(ctx, find_repository(ctx), find_issue(ctx))


def create_issue(ctx: HandlerContext) -> None:
    repository, body = find_repository(ctx), body_of(ctx)
    newest = ctx.query("issues", place(ctx), order_by="-number", limit=1)
    opened_at = ctx.clock.now()
    issue = {
        **place(ctx),
        "id": ctx.ids.next("issues", "id"),
        "number": newest[0]["number"] + 1 if newest else 1,
        "title": title_of(ctx, body.get("title")),
        "body": text_of(ctx, "Issue", "body", body.get("body")),
        "user": VIEWER,
        "author_association": "MEMBER",
        "state": "open",
        "state_reason": None,
        "locked": False,
        "created_at": opened_at,
        "updated_at": opened_at,
        "closed_at": None,
        "closed_by": None,
    }
    ctx.insert("issues", issue)
    _write_lists(ctx, repository, issue, body)
    answer = issue_answer(ctx, repository, issue)
    ctx.respond(201, answer, {"location": answer["url"]})


def update_issue(ctx: HandlerContext) -> Row:
    """Changes what the body names. `labels` and `assignees` replace what was there."""
    repository, issue, body = find_repository(ctx), find_issue(ctx), body_of(ctx)
    patch: Row = {"updated_at": ctx.clock.now()}
    if body.get("title") is not None:
        patch["title"] = title_of(ctx, body["title"])
    if "body" in body:
        patch["body"] = text_of(ctx, "Issue", "body", body["body"])
    if body.get("state") is not None:
        patch.update(_state_patch(ctx, issue, body["state"], body.get("state_reason")))
    _write_lists(ctx, repository, issue, body)
    return issue_answer(ctx, repository, ctx.update("issues", _issue_key(issue), patch))


def _state_patch(ctx: HandlerContext, issue: Row, state: object, reason: object) -> Row:
    """What opening or closing changes. A reason without a state says nothing and is overlooked."""
    if state not in ("open", "closed"):
        invalid(ctx, "Issue", "state", "invalid")
    if reason not in (None, *STATE_REASONS):
        invalid(ctx, "Issue", "state_reason", "invalid")
    if state == "open":
        reopening = {"closed_at": None, "closed_by": None, "state_reason": "reopened"}
        return {"state": "open", **reopening} if issue["state"] == "closed" else {}
    if reason == "reopened":
        invalid(ctx, "Issue", "state_reason", "invalid")
    if issue["state"] == "closed":
        return {"state_reason": reason} if reason else {}
    closing = {"closed_at": ctx.clock.now(), "closed_by": VIEWER}
    return {"state": "closed", "state_reason": reason or "completed", **closing}


def _write_lists(ctx: HandlerContext, repository: Row, issue: Row, body: Row) -> None:
    """The parts of an issue that are rows of their own."""
    if body.get("labels") is not None:
        replace_labels(ctx, repository, issue, label_names(ctx, body["labels"]))
    if body.get("assignees") is not None:
        replace_assignees(ctx, issue, body["assignees"])
    elif "assignee" in body:
        replace_assignees(ctx, issue, [body["assignee"]] if body["assignee"] else [])


# Labels of an issue


def list_labels_on_issue(ctx: HandlerContext) -> None:
    repository, issue = find_repository(ctx), find_issue(ctx)
    labels = labels_of(ctx, repository, [issue])[issue["number"]]
    answer_page(ctx, labels, lambda page: [label_answer(label) for label in page])


def add_labels(ctx: HandlerContext) -> list[Row]:
    repository, issue = find_repository(ctx), find_issue(ctx)
    attach_labels(ctx, repository, issue, label_names(ctx, _label_list(ctx)))
    return _touched_labels(ctx, repository, issue)


def set_labels(ctx: HandlerContext) -> list[Row]:
    repository, issue = find_repository(ctx), find_issue(ctx)
    replace_labels(ctx, repository, issue, label_names(ctx, _label_list(ctx)))
    return _touched_labels(ctx, repository, issue)


def remove_label(ctx: HandlerContext) -> list[Row]:
    repository, issue = find_repository(ctx), find_issue(ctx)
    label = label_named(ctx, ctx.args["name"])
    key = {**place(ctx), "issue_number": issue["number"], "label": label["name"] if label else ""}
    if ctx.get("issue_labels", key) is None:
        not_found(ctx, "Label does not exist")
    ctx.delete("issue_labels", key)
    return _touched_labels(ctx, repository, issue)


def remove_all_labels(ctx: HandlerContext) -> None:
    repository, issue = find_repository(ctx), find_issue(ctx)
    replace_labels(ctx, repository, issue, [])
    _touch(ctx, issue)


def _label_list(ctx: HandlerContext) -> object:
    """`{"labels": […]}` or the bare list; the code host takes both."""
    return ctx.body if isinstance(ctx.body, list) else body_of(ctx).get("labels")


def _touched_labels(ctx: HandlerContext, repository: Row, issue: Row) -> list[Row]:
    _touch(ctx, issue)
    return [label_answer(label) for label in labels_of(ctx, repository, [issue])[issue["number"]]]


# Labels of a repository


def list_repository_labels(ctx: HandlerContext) -> None:
    find_repository(ctx)
    rows = ctx.query("labels", place(ctx), order_by="name")
    answer_page(ctx, rows, lambda page: [label_answer(label) for label in page])


def create_label(ctx: HandlerContext) -> None:
    repository, body = find_repository(ctx), body_of(ctx)
    name = _label_name(ctx, body.get("name"))
    color = color_of(ctx, body.get("color", DEFAULT_COLOR))
    description = description_of(ctx, body.get("description"))
    label = make_label(ctx, repository, name, color, description)
    ctx.respond(201, label_answer(label), {"location": label["url"]})


def update_label(ctx: HandlerContext) -> Row:
    label, body = find_label(ctx), body_of(ctx)
    patch: Row = {}
    if "color" in body:
        patch["color"] = color_of(ctx, body["color"])
    if "description" in body:
        patch["description"] = description_of(ctx, body["description"])
    if patch:
        label = ctx.update("labels", {**place_of(label), "name": label["name"]}, patch)
    if body.get("new_name") not in (None, label["name"]):
        label = rename_label(ctx, label, _label_name(ctx, body["new_name"], label))
    return label_answer(label)


def delete_label(ctx: HandlerContext) -> None:
    delete_label_rows(ctx, find_label(ctx))


def _label_name(ctx: HandlerContext, name: object, renamed: Row | None = None) -> str:
    """A name that no label of the repository has, but for the one that is being renamed."""
    if not isinstance(name, str) or not name.strip():
        invalid(ctx, "Label", "name", "missing_field")
    known = label_named(ctx, name)
    if known is not None and known != renamed:
        invalid(ctx, "Label", "name", "already_exists")
    return name


# Comments


def list_issue_comments(ctx: HandlerContext) -> None:
    """Oldest first, as one reads them."""
    repository, issue = find_repository(ctx), find_issue(ctx)
    where = {**place(ctx), "issue_number": issue["number"]}
    since = ctx.args.get("since", "")
    rows = ctx.query("comments", where, order_by="id")
    rows = [row for row in rows if row["updated_at"] >= since]
    answer_page(ctx, rows, lambda page: comment_answers(ctx, repository, page))


def get_comment(ctx: HandlerContext) -> Row:
    return comment_answer(ctx, find_repository(ctx), find_comment(ctx))


def create_comment(ctx: HandlerContext) -> None:
    repository, issue = find_repository(ctx), find_issue(ctx)
    comment_id, written_at = ctx.ids.next("comments", "id"), ctx.clock.now()
    comment = {
        **place(ctx),
        "id": comment_id,
        "issue_number": issue["number"],
        "user": VIEWER,
        "author_association": "MEMBER",
        "body": comment_text(ctx),
        "created_at": written_at,
        "updated_at": written_at,
    }
    ctx.insert("comments", comment)
    record_references(ctx, comment)
    _touch(ctx, issue)
    answer = comment_answer(ctx, repository, comment)
    ctx.respond(201, answer, {"location": answer["url"]})


def update_comment(ctx: HandlerContext) -> Row:
    repository, comment = find_repository(ctx), find_comment(ctx)
    patch = {"body": comment_text(ctx), "updated_at": ctx.clock.now()}
    comment = ctx.update("comments", {"id": comment["id"]}, patch)
    forget_references(ctx, comment)
    record_references(ctx, comment)
    return comment_answer(ctx, repository, comment)


def delete_comment(ctx: HandlerContext) -> None:
    comment = find_comment(ctx)
    forget_references(ctx, comment)
    ctx.delete("comments", {"id": comment["id"]})


def _issue_key(issue: Row) -> Row:
    return {**place_of(issue), "number": issue["number"]}


def _touch(ctx: HandlerContext, issue: Row) -> None:
    ctx.update("issues", _issue_key(issue), {"updated_at": ctx.clock.now()})
