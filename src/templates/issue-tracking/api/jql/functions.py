"""The functions of queries: what each stands for."""

from collections.abc import Iterable
from typing import Any

from ..viewer import VIEWER
from .fields import Field, World
from .moments import boundary
from .parsing import QueryError, Value

_BOUNDARIES = {f"{edge}of{period}" for edge in ("start", "end") for period in ("day", "week", "month", "year")}


def call(world: World, field: Field, value: Value) -> Iterable[Any]:
    """The values that a function stands for. Raises QueryError."""
    name, arguments = value.text.casefold(), value.arguments or ()
    if field.kind == "time" and name in ("now", "currentlogin"):
        return [world.now]
    if field.kind == "time" and name in _BOUNDARIES:
        moment = boundary(name, arguments[0] if arguments else "", world.now)
        if moment is None:
            raise QueryError(f"Duration for function '{value.text}' should have the format (+/-)n(yMwdhm), e.g -1M for 1 month earlier.")
        return [moment]
    found = _FUNCTIONS.get(name)
    if found is None or found[0] not in (field.name, _KIND.get(field.name)):
        if found is None and name not in _BOUNDARIES and name != "now":
            raise QueryError(f"Unable to find JQL function '{value.text}({', '.join(arguments)})'.")
        raise QueryError(f"A value provided by the function '{value.text}' is invalid for the field '{field.name}'.")
    _, least, most, run = found
    if not least <= len(arguments) <= most:
        raise QueryError(f"Function '{value.text}' expected {least if least == most else f'between {least} and {most}'} arguments but received {len(arguments)}.")
    return run(world, *arguments)


#: Of what kind the values of a field are, where functions ask.
_KIND = {
    **dict.fromkeys(("assignee", "reporter", "creator", "watcher", "voter", "worklogAuthor", "Reviewers"), "user"),
    **dict.fromkeys(("fixVersion", "affectedVersion"), "version"),
    **dict.fromkeys(("key", "parent", "issueLink"), "issue"),
}


def _members(world: World, name: str) -> list[str]:
    group = next((row for row in world.rows("groups") if row["name"].casefold() == name.casefold() or row["group_id"] == name), None)
    if group is None:
        raise QueryError(f"Function 'membersOf' can not generate a list of usernames for group '{name}'; the group does not exist.")
    return [row["account_id"] for row in world.rows("group_members") if row["group_id"] == group["group_id"]]


def _versions(world: World, released: bool, projects: tuple[str, ...]) -> list[int]:
    wanted = {one.casefold() for one in projects}
    ids = {row["id"] for row in world.rows("projects") if not wanted or wanted & {row["key"].casefold(), row["name"].casefold(), str(row["id"])}}
    rows = sorted(world.rows("versions"), key=lambda row: row["position"])
    return [row["id"] for row in rows if row["released"] == released and not row["archived"] and row["project_id"] in ids]


def _links(world: World, key: str, *kinds: str) -> list[int]:
    issue = next((row for row in world.rows("issues") if row["key"] == key.upper()), None)
    if issue is None:
        raise QueryError(f"Issue '{key}' could not be found in function 'linkedIssues'.")
    found = []
    for link in world.rows("issue_links"):
        kind = world.by_id("link_types")[link["type_id"]]
        for own, other, said in (("inward_issue", "outward_issue", kind["outward"]), ("outward_issue", "inward_issue", kind["inward"])):
            if link[own] == issue["id"] and (not kinds or said.casefold() in {one.casefold() for one in kinds}):
                found.append(link[other])
    return found


def _types(subtask: bool):
    return lambda world: [row["id"] for row in world.rows("issue_types") if row["subtask"] == subtask]


def _own(entity: str):
    return lambda world: [row["issue_id"] for row in world.rows(entity) if row["account_id"] == VIEWER]


#: For which fields, how many arguments, and what it stands for.
_FUNCTIONS = {
    "currentuser": ("user", 0, 0, lambda world: [VIEWER]),
    "membersof": ("user", 1, 1, _members),
    "releasedversions": ("version", 0, 20, lambda world, *keys: _versions(world, True, keys)),
    "unreleasedversions": ("version", 0, 20, lambda world, *keys: _versions(world, False, keys)),
    "latestreleasedversion": ("version", 1, 1, lambda world, key: _versions(world, True, (key,))[-1:]),
    "earliestunreleasedversion": ("version", 1, 1, lambda world, key: _versions(world, False, (key,))[:1]),
    "linkedissues": ("issue", 1, 10, _links),
    "watchedissues": ("issue", 0, 0, _own("watchers")),
    "votedissues": ("issue", 0, 0, _own("votes")),
    "subtaskissuetypes": ("issuetype", 0, 0, _types(True)),
    "standardissuetypes": ("issuetype", 0, 0, _types(False)),
}
