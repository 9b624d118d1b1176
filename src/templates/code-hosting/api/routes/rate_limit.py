"""How many requests are left. This world never runs out: each hour looks as if it had just begun."""

from svc_env import HandlerContext, Row

from ..limits import LIMITS, window


def get_rate_limit(ctx: HandlerContext) -> Row:
    resources = {name: window(ctx, name) for name in LIMITS}
    return {"resources": resources, "rate": resources["core"]}
