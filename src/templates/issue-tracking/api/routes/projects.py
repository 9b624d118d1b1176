"""Projects, with their components, versions, statuses and roles."""

import re

from svc_env import HandlerContext, Row

from ..addresses import rest
from ..answers.catalog import component_answer, issue_type_answer, statuses_by_id, version_answer
from ..answers.people import users_by_id
from ..answers.projects import issue_types_of, project_answer, project_item
from ..drafting import Wrong, date_of
from ..listing import write_lists
from ..finding import by_id, find_by_id, find_project, find_user, indexed, known, project_named
from ..history import tell
from ..paging import page_of
from ..reading import body_of, flag, names_asked, needed_text, optional_text
from ..refusals import invalid, refuse

_KEY = re.compile(r"[A-Z][A-Z0-9_]{1,9}")


def list_projects(ctx: HandlerContext) -> list[Row]:
    expand = names_asked(ctx, "expand")
    return [project_item(ctx, row, expand) for row in ctx.query("projects", {"archived": False}, order_by="key")]


def search_projects(ctx: HandlerContext) -> Row:
    expand, text = names_asked(ctx, "expand"), str(ctx.args.get("query", "")).casefold()
    keys, ids = names_asked(ctx, "keys"), names_asked(ctx, "id")
    types = names_asked(ctx, "typeKey")
    order = ctx.args.get("orderBy", "key")
    if order.lstrip("+-") not in ("key", "name", "category", "owner", "issueCount"):
        refuse(ctx, 400, f"The value '{order}' is not valid for orderBy.")
    by = order.lstrip("+-") if order.lstrip("+-") in ("key", "name") else "key"
    rows = [
        row
        for row in ctx.query("projects", {"archived": False})
        if (not text or text in row["key"].casefold() or text in row["name"].casefold())
        and (not keys or row["key"] in keys)
        and (not ids or str(row["id"]) in ids)
        and (not types or row["project_type"] in types)
    ]
    rows.sort(key=lambda row: row[by].casefold(), reverse=order.startswith("-"))
    return page_of(ctx, rows, lambda row: project_item(ctx, row, expand))


def get_project(ctx: HandlerContext) -> Row:
    return project_answer(ctx, find_project(ctx))


def create_project(ctx: HandlerContext) -> None:
    body, errors = body_of(ctx), {}
    key, name = str(body.get("key") or ""), str(body.get("name") or "").strip()
    if not _KEY.fullmatch(key):
        errors["projectKey"] = "Project keys must start with an uppercase letter, followed by one or more uppercase alphanumeric characters."
    elif project_named(ctx, key):
        errors["projectKey"] = f"Project '{known(ctx, 'projects', {'id': project_named(ctx, key)['id']})['name']}' uses this project key."
    if not name or len(name) > 80:
        errors["projectName"] = "You must specify a valid project name."
    elif any(row["name"].casefold() == name.casefold() for row in ctx.query("projects")):
        errors["projectName"] = "A project with that name already exists."
    lead = ctx.get("users", {"account_id": str(body.get("leadAccountId") or "")})
    if lead is None:
        errors["projectLead"] = "You must specify a valid project lead."
    if errors:
        refuse(ctx, 400, errors=errors)
    kind = body.get("projectTypeKey", "software")
    like = next((row for row in ctx.query("projects", order_by="id") if row["project_type"] == kind), None)
    if like is None:
        refuse(ctx, 400, errors={"projectTypeKey": f"The project type '{kind}' is not valid."})
    row = {
        "id": ctx.ids.next("projects", "id"),
        "key": key,
        "name": name,
        "description": optional_text(ctx, "description", "") or "",
        "lead": lead["account_id"],
        "project_type": kind,
        "workflow_id": like["workflow_id"],
        "assignee_type": body.get("assigneeType") if body.get("assigneeType") == "PROJECT_LEAD" else "UNASSIGNED",
        "category_id": (by_id(ctx, "project_categories", body.get("categoryId") or 0) or {}).get("id"),
        "url": optional_text(ctx, "url"),
        "archived": False,
    }
    ctx.insert("projects", row)
    for one in ctx.query("project_issue_types", {"project_id": like["id"]}):
        ctx.insert("project_issue_types", {**one, "project_id": row["id"]})
    tell(ctx, "project_created", {"project": project_answer(ctx, row)})
    ctx.respond(201, {"self": rest(ctx, "project", row["id"]), "id": row["id"], "key": key})


def update_project(ctx: HandlerContext) -> Row:
    project, body = find_project(ctx), body_of(ctx)
    patch: Row = {}
    if body.get("name") is not None:
        patch["name"] = needed_text(ctx, "name", "You must specify a valid project name.", 80)
    if "description" in body:
        patch["description"] = optional_text(ctx, "description", "") or ""
    if "url" in body:
        patch["url"] = optional_text(ctx, "url")
    if body.get("leadAccountId") is not None:
        patch["lead"] = find_user(ctx, body["leadAccountId"])["account_id"]
    if body.get("assigneeType") in ("PROJECT_LEAD", "UNASSIGNED"):
        patch["assignee_type"] = body["assigneeType"]
    changed = ctx.update("projects", {"id": project["id"]}, patch) if patch else project
    answer = project_answer(ctx, changed)
    tell(ctx, "project_updated", {"project": answer})
    return answer


def list_project_statuses(ctx: HandlerContext) -> list[Row]:
    """By the type of the issue which statuses it can have."""
    project, statuses = find_project(ctx), statuses_by_id(ctx)
    flow = known(ctx, "workflows", {"id": project["workflow_id"]})
    steps = ctx.query("transitions", {"workflow_id": flow["id"]}, order_by="id")
    ids = dict.fromkeys([flow["initial_status_id"], *(step["to_status_id"] for step in steps)])
    names = ("self", "id", "name", "subtask")
    return [{**{name: issue_type_answer(ctx, row)[name] for name in names}, "statuses": [statuses[one] for one in ids]} for row in issue_types_of(ctx, project)]


def list_project_components(ctx: HandlerContext) -> list[Row]:
    project, users = find_project(ctx), users_by_id(ctx)
    return [component_answer(ctx, row, project, users) for row in _components(ctx, project)]


def page_project_components(ctx: HandlerContext) -> Row:
    project, users, text = find_project(ctx), users_by_id(ctx), str(ctx.args.get("query", "")).casefold()
    rows = [row for row in _components(ctx, project) if text in row["name"].casefold()]
    return page_of(ctx, rows, lambda row: {**component_answer(ctx, row, project, users), "issueCount": ctx.count("issue_components", {"component_id": row["id"]})})


def _components(ctx: HandlerContext, project: Row) -> list[Row]:
    return ctx.query("components", {"project_id": project["id"]}, order_by="name")


def _component(ctx: HandlerContext) -> tuple[Row, Row]:
    asked = ctx.args["id"]
    row = find_by_id(ctx, "components", asked, f"The component with id {asked} does not exist.")
    return row, known(ctx, "projects", {"id": row["project_id"]})


def get_component(ctx: HandlerContext) -> Row:
    return component_answer(ctx, *_component(ctx), users_by_id(ctx))


def create_component(ctx: HandlerContext) -> None:
    project = _project_of_body(ctx)
    row = {"id": ctx.ids.next("components", "id"), "project_id": project["id"], **_component_parts(ctx, project, {})}
    ctx.insert("components", row)
    ctx.respond(201, component_answer(ctx, row, project, users_by_id(ctx)))


def _project_of_body(ctx: HandlerContext) -> Row:
    body = body_of(ctx)
    asked = body.get("projectId") if body.get("projectId") is not None else body.get("project")
    project = project_named(ctx, asked) if asked not in (None, "") else None
    return project or invalid(ctx, "project", "You must specify a valid project ID or key." if asked in (None, "") else f"No project could be found with key '{asked}'.")


def _component_parts(ctx: HandlerContext, project: Row, row: Row) -> Row:
    body = body_of(ctx)
    name = needed_text(ctx, "name", "The component name specified is invalid - cannot be an empty string.") if not row or "name" in body else row["name"]
    taken = [one for one in _components(ctx, project) if one["name"].casefold() == name.casefold() and one["id"] != row.get("id")]
    if taken:
        invalid(ctx, "name", f"A component with the name {name} already exists in this project.")
    lead = row.get("lead")
    if "leadAccountId" in body:
        lead = find_user(ctx, body["leadAccountId"])["account_id"] if body["leadAccountId"] else None
    kind = body.get("assigneeType") or row.get("assignee_type", "PROJECT_DEFAULT")
    if kind not in ("PROJECT_DEFAULT", "COMPONENT_LEAD", "PROJECT_LEAD", "UNASSIGNED"):
        invalid(ctx, "assigneeType", f"The assignee type '{kind}' is not valid.")
    return {"name": name, "description": optional_text(ctx, "description", row.get("description", "")) or "", "lead": lead, "assignee_type": kind}


def update_component(ctx: HandlerContext) -> Row:
    row, project = _component(ctx)
    changed = ctx.update("components", {"id": row["id"]}, _component_parts(ctx, project, row))
    return component_answer(ctx, changed, project, users_by_id(ctx))


def delete_component(ctx: HandlerContext) -> None:
    """Its issues lose it, or get the one of `moveIssuesTo`."""
    row, project = _component(ctx)
    other = None
    if ctx.args.get("moveIssuesTo"):
        other = find_by_id(ctx, "components", ctx.args["moveIssuesTo"], f"The component with id {ctx.args['moveIssuesTo']} does not exist.")
    for one in ctx.query("issue_components", {"component_id": row["id"]}):
        ctx.delete("issue_components", {"issue_id": one["issue_id"], "component_id": row["id"]})
        if other and not ctx.get("issue_components", {"issue_id": one["issue_id"], "component_id": other["id"]}):
            ctx.insert("issue_components", {"issue_id": one["issue_id"], "component_id": other["id"]})
    ctx.delete("components", {"id": row["id"]})


def count_component_issues(ctx: HandlerContext) -> Row:
    row, _ = _component(ctx)
    return {"self": rest(ctx, "component", row["id"]), "issueCount": ctx.count("issue_components", {"component_id": row["id"]})}


def list_project_versions(ctx: HandlerContext) -> list[Row]:
    return [version_answer(ctx, row) for row in _versions(ctx, find_project(ctx))]


def page_project_versions(ctx: HandlerContext) -> Row:
    project, text, states = find_project(ctx), str(ctx.args.get("query", "")).casefold(), names_asked(ctx, "status")
    rows = [row for row in _versions(ctx, project) if text in row["name"].casefold() and (not states or _state(row) in states)]
    order = ctx.args.get("orderBy", "sequence")
    field = {"name": "name", "releaseDate": "release_date", "startDate": "start_date", "description": "description", "sequence": "position"}.get(order.lstrip("+-"))
    if field is None:
        refuse(ctx, 400, f"The value '{order}' is not valid for orderBy.")
    rows.sort(key=lambda row: row.get(field) or "" if field != "position" else row["position"], reverse=order.startswith("-"))
    return page_of(ctx, rows, lambda row: version_answer(ctx, row))


def _state(row: Row) -> str:
    return "archived" if row["archived"] else "released" if row["released"] else "unreleased"


def _versions(ctx: HandlerContext, project: Row) -> list[Row]:
    return ctx.query("versions", {"project_id": project["id"]}, order_by=["position", "id"])


def _version(ctx: HandlerContext) -> Row:
    asked = ctx.args["id"]
    return find_by_id(ctx, "versions", asked, f"Could not find version for id '{asked}'")


def get_version(ctx: HandlerContext) -> Row:
    return version_answer(ctx, _version(ctx))


def create_version(ctx: HandlerContext) -> None:
    project = _project_of_body(ctx)
    rows = _versions(ctx, project)
    position = max((row["position"] for row in rows), default=-1) + 1
    row = {"id": ctx.ids.next("versions", "id"), "project_id": project["id"], "position": position, **_version_parts(ctx, project["id"], {})}
    ctx.insert("versions", row)
    answer = version_answer(ctx, row)
    tell(ctx, "jira:version_created", {"version": answer})
    ctx.respond(201, answer)


def _version_parts(ctx: HandlerContext, project_id: int, row: Row) -> Row:
    body = body_of(ctx)
    name = needed_text(ctx, "name", "You must specify a valid version name") if not row or "name" in body else row["name"]
    taken = [one for one in ctx.query("versions", {"project_id": project_id}) if one["name"].casefold() == name.casefold() and one["id"] != row.get("id")]
    if taken:
        invalid(ctx, "name", "A version with this name already exists in this project.")
    dates = {"start_date": _date(ctx, "startDate", row.get("start_date")), "release_date": _date(ctx, "releaseDate", row.get("release_date"))}
    if dates["start_date"] and dates["release_date"] and dates["start_date"] > dates["release_date"]:
        invalid(ctx, "startDate", "The start date must be before the release date.")
    states = {"released": flag(ctx, "released", row.get("released", False)), "archived": flag(ctx, "archived", row.get("archived", False))}
    return {"name": name, "description": optional_text(ctx, "description", row.get("description", "")) or "", **states, **dates}


def _date(ctx: HandlerContext, name: str, default: str | None) -> str | None:
    if name not in body_of(ctx):
        return default
    try:
        return date_of(body_of(ctx)[name])
    except Wrong as wrong:
        invalid(ctx, name, str(wrong))


def update_version(ctx: HandlerContext) -> Row:
    row = _version(ctx)
    if body_of(ctx).get("moveUnfixedIssuesTo"):
        _move_unfixed(ctx, row, str(body_of(ctx)["moveUnfixedIssuesTo"]).rsplit("/", 1)[-1])
    changed = ctx.update("versions", {"id": row["id"]}, _version_parts(ctx, row["project_id"], row))
    answer = version_answer(ctx, changed)
    is_released = changed["released"] and not row["released"]
    tell(ctx, "jira:version_released" if is_released else "jira:version_updated", {"version": answer})
    return answer


def _move_unfixed(ctx: HandlerContext, row: Row, asked: str) -> None:
    other = find_by_id(ctx, "versions", asked, f"Could not find version for id '{asked}'")
    for one in _fixed_in(ctx, row):
        if not one.get("resolved"):
            _replace(ctx, one, "fixVersions", row, other)


def _fixed_in(ctx: HandlerContext, row: Row) -> list[Row]:
    ids = [one["issue_id"] for one in ctx.query("issue_versions", {"version_id": row["id"], "kind": "fix"})]
    return ctx.query("issues", {"id": ids}) if ids else []


def _replace(ctx: HandlerContext, issue: Row, name: str, row: Row, other: Row | None) -> None:
    """Another version, or none, in the place of one."""
    kind = "fix" if name == "fixVersions" else "affects"
    own = [one["version_id"] for one in ctx.query("issue_versions", {"issue_id": issue["id"], "kind": kind})]
    kept = [one for one in own if one != row["id"]]
    write_lists(ctx, issue, {name: [*kept, *([other["id"]] if other and other["id"] not in kept else [])]})
    ctx.update("issues", {"id": issue["id"]}, {"updated": ctx.clock.now()})


def delete_version(ctx: HandlerContext) -> None:
    """Its issues lose it, or get those of `moveFixIssuesTo` and `moveAffectedIssuesTo`."""
    _delete_version(ctx, ctx.args.get("moveFixIssuesTo"), ctx.args.get("moveAffectedIssuesTo"))


def replace_version(ctx: HandlerContext) -> None:
    body = body_of(ctx)
    _delete_version(ctx, body.get("moveFixIssuesTo"), body.get("moveAffectedIssuesTo"))


def _delete_version(ctx: HandlerContext, fix: object, affected: object) -> None:
    row = _version(ctx)
    targets = {}
    for name, asked in (("fixVersions", fix), ("versions", affected)):
        targets[name] = find_by_id(ctx, "versions", asked, f"Could not find version for id '{asked}'") if asked else None
        kind = "fix" if name == "fixVersions" else "affects"
        for one in ctx.query("issue_versions", {"version_id": row["id"], "kind": kind}):
            _replace(ctx, known(ctx, "issues", {"id": one["issue_id"]}), name, row, targets[name])
    ctx.delete("versions", {"id": row["id"]})
    tell(ctx, "jira:version_deleted", {"version": version_answer(ctx, row)})


def count_version_issues(ctx: HandlerContext) -> Row:
    row = _version(ctx)
    counts = {name: ctx.count("issue_versions", {"version_id": row["id"], "kind": kind}) for name, kind in (("issuesFixedCount", "fix"), ("issuesAffectedCount", "affects"))}
    return {"self": rest(ctx, "version", row["id"]), **counts, "issueCountWithCustomFieldsShowingVersion": 0, "customFieldUsage": []}


def count_unresolved_issues(ctx: HandlerContext) -> Row:
    row = _version(ctx)
    issues = _fixed_in(ctx, row)
    open_ones = [one for one in issues if not one.get("resolved")]
    return {"self": rest(ctx, "version", row["id"]), "issuesUnresolvedCount": len(open_ones), "issuesCount": len(issues)}


def list_project_roles(ctx: HandlerContext) -> Row:
    project = find_project(ctx)
    return {row["name"]: rest(ctx, "project", project["id"], "role", row["id"]) for row in ctx.query("roles")}


def get_project_role(ctx: HandlerContext) -> Row:
    project = find_project(ctx)
    role = find_by_id(ctx, "roles", ctx.args["id"], f"Can not retrieve a role actor for a null project role.")
    actors = ctx.query("role_actors", {"project_id": project["id"], "role_id": role["id"]})
    users = indexed(ctx.query("users"), "account_id")

    def actor(at: int, row: Row) -> Row:
        user = users[row["account_id"]]
        return {"id": role["id"] * 100 + at, "displayName": user["display_name"], "type": "atlassian-user-role-actor", "actorUser": {"accountId": user["account_id"]}}

    return {"self": rest(ctx, "project", project["id"], "role", role["id"]), "name": role["name"], "id": role["id"], "description": role["description"], "actors": [actor(at, row) for at, row in enumerate(actors)]}
