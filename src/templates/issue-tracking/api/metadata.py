"""Fields that can be set when issues are made and edited, with their allowed values."""

from typing import Any

from svc_env import HandlerContext, Row

from .addresses import rest
from .answers.catalog import component_short, issue_type_answer, priority_answer, resolution_answer, version_short
from .answers.projects import issue_types_of, project_short

#: The fields of the system that people set.
SETTABLE = ("summary", "issuetype", "parent", "description", "components", "priority", "labels", "fixVersions", "versions", "assignee", "reporter", "environment", "duedate", "timetracking", "issuelinks", "comment")
LISTS = ("components", "labels", "fixVersions", "versions", "issuelinks")


def fields_of(ctx: HandlerContext, project: Row, type_id: int, creating: bool) -> dict[str, Row]:
    """By the name of a field what it takes; the project and the type are set only once."""
    rows = {row["id"]: row for row in ctx.query("fields")}
    kind = ctx.get("issue_types", {"id": type_id}) or {}
    names = [*SETTABLE, *(name for name, row in rows.items() if row["custom"])]
    names = ["project", *(one for one in names if one != "comment")] if creating else [*names, "resolution"]
    allowed = _allowed(ctx, project, type_id, creating)
    needed = {"summary", "issuetype", "project", "reporter", *(["parent"] if kind.get("subtask") else [])}

    def answer(name: str) -> Row:
        row = rows[name]
        choices = [{"self": rest(ctx, "customFieldOption", one["id"]), "value": one["value"], "id": one["id"]} for one in row.get("options", [])] or allowed.get(name)
        verbs = ["add", "set", "remove"] if name in LISTS else ["add"] if name == "comment" else ["set"]
        complete = {"autoCompleteUrl": rest(ctx, f"user/assignable/search?project={project['key']}&query=")} if name in ("assignee", "reporter") else {}
        return {
            "required": name in needed,
            "schema": row["schema"],
            "name": row["name"],
            "key": name,
            **complete,
            "hasDefaultValue": name in ("priority", "reporter"),
            "operations": verbs,
            **({"allowedValues": choices} if choices is not None else {}),
        }

    return {name: answer(name) for name in names}


def _allowed(ctx: HandlerContext, project: Row, type_id: int, creating: bool) -> dict[str, list[Any]]:
    mine = {"project_id": project["id"]}
    versions = [version_short(ctx, row) for row in ctx.query("versions", mine, order_by="position") if not row["archived"]]
    types = [row for row in issue_types_of(ctx, project) if not creating or row["id"] == type_id]
    return {
        "project": [project_short(ctx, project)],
        "issuetype": [issue_type_answer(ctx, row) for row in types],
        "components": [component_short(ctx, row) for row in ctx.query("components", mine, order_by="name")],
        "priority": [priority_answer(ctx, row) for row in ctx.query("priorities", order_by="position")],
        "resolution": [resolution_answer(ctx, row) for row in ctx.query("resolutions")],
        "fixVersions": versions,
        "versions": versions,
    }
