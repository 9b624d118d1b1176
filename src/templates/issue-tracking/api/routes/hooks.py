"""Webhooks, by both routes on which they are registered: that of administrators, and that of apps.

The host delivers to them: [webhooks] in connector.toml says how. `history.py` finds those that an event is for.
"""

from svc_env import HandlerContext, Row

from ..addresses import SITE
from ..finding import by_id, known
from ..jql.matching import find_issues
from ..jql.parsing import QueryError
from ..paging import page_of
from ..reading import body_of, flag, list_of, needed_text, optional_text, part_of
from ..refusals import not_found, refuse
from ..times import later, milliseconds
from ..viewer import VIEWER

#: What there is to hear of. Some of it never happens in this world.
EVENTS = frozenset(
    """
    jira:issue_created jira:issue_updated jira:issue_deleted comment_created comment_updated comment_deleted
    worklog_created worklog_updated worklog_deleted issuelink_created issuelink_deleted attachment_created
    attachment_deleted issue_property_set issue_property_deleted jira:version_released jira:version_unreleased
    jira:version_created jira:version_moved jira:version_updated jira:version_deleted jira:version_merged
    project_created project_updated project_deleted project_soft_deleted project_restored_deleted project_archived
    project_restored_archived user_created user_updated user_deleted sprint_created sprint_deleted sprint_updated
    sprint_started sprint_closed board_created board_updated board_deleted board_configuration_changed
    option_voting_changed option_watching_changed option_unassigned_issues_changed option_subtasks_changed
    option_attachments_changed option_issuelinks_changed option_timetracking_changed
    """.split()
)
#: Those that apps can register for.
APP_EVENTS = EVENTS & frozenset(
    """
    jira:issue_created jira:issue_updated jira:issue_deleted comment_created comment_updated comment_deleted
    issue_property_set issue_property_deleted
    """.split()
)
SECTION = "issue-related-events-section"


def _events(ctx: HandlerContext, value: object) -> list[str]:
    if not isinstance(value, list) or not value or not all(isinstance(one, str) for one in value):
        refuse(ctx, 400, "At least one event must be selected.")
    unknown = [one for one in value if one not in EVENTS]
    if unknown:
        refuse(ctx, 400, f"Unknown webhook event: {unknown[0]}")
    return list(dict.fromkeys(value))


def _address(ctx: HandlerContext, value: object) -> str:
    if not isinstance(value, str) or not value.startswith(("http://", "https://")) or len(value) > 2048:
        refuse(ctx, 400, "The URL of the webhook must be an absolute address that begins with http:// or https://.")
    return value


def _admin_answer(ctx: HandlerContext, hook: Row) -> Row:
    return {
        "name": hook.get("name", ""),
        "description": hook.get("description", ""),
        "url": hook["url"],
        "events": hook["events"],
        "filters": {SECTION: hook["jql"]} if hook.get("jql") else {},
        "excludeBody": hook.get("exclude_body", False),
        "enabled": hook["active"],
        "isSigned": bool(hook.get("secret")),
        "self": f"{SITE}/rest/webhooks/1.0/webhook/{hook['id']}",
        "lastUpdatedUser": VIEWER,
        "lastUpdatedDisplayName": known(ctx, "users", {"account_id": VIEWER})["display_name"],
        "lastUpdated": milliseconds(hook["created"]),
    }


def _admin_hook(ctx: HandlerContext) -> Row:
    hook = by_id(ctx, "hooks", ctx.args["id"])
    return hook if hook and hook["kind"] == "admin" else not_found(ctx, f"Webhook with id {ctx.args['id']} does not exist")


def list_admin_hooks(ctx: HandlerContext) -> list[Row]:
    return [_admin_answer(ctx, row) for row in ctx.query("hooks", {"kind": "admin"}, order_by="id")]


def get_admin_hook(ctx: HandlerContext) -> Row:
    return _admin_answer(ctx, _admin_hook(ctx))


def create_admin_hook(ctx: HandlerContext) -> None:
    hook_id = ctx.ids.next("hooks", "id")
    parts = _admin_parts(ctx, {"events": [], "active": True})
    hook = ctx.insert("hooks", {"id": hook_id, "kind": "admin", "hooks": [hook_id], **parts})
    ctx.respond(201, _admin_answer(ctx, hook))


def _admin_parts(ctx: HandlerContext, hook: Row) -> Row:
    """Converts the body to the fields of a hook's row."""
    body = body_of(ctx)
    name = needed_text(ctx, "name", "The name of the webhook is required.") if "name" in body or "name" not in hook else hook["name"]
    filters = part_of(ctx, "filters", dict) if "filters" in body else {SECTION: hook.get("jql")}
    enabled = "enabled" if "enabled" in body else "active"
    return {
        "name": name,
        "description": optional_text(ctx, "description", hook.get("description", "")) or "",
        "url": _address(ctx, body.get("url", hook.get("url"))),
        "events": _events(ctx, body.get("events", hook["events"])),
        "active": flag(ctx, enabled, hook["active"]),
        "exclude_body": flag(ctx, "excludeBody", hook.get("exclude_body", False)),
        "secret": optional_text(ctx, "secret", hook.get("secret")) or None,
        "jql": _jql(ctx, filters.get(SECTION)),
        "created": ctx.clock.now(),
    }


def _jql(ctx: HandlerContext, value: object) -> str | None:
    if value in (None, ""):
        return None
    try:
        find_issues(ctx, str(value))
    except QueryError as error:
        refuse(ctx, 400, f"The filter of the webhook is no valid query: {error}")
    return str(value)


def update_admin_hook(ctx: HandlerContext) -> Row:
    hook = _admin_hook(ctx)
    return _admin_answer(ctx, ctx.update("hooks", {"id": hook["id"]}, _admin_parts(ctx, hook)))


def delete_admin_hook(ctx: HandlerContext) -> None:
    ctx.delete("hooks", {"id": _admin_hook(ctx)["id"]})


def list_app_hooks(ctx: HandlerContext) -> Row:
    def answer(hook: Row) -> Row:
        fields = {"fieldIdsFilter": hook["field_ids"]} if hook.get("field_ids") else {}
        return {"id": hook["id"], "jqlFilter": hook.get("jql") or "", **fields, "events": hook["events"], "expirationDate": milliseconds(hook["expires"]), "url": hook["url"]}

    return page_of(ctx, ctx.query("hooks", {"kind": "app"}, order_by="id"), answer, default=100)


def create_app_hooks(ctx: HandlerContext) -> Row:
    """Each is registered by itself: what is wrong with one does not keep the others out."""
    url, wanted = _address(ctx, body_of(ctx).get("url")), part_of(ctx, "webhooks", list)
    if not wanted:
        refuse(ctx, 400, "At least one webhook must be given.")
    return {"webhookRegistrationResult": [_register(ctx, url, one if isinstance(one, dict) else {}) for one in wanted]}


def _register(ctx: HandlerContext, url: str, wanted: Row) -> Row:
    errors, events, jql = [], wanted.get("events"), wanted.get("jqlFilter")
    if not isinstance(events, list) or not events or not all(one in APP_EVENTS for one in events):
        errors.append("The webhook events are missing or not supported.")
    if not isinstance(jql, str) or not jql.strip():
        errors.append("The JQL filter is required.")
    else:
        try:
            find_issues(ctx, jql)
        except QueryError as error:
            errors.append(str(error))
    if errors:
        return {"errors": errors}
    hook_id, now = ctx.ids.next("hooks", "id"), ctx.clock.now()
    fields = [str(one) for one in wanted.get("fieldIdsFilter") or []]
    ctx.insert("hooks", {"id": hook_id, "kind": "app", "hooks": [hook_id], "url": url, "events": events, "active": True, "jql": jql, "field_ids": fields, "secret": None, "created": now, "expires": later(now, days=30)})
    return {"createdWebhookId": hook_id}


def _named(ctx: HandlerContext) -> list[Row]:
    ids = list_of(ctx, "webhookIds", int)
    if not ids:
        refuse(ctx, 400, "At least one webhook id must be given.")
    return [row for row in ctx.query("hooks", {"kind": "app"}) if row["id"] in ids]


def delete_app_hooks(ctx: HandlerContext) -> None:
    for hook in _named(ctx):
        ctx.delete("hooks", {"id": hook["id"]})


def refresh_app_hooks(ctx: HandlerContext) -> Row:
    expires = later(ctx.clock.now(), days=30)
    for hook in _named(ctx):
        ctx.update("hooks", {"id": hook["id"]}, {"expires": expires})
    return {"expirationDate": milliseconds(expires)}
