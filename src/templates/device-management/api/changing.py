"""Changes a device as a request wants it: which members a body may have, and of which kinds."""

from typing import Any

from svc_env import HandlerContext, Row
from svc_env.finding import whole_number

from .refusals import refuse


def object_body(ctx: HandlerContext) -> Row:
    """The body, which must be an object."""
    if not isinstance(ctx.body, dict):
        refuse(ctx, 400, "INVALID_JSON", "The request body must be a JSON object")
    return ctx.body


def text(ctx: HandlerContext, field: str, value: Any, most: int = 255) -> str:
    """A text that is not longer than a field may be."""
    if not isinstance(value, str):
        refuse(ctx, 400, "INVALID_FIELD", f"{field} must be a string", field)
    if len(value) > most:
        refuse(ctx, 400, "INVALID_FIELD", f"{field} must be at most {most} characters", field)
    return value


def reference(ctx: HandlerContext, field: str, entity: str, value: Any) -> int | None:
    """The id of a row of another entity, which the newer API writes as text; -1 and null are none."""
    if value in (None, "", "-1", -1, "0", 0):
        return None
    id = whole_number(value)
    if id is None or ctx.get(entity, {"id": id}) is None:
        refuse(ctx, 400, "INVALID_ID", f"{field} {value!r} does not exist"[:200], field)
    return id


def patched(ctx: HandlerContext, section: str, old: Row, given: Any, kinds: dict[str, type]) -> Row:
    """A section with the members that a body gives; others that it may not change are left out."""
    if not isinstance(given, dict):
        refuse(ctx, 400, "INVALID_FIELD", f"{section} must be an object", section)
    new = dict(old)
    for name, kind in kinds.items():
        if name in given:
            new[name] = _member(ctx, f"{section}.{name}", given[name], kind)
    return new


def _member(ctx: HandlerContext, field: str, value: Any, kind: type) -> Any:
    if value is None:
        return None
    if kind is str:
        return text(ctx, field, value)
    if kind is bool and not isinstance(value, bool) or kind is int and whole_number(value) is None:
        refuse(ctx, 400, "INVALID_FIELD", f"{field} must be of type {kind.__name__}", field)
    return whole_number(value) if kind is int else value
