"""Events of issues: stored as rows, and delivered to the webhooks that are registered for them."""

from collections.abc import Iterator
from contextlib import contextmanager

from svc_env import HandlerContext, Row
from svc_env.finding import known

from .answers.issues import issue_answer
from .answers.pulls import pull_answer
from .answers.repositories import repository_answer
from .answers.users import simple_user
from .finding import numbered, on_issue, place_of
from .viewer import VIEWER


#: How many deliveries of each webhook are remembered.
MOST_DELIVERIES = 100


def record(ctx: HandlerContext, issue: Row, event: str, **facts: object) -> None:
    """Writes an event of an issue. `facts` are the fields that this kind of event has."""
    row = {
        "id": ctx.ids.next("issue_events", "id"),
        **on_issue(issue),
        "event": event,
        "actor": VIEWER,
        "created_at": ctx.clock.now(),
        **facts,
    }
    ctx.insert("issue_events", row)


def tell(
    ctx: HandlerContext,
    repository: Row,
    event: str,
    action: str | None,
    to: Row | None = None,
    **parts: object,
) -> None:
    """Delivers an event to the webhooks of a repository.

    to: the one webhook that it is for, where it is not for all.
    parts: what the event is about, in the bodies that the API answers.
    """
    organization = known(ctx, "users", {"login": repository["owner"]})
    about = {"repository": repository_answer(ctx, repository)}
    if organization["type"] == "Organization":
        about["organization"] = simple_user(organization)
    sender = simple_user(known(ctx, "users", {"login": VIEWER}))
    body = {**({"action": action} if action else {}), **parts, **about, "sender": sender}
    full_name = f"{repository['owner']}/{repository['name']}"
    scope = {"repository": full_name, **({"hook": to["id"]} if to else {})}
    guid = ctx.ids.uuid()
    _deliver(ctx, event, body, scope, guid)
    for hook in _hooks_told(ctx, repository, event, to):
        _remember(ctx, hook, event, action, body, guid)


def tell_again(ctx: HandlerContext, repository: Row, hook: Row, delivery: Row) -> None:
    """Sends a delivery of a webhook again."""
    full_name = f"{repository['owner']}/{repository['name']}"
    scope = {"repository": full_name, "hook": hook["id"]}
    event, body = delivery["event"], delivery["body"]
    _deliver(ctx, event, body, scope, delivery["guid"])
    if hook in _hooks_told(ctx, repository, event, hook):
        _remember(ctx, hook, event, delivery["action"], body, delivery["guid"], again=True)


def _deliver(ctx: HandlerContext, event: str, body: Row, scope: Row, guid: str) -> None:
    """Delivers under the guid that is remembered.

    Hosts of the release before take no id for a delivery, and run this while releases change or after
    going back: there it has one of its own.
    """
    if "delivery_id" in ctx.deliver.__annotations__:
        ctx.deliver(event, body, scope=scope, delivery_id=guid)
    else:
        ctx.deliver(event, body, scope=scope)


def _hooks_told(ctx: HandlerContext, repository: Row, event: str, to: Row | None) -> list[Row]:
    """The webhooks that an event reaches. A delivery is signed: one without a secret gets none."""
    where = {"owner": repository["owner"], "repo": repository["name"], "active": True}
    hooks = ctx.query("hooks", where if to is None else {**where, "id": to["id"]})
    return [
        hook
        for hook in hooks
        if hook.get("secret") and (not hook["events"] or event in hook["events"])
    ]


def _remember(
    ctx: HandlerContext,
    hook: Row,
    event: str,
    action: str | None,
    body: Row,
    guid: str,
    again: bool = False,
) -> None:
    """Stores a delivery of a webhook, until many others came after it."""
    own = {"hook_id": hook["id"]}
    # Rows are asked for as they were inserted, and only those that are too many: bodies are large.
    too_many = len(ctx.query("hook_deliveries", own, offset=MOST_DELIVERIES - 1))
    for old in ctx.query("hook_deliveries", own, limit=too_many) if too_many else []:
        ctx.delete("hook_deliveries", {"id": old["id"]})
    delivery = {
        **place_of(hook),
        "id": ctx.ids.next("hook_deliveries", "id"),
        "hook_id": hook["id"],
        "guid": guid,
        "event": event,
        "action": action,
        "redelivery": again,
        "delivered_at": ctx.clock.now(),
        "body": body,
    }
    ctx.insert("hook_deliveries", delivery)


def tell_of_issue(
    ctx: HandlerContext, repository: Row, issue: Row, action: str, **parts: object
) -> None:
    """Delivers `issues`, or `pull_request` for an issue that is one, as it now is."""
    if not has_listeners(ctx, repository):
        return
    issue = ctx.get("issues", numbered(issue)) or issue
    pull = ctx.get("pulls", numbered(issue))
    with as_stored(ctx):
        if pull is None:
            body = {"issue": issue_answer(ctx, repository, issue)}
        else:
            body = {"number": pull["number"], "pull_request": pull_answer(ctx, repository, pull)}
    tell(ctx, repository, "issues" if pull is None else "pull_request", action, **body, **parts)


@contextmanager
def as_stored(ctx: HandlerContext) -> Iterator[None]:
    """Bodies that are made within have texts as they were written, whatever the client accepts."""
    accepted = ctx.headers.pop("accept", None)
    try:
        yield
    finally:
        if accepted is not None:
            ctx.headers["accept"] = accepted


def has_listeners(ctx: HandlerContext, repository: Row) -> bool:
    """Returns true if the repository has an active webhook; otherwise no body of an event is needed."""
    where = {"owner": repository["owner"], "repo": repository["name"], "active": True}
    return bool(ctx.query("hooks", where, limit=1))


def touch(ctx: HandlerContext, issue: Row) -> Row:
    """The issue, changed now."""
    return ctx.update("issues", numbered(issue), {"updated_at": ctx.clock.now()})


def forget(ctx: HandlerContext, issue: Row) -> None:
    """Deletes the events of an issue."""
    for row in ctx.query("issue_events", {**place_of(issue), "issue_number": issue["number"]}):
        ctx.delete("issue_events", {"id": row["id"]})
