"""Fields that the company added: a number, a text, a date, an option, or people."""

from typing import Any

from svc_env import HandlerContext, Row

from .drafting import LONGEST_TEXT, Draft, Wrong, date_of, reference_in
from .finding import indexed
from .history import item
from .setting import user_meant


def _option(row: Row, value: Any) -> str:
    if isinstance(value, str):
        value = {"value": value}
    asked = reference_in(value, "id", "value")
    found = next((one for one in row.get("options", []) if asked in (one["id"], one["value"])), None)
    if found is None:
        what = "id" if value.get("id") is not None else "value"
        raise Wrong(f"Option {what} '{asked}' is not valid")
    return found["id"]


def _custom_value(ctx: HandlerContext, row: Row, value: Any) -> Any:
    """A value of a custom field as rows hold it."""
    schema = row["schema"]
    if value is None:
        return None
    match schema["type"]:
        case "option":
            return _option(row, value)
        case "number":
            if isinstance(value, bool) or not isinstance(value, (int, float)):
                raise Wrong("Operation value must be a number")
            return value
        case "date":
            return date_of(value)
        case "array":
            if not isinstance(value, list):
                raise Wrong("data was not an array")
            users = [user_meant(ctx, one) for one in value]
            return [user["account_id"] for user in users if user]
        case _:
            if not isinstance(value, str):
                raise Wrong("Operation value must be a string")
            if len(value) > LONGEST_TEXT:
                raise Wrong(f"The entered text is too long. It exceeds the allowed limit of {LONGEST_TEXT} characters.")
            return value


def _custom_text(ctx: HandlerContext, row: Row, value: Any) -> str | None:
    if value is None:
        return None
    if row["schema"]["type"] == "option":
        return next((one["value"] for one in row.get("options", []) if one["id"] == value), None)
    if isinstance(value, list):
        people = indexed(ctx.query("users", {"account_id": value}), "account_id") if value else {}
        return ", ".join(people[one]["display_name"] for one in value if one in people)
    return str(value)


def set_custom(draft: Draft, row: Row, value: Any) -> None:
    kept = dict(draft.now("custom") or {})
    before, after = kept.get(row["id"]), _custom_value(draft.ctx, row, value)
    if before == after:
        return
    if after is None:
        kept.pop(row["id"], None)
    else:
        kept[row["id"]] = after
    draft.patch["custom"] = kept
    texts = [(None, _custom_text(draft.ctx, row, one)) for one in (before, after)]
    draft.items.append(item(row, *texts, custom=True))
