"""Fields of the tracker that hold one value: each reads what is written to it, or says what is wrong with that."""

from typing import Any

from svc_env import HandlerContext, Row

from .documents import to_markup
from .drafting import Draft, Setter, Wrong, date_of, reference_in, set_row
from .finding import by_id, by_name, issue_named, known
from .history import item
from .reading import rich_text
from .times import duration_seconds, duration_text

LONGEST_SUMMARY = 255


def set_summary(draft: Draft, value: Any) -> None:
    if not isinstance(value, str) or not value.strip():
        raise Wrong("You must specify a summary of the issue.")
    if "\n" in value or "\r" in value:
        raise Wrong("The summary is invalid because it contains newline characters.")
    if len(value) > LONGEST_SUMMARY:
        raise Wrong(f"Summary can't exceed {LONGEST_SUMMARY} characters.")
    before = draft.issue.get("summary")
    draft.set("summary", value.strip(), item("summary", (None, before), (None, value.strip())))


def set_rich_of(name: str) -> Setter:
    def set_text(draft: Draft, value: Any) -> None:
        document = rich_text(draft.ctx, name, value)
        before = to_markup(draft.issue.get(name))
        draft.set(name, document, item(name, (None, before), (None, to_markup(document))))

    return set_text


def set_choice_of(name: str, entity: str, wrong: str, needed: bool = True) -> Setter:
    """A field that holds a row of a short list, named by its id or its name."""
    column = f"{name}_id" if name != "issuetype" else "type_id"

    def set_choice(draft: Draft, value: Any) -> None:
        row = None
        if value is not None:
            asked = reference_in(value, "id", "name")
            row = by_id(draft.ctx, entity, asked) or by_name(draft.ctx, entity, asked)
        if row is None and (needed or value is not None):
            raise Wrong(wrong)
        before = by_id(draft.ctx, entity, draft.issue.get(column) or 0)
        set_row(draft, name, column, before, row)

    return set_choice


def set_issue_type(draft: Draft, value: Any) -> None:
    asked = reference_in(value, "id", "name")
    row = by_id(draft.ctx, "issue_types", asked) or by_name(draft.ctx, "issue_types", asked)
    key = {"project_id": draft.now("project_id"), "issue_type_id": row["id"]} if row else None
    if key is None or draft.ctx.get("project_issue_types", key) is None:
        raise Wrong("Specify a valid issue type")
    set_row(draft, "issuetype", "type_id", by_id(draft.ctx, "issue_types", draft.issue.get("type_id") or 0), row)


def user_meant(ctx: HandlerContext, value: Any) -> Row | None:
    """The user of `{"accountId": …}`; older clients write `id` or `name`. None for no user."""
    asked = reference_in(value, "accountId", "id", "name")
    if asked in (None, ""):
        return None
    user = ctx.get("users", {"account_id": str(asked)})
    if user is None:
        raise Wrong(f"User '{asked}' does not exist.")
    return user


def default_assignee(ctx: HandlerContext, project_id: int) -> str | None:
    """Returns the assignee of an issue that names none."""
    project = known(ctx, "projects", {"id": project_id})
    return project["lead"] if project["assignee_type"] == "PROJECT_LEAD" else None


def set_assignee(draft: Draft, value: Any) -> None:
    if isinstance(value, dict) and "-1" in (value.get("accountId"), value.get("name"), value.get("id")):
        account = default_assignee(draft.ctx, draft.now("project_id"))
        value = {"accountId": account}
    user = user_meant(draft.ctx, value) if value is not None else None
    if user and (user["account_type"] != "atlassian" or not user["active"]):
        raise Wrong(f"User '{user['account_id']}' cannot be assigned issues.")
    _set_user(draft, "assignee", user)


def set_reporter(draft: Draft, value: Any) -> None:
    user = user_meant(draft.ctx, value) if value is not None else None
    if user is None:
        raise Wrong("Reporter is required.")
    _set_user(draft, "reporter", user)


def _set_user(draft: Draft, name: str, user: Row | None) -> None:
    old = draft.issue.get(name)
    before = draft.ctx.get("users", {"account_id": old}) if old else None
    parts = [(one["account_id"], one["display_name"]) if one else (None, None) for one in (before, user)]
    draft.set(name, user["account_id"] if user else None, item(name, *parts))


def set_due(draft: Draft, value: Any) -> None:
    due = date_of(value)
    before = draft.issue.get("due_date")
    draft.set("due_date", due, item("duedate", (before, before), (due, due)))


def set_parent(draft: Draft, value: Any) -> None:
    parent = None
    if value is not None:
        parent = issue_named(draft.ctx, reference_in(value, "key", "id"))
        if parent is None:
            raise Wrong("Could not find issue by id or key.")
    _check_parent(draft, parent)
    before = draft.ctx.get("issues", {"id": draft.issue.get("parent_id") or 0})
    parts = [(one["id"], one["key"]) if one else (None, None) for one in (before, parent)]
    draft.set("parent_id", parent["id"] if parent else None, item({"name": "IssueParentAssociation", "id": "parent"}, *parts))


def _check_parent(draft: Draft, parent: Row | None) -> None:
    """A parent is one level above; only a part of an issue needs one."""
    kind = known(draft.ctx, "issue_types", {"id": draft.now("type_id")})
    if parent is None:
        if kind["subtask"]:
            raise Wrong("Issue type is a sub-task but parent issue key or id not specified.")
        return
    above = known(draft.ctx, "issue_types", {"id": parent["type_id"]})
    is_fit = above["hierarchy_level"] == kind["hierarchy_level"] + 1
    if not is_fit or parent["project_id"] != draft.now("project_id"):
        raise Wrong("Given parent issue does not belong to appropriate hierarchy." if not is_fit else "Given parent issue does not belong to the project.")


def set_tracking(draft: Draft, value: Any) -> None:
    if not isinstance(value, dict):
        raise Wrong("data was not an object")
    names = {"originalEstimate": "original_estimate", "remainingEstimate": "remaining_estimate"}
    for name, column in names.items():
        if name not in value:
            continue
        text = value[name]
        seconds = None if text in (None, "") else duration_seconds(str(text))
        if seconds is None and text not in (None, ""):
            said = "Original" if column == "original_estimate" else "Remaining"
            raise Wrong(f"The {said.lower()} estimate you entered is invalid.")
        before = draft.issue.get(column)
        field_id = "timeoriginalestimate" if column == "original_estimate" else "timeestimate"
        texts = [None if one is None else duration_text(one) for one in (before, seconds)]
        draft.set(column, seconds, item(field_id, (before, texts[0]), (seconds, texts[1])))
    if "originalEstimate" in value and "remainingEstimate" not in value and draft.issue.get("remaining_estimate") is None:
        draft.patch["remaining_estimate"] = draft.now("original_estimate")
