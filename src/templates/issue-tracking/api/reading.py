"""Reads what a request holds, and answers 400 where that is not what it should be."""

from typing import Any

from svc_env import HandlerContext, Row

from .addresses import has_documents
from .documents import Document, from_markup, is_document
from .refusals import invalid, refuse

LARGEST_TEXT = 32_767


def body_of(ctx: HandlerContext) -> Row:
    """The body as an object; a request without one names no fields."""
    if ctx.body is None:
        return {}
    if not isinstance(ctx.body, dict):
        refuse(ctx, 400, "Invalid request payload. Refer to the REST API documentation and try again.")
    return ctx.body


def part_of(ctx: HandlerContext, name: str, kind: type) -> Any:
    """A member of the body that is of a kind; an empty one where it is not there."""
    value = body_of(ctx).get(name)
    if value is None:
        return kind()
    if not isinstance(value, kind):
        refuse(ctx, 400, "Invalid request payload. Refer to the REST API documentation and try again.")
    return value


def list_of(ctx: HandlerContext, name: str, kind: type) -> list[Any]:
    """A list of the body whose items are all of a kind."""
    items = part_of(ctx, name, list)
    if not all(_is(item, kind) for item in items):
        refuse(ctx, 400, f"The items of '{name}' are not all of the type that is needed.")
    return items


def check_kinds(ctx: HandlerContext, **kinds: type) -> None:
    """400 where a member of the body is of another kind; null is none."""
    for name, kind in kinds.items():
        value = body_of(ctx).get(name)
        if value is not None and not _is(value, kind):
            refuse(ctx, 400, f"The value of '{name}' is not of the type that is needed.")


def _is(value: object, kind: type) -> bool:
    return isinstance(value, kind) and (kind is bool or not isinstance(value, bool))


def needed_text(ctx: HandlerContext, name: str, message: str, longest: int = 255) -> str:
    """A text of the body that must be there and not be blank."""
    value = body_of(ctx).get(name)
    if not isinstance(value, str) or not value.strip():
        invalid(ctx, name, message)
    if len(value) > longest:
        invalid(ctx, name, f"The {name} must not exceed {longest} characters in length.")
    return value.strip()


def optional_text(ctx: HandlerContext, name: str, default: str | None = None) -> str | None:
    value = body_of(ctx).get(name)
    if value is None:
        return default
    if not isinstance(value, str):
        invalid(ctx, name, "Operation value must be a string")
    return value


def flag(ctx: HandlerContext, name: str, default: bool) -> bool:
    value = body_of(ctx).get(name, default)
    if not isinstance(value, bool):
        refuse(ctx, 400, f"Can not deserialize the value of '{name}' to a boolean")
    return value


def rich_text(ctx: HandlerContext, field: str, value: object) -> Document | None:
    """A rich text as a row holds it, in the form that the version of the API has.

    Version 3 wants documents. Calls of tools, which have no headers, may give texts, too.
    """
    if value is None:
        return None
    if isinstance(value, str) and not (has_documents(ctx) and ctx.headers):
        return _bounded(ctx, field, value) if value.strip() else None
    if is_document(value):
        return value
    if has_documents(ctx):
        what = "Operation value must be an Atlassian Document (see the Atlassian Document Format)"
        invalid(ctx, field, what)
    return invalid(ctx, field, "Operation value must be a string")


def _bounded(ctx: HandlerContext, field: str, text: str) -> Document:
    if len(text) > LARGEST_TEXT:
        what = f"The entered text is too long. It exceeds the allowed limit of {LARGEST_TEXT:,} characters."
        invalid(ctx, field, what)
    return from_markup(text)


def number_asked(ctx: HandlerContext, name: str, default: int, largest: int | None = None) -> int:
    """A whole number of the query or the body."""
    given = ctx.args.get(name)
    if given is None and isinstance(ctx.body, dict):
        given = ctx.body.get(name)
    if given is None or given == "":
        return default
    text = str(given)
    if isinstance(given, bool) or not text.removeprefix("-").isdecimal() or len(text) > 10:
        refuse(ctx, 400, f"The value of '{name}' must be a whole number: {text[:40]}")
    number = max(int(text), 0)
    return number if largest is None else min(number, largest)


def names_asked(ctx: HandlerContext, name: str) -> list[str]:
    """Names separated by commas, given once or several times, in the query or as a list in the body."""
    given = ctx.args.get(name)
    if given is None and isinstance(ctx.body, dict):
        given = ctx.body.get(name)
    texts = given if isinstance(given, list) else [] if given is None else [given]
    if not all(isinstance(text, (str, int)) for text in texts):
        refuse(ctx, 400, f"The value of '{name}' must be a list of texts")
    return [one.strip() for text in texts for one in str(text).split(",") if one.strip()]


def is_asked(ctx: HandlerContext, name: str, default: bool = False) -> bool:
    """A flag of the query."""
    given = ctx.args.get(name)
    return default if given is None else str(given).lower() == "true"
