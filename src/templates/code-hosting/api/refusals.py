"""How the code host says no. Each function ends the request; nothing of it is written."""

from typing import Any, NoReturn

from svc_env import HandlerContext

DOCUMENTATION = "https://docs.code.example/rest"


def not_found(ctx: HandlerContext, message: str = "Not Found") -> NoReturn:
    """404. It never says what was missing: that would tell strangers what exists."""
    body = {"message": message, "documentation_url": DOCUMENTATION, "status": "404"}
    ctx.fail(404, body)


def invalid(ctx: HandlerContext, resource: str, field: str, code: str, **more: Any) -> NoReturn:
    """422 about one field.

    code: "missing_field", "invalid", "already_exists", or "custom" with a `message`.
    """
    error = {**more, "resource": resource, "field": field, "code": code}
    body = {
        "message": "Validation Failed",
        "errors": [error],
        "documentation_url": DOCUMENTATION,
        "status": "422",
    }
    ctx.fail(422, body)
