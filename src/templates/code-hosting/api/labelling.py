"""Labels and assignees of an issue. Each change is stored and delivered."""

from collections.abc import Iterable

from svc_env import HandlerContext, Row
from svc_env.finding import known, same_name

from .answers.addresses import api_url, node_id
from .answers.issues import label_answer
from .answers.users import simple_user
from .finding import on_issue, place_of
from .history import record, tell_of_issue

DEFAULT_COLOR = "ededed"


def attach_labels(ctx: HandlerContext, repository: Row, issue: Row, names: list[str]) -> None:
    """Adds labels to an issue, and tells of each."""
    for label in write_labels(ctx, repository, issue, names):
        tell_of_label(ctx, repository, issue, label, "labeled")


def write_labels(ctx: HandlerContext, repository: Row, issue: Row, names: list[str]) -> list[Row]:
    """Adds labels to an issue and answers those that are new there; telling of them is left to the
    caller. A label that the repository lacks is made, as the code host does."""
    labels = ctx.query("labels", place_of(issue))
    added = []
    for name in names:
        label = next((label for label in labels if same_name(label["name"], name)), None)
        if label is None:
            label = make_label(ctx, repository, name)
            labels.append(label)
        row = {**on_issue(issue), "label": label["name"]}
        if ctx.get("issue_labels", row) is None:
            ctx.insert("issue_labels", row)
            _record_label(ctx, issue, label, "labeled")
            added.append(label)
    return added


def tell_of_label(
    ctx: HandlerContext, repository: Row, issue: Row, label: Row, action: str
) -> None:
    tell_of_issue(ctx, repository, issue, action, label=label_answer(label))


def detach_labels(ctx: HandlerContext, repository: Row, issue: Row, rows: Iterable[Row]) -> None:
    """Takes labels from an issue: rows of `issue_labels`."""
    for row in rows:
        label = known(ctx, "labels", {**place_of(issue), "name": row["label"]})
        ctx.delete("issue_labels", row)
        _record_label(ctx, issue, label, "unlabeled")
        tell_of_label(ctx, repository, issue, label, "unlabeled")


def replace_labels(ctx: HandlerContext, repository: Row, issue: Row, names: list[str]) -> None:
    """Makes these the only labels of an issue."""
    carried = ctx.query("issue_labels", on_issue(issue))
    unwanted = [row for row in carried if not any(same_name(row["label"], name) for name in names)]
    detach_labels(ctx, repository, issue, unwanted)
    attach_labels(ctx, repository, issue, names)


def make_label(
    ctx: HandlerContext,
    repository: Row,
    name: str,
    color: str = DEFAULT_COLOR,
    description: str | None = None,
    default: bool = False,
) -> Row:
    """Inserts a label of a repository; `default` marks those it was made with."""
    label_id = ctx.ids.next("labels", "id")
    label = {
        "id": label_id,
        "node_id": node_id("LA", repository["id"], label_id),
        "name": name,
        "color": color,
        "default": default,
        "description": description,
        "owner": repository["owner"],
        "repo": repository["name"],
    }
    return ctx.insert("labels", {**label, "url": api_url(label, "labels", name)})


def rename_label(ctx: HandlerContext, label: Row, name: str) -> Row:
    """Gives a label another name. The name is part of its key, so its rows are written anew."""
    carried = ctx.query("issue_labels", {**place_of(label), "label": label["name"]})
    delete_label_rows(ctx, label)
    renamed = {**label, "name": name, "url": api_url(label, "labels", name)}
    ctx.insert("labels", renamed)
    for row in carried:
        ctx.insert("issue_labels", {**row, "label": name})
    return renamed


def delete_label_rows(ctx: HandlerContext, label: Row) -> None:
    """Deletes a label, first from the issues that carry it: the contract insists on that order."""
    for row in ctx.query("issue_labels", {**place_of(label), "label": label["name"]}):
        ctx.delete("issue_labels", row)
    ctx.delete("labels", {**place_of(label), "name": label["name"]})


def assign(ctx: HandlerContext, repository: Row, issue: Row, logins: Iterable[str]) -> None:
    """Puts users in charge of an issue, and tells of each."""
    for login in write_assignees(ctx, issue, logins):
        tell_of_assignee(ctx, repository, issue, login, "assigned")


def write_assignees(ctx: HandlerContext, issue: Row, logins: Iterable[str]) -> list[str]:
    """Puts users in charge of an issue and answers those who were not; telling of them is left to the
    caller."""
    added = []
    for login in logins:
        row = {**on_issue(issue), "login": login}
        if ctx.get("issue_assignees", row) is None:
            ctx.insert("issue_assignees", row)
            record(ctx, issue, "assigned", login=login)
            added.append(login)
    return added


def tell_of_assignee(
    ctx: HandlerContext, repository: Row, issue: Row, login: str, action: str
) -> None:
    user = simple_user(known(ctx, "users", {"login": login}))
    tell_of_issue(ctx, repository, issue, action, assignee=user)


def unassign(ctx: HandlerContext, repository: Row, issue: Row, logins: Iterable[str]) -> None:
    """Takes users from an issue; those who are not in charge of it are overlooked."""
    for login in logins:
        row = {**on_issue(issue), "login": login}
        if ctx.get("issue_assignees", row) is not None:
            ctx.delete("issue_assignees", row)
            record(ctx, issue, "unassigned", login=login)
            tell_of_assignee(ctx, repository, issue, login, "unassigned")


def replace_assignees(ctx: HandlerContext, repository: Row, issue: Row, logins: list[str]) -> None:
    """Makes these users the only assignees of an issue."""
    present = [row["login"] for row in ctx.query("issue_assignees", on_issue(issue))]
    unassign(ctx, repository, issue, [login for login in present if login not in logins])
    assign(ctx, repository, issue, logins)


def _record_label(ctx: HandlerContext, issue: Row, label: Row, event: str) -> None:
    record(ctx, issue, event, label={"name": label["name"], "color": label["color"]})
