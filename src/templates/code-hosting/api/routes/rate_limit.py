"""Requests that are left. This world never runs out: each hour looks as if it had just begun."""

from datetime import datetime

from svc_env import HandlerContext, Row

#: Requests and seconds, for each kind of request; `[[api.rate_limits]]` of connector.toml has the headers.
LIMITS = {"core": (5000, 3600), "search": (30, 60), "graphql": (5000, 3600)}


def get_rate_limit(ctx: HandlerContext) -> Row:
    now = int(datetime.fromisoformat(ctx.clock.now()).timestamp())
    resources = {name: _window(now, *limit) for name, limit in LIMITS.items()}
    return {"resources": resources, "rate": resources["core"]}


def _window(now: int, limit: int, seconds: int) -> Row:
    """A window that nothing was asked in. It ends with the hour, or the minute."""
    return {"limit": limit, "used": 0, "remaining": limit, "reset": now - now % seconds + seconds}
