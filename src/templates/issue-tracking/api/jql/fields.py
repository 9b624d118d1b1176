"""The fields that queries know: of what kind each is, what values an issue has there, and what a value means."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from svc_env import HandlerContext, Row

from ..documents import plain
from ..finding import indexed
from ..times import duration_seconds, moment

#: What each kind of field can be asked.
EQUALITY = ("=", "!=", "in", "not in", "is", "is not")
ORDER = ("<", ">", "<=", ">=")
KINDS = {
    "choice": EQUALITY,
    "ranked": (*EQUALITY, *ORDER),
    "text": ("~", "!~", "is", "is not"),
    "time": (*EQUALITY, *ORDER),
    "number": (*EQUALITY, *ORDER),
}


class World:
    """Rows that queries read, each kind once for a query and only when it is needed."""

    def __init__(self, ctx: HandlerContext) -> None:
        self.ctx = ctx
        self._kept: dict[str, Any] = {}

    def rows(self, entity: str) -> list[Row]:
        if entity not in self._kept:
            self._kept[entity] = self.ctx.query(entity)
        return self._kept[entity]

    def by_id(self, entity: str) -> dict[int, Row]:
        name = f"{entity}*"
        if name not in self._kept:
            self._kept[name] = indexed(self.rows(entity))
        return self._kept[name]

    def of_issues(self, entity: str) -> dict[int, list[Row]]:
        name = f"{entity}/issue"
        if name not in self._kept:
            found: dict[int, list[Row]] = defaultdict(list)
            for row in self.rows(entity):
                found[row["issue_id"]].append(row)
            self._kept[name] = found
        return self._kept[name]

    def versions_of(self, issue: Row, kind: str) -> list[int]:
        rows = self.of_issues("issue_versions")[issue["id"]]
        return [row["version_id"] for row in rows if row["kind"] == kind]

    @cached_property
    def now(self):
        return moment(self.ctx.clock.now())


Values = Callable[[World, Row], Iterable[Any]]
#: What a text of a query means in a field: values that issues may have there; none where there is no such thing.
Meaning = Callable[[World, str], Iterable[Any]]


@dataclass(frozen=True)
class Field:
    """kind: one of KINDS. values: of an issue. meaning: of a text. order: by what it is sorted."""

    name: str
    kind: str
    values: Values
    meaning: Meaning = lambda world, text: (text,)
    order: Callable[[World, Row], Any] | None = None
    is_date: bool = False


def _one(name: str) -> Values:
    return lambda world, issue: () if issue.get(name) is None else (issue[name],)


def _named(entity: str) -> Meaning:
    """Rows of this name or this id."""

    def find(world: World, text: str) -> list[int]:
        wanted = text.casefold()
        by_name = [row["id"] for row in world.rows(entity) if row["name"].casefold() == wanted]
        return by_name or [row["id"] for row in world.rows(entity) if str(row["id"]) == text]

    return find


def _projects(world: World, text: str) -> list[int]:
    wanted = text.casefold()
    return [
        row["id"]
        for row in world.rows("projects")
        if wanted in (row["key"].casefold(), row["name"].casefold(), str(row["id"]))
    ]


def _people(world: World, text: str) -> list[str]:
    wanted = text.casefold()
    return [
        row["account_id"]
        for row in world.rows("users")
        if wanted in (row["account_id"].casefold(), row["display_name"].casefold(), (row.get("email") or "").casefold())
    ]


def _issues(world: World, text: str) -> list[int]:
    return [row["id"] for row in world.rows("issues") if text.upper() == row["key"] or text == str(row["id"])]


def _categories(world: World, text: str) -> list[int]:
    wanted = text.casefold()
    rows = world.rows("status_categories")
    return [row["id"] for row in rows if wanted in (row["name"].casefold(), row["key"], str(row["id"]))]


def _numbers(world: World, text: str) -> list[float]:
    try:
        return [float(text)]
    except ValueError:
        return []


def _durations(world: World, text: str) -> list[int]:
    seconds = duration_seconds(text)
    return [] if seconds is None else [seconds]


def _resolutions(world: World, text: str) -> list[int]:
    # Issues without a resolution have 0 here.
    return [0] if text.casefold() == "unresolved" else list(_named("resolutions")(world, text))


def _by_name(entity: str, field: str) -> Callable[[World, Row], Any]:
    return lambda world, issue: world.by_id(entity)[issue[field]]["name"] if issue.get(field) else None


def _person(field: str) -> Callable[[World, Row], Any]:
    def name(world: World, issue: Row) -> str | None:
        users = world.rows("users")
        return next((row["display_name"] for row in users if row["account_id"] == issue.get(field)), None)

    return name


def _accounts(entity: str, name: str = "account_id") -> Values:
    return lambda world, issue: [row[name] for row in world.of_issues(entity)[issue["id"]]]


def _comments(world: World, issue: Row) -> str:
    return "\n".join(plain(row["body"]) for row in world.of_issues("comments")[issue["id"]])


def _text(world: World, issue: Row) -> list[str]:
    parts = [issue["summary"], plain(issue.get("description")), plain(issue.get("environment")), _comments(world, issue)]
    return [*parts, *(str(value) for value in issue.get("custom", {}).values() if isinstance(value, str))]


def _category(world: World, issue: Row) -> int:
    return world.by_id("statuses")[issue["status_id"]]["category_id"]


def _time(name: str) -> Values:
    return lambda world, issue: [moment(issue[name])] if issue.get(name) else []


def _linked(world: World, issue: Row) -> list[int]:
    pairs = [(row["inward_issue"], row["outward_issue"]) for row in world.rows("issue_links")]
    return [b if a == issue["id"] else a for a, b in pairs if issue["id"] in (a, b)]


def _version_order(kind: str) -> Callable[[World, Row], Any]:
    def order(world: World, issue: Row) -> Any:
        places = [world.by_id("versions")[one]["position"] for one in world.versions_of(issue, kind)]
        return min(places, default=None)

    return order


_people_field = {"kind": "choice", "meaning": _people}

_FIELDS = {
    "project": Field("project", "choice", _one("project_id"), _projects, _by_name("projects", "project_id")),
    "key": Field("key", "ranked", _one("id"), _issues, lambda world, issue: (world.by_id("projects")[issue["project_id"]]["key"], issue["number"])),
    "summary": Field("summary", "text", _one("summary"), order=lambda world, issue: issue["summary"].casefold()),
    "description": Field("description", "text", lambda world, issue: [plain(issue["description"])] if issue.get("description") else []),
    "environment": Field("environment", "text", lambda world, issue: [plain(issue["environment"])] if issue.get("environment") else []),
    "comment": Field("comment", "text", lambda world, issue: [_comments(world, issue)]),
    "text": Field("text", "text", _text),
    "status": Field("status", "choice", _one("status_id"), _named("statuses"), _by_name("statuses", "status_id")),
    "statuscategory": Field("statusCategory", "choice", lambda world, issue: [_category(world, issue)], _categories, _category),
    "issuetype": Field("issuetype", "choice", _one("type_id"), _named("issue_types"), _by_name("issue_types", "type_id")),
    # The highest priority is the largest, and has the first place.
    "priority": Field("priority", "ranked", lambda world, issue: [-world.by_id("priorities")[issue["priority_id"]]["position"]], lambda world, text: [-world.by_id("priorities")[one]["position"] for one in _named("priorities")(world, text)], lambda world, issue: -world.by_id("priorities")[issue["priority_id"]]["position"]),
    "resolution": Field("resolution", "choice", lambda world, issue: [issue.get("resolution_id") or 0], _resolutions, _by_name("resolutions", "resolution_id")),
    "assignee": Field("assignee", values=_one("assignee"), order=_person("assignee"), **_people_field),
    "reporter": Field("reporter", values=_one("reporter"), order=_person("reporter"), **_people_field),
    "creator": Field("creator", values=_one("creator"), order=_person("creator"), **_people_field),
    "watcher": Field("watcher", values=_accounts("watchers"), **_people_field),
    "voter": Field("voter", values=_accounts("votes"), **_people_field),
    "worklogauthor": Field("worklogAuthor", values=_accounts("worklogs", "author"), **_people_field),
    "labels": Field("labels", "choice", lambda world, issue: [label.casefold() for label in issue["labels"]], lambda world, text: (text.casefold(),), lambda world, issue: issue["labels"] or None),
    "component": Field("component", "choice", _accounts("issue_components", "component_id"), _named("components")),
    "fixversion": Field("fixVersion", "choice", lambda world, issue: world.versions_of(issue, "fix"), _named("versions"), _version_order("fix")),
    "affectedversion": Field("affectedVersion", "choice", lambda world, issue: world.versions_of(issue, "affects"), _named("versions"), _version_order("affects")),
    "parent": Field("parent", "choice", _one("parent_id"), _issues, _one("parent_id")),
    "issuelink": Field("issueLink", "choice", _linked, _issues),
    "attachments": Field("attachments", "choice", lambda world, issue: [row["id"] for row in world.of_issues("attachments")[issue["id"]]]),
    "created": Field("created", "time", _time("created"), order=lambda world, issue: issue["created"]),
    "updated": Field("updated", "time", _time("updated"), order=lambda world, issue: issue["updated"]),
    "resolved": Field("resolved", "time", _time("resolved"), order=lambda world, issue: issue.get("resolved")),
    "statuscategorychangeddate": Field("statusCategoryChangedDate", "time", _time("status_changed"), order=lambda world, issue: issue.get("status_changed")),
    "due": Field("due", "time", _one("due_date"), order=lambda world, issue: issue.get("due_date"), is_date=True),
    "worklogdate": Field("worklogDate", "time", lambda world, issue: [row["started"][:10] for row in world.of_issues("worklogs")[issue["id"]]], is_date=True),
    "timespent": Field("timespent", "number", lambda world, issue: [total] if (total := sum(row["seconds"] for row in world.of_issues("worklogs")[issue["id"]])) else [], _durations),
    "originalestimate": Field("originalEstimate", "number", _one("original_estimate"), _durations, lambda world, issue: issue.get("original_estimate")),
    "remainingestimate": Field("remainingEstimate", "number", _one("remaining_estimate"), _durations, lambda world, issue: issue.get("remaining_estimate")),
    "votes": Field("votes", "number", lambda world, issue: [len(world.of_issues("votes")[issue["id"]])], _numbers, lambda world, issue: len(world.of_issues("votes")[issue["id"]])),
    "watchers": Field("watchers", "number", lambda world, issue: [len(world.of_issues("watchers")[issue["id"]])], _numbers, lambda world, issue: len(world.of_issues("watchers")[issue["id"]])),
}

_ALIASES = {
    "issue": "key", "issuekey": "key", "id": "key", "type": "issuetype", "label": "labels", "components": "component",
    "fixversions": "fixversion", "versions": "affectedversion", "createddate": "created", "updateddate": "updated",
    "resolutiondate": "resolved", "duedate": "due", "timeoriginalestimate": "originalestimate", "attachment": "attachments",
    "timeestimate": "remainingestimate", "comments": "comment", "issue type": "issuetype", "due date": "due",
    "status category": "statuscategory", "fix version": "fixversion", "affects version": "affectedversion",
}


def field_named(world: World, name: str) -> Field | None:
    """The field that a query names, be it of the system or one of the site's own."""
    low = name.strip().casefold()
    found = _FIELDS.get(_ALIASES.get(low, low))
    return found or next((_custom(row) for row in world.rows("fields") if row["custom"] and _is(row, low)), None)


def _is(row: Row, low: str) -> bool:
    number = re.search(r"\d+$", row["id"])
    return low in (row["name"].casefold(), row["id"], f"cf[{number[0] if number else ''}]")


def _custom(row: Row) -> Field:
    schema, field_id = row["schema"], row["id"]

    def values(world: World, issue: Row) -> list[Any]:
        value = issue.get("custom", {}).get(field_id)
        return value if isinstance(value, list) else [] if value is None else [value]

    def first(world: World, issue: Row) -> Any:
        return next(iter(values(world, issue)), None)

    if schema["type"] == "option":
        def options(world: World, text: str) -> list[str]:
            return [one["id"] for one in row.get("options", []) if text.casefold() in (one["value"].casefold(), one["id"])]

        return Field(row["name"], "choice", values, options, first)
    if schema.get("items") == "user":
        return Field(row["name"], "choice", values, _people)
    if schema["type"] == "number":
        return Field(row["name"], "number", values, _numbers, first)
    if schema["type"] == "date":
        return Field(row["name"], "time", values, order=first, is_date=True)
    return Field(row["name"], "text", values, order=first)
