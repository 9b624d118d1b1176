"""Sets the fields of issues, as they are made, edited and moved on.

A request names fields in two ways: `fields` has their new values, `update` adds to lists and takes from them.
Each field reads its value, says what is wrong with it, and tells what changed. Nothing is written before
every field was read, and all that is wrong is answered at once.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from svc_env import HandlerContext, Row

from .answers.issues import custom_fields
from .documents import to_markup
from .finding import by_id, by_name, indexed, issue_named, known
from .history import item
from .reading import part_of, rich_text
from .refusals import refuse
from .times import duration_seconds, duration_text

LONGEST_SUMMARY = 255
LONGEST_TEXT = 255


class Wrong(Exception):
    """What is wrong with the value of a field."""


@dataclass
class Draft:
    """What an issue is about to become. issue: as it is, or as it begins."""

    ctx: HandlerContext
    issue: Row
    patch: Row = field(default_factory=dict)
    items: list[Row] = field(default_factory=list)
    #: New lists of the rows that belong to it: "issue_components", and versions by their kind.
    lists: dict[str, list[int]] = field(default_factory=dict)

    def now(self, name: str) -> Any:
        return self.patch.get(name, self.issue.get(name))

    def set(self, name: str, value: Any, change: Row) -> None:
        """Sets a field of the row, and remembers the change if it is one."""
        if self.issue.get(name) != value:
            self.patch[name] = value
            self.items.append(change)


Setter = Callable[[Draft, Any], None]


def _reference(value: Any, *names: str) -> Any:
    """What an object names something by: the first of these members."""
    if not isinstance(value, dict):
        raise Wrong("data was not an object")
    return next((value[name] for name in names if value.get(name) is not None), None)


def _summary(draft: Draft, value: Any) -> None:
    if not isinstance(value, str) or not value.strip():
        raise Wrong("You must specify a summary of the issue.")
    if "\n" in value or "\r" in value:
        raise Wrong("The summary is invalid because it contains newline characters.")
    if len(value) > LONGEST_SUMMARY:
        raise Wrong(f"Summary can't exceed {LONGEST_SUMMARY} characters.")
    before = draft.issue.get("summary")
    draft.set("summary", value.strip(), item("summary", (None, before), (None, value.strip())))


def _rich(name: str) -> Setter:
    def set_text(draft: Draft, value: Any) -> None:
        document = rich_text(draft.ctx, name, value)
        before = to_markup(draft.issue.get(name))
        draft.set(name, document, item(name, (None, before), (None, to_markup(document))))

    return set_text


def _choice(name: str, entity: str, wrong: str, needed: bool = True) -> Setter:
    """A field that holds a row of a short list, named by its id or its name."""
    column = f"{name}_id" if name != "issuetype" else "type_id"

    def set_choice(draft: Draft, value: Any) -> None:
        row = None
        if value is not None:
            asked = _reference(value, "id", "name")
            row = by_id(draft.ctx, entity, asked) or by_name(draft.ctx, entity, asked)
        if row is None and (needed or value is not None):
            raise Wrong(wrong)
        before = by_id(draft.ctx, entity, draft.issue.get(column) or 0)
        set_row(draft, name, column, before, row)

    return set_choice


def set_row(draft: Draft, name: str, column: str, before: Row | None, row: Row | None) -> None:
    """Sets a field that refers to a row with a name."""
    parts = [(one["id"], one["name"]) if one else (None, None) for one in (before, row)]
    draft.set(column, row["id"] if row else None, item(name, *parts))


def _issue_type(draft: Draft, value: Any) -> None:
    asked = _reference(value, "id", "name")
    row = by_id(draft.ctx, "issue_types", asked) or by_name(draft.ctx, "issue_types", asked)
    key = {"project_id": draft.now("project_id"), "issue_type_id": row["id"]} if row else None
    if key is None or draft.ctx.get("project_issue_types", key) is None:
        raise Wrong("Specify a valid issue type")
    set_row(draft, "issuetype", "type_id", by_id(draft.ctx, "issue_types", draft.issue.get("type_id") or 0), row)


def user_meant(ctx: HandlerContext, value: Any) -> Row | None:
    """The user of `{"accountId": …}`; older clients write `id` or `name`. None for nobody."""
    asked = _reference(value, "accountId", "id", "name")
    if asked in (None, ""):
        return None
    user = ctx.get("users", {"account_id": str(asked)})
    if user is None:
        raise Wrong(f"User '{asked}' does not exist.")
    return user


def default_assignee(ctx: HandlerContext, project_id: int) -> str | None:
    """Who gets an issue when nobody is named."""
    project = known(ctx, "projects", {"id": project_id})
    return project["lead"] if project["assignee_type"] == "PROJECT_LEAD" else None


def _assignee(draft: Draft, value: Any) -> None:
    if isinstance(value, dict) and "-1" in (value.get("accountId"), value.get("name"), value.get("id")):
        account = default_assignee(draft.ctx, draft.now("project_id"))
        value = {"accountId": account}
    user = user_meant(draft.ctx, value) if value is not None else None
    if user and (user["account_type"] != "atlassian" or not user["active"]):
        raise Wrong(f"User '{user['account_id']}' cannot be assigned issues.")
    _set_user(draft, "assignee", user)


def _reporter(draft: Draft, value: Any) -> None:
    user = user_meant(draft.ctx, value) if value is not None else None
    if user is None:
        raise Wrong("Reporter is required.")
    _set_user(draft, "reporter", user)


def _set_user(draft: Draft, name: str, user: Row | None) -> None:
    old = draft.issue.get(name)
    before = draft.ctx.get("users", {"account_id": old}) if old else None
    parts = [(one["account_id"], one["display_name"]) if one else (None, None) for one in (before, user)]
    draft.set(name, user["account_id"] if user else None, item(name, *parts))


def _label(draft: Draft, value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise Wrong("string expected at index 0")
    if any(sign.isspace() for sign in value):
        raise Wrong(f"The label '{value}' contains spaces which is invalid.")
    if len(value) > LONGEST_TEXT:
        raise Wrong(f"The label '{value[:40]}…' exceeds the maximum length of {LONGEST_TEXT} characters.")
    return value


def _set_labels(draft: Draft, labels: list[str]) -> None:
    labels = sorted(dict.fromkeys(labels))
    before = draft.issue.get("labels", [])
    if sorted(before) != labels:
        draft.patch["labels"] = labels
        draft.items.append(item("labels", (None, " ".join(before)), (None, " ".join(labels))))


def _component(draft: Draft, value: Any) -> int:
    return _part_of_project(draft, "components", value, "Component")


def _version(draft: Draft, value: Any) -> int:
    return _part_of_project(draft, "versions", value, "Version")


def _part_of_project(draft: Draft, entity: str, value: Any, what: str) -> int:
    asked = _reference(value, "id", "name")
    mine = {"project_id": draft.now("project_id")}
    if value.get("id") is not None:
        row = by_id(draft.ctx, entity, asked)
        if row is None or row["project_id"] != mine["project_id"]:
            raise Wrong(f"{what} id '{asked}' is not valid")
        return row["id"]
    row = by_name(draft.ctx, entity, asked, mine)
    if row is None:
        raise Wrong(f"{what} name '{asked}' is not valid")
    return row["id"]


#: Rows that belong to an issue: the entity, what the row names, and further values of it.
_LISTS = {
    "components": ("issue_components", "component_id", {}, "components", "Component"),
    "fixVersions": ("issue_versions", "version_id", {"kind": "fix"}, "versions", "Fix Version"),
    "versions": ("issue_versions", "version_id", {"kind": "affects"}, "versions", "Version"),
}


def listed(ctx: HandlerContext, issue: Row, name: str) -> list[int]:
    """The components or versions that an issue has."""
    entity, column, own, *_ = _LISTS[name]
    return [row[column] for row in ctx.query(entity, {"issue_id": issue["id"], **own})] if issue.get("id") else []


def _set_list(name: str) -> Callable[[Draft, list[int]], None]:
    _, _, _, entity, said = _LISTS[name]

    def set_list(draft: Draft, wanted: list[int]) -> None:
        before, wanted = listed(draft.ctx, draft.issue, name), list(dict.fromkeys(wanted))
        if set(before) == set(wanted):
            return
        draft.lists[name] = wanted
        names = {one: known(draft.ctx, entity, {"id": one})["name"] for one in {*before, *wanted}}
        about = {"name": said, "id": name}
        gone, new = [one for one in before if one not in wanted], [one for one in wanted if one not in before]
        draft.items += [item(about, (one, names[one]), (None, None)) for one in gone]
        draft.items += [item(about, (None, None), (one, names[one])) for one in new]

    return set_list


def write_lists(ctx: HandlerContext, issue: Row, lists: dict[str, list[int]]) -> None:
    """Writes the rows of new lists, and takes away those that are in them no longer."""
    for name, wanted in lists.items():
        entity, column, own, *_ = _LISTS[name]
        for row in listed(ctx, issue, name):
            if row not in wanted:
                ctx.delete(entity, {"issue_id": issue["id"], column: row, **own})
        present = set(listed(ctx, issue, name))
        for row in wanted:
            if row not in present:
                ctx.insert(entity, {"issue_id": issue["id"], column: row, **own})


def _date_of(value: Any) -> str | None:
    if value in (None, ""):
        return None
    try:
        return date.fromisoformat(str(value)).isoformat()
    except ValueError as error:
        raise Wrong(f"Error parsing date string: {value}") from error


def _due(draft: Draft, value: Any) -> None:
    due = _date_of(value)
    before = draft.issue.get("due_date")
    draft.set("due_date", due, item("duedate", (before, before), (due, due)))


def _parent(draft: Draft, value: Any) -> None:
    parent = None
    if value is not None:
        parent = issue_named(draft.ctx, _reference(value, "key", "id"))
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


def _tracking(draft: Draft, value: Any) -> None:
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


def _option(row: Row, value: Any) -> str:
    if isinstance(value, str):
        value = {"value": value}
    asked = _reference(value, "id", "value")
    found = next((one for one in row.get("options", []) if asked in (one["id"], one["value"])), None)
    if found is None:
        what = "id" if value.get("id") is not None else "value"
        raise Wrong(f"Option {what} '{asked}' is not valid")
    return found["id"]


def _custom_value(ctx: HandlerContext, row: Row, value: Any) -> Any:
    """A value of a custom field as rows hold it."""
    schema = row["schema"]
    if value is None:
        return None
    match schema["type"]:
        case "option":
            return _option(row, value)
        case "number":
            if isinstance(value, bool) or not isinstance(value, (int, float)):
                raise Wrong("Operation value must be a number")
            return value
        case "date":
            return _date_of(value)
        case "array":
            if not isinstance(value, list):
                raise Wrong("data was not an array")
            users = [user_meant(ctx, one) for one in value]
            return [user["account_id"] for user in users if user]
        case _:
            if not isinstance(value, str):
                raise Wrong("Operation value must be a string")
            if len(value) > LONGEST_TEXT:
                raise Wrong(f"The entered text is too long. It exceeds the allowed limit of {LONGEST_TEXT} characters.")
            return value


def _custom_text(ctx: HandlerContext, row: Row, value: Any) -> str | None:
    if value is None:
        return None
    if row["schema"]["type"] == "option":
        return next((one["value"] for one in row.get("options", []) if one["id"] == value), None)
    if isinstance(value, list):
        people = indexed(ctx.query("users", {"account_id": value}), "account_id") if value else {}
        return ", ".join(people[one]["display_name"] for one in value if one in people)
    return str(value)


def _set_custom(draft: Draft, row: Row, value: Any) -> None:
    kept = dict(draft.now("custom") or {})
    before, after = kept.get(row["id"]), _custom_value(draft.ctx, row, value)
    if before == after:
        return
    if after is None:
        kept.pop(row["id"], None)
    else:
        kept[row["id"]] = after
    draft.patch["custom"] = kept
    texts = [(None, _custom_text(draft.ctx, row, one)) for one in (before, after)]
    draft.items.append(item(row, *texts, custom=True))


SETTERS: dict[str, Setter] = {
    "summary": _summary,
    "issuetype": _issue_type,
    "description": _rich("description"),
    "environment": _rich("environment"),
    "priority": _choice("priority", "priorities", "The priority selected is invalid."),
    "resolution": _choice("resolution", "resolutions", "The resolution selected is invalid.", needed=False),
    "assignee": _assignee,
    "reporter": _reporter,
    "duedate": _due,
    "parent": _parent,
    "timetracking": _tracking,
}

#: Fields that are lists: how an item is read, what is there now, and how the new list is set.
LISTS: dict[str, tuple[Callable[[Draft, Any], Any], Callable[[Draft], list], Callable[[Draft, list], None]]] = {
    "labels": (_label, lambda draft: list(draft.now("labels") or []), _set_labels),
    **{
        name: (
            _component if name == "components" else _version,
            lambda draft, name=name: draft.lists.get(name, listed(draft.ctx, draft.issue, name)),
            _set_list(name),
        )
        for name in _LISTS
    },
}

#: What `update` may add beside fields; the routes that make these rows do it.
PARTS = ("comment", "issuelinks", "worklog")


def read_edits(draft: Draft, skipped: tuple[str, ...] = ()) -> dict[str, list[Row]]:
    """Reads `fields` and `update` of the body into a draft, and answers 400 with all that is wrong.

    Answers what `update` adds beside fields: comments, links, worklogs.
    """
    errors: dict[str, str] = {}
    added: dict[str, list[Row]] = {}
    custom = indexed(custom_fields(draft.ctx))
    for name, value in part_of(draft.ctx, "fields", dict).items():
        if name not in skipped:
            _trying(errors, name, lambda name=name, value=value: _set_field(draft, custom, name, value))
    for name, steps in part_of(draft.ctx, "update", dict).items():
        if name in PARTS:
            added[name] = _added(draft.ctx, name, steps)
        elif name not in skipped:
            _trying(errors, name, lambda name=name, steps=steps: _update_field(draft, custom, name, steps))
    if errors:
        refuse(draft.ctx, 400, errors=errors)
    return added


def _trying(errors: dict[str, str], name: str, run: Callable[[], None]) -> None:
    try:
        run()
    except Wrong as wrong:
        errors[name] = str(wrong)


def _set_field(draft: Draft, custom: dict[str, Row], name: str, value: Any) -> None:
    if name in LISTS:
        read, _, put = LISTS[name]
        if value is not None and not isinstance(value, list):
            raise Wrong("data was not an array")
        put(draft, [read(draft, one) for one in value or []])
    elif name in SETTERS:
        SETTERS[name](draft, value)
    elif name in custom:
        _set_custom(draft, custom[name], value)
    else:
        raise Wrong(f"Field '{name}' cannot be set. It is not on the appropriate screen, or unknown.")


def _update_field(draft: Draft, custom: dict[str, Row], name: str, steps: Any) -> None:
    if not isinstance(steps, list) or not all(isinstance(step, dict) for step in steps):
        raise Wrong("data was not an array")
    pairs = [pair for step in steps for pair in step.items()]
    if name in LISTS:
        _update_list(draft, name, pairs)
        return
    for verb, value in pairs:
        if verb not in ("set", "edit"):
            raise Wrong(f"Field '{name}' does not support operation '{verb}'")
        _set_field(draft, custom, name, value)


def _update_list(draft: Draft, name: str, pairs: list[tuple[str, Any]]) -> None:
    """Adds to a list and takes from it, step by step; what comes of it is one change."""
    read, current, put = LISTS[name]
    held = current(draft)
    for verb, value in pairs:
        if verb == "set":
            if not isinstance(value, list):
                raise Wrong("data was not an array")
            held = [read(draft, one) for one in value]
        elif verb in ("add", "remove"):
            one = read(draft, value)
            held = [other for other in held if other != one] + ([one] if verb == "add" else [])
        else:
            raise Wrong(f"Field '{name}' does not support operation '{verb}'")
    put(draft, held)


def _added(ctx: HandlerContext, name: str, steps: Any) -> list[Row]:
    added = [step.get("add") for step in steps] if isinstance(steps, list) and all(isinstance(one, dict) for one in steps) else []
    if not added or not all(isinstance(one, dict) for one in added):
        refuse(ctx, 400, errors={name: f"Field '{name}' only supports the operation 'add' here"})
    return added
