"""Issues: made, read, edited, moved on and deleted."""


from svc_env import HandlerContext, Row

from ..addresses import rest
from ..answers.catalog import issue_type_answer, statuses_by_id
from ..answers.issues import chosen_fields, issue_answers
from ..answers.people import users_by_id
from ..answers.projects import issue_types_of, project_short
from ..answers.talk import change_answer
from ..drafting import Draft, Wrong
from ..editing import read_edits
from ..listing import write_lists
from ..setting import default_assignee, user_meant
from ..finding import find_issue, find_project, indexed, issue_named, known, project_named, whole_number
from ..history import record, tell_of_issue
from ..making import add_parts, remove_issue
from ..metadata import fields_of
from ..paging import page_of, window
from ..reading import body_of, check_kinds, is_asked, list_of, names_asked, part_of
from ..refusals import not_found, refuse
from ..viewer import VIEWER
from ..workflow import steps_of, take

MOST_IN_BULK = 50


def get_issue(ctx: HandlerContext) -> Row:
    issue, expand = find_issue(ctx), names_asked(ctx, "expand")
    fields = chosen_fields(ctx, names_asked(ctx, "fields"), "*all")
    (answer,) = issue_answers(ctx, [issue], fields, expand)
    return {**answer, **_expanded(ctx, issue, expand, fields), **_properties(ctx, issue)}


def _expanded(ctx: HandlerContext, issue: Row, expand: list[str], fields: list[str]) -> Row:
    """Returns the parts of an answer that the request has to ask for."""
    parts: Row = {}
    rows = indexed(ctx.query("fields"))
    if "names" in expand:
        parts["names"] = {name: rows[name]["name"] for name in fields if name in rows}
    if "schema" in expand:
        parts["schema"] = {name: rows[name]["schema"] for name in fields if rows.get(name, {}).get("schema")}
    if "changelog" in expand:
        changes, users = _changes(ctx, issue)[::-1], users_by_id(ctx)
        histories = [change_answer(row, users) for row in changes]
        parts["changelog"] = {"startAt": 0, "maxResults": len(histories), "total": len(histories), "histories": histories}
    if "transitions" in expand:
        parts["transitions"] = _transitions(ctx, issue)
    if "editmeta" in expand:
        parts["editmeta"] = {"fields": fields_of(ctx, known(ctx, "projects", {"id": issue["project_id"]}), issue["type_id"], False)}
    if "operations" in expand:
        parts["operations"] = {"linkGroups": []}
    return parts


def _properties(ctx: HandlerContext, issue: Row) -> Row:
    asked = names_asked(ctx, "properties")
    if not asked:
        return {}
    rows = ctx.query("issue_properties", {"issue_id": issue["id"]})
    return {"properties": {row["key"]: row["value"] for row in rows if "*all" in asked or row["key"] in asked}}


def create_issue(ctx: HandlerContext) -> None:
    issue = _create(ctx)
    ctx.respond(201, _created(ctx, issue))


def _created(ctx: HandlerContext, issue: Row) -> Row:
    return {"id": str(issue["id"]), "key": issue["key"], "self": rest(ctx, "issue", issue["id"])}


def create_issues(ctx: HandlerContext) -> None:
    """Several at once. Here all are made or none is; the answer names the first wrong one."""
    updates = part_of(ctx, "issueUpdates", list)
    if not updates or len(updates) > MOST_IN_BULK:
        refuse(ctx, 400, f"You must specify between 1 and {MOST_IN_BULK} issues to create.")
    made = []
    for update in updates:
        ctx.body = update
        made.append(_created(ctx, _create(ctx)))
    ctx.respond(201, {"issues": made, "errors": []})


def _create(ctx: HandlerContext) -> Row:
    fields = part_of(ctx, "fields", dict)
    draft = _begin(ctx, fields)
    added = read_edits(draft, skipped=("project", "issuetype", "creator"))
    errors = _missing(draft)
    if errors:
        refuse(ctx, 400, errors=errors)
    issue = {**draft.issue, **draft.patch}
    issue["assignee"] = issue.get("assignee") if "assignee" in fields else default_assignee(ctx, issue["project_id"])
    issue = {**issue, "id": ctx.ids.next("issues", "id"), **_numbered(ctx, issue)}
    ctx.insert("issues", issue)
    write_lists(ctx, issue, draft.lists)
    for account in {VIEWER}:
        ctx.insert("watchers", {"issue_id": issue["id"], "account_id": account})
    add_parts(ctx, issue, added)
    tell_of_issue(ctx, "jira:issue_created", issue, "issue_created")
    return issue


def _numbered(ctx: HandlerContext, issue: Row) -> Row:
    """The next number of the project, which makes the key."""
    here = {"project_id": issue["project_id"]}
    number = ctx.ids.next("issues", "number", here)
    project = known(ctx, "projects", {"id": issue["project_id"]})
    return {"number": number, "key": f"{project['key']}-{number}"}


def _begin(ctx: HandlerContext, fields: Row) -> Draft:
    """An issue before its fields are set: project and type decide what the others may be."""
    given = fields.get("project")
    asked = (given.get("key") or given.get("id")) if isinstance(given, dict) else None
    project = project_named(ctx, asked) if asked is not None else None
    if project is None:
        refuse(ctx, 400, errors={"project": "Specify a valid project ID or key"})
    types = issue_types_of(ctx, project)
    given = fields.get("issuetype")
    if not isinstance(given, dict):
        refuse(ctx, 400, errors={"issuetype": "Specify an issue type"})
    names = (str(given.get("id", "")), str(given.get("name", "")).casefold())
    kind = next((row for row in types if str(row["id"]) == names[0] or row["name"].casefold() == names[1]), None)
    if kind is None:
        refuse(ctx, 400, errors={"issuetype": "Specify a valid issue type"})
    now, flow = ctx.clock.now(), known(ctx, "workflows", {"id": project["workflow_id"]})
    return Draft(
        ctx,
        {
            "project_id": project["id"],
            "type_id": kind["id"],
            "status_id": flow["initial_status_id"],
            "priority_id": 3,
            "reporter": VIEWER,
            "creator": VIEWER,
            "labels": [],
            "custom": {},
            "created": now,
            "updated": now,
            "status_changed": now,
        },
    )


def _missing(draft: Draft) -> dict[str, str]:
    errors = {}
    if not draft.now("summary"):
        errors["summary"] = "You must specify a summary of the issue."
    kind = known(draft.ctx, "issue_types", {"id": draft.now("type_id")})
    if kind["subtask"] and not draft.now("parent_id"):
        errors["parent"] = "Issue type is a sub-task but parent issue key or id not specified."
    return errors


def edit_issue(ctx: HandlerContext) -> None:
    issue = find_issue(ctx)
    draft = Draft(ctx, issue)
    added = read_edits(draft)
    if "transition" in body_of(ctx):
        refuse(ctx, 400, "Transitions are not supported when editing an issue; use the transitions resource.")
    changed = _write(ctx, draft, added, "issue_updated")
    if is_asked(ctx, "returnIssue"):
        ctx.respond(200, issue_answers(ctx, [changed], chosen_fields(ctx, [], "*all"))[0])
    else:
        ctx.respond(204)


def _write(ctx: HandlerContext, draft: Draft, added: dict[str, list[Row]], kind: str) -> Row:
    """Writes what a draft changes, remembers it and tells of it."""
    issue = draft.issue
    if draft.patch or draft.lists:
        issue = ctx.update("issues", {"id": issue["id"]}, {**draft.patch, "updated": ctx.clock.now()})
        write_lists(ctx, issue, draft.lists)
    change = record(ctx, issue, draft.items)
    add_parts(ctx, issue, added)
    if change is not None:
        is_assigned = [one["field"] for one in draft.items] == ["assignee"]
        tell_of_issue(ctx, "jira:issue_updated", issue, "issue_assigned" if is_assigned else kind, change)
    return ctx.get("issues", {"id": issue["id"]}) or issue


def delete_issue(ctx: HandlerContext) -> None:
    issue = find_issue(ctx)
    parts = ctx.query("issues", {"parent_id": issue["id"]})
    types = indexed(ctx.query("issue_types"))
    subtasks = [part for part in parts if types[part["type_id"]]["subtask"]]
    if subtasks and not is_asked(ctx, "deleteSubtasks"):
        message = f"The issue '{issue['key']}' has subtasks.  You must specify the 'deleteSubtasks' parameter to delete this issue and all its subtasks."
        refuse(ctx, 400, message)
    for part in parts:
        if part in subtasks:
            _delete(ctx, part)
        else:
            ctx.update("issues", {"id": part["id"]}, {"parent_id": None, "updated": ctx.clock.now()})
    _delete(ctx, issue)


def _delete(ctx: HandlerContext, issue: Row) -> None:
    tell_of_issue(ctx, "jira:issue_deleted", issue, "issue_deleted")
    remove_issue(ctx, issue)


def assign_issue(ctx: HandlerContext) -> None:
    issue, body = find_issue(ctx), body_of(ctx)
    draft = Draft(ctx, issue)
    name = next((one for one in ("accountId", "name", "key") if one in body), None)
    account = body.get(name) if name else None
    ctx.body = {"fields": {"assignee": None if account is None else {"accountId": account}}}
    try:
        if account not in (None, "-1", ""):
            user_meant(ctx, {"accountId": account})
    except Wrong as wrong:
        refuse(ctx, 400, str(wrong))
    _write(ctx, draft, read_edits(draft), "issue_assigned")


def get_transitions(ctx: HandlerContext) -> Row:
    issue = find_issue(ctx)
    found = _transitions(ctx, issue, "transitions.fields" in names_asked(ctx, "expand"))
    asked = ctx.args.get("transitionId")
    return {"expand": "transitions", "transitions": [one for one in found if asked in (None, one["id"])]}


def _transitions(ctx: HandlerContext, issue: Row, with_fields: bool = False) -> list[Row]:
    statuses = statuses_by_id(ctx)
    project = known(ctx, "projects", {"id": issue["project_id"]})
    every = fields_of(ctx, project, issue["type_id"], False) if with_fields else {}

    def answer(step: Row) -> Row:
        fields = {"resolution": every["resolution"]} if step.get("resolves") and every else {}
        return {
            "id": str(step["id"]),
            "name": step["name"],
            "to": statuses[step["to_status_id"]],
            "hasScreen": step.get("has_screen", False),
            "isGlobal": not step.get("from_status_ids"),
            "isInitial": False,
            "isAvailable": True,
            "isConditional": False,
            "isLooped": False,
            **({"fields": fields} if with_fields else {}),
        }

    return [answer(step) for step in steps_of(ctx, issue)]


def transition_issue(ctx: HandlerContext) -> None:
    issue = find_issue(ctx)
    given = body_of(ctx).get("transition")
    asked = given.get("id") if isinstance(given, dict) else given
    if asked is None:
        refuse(ctx, 400, "Missing 'transition' identifier")
    number = whole_number(asked)
    if number is None:
        refuse(ctx, 400, "Transition id must be a number.")
    step = next((one for one in steps_of(ctx, issue) if one["id"] == number), None)
    if step is None:
        refuse(ctx, 400, f"Transition id '{asked}' is not valid for this issue.")
    draft = Draft(ctx, issue)
    added = read_edits(draft)
    take(draft, step)
    _write(ctx, draft, added, "issue_generic")


def _changes(ctx: HandlerContext, issue: Row) -> list[Row]:
    return ctx.query("changes", {"issue_id": issue["id"]}, order_by=["created", "id"])


def get_changelog(ctx: HandlerContext) -> Row:
    """Oldest first, a page at a time."""
    issue, users = find_issue(ctx), users_by_id(ctx)
    return page_of(ctx, _changes(ctx, issue), lambda row: change_answer(row, users), default=100)


def get_edit_meta(ctx: HandlerContext) -> Row:
    issue = find_issue(ctx)
    project = known(ctx, "projects", {"id": issue["project_id"]})
    return {"fields": fields_of(ctx, project, issue["type_id"], False)}


def get_create_meta(ctx: HandlerContext) -> Row:
    """Projects with their types, and on request with the fields of each."""
    keys, ids = names_asked(ctx, "projectKeys"), names_asked(ctx, "projectIds")
    names = [one.casefold() for one in names_asked(ctx, "issuetypeNames")]
    type_ids, expand = names_asked(ctx, "issuetypeIds"), names_asked(ctx, "expand")
    with_fields = "projects.issuetypes.fields" in expand
    projects = [
        row
        for row in ctx.query("projects", order_by="key")
        if not (keys or ids) or row["key"] in keys or str(row["id"]) in ids
    ]

    def types(project: Row) -> list[Row]:
        rows = [row for row in issue_types_of(ctx, project) if (not names or row["name"].casefold() in names) and (not type_ids or str(row["id"]) in type_ids)]
        return [{**issue_type_answer(ctx, row), **({"expand": "fields", "fields": fields_of(ctx, project, row["id"], True)} if with_fields else {})} for row in rows]

    return {"expand": "projects", "projects": [{"expand": "issuetypes", **project_short(ctx, row), "issuetypes": types(row)} for row in projects]}


def list_create_meta_types(ctx: HandlerContext) -> Row:
    project = find_project(ctx)
    types = [issue_type_answer(ctx, row) for row in issue_types_of(ctx, project)]
    start, size = window(ctx)
    shown = types[start : start + size]
    return {"maxResults": size, "startAt": start, "total": len(types), "issueTypes": shown, "values": shown}


def list_create_meta_fields(ctx: HandlerContext) -> Row:
    project = find_project(ctx)
    kind = next((row for row in issue_types_of(ctx, project) if str(row["id"]) == str(ctx.args["issueTypeId"])), None)
    if kind is None:
        not_found(ctx, "Issue type is not valid for the project.")
    found = [{**value, "fieldId": name} for name, value in fields_of(ctx, project, kind["id"], True).items()]
    start, size = window(ctx)
    shown = found[start : start + size]
    return {"maxResults": size, "startAt": start, "total": len(found), "fields": shown, "values": shown}


def fetch_issues(ctx: HandlerContext) -> Row:
    """Issues by their ids or keys, as many as there are."""
    check_kinds(ctx, fieldsByKeys=bool)
    asked = list_of(ctx, "issueIdsOrKeys", str)
    for name in ("fields", "expand", "properties"):
        list_of(ctx, name, str)
    if not 0 < len(asked) <= 100:
        refuse(ctx, 400, "You must specify between 1 and 100 issue IDs or keys.")
    found = [(one, issue_named(ctx, one)) for one in asked]
    rows = list(indexed([row for _, row in found if row]).values())
    fields = chosen_fields(ctx, names_asked(ctx, "fields"), "*navigable")
    missing = [{"id": str(one), "errorMessage": "Issue does not exist or you do not have permission to see it."} for one, row in found if row is None]
    return {"expand": "schema,names", "issues": issue_answers(ctx, rows, fields, names_asked(ctx, "expand")), "issueErrors": missing}


def notify_issue(ctx: HandlerContext) -> None:
    """Sends no mail; it only checks the named users."""
    find_issue(ctx)
    to = part_of(ctx, "to", dict)
    if not any(to.values()):
        refuse(ctx, 400, "No recipients were defined for notification.")
