"""Reads what a request's body holds, and answers 422 where that is not what it should be."""

import re

from svc_env import HandlerContext, Row

from .refusals import DOCUMENTATION, invalid

LONGEST_TITLE = 256
LONGEST_DESCRIPTION = 100


def body_of(ctx: HandlerContext) -> Row:
    """The body as an object; a request without one names no fields."""
    if ctx.body is None:
        return {}
    if not isinstance(ctx.body, dict):
        message = "Body should be a JSON object"
        ctx.fail(400, {"message": message, "documentation_url": DOCUMENTATION, "status": "400"})
    return ctx.body


def text_of(ctx: HandlerContext, resource: str, field: str, value: object) -> str | None:
    if value is not None and not isinstance(value, str):
        invalid(ctx, resource, field, "invalid")
    return value


def title_of(ctx: HandlerContext, title: object) -> str:
    """An issue's title. The code host takes a number for a text here."""
    is_text = isinstance(title, (str, int)) and not isinstance(title, bool)
    text = str(title).strip() if is_text else ""
    if not text:
        invalid(ctx, "Issue", "title", "missing_field")
    return _bounded(ctx, "Issue", "title", text, LONGEST_TITLE)


def comment_text(ctx: HandlerContext) -> str:
    text = text_of(ctx, "IssueComment", "body", body_of(ctx).get("body")) or ""
    if not text.strip():
        invalid(ctx, "IssueComment", "body", "missing_field")
    return text


def color_of(ctx: HandlerContext, color: object) -> str:
    """Six hexadecimal digits, in small letters."""
    if not isinstance(color, str) or not re.fullmatch(r"[0-9A-Fa-f]{6}", color):
        invalid(ctx, "Label", "color", "invalid")
    return color.lower()


def description_of(ctx: HandlerContext, description: object) -> str | None:
    text = text_of(ctx, "Label", "description", description)
    return text and _bounded(ctx, "Label", "description", text, LONGEST_DESCRIPTION)


def label_names(ctx: HandlerContext, value: object) -> list[str]:
    """Names of labels: texts, or objects with a `name`; each name once."""
    if not isinstance(value, list):
        invalid(ctx, "Issue", "labels", "invalid")
    names = [item.get("name") if isinstance(item, dict) else item for item in value]
    if not all(isinstance(name, str) and name.strip() for name in names):
        invalid(ctx, "Label", "name", "missing_field")
    return list(dict.fromkeys(names))


def _bounded(ctx: HandlerContext, resource: str, field: str, text: str, longest: int) -> str:
    if len(text) > longest:
        message = f"{field} is too long (maximum is {longest} characters)"
        invalid(ctx, resource, field, "custom", message=message)
    return text
