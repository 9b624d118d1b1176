"""Refusals of the tracker. Each function ends the request; nothing of it is written."""

from typing import NoReturn

from svc_env import HandlerContext

NO_ISSUE = "Issue does not exist or you do not have permission to see it."


def refuse(
    ctx: HandlerContext, status: int, *messages: str, errors: dict[str, str] | None = None
) -> NoReturn:
    """Any error: sentences about the request, and sentences by field."""
    ctx.fail(status, {"errorMessages": list(messages), "errors": errors or {}})


def not_found(ctx: HandlerContext, message: str) -> NoReturn:
    refuse(ctx, 404, message)


def invalid(ctx: HandlerContext, field: str, message: str) -> NoReturn:
    """400 about one field."""
    refuse(ctx, 400, errors={field: message})
