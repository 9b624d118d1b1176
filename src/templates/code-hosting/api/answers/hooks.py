"""Webhooks as their owner sees them: without the secret; and their deliveries."""

from svc_env import Row

from .addresses import api_url

#: The event that every hook gets, whatever it asks for, and that is not listed among its events.
PING = "ping"


def hook_answer(hook: Row) -> Row:
    url = api_url(hook, "hooks", hook["id"])
    events = [event for event in hook["events"] if event != PING]
    return {
        "type": "Repository",
        "id": hook["id"],
        "name": "web",
        "active": hook["active"],
        "events": events or ["*"],
        "config": config_answer(hook),
        "created_at": hook["created_at"],
        "updated_at": hook["updated_at"],
        "url": url,
        "test_url": f"{url}/test",
        "ping_url": f"{url}/pings",
        "deliveries_url": f"{url}/deliveries",
        "last_response": {"code": None, "status": "unused", "message": None},
    }


def config_answer(hook: Row) -> Row:
    """Returns where and how a hook gets its deliveries."""
    return {
        "url": hook["url"],
        "content_type": hook["content_type"],
        "insecure_ssl": hook["insecure_ssl"],
        **({"secret": "********"} if hook.get("secret") else {}),
    }


def delivery_answer(repository: Row, delivery: Row) -> Row:
    """Returns a delivery of a hook, in short. The world does not hear what its receivers answer: each of them
    is taken to have said yes."""
    fields = ("id", "guid", "delivered_at", "redelivery", "event", "action")
    return {
        **{field: delivery[field] for field in fields},
        "duration": 0.1,
        "status": "OK",
        "status_code": 200,
        "installation_id": None,
        "repository_id": repository["id"],
        "throttled_at": None,
    }


def whole_delivery_answer(repository: Row, hook: Row, delivery: Row) -> Row:
    """The same, with what was sent."""
    kind = "json" if hook["content_type"] == "json" else "x-www-form-urlencoded"
    headers = {
        "Accept": "*/*",
        "Content-Type": f"application/{kind}",
        "X-GitHub-Delivery": delivery["guid"],
        "X-GitHub-Event": delivery["event"],
        "X-GitHub-Hook-ID": str(hook["id"]),
    }
    return {
        **delivery_answer(repository, delivery),
        "url": hook["url"],
        "request": {"headers": headers, "payload": delivery["body"]},
        "response": {"headers": {}, "payload": None},
    }
