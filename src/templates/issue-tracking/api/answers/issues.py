"""Issues as the API has them.

A row holds what is known once; a body repeats it: whole users where the row has an account, whole statuses
where it has a number. The bodies of a page are made together, so that a page costs a few queries and not a
few for each of its issues.
"""

from collections import defaultdict
from collections.abc import Callable
from typing import Any

from svc_env import HandlerContext, Row

from ..addresses import has_documents, rest
from ..documents import to_html, to_markup
from ..finding import indexed
from ..times import duration_text, shown
from ..viewer import VIEWER
from .catalog import (
    component_short,
    issue_type_answer,
    link_type_answer,
    priority_answer,
    resolution_answer,
    statuses_by_id,
    version_short,
)
from .people import users_by_id
from .projects import project_short
from .talk import attachment_answer, comment_answer, worklog_answer

EXPAND = "renderedFields,names,schema,operations,editmeta,changelog,versionedRepresentations"

#: Fields that lists leave out unless they are asked for.
NOT_NAVIGABLE = ("comment", "worklog", "attachment", "timetracking")


class Shelf:
    """The rows that belong to the issues of a page, each kind read once and only when it is needed."""

    def __init__(self, ctx: HandlerContext, issues: list[Row]) -> None:
        self.ctx = ctx
        self.issues = issues
        self.ids = [issue["id"] for issue in issues]
        self._kept: dict[str, Any] = {}
        self._catalogs: dict[str, dict[int, Row]] = {}

    def once(self, name: str, make: Callable[[], Any]) -> Any:
        if name not in self._kept:
            self._kept[name] = make()
        return self._kept[name]

    def of_issues(self, entity: str) -> dict[int, list[Row]]:
        """The rows of an entity by the issue that they belong to."""
        if entity not in self._kept:
            found: dict[int, list[Row]] = defaultdict(list)
            for row in self.ctx.query(entity, {"issue_id": self.ids}):
                found[row["issue_id"]].append(row)
            self._kept[entity] = found
        return self._kept[entity]

    def users(self) -> dict[str, Row]:
        return self.once("users", lambda: users_by_id(self.ctx))

    def statuses(self) -> dict[int, Row]:
        return self.once("statuses", lambda: statuses_by_id(self.ctx))

    def catalog(self, entity: str, answer: Callable[[HandlerContext, Row], Row]) -> dict[int, Row]:
        """All rows of a short list, as answers."""
        if entity not in self._catalogs:
            rows = self.ctx.query(entity)
            self._catalogs[entity] = {row["id"]: answer(self.ctx, row) for row in rows}
        return self._catalogs[entity]

    def types(self) -> dict[int, Row]:
        return self.catalog("issue_types", issue_type_answer)

    def priorities(self) -> dict[int, Row]:
        return self.catalog("priorities", priority_answer)

    def neighbours(self) -> dict[int, Row]:
        """The issues that those of the page are linked to, parents and parts counted in."""

        def read() -> dict[int, Row]:
            wanted = {
                end for link in self.links() for end in (link["inward_issue"], link["outward_issue"])
            }
            wanted |= {issue["parent_id"] for issue in self.issues if issue.get("parent_id")}
            return indexed(self.ctx.query("issues", {"id": sorted(wanted)}) if wanted else [])

        return self.once("neighbours", read)

    def links(self) -> list[Row]:
        def read() -> list[Row]:
            found = self.ctx.query("issue_links", {"inward_issue": self.ids})
            return list(
                indexed([*found, *self.ctx.query("issue_links", {"outward_issue": self.ids})]).values()
            )

        return self.once("links", read)

    def children(self) -> dict[int, list[Row]]:
        def read() -> dict[int, list[Row]]:
            found: dict[int, list[Row]] = defaultdict(list)
            for row in self.ctx.query("issues", {"parent_id": self.ids}, order_by="id"):
                found[row["parent_id"]].append(row)
            return found

        return self.once("children", read)


def issue_stub(shelf: Shelf, issue: Row) -> Row:
    """An issue as others name it: parents, parts, both ends of links."""
    return {
        "id": str(issue["id"]),
        "key": issue["key"],
        "self": rest(shelf.ctx, "issue", issue["id"]),
        "fields": {
            "summary": issue["summary"],
            "status": shelf.statuses()[issue["status_id"]],
            "priority": shelf.priorities()[issue["priority_id"]],
            "issuetype": shelf.types()[issue["type_id"]],
        },
    }


def _user(shelf: Shelf, account_id: str | None) -> Row | None:
    return shelf.users().get(account_id) if account_id else None


def _text(shelf: Shelf, document: Row | None) -> Any:
    return document if has_documents(shelf.ctx) else to_markup(document)


def _resolution(shelf: Shelf, issue: Row) -> Row | None:
    return shelf.catalog("resolutions", resolution_answer).get(issue.get("resolution_id") or 0)


def _versions(shelf: Shelf, issue: Row, kind: str) -> list[Row]:
    versions = shelf.catalog("versions", version_short)
    rows = shelf.of_issues("issue_versions")[issue["id"]]
    return [versions[row["version_id"]] for row in rows if row["kind"] == kind]


def _components(shelf: Shelf, issue: Row) -> list[Row]:
    components = shelf.catalog("components", component_short)
    rows = shelf.of_issues("issue_components")[issue["id"]]
    return [components[row["component_id"]] for row in rows]


def _links(shelf: Shelf, issue: Row) -> list[Row]:
    types = shelf.catalog("link_types", link_type_answer)
    found = []
    for link in shelf.links():
        part = {
            "id": str(link["id"]),
            "self": rest(shelf.ctx, "issueLink", link["id"]),
            "type": types[link["type_id"]],
        }
        if link["inward_issue"] == issue["id"]:
            other = shelf.neighbours()[link["outward_issue"]]
            found.append({**part, "outwardIssue": issue_stub(shelf, other)})
        elif link["outward_issue"] == issue["id"]:
            other = shelf.neighbours()[link["inward_issue"]]
            found.append({**part, "inwardIssue": issue_stub(shelf, other)})
    return found


def _parent(shelf: Shelf, issue: Row) -> Row | None:
    parent = shelf.neighbours().get(issue.get("parent_id") or 0)
    return issue_stub(shelf, parent) if parent else None


def _spent(shelf: Shelf, issue: Row) -> int | None:
    rows = shelf.of_issues("worklogs")[issue["id"]]
    return sum(row["seconds"] for row in rows) if rows else None


def _tracking(shelf: Shelf, issue: Row) -> Row:
    seconds = {
        "originalEstimate": issue.get("original_estimate"),
        "remainingEstimate": issue.get("remaining_estimate"),
        "timeSpent": _spent(shelf, issue),
    }
    given = {name: value for name, value in seconds.items() if value is not None}
    texts = {name: duration_text(value) for name, value in given.items()}
    return {**texts, **{f"{name}Seconds": value for name, value in given.items()}}


def _progress(shelf: Shelf, issue: Row) -> Row:
    done = _spent(shelf, issue) or 0
    total = done + (issue.get("remaining_estimate") or 0)
    return {"progress": done, "total": total, **({"percent": done * 100 // total} if total else {})}


def _watches(shelf: Shelf, issue: Row) -> Row:
    rows = shelf.of_issues("watchers")[issue["id"]]
    return {
        "self": rest(shelf.ctx, "issue", issue["key"], "watchers"),
        "watchCount": len(rows),
        "isWatching": any(row["account_id"] == VIEWER for row in rows),
    }


def _votes(shelf: Shelf, issue: Row) -> Row:
    rows = shelf.of_issues("votes")[issue["id"]]
    return {
        "self": rest(shelf.ctx, "issue", issue["key"], "votes"),
        "votes": len(rows),
        "hasVoted": any(row["account_id"] == VIEWER for row in rows),
    }


def _comments(shelf: Shelf, issue: Row) -> Row:
    rows = shelf.of_issues("comments")[issue["id"]]
    bodies = [comment_answer(shelf.ctx, row, shelf.users()) for row in rows]
    address = rest(shelf.ctx, "issue", issue["id"], "comment")
    return {"comments": bodies, "self": address, "maxResults": len(rows), "total": len(rows), "startAt": 0}


def _worklogs(shelf: Shelf, issue: Row) -> Row:
    rows = shelf.of_issues("worklogs")[issue["id"]]
    bodies = [worklog_answer(shelf.ctx, row, shelf.users()) for row in rows[:20]]
    return {"startAt": 0, "maxResults": 20, "total": len(rows), "worklogs": bodies}


def _attachments(shelf: Shelf, issue: Row) -> list[Row]:
    rows = shelf.of_issues("attachments")[issue["id"]]
    return [attachment_answer(shelf.ctx, row, shelf.users()) for row in rows]


def _project(shelf: Shelf, issue: Row) -> Row:
    return shelf.catalog("projects", project_short)[issue["project_id"]]


#: How each field of the system is made.
MAKERS: dict[str, Callable[[Shelf, Row], Any]] = {
    "statuscategorychangedate": lambda shelf, issue: shown(issue.get("status_changed")),
    "issuetype": lambda shelf, issue: shelf.types()[issue["type_id"]],
    "parent": _parent,
    "timespent": _spent,
    "project": _project,
    "fixVersions": lambda shelf, issue: _versions(shelf, issue, "fix"),
    "resolution": _resolution,
    "resolutiondate": lambda shelf, issue: shown(issue.get("resolved")),
    "workratio": lambda shelf, issue: _work_ratio(shelf, issue),
    "watches": _watches,
    "created": lambda shelf, issue: shown(issue["created"]),
    "priority": lambda shelf, issue: shelf.priorities()[issue["priority_id"]],
    "labels": lambda shelf, issue: issue["labels"],
    "timeestimate": lambda shelf, issue: issue.get("remaining_estimate"),
    "timeoriginalestimate": lambda shelf, issue: issue.get("original_estimate"),
    "versions": lambda shelf, issue: _versions(shelf, issue, "affects"),
    "issuelinks": _links,
    "assignee": lambda shelf, issue: _user(shelf, issue.get("assignee")),
    "updated": lambda shelf, issue: shown(issue["updated"]),
    "status": lambda shelf, issue: shelf.statuses()[issue["status_id"]],
    "components": _components,
    "description": lambda shelf, issue: _text(shelf, issue.get("description")),
    "summary": lambda shelf, issue: issue["summary"],
    "creator": lambda shelf, issue: _user(shelf, issue["creator"]),
    "subtasks": lambda shelf, issue: [
        issue_stub(shelf, row)
        for row in shelf.children()[issue["id"]]
        if shelf.types()[row["type_id"]]["subtask"]
    ],
    "reporter": lambda shelf, issue: _user(shelf, issue["reporter"]),
    "environment": lambda shelf, issue: _text(shelf, issue.get("environment")),
    "duedate": lambda shelf, issue: issue.get("due_date"),
    "progress": _progress,
    "votes": _votes,
    "timetracking": _tracking,
    "attachment": _attachments,
    "comment": _comments,
    "worklog": _worklogs,
}


def _work_ratio(shelf: Shelf, issue: Row) -> int:
    estimate = issue.get("original_estimate")
    return (_spent(shelf, issue) or 0) * 100 // estimate if estimate else -1


def custom_value(shelf: Shelf, field: Row, value: Any) -> Any:
    """The value of a custom field as answers have it."""
    if value is None:
        return None
    schema = field["schema"]
    if schema["type"] == "option":
        option = next((one for one in field.get("options", []) if one["id"] == value), None)
        address = rest(shelf.ctx, "customFieldOption", value)
        return option and {"self": address, "value": option["value"], "id": option["id"]}
    if schema.get("items") == "user":
        return [shelf.users()[one] for one in value if one in shelf.users()]
    return value


def chosen_fields(ctx: HandlerContext, asked: list[str], default: str) -> list[str]:
    """Selects the fields of an answer: `*all`, `*navigable`, names, and names with a minus before them."""
    all_fields = [*MAKERS, *(row["id"] for row in custom_fields(ctx))]
    names = asked or [default]
    if all(name.startswith("-") for name in names):
        names = [default, *names]
    chosen: dict[str, None] = {}
    for name in names:
        if name == "*all":
            chosen.update(dict.fromkeys(all_fields))
        elif name == "*navigable":
            chosen.update(dict.fromkeys(one for one in all_fields if one not in NOT_NAVIGABLE))
        elif name.startswith("-"):
            chosen.pop(name[1:], None)
        elif name in all_fields:
            chosen[name] = None
    return list(chosen)


def custom_fields(ctx: HandlerContext) -> list[Row]:
    return ctx.query("fields", {"custom": True})


def issue_answers(
    ctx: HandlerContext, issues: list[Row], fields: list[str], expand: list[str] | None = None
) -> list[Row]:
    """Issues with the fields that were chosen."""
    shelf, custom = Shelf(ctx, issues), indexed(custom_fields(ctx))

    system = [(name, MAKERS[name]) for name in fields if name in MAKERS]
    own = [custom[name] for name in fields if name not in MAKERS]

    def answer(issue: Row) -> Row:
        values: Row = dict.fromkeys(fields)
        for name, make in system:
            values[name] = make(shelf, issue)
        given = issue.get("custom", {})
        for field in own:
            values[field["id"]] = custom_value(shelf, field, given.get(field["id"]))
        if "parent" in values and values["parent"] is None:
            del values["parent"]
        body = {
            "expand": EXPAND,
            "id": str(issue["id"]),
            "self": rest(ctx, "issue", issue["id"]),
            "key": issue["key"],
            "fields": values,
        }
        if "renderedFields" in (expand or []):
            body["renderedFields"] = _rendered(issue, fields)
        return body

    return [answer(issue) for issue in issues]


def _rendered(issue: Row, fields: list[str]) -> Row:
    """Fields as people read them; those that have no such form are null."""
    texts = {name: to_html(issue.get(name)) for name in ("description", "environment")}
    return {name: texts.get(name) for name in fields}


def issue_answer(ctx: HandlerContext, issue: Row, default: str = "*all") -> Row:
    """One issue with all its fields."""
    return issue_answers(ctx, [issue], chosen_fields(ctx, [], default))[0]
