"""Parts of both kinds of devices in the older API: times, places and owners."""

from datetime import datetime

from svc_env import HandlerContext, Row

from .classic import text_in
from .inventory import Names


def utc_of(at: str | None) -> str:
    """The older API's times: 2026-03-01T08:30:00.000+0000."""
    return f"{at[:19]}.000+0000" if at else ""


def epoch_of(at: str | None) -> int:
    """The same in milliseconds."""
    return int(datetime.fromisoformat(at).timestamp() * 1000) if at else 0


def location_of(names: Names, row: Row, email: str, real: str, phone: str) -> Row:
    """Whose a device is. The last three are what its rows call the person's email, name and phone."""
    person = row["userAndLocation"]
    return {
        "username": person["username"] or "",
        "realname": person[real] or "",
        "real_name": person[real] or "",
        "email_address": person[email] or "",
        "position": person["position"] or "",
        "phone": person[phone] or "",
        "phone_number": person[phone] or "",
        "department": names.of("departments", row["department_id"]) or "",
        "building": names.of("buildings", row["building_id"]) or "",
        "room": person["room"] or "",
    }


def text_or(ctx: HandlerContext, body: Row, name: str, usual: str | None) -> str | None:
    """A text of a body, or what is usual where the body does not say it."""
    return usual if body.get(name) is None else text_in(ctx, body, name, "")


def person_in(ctx: HandlerContext, location: Row, now: Row, email: str, real: str, phone: str) -> Row:
    """Whose a device is to be, by what `location` says; what it does not say is as it is now."""
    real_name = text_or(ctx, location, "real_name", now[real])
    phone_number = text_or(ctx, location, "phone_number", now[phone])
    return {
        "username": text_or(ctx, location, "username", now["username"]),
        real: text_or(ctx, location, "realname", real_name),
        email: text_or(ctx, location, "email_address", now[email]),
        "position": text_or(ctx, location, "position", now["position"]),
        phone: text_or(ctx, location, "phone", phone_number),
        "room": text_or(ctx, location, "room", now["room"]),
    }
