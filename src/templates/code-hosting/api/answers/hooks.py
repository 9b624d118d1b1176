"""Webhooks as their owner sees them: without the secret."""

from svc_env import Row

from .addresses import api_url

#: The event that every hook gets, whatever it asks for, and that is not listed among its events.
PING = "ping"


def hook_answer(hook: Row) -> Row:
    url = api_url(hook, "hooks", hook["id"])
    config = {
        "url": hook["url"],
        "content_type": hook["content_type"],
        "insecure_ssl": hook["insecure_ssl"],
        **({"secret": "********"} if hook.get("secret") else {}),
    }
    events = [event for event in hook["events"] if event != PING]
    return {
        "type": "Repository",
        "id": hook["id"],
        "name": "web",
        "active": hook["active"],
        "events": events or ["*"],
        "config": config,
        "created_at": hook["created_at"],
        "updated_at": hook["updated_at"],
        "url": url,
        "test_url": f"{url}/test",
        "ping_url": f"{url}/pings",
        "deliveries_url": f"{url}/deliveries",
        "last_response": {"code": None, "status": "unused", "message": None},
    }
