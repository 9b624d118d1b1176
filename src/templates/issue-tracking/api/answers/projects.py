"""Projects as the API has them."""

from svc_env import HandlerContext, Row

from ..addresses import rest
from ..finding import known
from .catalog import component_answer, issue_type_answer, version_answer
from .people import avatar_urls, users_by_id

EXPAND = "description,lead,issueTypes,url,projectKeys,permissions,insight"


def category_part(ctx: HandlerContext, project: Row) -> Row:
    row = ctx.get("project_categories", {"id": project.get("category_id") or 0})
    if row is None:
        return {}
    address = rest(ctx, "projectCategory", row["id"])
    parts = {"self": address, "id": str(row["id"]), "name": row["name"]}
    return {"projectCategory": {**parts, "description": row["description"]}}


def project_short(ctx: HandlerContext, project: Row) -> Row:
    """A project as issues name theirs."""
    return {
        "self": rest(ctx, "project", project["id"]),
        "id": str(project["id"]),
        "key": project["key"],
        "name": project["name"],
        "projectTypeKey": project["project_type"],
        "simplified": False,
        "avatarUrls": avatar_urls("project", project["id"]),
        **category_part(ctx, project),
    }


def project_item(ctx: HandlerContext, project: Row, expand: list[str]) -> Row:
    """A project of a list; some of it only where it is asked for."""
    parts: Row = {}
    if "description" in expand:
        parts["description"] = project.get("description", "")
    if "lead" in expand:
        parts["lead"] = users_by_id(ctx)[project["lead"]]
    if "issueTypes" in expand:
        parts["issueTypes"] = [issue_type_answer(ctx, row) for row in issue_types_of(ctx, project)]
    if "url" in expand and project.get("url"):
        parts["url"] = project["url"]
    if "projectKeys" in expand:
        parts["projectKeys"] = [project["key"]]
    more = {"style": "classic", "isPrivate": False, "properties": {}}
    return {"expand": EXPAND, **project_short(ctx, project), **more, **parts}


def project_answer(ctx: HandlerContext, project: Row) -> Row:
    """A project with all that belongs to it."""
    users, mine = users_by_id(ctx), {"project_id": project["id"]}
    components = ctx.query("components", mine, order_by="name")
    versions = ctx.query("versions", mine, order_by="position")
    url = {"url": project["url"]} if project.get("url") else {}
    whole = project_item(ctx, project, ["description", "lead", "issueTypes"])
    return {
        **whole,
        "components": [component_answer(ctx, row, project, users) for row in components],
        "assigneeType": project["assignee_type"],
        "versions": [version_answer(ctx, row) for row in versions],
        "roles": {
            row["name"]: rest(ctx, "project", project["id"], "role", row["id"])
            for row in ctx.query("roles")
        },
        "archived": project.get("archived", False),
        **url,
    }


def issue_types_of(ctx: HandlerContext, project: Row) -> list[Row]:
    rows = ctx.query("project_issue_types", {"project_id": project["id"]})
    return [known(ctx, "issue_types", {"id": row["issue_type_id"]}) for row in rows]
