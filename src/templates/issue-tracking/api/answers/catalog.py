"""Parts of issues: types, statuses, priorities, resolutions, components, versions, kinds of links."""

from svc_env import HandlerContext, Row

from ..addresses import SITE, rest


def category_answer(ctx: HandlerContext, row: Row) -> Row:
    return {
        "self": rest(ctx, "statuscategory", row["id"]),
        "id": row["id"],
        "key": row["key"],
        "colorName": row["color_name"],
        "name": row["name"],
    }


def status_answer(ctx: HandlerContext, status: Row, categories: dict[int, Row]) -> Row:
    return {
        "self": rest(ctx, "status", status["id"]),
        "description": status["description"],
        "iconUrl": f"{SITE}/images/icons/statuses/generic.png",
        "name": status["name"],
        "untranslatedName": status["name"],
        "id": str(status["id"]),
        "statusCategory": category_answer(ctx, categories[status["category_id"]]),
    }


def statuses_by_id(ctx: HandlerContext) -> dict[int, Row]:
    """All statuses as answers."""
    categories = {row["id"]: row for row in ctx.query("status_categories")}
    return {row["id"]: status_answer(ctx, row, categories) for row in ctx.query("statuses")}


def issue_type_answer(ctx: HandlerContext, row: Row) -> Row:
    icon = f"{SITE}/rest/api/3/universal_avatar/view/type/issuetype/avatar/{row.get('avatar_id', 0)}"
    return {
        "self": rest(ctx, "issuetype", row["id"]),
        "id": str(row["id"]),
        "description": row["description"],
        "iconUrl": f"{icon}?size=medium",
        "name": row["name"],
        "untranslatedName": row["name"],
        "subtask": row["subtask"],
        "avatarId": row.get("avatar_id", 0),
        "hierarchyLevel": row["hierarchy_level"],
    }


def priority_answer(ctx: HandlerContext, row: Row, whole: bool = False) -> Row:
    more = {"statusColor": row["status_color"], "description": row["description"], "isDefault": row["id"] == 3}
    return {
        "self": rest(ctx, "priority", row["id"]),
        **(more if whole else {}),
        "iconUrl": f"{SITE}/images/icons/priorities/{row['name'].lower()}.svg",
        "name": row["name"],
        "id": str(row["id"]),
    }


def resolution_answer(ctx: HandlerContext, row: Row) -> Row:
    return {
        "self": rest(ctx, "resolution", row["id"]),
        "id": str(row["id"]),
        "description": row["description"],
        "name": row["name"],
    }


def component_short(ctx: HandlerContext, row: Row) -> Row:
    description = {"description": row["description"]} if row.get("description") else {}
    return {
        "self": rest(ctx, "component", row["id"]),
        "id": str(row["id"]),
        "name": row["name"],
        **description,
    }


def component_answer(ctx: HandlerContext, row: Row, project: Row, users: dict[str, Row]) -> Row:
    lead = {"lead": users[row["lead"]]} if row.get("lead") else {}
    assignee_type = row.get("assignee_type", "PROJECT_DEFAULT")
    return {
        **component_short(ctx, row),
        **lead,
        "assigneeType": assignee_type,
        "realAssigneeType": assignee_type,
        "isAssigneeTypeValid": assignee_type != "COMPONENT_LEAD" or bool(lead),
        "project": project["key"],
        "projectId": project["id"],
    }


def version_short(ctx: HandlerContext, row: Row) -> Row:
    description = {"description": row["description"]} if row.get("description") else {}
    date = {"releaseDate": row["release_date"]} if row.get("release_date") else {}
    return {
        "self": rest(ctx, "version", row["id"]),
        "id": str(row["id"]),
        **description,
        "name": row["name"],
        "archived": row["archived"],
        "released": row["released"],
        **date,
    }


def version_answer(ctx: HandlerContext, row: Row) -> Row:
    start = {"startDate": row["start_date"]} if row.get("start_date") else {}
    due = row.get("release_date")
    overdue = {} if row["released"] or not due else {"overdue": due < ctx.clock.now()[:10]}
    return {**version_short(ctx, row), **start, **overdue, "projectId": row["project_id"]}


def link_type_answer(ctx: HandlerContext, row: Row) -> Row:
    return {
        "id": str(row["id"]),
        "name": row["name"],
        "inward": row["inward"],
        "outward": row["outward"],
        "self": rest(ctx, "issueLinkType", row["id"]),
    }


def field_answer(row: Row) -> Row:
    """A field as `/field` lists it."""
    schema = {"schema": row["schema"]} if row.get("schema") else {}
    return {
        "id": row["id"],
        "key": row["id"],
        "name": row["name"],
        "custom": row["custom"],
        "orderable": row["orderable"],
        "navigable": row["navigable"],
        "searchable": row["searchable"],
        "clauseNames": row["clause_names"],
        **schema,
    }
