"""Refusals of the code host. Each function ends the request; nothing of it is written."""

from svc_env import HandlerContext

#: False when it runs: importing `typing` would take 0.4 MB of every session.
TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import NoReturn

DOCUMENTATION = "https://docs.code.example/rest"


def refuse(ctx: HandlerContext, status: int, message: str, errors: list | None = None) -> "NoReturn":
    """Any error: what every one of them has in common."""
    body = {"message": message, "documentation_url": DOCUMENTATION, "status": str(status)}
    ctx.fail(status, body if errors is None else {**body, "errors": errors})


def not_found(ctx: HandlerContext, message: str = "Not Found") -> "NoReturn":
    """404. It never says what was missing: that would tell strangers what exists."""
    refuse(ctx, 404, message)


def forbidden(ctx: HandlerContext, message: str) -> "NoReturn":
    refuse(ctx, 403, message)


def refuse_archived(ctx: HandlerContext) -> "NoReturn":
    forbidden(ctx, "Repository was archived so is read-only.")


def invalid(ctx: HandlerContext, resource: str, field: str, code: str, **more: object) -> "NoReturn":
    """422 about one field.

    code: "missing", "missing_field", "invalid", "already_exists", or "custom" with a `message`.
    """
    error = {**more, "resource": resource, "field": field, "code": code}
    refuse(ctx, 422, "Validation Failed", [error])


def impossible(ctx: HandlerContext, resource: str, message: str) -> "NoReturn":
    """422 about no field in particular."""
    error = {"resource": resource, "code": "custom", "message": message}
    refuse(ctx, 422, "Validation Failed", [error])
