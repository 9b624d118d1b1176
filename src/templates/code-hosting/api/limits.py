"""The code host's limits on requests, as its answers tell them."""

from datetime import datetime

from svc_env import HandlerContext, Row

#: Requests and seconds, for each kind of request.
LIMITS = {"core": (5000, 3600), "search": (30, 60), "graphql": (5000, 3600)}


def window(ctx: HandlerContext, resource: str) -> Row:
    """A window that nothing was asked in. It ends with the hour, or the minute."""
    limit, seconds = LIMITS[resource]
    now = int(datetime.fromisoformat(ctx.clock.now()).timestamp())
    reset = now - now % seconds + seconds
    return {"limit": limit, "used": 0, "remaining": limit, "reset": reset}


def limit_headers(ctx: HandlerContext) -> dict[str, str]:
    """What every answer says of the window that its request fell into."""
    resource = "search" if ctx.path.startswith("/search/") else "core"
    state = window(ctx, resource)
    state.update(used=1, remaining=state["limit"] - 1)
    headers = {f"x-ratelimit-{name}": str(value) for name, value in state.items()}
    return {**headers, "x-ratelimit-resource": resource}
