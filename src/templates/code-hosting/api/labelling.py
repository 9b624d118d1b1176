"""Which labels and assignees an issue carries."""

from svc_env import HandlerContext, Row

from .answers import label_url, node_id
from .finding import place_of, same_name
from .refusals import invalid

DEFAULT_COLOR = "ededed"


def attach_labels(ctx: HandlerContext, repository: Row, issue: Row, names: list[str]) -> None:
    """Adds labels to an issue. A label that the repository lacks is made, as the code host does."""
    here = {"owner": repository["owner"], "repo": repository["name"]}
    labels = ctx.query("labels", here)
    for name in names:
        label = next((label for label in labels if same_name(label["name"], name)), None)
        if label is None:
            label = make_label(ctx, repository, name)
            labels.append(label)
        row = {**here, "issue_number": issue["number"], "label": label["name"]}
        if ctx.get("issue_labels", row) is None:
            ctx.insert("issue_labels", row)


def replace_labels(ctx: HandlerContext, repository: Row, issue: Row, names: list[str]) -> None:
    """Makes these the only labels of an issue."""
    where = {**place_of(issue), "issue_number": issue["number"]}
    for row in ctx.query("issue_labels", where):
        if not any(same_name(row["label"], name) for name in names):
            ctx.delete("issue_labels", row)
    attach_labels(ctx, repository, issue, names)


def make_label(
    ctx: HandlerContext,
    repository: Row,
    name: str,
    color: str = DEFAULT_COLOR,
    description: str | None = None,
) -> Row:
    """Inserts a label of a repository."""
    label_id = ctx.ids.next("labels", "id")
    label = {
        "id": label_id,
        "node_id": node_id("LA", repository["id"], label_id),
        "name": name,
        "color": color,
        "default": False,
        "description": description,
        "owner": repository["owner"],
        "repo": repository["name"],
    }
    return ctx.insert("labels", {**label, "url": label_url(label)})


def rename_label(ctx: HandlerContext, label: Row, name: str) -> Row:
    """Gives a label another name. The name is part of its key, so its rows are written anew."""
    here = place_of(label)
    carried = ctx.query("issue_labels", {**here, "label": label["name"]})
    delete_label_rows(ctx, label)
    renamed = {**label, "name": name}
    renamed = ctx.insert("labels", {**renamed, "url": label_url(renamed)})
    for row in carried:
        ctx.insert("issue_labels", {**row, "label": name})
    return renamed


def delete_label_rows(ctx: HandlerContext, label: Row) -> None:
    """Deletes a label, first from the issues that carry it: the contract insists on that order."""
    here = place_of(label)
    for row in ctx.query("issue_labels", {**here, "label": label["name"]}):
        ctx.delete("issue_labels", row)
    ctx.delete("labels", {**here, "name": label["name"]})


def replace_assignees(ctx: HandlerContext, issue: Row, logins: object) -> None:
    """Makes these users the only assignees of an issue."""
    if not isinstance(logins, list):
        invalid(ctx, "Issue", "assignees", "invalid")
    for login in logins:
        user = ctx.get("users", {"login": login}) if isinstance(login, str) else None
        if user is None or user["type"] != "User":
            invalid(ctx, "Issue", "assignees", "invalid", value=login)
    where = {**place_of(issue), "issue_number": issue["number"]}
    for row in ctx.query("issue_assignees", where):
        ctx.delete("issue_assignees", row)
    for login in dict.fromkeys(logins):
        ctx.insert("issue_assignees", {**where, "login": login})
