"""Events: stored as changes of issues, and delivered to the webhooks that are registered for them."""

from typing import Any

from svc_env import HandlerContext, Row

from .answers.issues import chosen_fields, issue_answer, issue_answers
from .answers.people import user_answer
from .answers.talk import change_item
from .finding import known
from .jql.matching import matches
from .times import milliseconds
from .viewer import VIEWER


def item(field: Row | str, before: tuple[Any, Any], after: tuple[Any, Any], custom: bool = False) -> Row:
    """A part of a change: what the field held, and what it holds, each as id and as text."""
    name, field_id = (field, field) if isinstance(field, str) else (field["name"], field["id"])
    texts = [None if one is None else str(one) for one in (*before, *after)]
    kind = "custom" if custom else "jira"
    return {
        "field": name,
        "fieldtype": kind,
        "fieldId": field_id,
        **dict(zip(("from_id", "from_text", "to_id", "to_text"), texts, strict=True)),
    }


def record(ctx: HandlerContext, issue: Row, items: list[Row]) -> Row | None:
    """Writes what was changed of an issue; nothing where nothing was."""
    if not items:
        return None
    change = {
        "id": ctx.ids.next("changes", "id"),
        "issue_id": issue["id"],
        "author": VIEWER,
        "created": ctx.clock.now(),
        "items": items,
    }
    return ctx.insert("changes", change)


def touch(ctx: HandlerContext, issue: Row) -> Row:
    """The issue, changed now."""
    return ctx.update("issues", {"id": issue["id"]}, {"updated": ctx.clock.now()})


def tell_of_issue(
    ctx: HandlerContext, event: str, issue: Row, kind: str, change: Row | None = None, **parts: Any
) -> None:
    """Delivers an event of an issue as it now is. kind: what sort of change it was."""
    if not has_listeners(ctx):
        return
    issue = ctx.get("issues", {"id": issue["id"]}) or issue
    body = {"issue_event_type_name": kind, "issue": issue_answer(ctx, issue), **parts}
    if change is not None:
        items = [change_item(one) for one in change["items"]]
        body["changelog"] = {"id": str(change["id"]), "items": items}
    changed = None if change is None else {one["fieldId"] for one in change["items"]}
    tell(ctx, event, {"user": _viewer(ctx), **body}, issue, changed)


def tell_of_part(ctx: HandlerContext, event: str, issue: Row, name: str, answer: Row) -> None:
    """Delivers an event of a comment or a worklog, with the issue in short."""
    if not has_listeners(ctx):
        return
    issue = ctx.get("issues", {"id": issue["id"]}) or issue
    short = ["summary", "issuetype", "project", "assignee", "priority", "status"]
    (about,) = issue_answers(ctx, [issue], chosen_fields(ctx, short, "*all"))
    # A worklog says itself whose it is.
    more = {"issue": about} if name == "comment" else {}
    tell(ctx, event, {name: answer, **more, "eventType": "primaryAction"}, issue)


def tell(
    ctx: HandlerContext,
    event: str,
    body: Row,
    issue: Row | None = None,
    changed: set[str] | None = None,
) -> None:
    """Delivers an event to those whose query the issue fits, if it is about one.

    changed: the fields that were changed, where some were: some want to hear of a few alone.
    """
    body = {"timestamp": milliseconds(ctx.clock.now()), "webhookEvent": event, **body}
    hooks = [hook for hook in ctx.query("hooks", {"active": True}) if _wants(ctx, hook, event, issue, changed)]
    for hook in hooks:
        own = {"matchedWebhookIds": [hook["id"]]} if hook["kind"] == "app" else {}
        sent = {} if hook.get("exclude_body") else {**body, **own}
        ctx.deliver(event, sent, scope={"hook": hook["id"]})


def _wants(
    ctx: HandlerContext, hook: Row, event: str, issue: Row | None, changed: set[str] | None
) -> bool:
    if event not in hook["events"]:
        return False
    if changed is not None and hook.get("field_ids") and changed.isdisjoint(hook["field_ids"]):
        return False
    return not hook.get("jql") or issue is None or matches(ctx, hook["jql"], issue)


def has_listeners(ctx: HandlerContext) -> bool:
    """Returns true if there is an active webhook; otherwise no body of an event is needed."""
    return bool(ctx.query("hooks", {"active": True}, limit=1))


def _viewer(ctx: HandlerContext) -> Row:
    return user_answer(ctx, known(ctx, "users", {"account_id": VIEWER}))
