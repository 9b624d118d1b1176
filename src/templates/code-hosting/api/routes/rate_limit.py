"""How many requests are left. This world never runs out: each hour looks as if it had just begun."""

from datetime import datetime

from svc_env import HandlerContext, Row

from ..media import check_accepted

#: Requests and seconds, for each kind of request.
LIMITS = {"core": (5000, 3600), "search": (30, 60), "graphql": (5000, 3600)}


def tell_limits(ctx: HandlerContext) -> None:
    """Runs before every route, so that every answer tells of the limit that its request fell under,
    and none is given in a form that the client cannot read."""
    resource = "search" if ctx.route.startswith("/search/") else "core"
    state = _window(ctx, resource)
    if ctx.route != "/rate_limit":
        state.update(used=1, remaining=state["limit"] - 1)
    for name, value in state.items():
        ctx.set_header(f"x-ratelimit-{name}", value)
    ctx.set_header("x-ratelimit-resource", resource)
    check_accepted(ctx)


def get_rate_limit(ctx: HandlerContext) -> Row:
    resources = {name: _window(ctx, name) for name in LIMITS}
    return {"resources": resources, "rate": resources["core"]}


def _window(ctx: HandlerContext, resource: str) -> Row:
    """A window that nothing was asked in. It ends with the hour, or the minute."""
    limit, seconds = LIMITS[resource]
    now = int(datetime.fromisoformat(ctx.clock.now()).timestamp())
    return {"limit": limit, "used": 0, "remaining": limit, "reset": now - now % seconds + seconds}
