"""Times of the last change: `Last-Modified`, and 304 for a client that has the present state."""

from datetime import UTC, datetime

from svc_env import HandlerContext, Row

DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def dated(ctx: HandlerContext, body: Row, time: str) -> Row:
    """The body of a row that was changed at a time. Answers 304 itself when the client has that;
    `If-None-Match` is the host's, and goes before."""
    changed = datetime.fromisoformat(time).astimezone(UTC)
    ctx.set_header("last-modified", _header_of(changed))
    asked = ctx.headers.get("if-modified-since")
    if asked and "if-none-match" not in ctx.headers and _is_since(asked, changed):
        ctx.respond(304)
    return body


def _header_of(time: datetime) -> str:
    """A time in UTC as headers have it."""
    day, month = DAYS[time.weekday()], MONTHS[time.month - 1]
    return f"{day}, {time.day:02d} {month} {time.year:04d} {time:%H:%M:%S} GMT"


def _is_since(text: str, changed: datetime) -> bool:
    """Returns true if nothing has changed since a time. Ignores a text that is no time."""
    from email.utils import parsedate_to_datetime  # A megabyte, and few clients ask for it.

    try:
        since = parsedate_to_datetime(text)
    except (TypeError, ValueError):
        return False
    return since.replace(tzinfo=since.tzinfo or UTC) >= changed
