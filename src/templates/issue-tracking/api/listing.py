"""Fields that are lists: labels, and the components and versions that are rows of their own."""

from collections.abc import Callable
from typing import Any

from svc_env import HandlerContext, Row

from .drafting import LONGEST_TEXT, Draft, Wrong, reference_in
from .finding import by_id, by_name, known
from .history import item


def read_label(draft: Draft, value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise Wrong("string expected at index 0")
    if any(sign.isspace() for sign in value):
        raise Wrong(f"The label '{value}' contains spaces which is invalid.")
    if len(value) > LONGEST_TEXT:
        raise Wrong(f"The label '{value[:40]}…' exceeds the maximum length of {LONGEST_TEXT} characters.")
    return value


def set_labels(draft: Draft, labels: list[str]) -> None:
    labels = sorted(dict.fromkeys(labels))
    before = draft.issue.get("labels", [])
    if sorted(before) != labels:
        draft.patch["labels"] = labels
        draft.items.append(item("labels", (None, " ".join(before)), (None, " ".join(labels))))


def read_component(draft: Draft, value: Any) -> int:
    return _part_of_project(draft, "components", value, "Component")


def read_version(draft: Draft, value: Any) -> int:
    return _part_of_project(draft, "versions", value, "Version")


def _part_of_project(draft: Draft, entity: str, value: Any, what: str) -> int:
    asked = reference_in(value, "id", "name")
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
ROWS_OF = {
    "components": ("issue_components", "component_id", {}, "components", "Component"),
    "fixVersions": ("issue_versions", "version_id", {"kind": "fix"}, "versions", "Fix Version"),
    "versions": ("issue_versions", "version_id", {"kind": "affects"}, "versions", "Version"),
}


def listed(ctx: HandlerContext, issue: Row, name: str) -> list[int]:
    """The components or versions that an issue has."""
    entity, column, own, *_ = ROWS_OF[name]
    return [row[column] for row in ctx.query(entity, {"issue_id": issue["id"], **own})] if issue.get("id") else []


def set_list_of(name: str) -> Callable[[Draft, list[int]], None]:
    _, _, _, entity, said = ROWS_OF[name]

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
        entity, column, own, *_ = ROWS_OF[name]
        for row in listed(ctx, issue, name):
            if row not in wanted:
                ctx.delete(entity, {"issue_id": issue["id"], column: row, **own})
        present = set(listed(ctx, issue, name))
        for row in wanted:
            if row not in present:
                ctx.insert(entity, {"issue_id": issue["id"], column: row, **own})
