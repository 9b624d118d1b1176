"""Reads what a request holds, and answers 422 where that is not what it should be."""

import re
from datetime import UTC, datetime

from svc_env import HandlerContext, Row

from .finding import named
from .refusals import invalid, refuse

#: How many characters a text may have, where no smaller number is said.
LONGEST_TEXT = 65536
LONGEST_TITLE = 256
LONGEST_LABEL = 50
LONGEST_LABEL_DESCRIPTION = 100


def body_of(ctx: HandlerContext) -> Row:
    """The body as an object; a request without one names no fields."""
    if ctx.body is None:
        return {}
    if not isinstance(ctx.body, dict):
        refuse(ctx, 400, "Body should be a JSON object")
    return ctx.body


def text_of(
    ctx: HandlerContext, resource: str, field: str, value: object, longest: int = LONGEST_TEXT
) -> str | None:
    if value is None:
        return None
    if not isinstance(value, str):
        invalid(ctx, resource, field, "invalid")
    return _bounded(ctx, resource, field, value, longest)


def needed_text(
    ctx: HandlerContext, resource: str, field: str, longest: int = LONGEST_TEXT
) -> str:
    """A text of the body that must be there and not be blank."""
    text = text_of(ctx, resource, field, body_of(ctx).get(field), longest) or ""
    if not text.strip():
        invalid(ctx, resource, field, "missing_field")
    return text


def flag_of(ctx: HandlerContext, resource: str, field: str, value: object) -> bool:
    if not isinstance(value, bool):
        invalid(ctx, resource, field, "invalid")
    return value


def choice_of(
    ctx: HandlerContext, resource: str, field: str, value: object, choices: tuple[str, ...]
) -> str:
    if not isinstance(value, str) or value not in choices:
        invalid(ctx, resource, field, "invalid")
    return value


def asked_choice(
    ctx: HandlerContext, resource: str, name: str, choices: tuple[str, ...], default: str
) -> str:
    """A parameter of the query that takes one of a few values."""
    return choice_of(ctx, resource, name, ctx.args.get(name) or default, choices)


def is_downwards(ctx: HandlerContext, default: str = "desc") -> bool:
    """Returns true if `direction` asks for descending order."""
    return (ctx.args.get("direction") or default) == "desc"


def instant_of(ctx: HandlerContext, resource: str, field: str, value: object) -> str:
    """A time, whatever its zone, as rows hold times."""
    if not isinstance(value, str):
        invalid(ctx, resource, field, "invalid")
    try:
        return utc_time(value)
    except ValueError:
        invalid(ctx, resource, field, "invalid")


def utc_time(text: str) -> str:
    """An ISO 8601 time as rows hold times. Raises ValueError for what is none."""
    try:
        time = datetime.fromisoformat(text)
        utc = time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
    except OverflowError as error:
        raise ValueError(f"{text} lies outside of the calendar") from error
    return utc.strftime("%Y-%m-%dT%H:%M:%SZ")


def since_of(ctx: HandlerContext, resource: str) -> str:
    """The parameter `since`; without it a text that comes before every time."""
    return instant_asked(ctx, resource, "since")


def instant_asked(ctx: HandlerContext, resource: str, name: str) -> str:
    """A time of the query, or the empty text."""
    asked = ctx.args.get(name)
    return instant_of(ctx, resource, name, asked) if asked else ""


def title_of(
    ctx: HandlerContext, resource: str, title: object, longest: int = LONGEST_TITLE
) -> str:
    """A title. The code host takes a number for a text here."""
    is_text = isinstance(title, (str, int)) and not isinstance(title, bool)
    text = str(title).strip() if is_text else ""
    if not text:
        invalid(ctx, resource, "title", "missing_field")
    return _bounded(ctx, resource, "title", text, longest)


def color_of(ctx: HandlerContext, color: object) -> str:
    """Six hexadecimal digits, in small letters."""
    if not isinstance(color, str) or not re.fullmatch(r"[0-9A-Fa-f]{6}", color):
        invalid(ctx, "Label", "color", "invalid")
    return color.lower()


def description_of(ctx: HandlerContext, description: object) -> str | None:
    return text_of(ctx, "Label", "description", description, LONGEST_LABEL_DESCRIPTION)


def label_name_of(ctx: HandlerContext, name: object) -> str:
    if not isinstance(name, str) or not name.strip():
        invalid(ctx, "Label", "name", "missing_field")
    return _bounded(ctx, "Label", "name", name, LONGEST_LABEL)


def label_names(ctx: HandlerContext, value: object) -> list[str]:
    """Names of labels: texts, or objects with a `name`; each name once."""
    if not isinstance(value, list):
        invalid(ctx, "Issue", "labels", "invalid")
    names = [item.get("name") if isinstance(item, dict) else item for item in value]
    return list(dict.fromkeys(label_name_of(ctx, name) for name in names))


def user_logins(ctx: HandlerContext, resource: str, field: str, value: object) -> list[str]:
    """Logins of users that there are; each once."""
    if not isinstance(value, list):
        invalid(ctx, resource, field, "invalid")
    logins: dict[str, None] = {}
    for login in value:
        user = named(ctx, "users", {"login": login}) if isinstance(login, str) else None
        if user is None or user["type"] != "User":
            invalid(ctx, resource, field, "invalid", value=login)
        logins[user["login"]] = None
    return list(logins)


def _bounded(ctx: HandlerContext, resource: str, field: str, text: str, longest: int) -> str:
    if len(text) > longest:
        message = f"{field} is too long (maximum is {longest} characters)"
        invalid(ctx, resource, field, "custom", message=message)
    return text
