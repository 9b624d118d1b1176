"""The site, and the parts of its issues: short lists that clients read before they begin."""

from svc_env import HandlerContext, Row

from ..addresses import SITE, rest
from ..answers.catalog import category_answer, field_answer, issue_type_answer, priority_answer, resolution_answer, statuses_by_id
from ..answers.projects import issue_types_of
from ..finding import by_id, by_name, find_by_id, find_project
from ..paging import page_of
from ..reading import names_asked
from ..refusals import not_found, refuse
from ..times import shown

#: What the viewer, an administrator, may do.
PERMISSIONS = {
    "BROWSE_PROJECTS": "Browse Projects",
    "CREATE_ISSUES": "Create Issues",
    "EDIT_ISSUES": "Edit Issues",
    "DELETE_ISSUES": "Delete Issues",
    "ASSIGN_ISSUES": "Assign Issues",
    "ASSIGNABLE_USER": "Assignable User",
    "TRANSITION_ISSUES": "Transition Issues",
    "RESOLVE_ISSUES": "Resolve Issues",
    "CLOSE_ISSUES": "Close Issues",
    "LINK_ISSUES": "Link Issues",
    "ADD_COMMENTS": "Add Comments",
    "EDIT_ALL_COMMENTS": "Edit All Comments",
    "DELETE_ALL_COMMENTS": "Delete All Comments",
    "WORK_ON_ISSUES": "Work On Issues",
    "MANAGE_WATCHERS": "Manage Watchers",
    "ADMINISTER_PROJECTS": "Administer Projects",
    "ADMINISTER": "Administer the site",
}


def get_server_info(ctx: HandlerContext) -> Row:
    return {
        "baseUrl": SITE,
        "version": "1001.0.0-SNAPSHOT",
        "versionNumbers": [1001, 0, 0],
        "deploymentType": "Cloud",
        "buildNumber": 100290,
        "buildDate": "2025-11-20T00:00:00.000+0000",
        "serverTime": shown(ctx.clock.now()),
        "scmInfo": "5b1d3c0f7a2e4d68b9f0c1a2d3e4f5061728394a",
        "serverTitle": "Northquay",
        "defaultLocale": {"locale": "en_US"},
        "serverTimeZone": "Etc/GMT",
    }


def get_configuration(ctx: HandlerContext) -> Row:
    tracking = {"workingHoursPerDay": 8, "workingDaysPerWeek": 5, "timeFormat": "pretty", "defaultUnit": "minute"}
    return {"votingEnabled": True, "watchingEnabled": True, "unassignedIssuesAllowed": True, "subTasksEnabled": True, "issueLinkingEnabled": True, "timeTrackingEnabled": True, "attachmentsEnabled": True, "timeTrackingConfiguration": tracking}


def list_fields(ctx: HandlerContext) -> list[Row]:
    return [field_answer(row) for row in ctx.query("fields")]


def search_fields(ctx: HandlerContext) -> Row:
    text, kinds = str(ctx.args.get("query", "")).casefold(), names_asked(ctx, "type")
    rows = [row for row in ctx.query("fields", order_by="name") if text in row["name"].casefold() and (not kinds or ("custom" if row["custom"] else "system") in kinds)]
    return page_of(ctx, rows, lambda row: {"id": row["id"], "name": row["name"], "key": row["id"], **({"schema": row["schema"]} if row.get("schema") else {})})


def list_issue_types(ctx: HandlerContext) -> list[Row]:
    return [issue_type_answer(ctx, row) for row in ctx.query("issue_types")]


def list_project_issue_types(ctx: HandlerContext) -> list[Row]:
    ctx.args["projectIdOrKey"] = ctx.args.get("projectId", "")
    return [issue_type_answer(ctx, row) for row in issue_types_of(ctx, find_project(ctx))]


def get_issue_type(ctx: HandlerContext) -> Row:
    asked = ctx.args["id"]
    return issue_type_answer(ctx, find_by_id(ctx, "issue_types", asked, f"The issue type with ID {asked} does not exist."))


def list_priorities(ctx: HandlerContext) -> list[Row]:
    return [priority_answer(ctx, row, True) for row in ctx.query("priorities", order_by="position")]


def search_priorities(ctx: HandlerContext) -> Row:
    ids = names_asked(ctx, "id")
    rows = [row for row in ctx.query("priorities", order_by="position") if not ids or str(row["id"]) in ids]
    return page_of(ctx, rows, lambda row: priority_answer(ctx, row, True))


def get_priority(ctx: HandlerContext) -> Row:
    asked = ctx.args["id"]
    return priority_answer(ctx, find_by_id(ctx, "priorities", asked, f"The priority with ID '{asked}' does not exist."), True)


def list_resolutions(ctx: HandlerContext) -> list[Row]:
    return [resolution_answer(ctx, row) for row in ctx.query("resolutions")]


def search_resolutions(ctx: HandlerContext) -> Row:
    return page_of(ctx, ctx.query("resolutions"), lambda row: {**resolution_answer(ctx, row), "isDefault": False})


def get_resolution(ctx: HandlerContext) -> Row:
    asked = ctx.args["id"]
    return resolution_answer(ctx, find_by_id(ctx, "resolutions", asked, f"The resolution with id '{asked}' does not exist"))


def list_statuses(ctx: HandlerContext) -> list[Row]:
    return list(statuses_by_id(ctx).values())


def get_status(ctx: HandlerContext) -> Row:
    asked = ctx.args["idOrName"]
    row = by_id(ctx, "statuses", asked) or by_name(ctx, "statuses", asked)
    return statuses_by_id(ctx)[row["id"]] if row else not_found(ctx, f"The status with id '{asked}' does not exist")


def search_statuses(ctx: HandlerContext) -> Row:
    text = str(ctx.args.get("searchString", "")).casefold()
    categories = {row["id"]: row for row in ctx.query("status_categories")}
    said = {"new": "TODO", "indeterminate": "IN_PROGRESS", "done": "DONE", "undefined": "TODO"}
    rows = [row for row in ctx.query("statuses") if text in row["name"].casefold()]
    return page_of(ctx, rows, lambda row: {"id": str(row["id"]), "name": row["name"], "description": row["description"], "statusCategory": said[categories[row["category_id"]]["key"]], "scope": {"type": "GLOBAL"}}, default=200)


def list_status_categories(ctx: HandlerContext) -> list[Row]:
    return [category_answer(ctx, row) for row in ctx.query("status_categories")]


def get_status_category(ctx: HandlerContext) -> Row:
    asked = str(ctx.args["idOrKey"])
    row = next((row for row in ctx.query("status_categories") if asked in (str(row["id"]), row["key"])), None)
    return category_answer(ctx, row) if row else not_found(ctx, f"The status category with id or key '{asked}' does not exist")


def list_labels(ctx: HandlerContext) -> Row:
    """Every label that an issue has, in the order of the alphabet."""
    labels = sorted({label for row in ctx.query("issues") for label in row["labels"]})
    return page_of(ctx, [{"label": label} for label in labels], lambda row: row["label"], default=1000)


def get_my_permissions(ctx: HandlerContext) -> Row:
    """Returns whether the viewer has the requested permissions; the viewer has all."""
    asked = names_asked(ctx, "permissions")
    unknown = [one for one in asked if one not in PERMISSIONS]
    if not asked:
        refuse(ctx, 400, "The 'permissions' query parameter is required.")
    if unknown:
        refuse(ctx, 400, f"Unrecognized permission(s): {', '.join(unknown)}")
    return {"permissions": {one: _permission(at, one, True) for at, one in enumerate(PERMISSIONS) if one in asked}}


def list_permissions(ctx: HandlerContext) -> Row:
    return {"permissions": {one: _permission(at, one, None) for at, one in enumerate(PERMISSIONS)}}


def _permission(at: int, key: str, has: bool | None) -> Row:
    kind = "GLOBAL" if key == "ADMINISTER" else "PROJECT"
    mine = {} if has is None else {"id": str(at + 1), "havePermission": has}
    return {**mine, "key": key, "name": PERMISSIONS[key], "type": kind, "description": f"Ability to: {PERMISSIONS[key].lower()}."}


def list_roles(ctx: HandlerContext) -> list[Row]:
    return [_role(ctx, row) for row in ctx.query("roles")]


def get_role(ctx: HandlerContext) -> Row:
    return _role(ctx, find_by_id(ctx, "roles", ctx.args["id"], "Project role could not be found."))


def _role(ctx: HandlerContext, row: Row) -> Row:
    return {"self": rest(ctx, "role", row["id"]), "name": row["name"], "id": row["id"], "description": row["description"]}
