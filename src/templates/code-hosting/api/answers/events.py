"""Events of issues."""

from svc_env import HandlerContext, Row

from .addresses import api_url, node_id
from .users import users_named


def event_answers(ctx: HandlerContext, repository: Row, events: list[Row]) -> list[Row]:
    """Events of one repository's issues."""
    logins = [login for event in events for login in (event["actor"], event.get("login"))]
    users = users_named(ctx, logins)

    def answer(event: Row) -> Row:
        commit = event.get("commit_id")
        return {
            "id": event["id"],
            "node_id": node_id("EV", repository["id"], event["id"]),
            "url": api_url(event, "issues", "events", event["id"]),
            "actor": users[event["actor"]],
            "event": event["event"],
            "commit_id": commit,
            "commit_url": commit and api_url(event, "commits", commit),
            "created_at": event["created_at"],
            "performed_via_github_app": None,
            **_facts(event, users),
        }

    return [answer(event) for event in events]


def _facts(event: Row, users: dict[str, Row]) -> Row:
    """The fields that only this kind of event has."""
    kind, actor, user = event["event"], users[event["actor"]], users.get(event.get("login", ""))
    if kind in ("assigned", "unassigned"):
        return {"assignee": user, "assigner": actor}
    if kind in ("review_requested", "review_request_removed"):
        return {"requested_reviewer": user, "review_requester": actor}
    if kind in ("milestoned", "demilestoned"):
        return {"milestone": {"title": event["milestone"]}}
    if kind == "closed":
        return {"state_reason": event.get("state_reason")}
    if kind == "review_dismissed":
        dismissal = {"state": "dismissed", "review_id": event["review_id"]}
        return {"dismissed_review": {**dismissal, "dismissal_message": event.get("message")}}
    return {name: event[name] for name in ("label", "rename") if name in event}
