"""The older API: static and smart groups of both kinds of devices, and saved searches."""

from typing import Any

from svc_env import HandlerContext, Row

from ..classic import (
    RESOURCES,
    Resource,
    brief,
    flag_in,
    list_in,
    number_in,
    reference_in,
    referred,
    text_in,
)
from ..criteria import COMPUTER_FIELDS, fault_of, holds
from ..events import tell_operation
from ..inventory import COMPUTER, MOBILE, Names, criterion_value, members_of
from ..reading import all_rows
from ..refusals import refuse_page


def read_criteria(ctx: HandlerContext, body: Row, fields: dict[str, str], usual: list[Row]) -> list[Row]:
    """Criteria that a body gives in place of the ones before."""
    if body.get("criteria") is None:
        return usual
    found = []
    for at, one in enumerate(list_in(ctx, body, "criteria")):
        if not isinstance(one, dict):
            refuse_page(ctx, 409, "A criterion must have a name, a search type and a value")
        and_or = text_in(ctx, one, "and_or", "and").lower()
        if and_or not in ("and", "or"):
            refuse_page(ctx, 409, "and_or must be and, or or")
        found.append(
            {
                "name": text_in(ctx, one, "name", ""),
                "priority": number_in(ctx, one, "priority", at),
                "and_or": and_or,
                "search_type": text_in(ctx, one, "search_type", "is"),
                "value": text_in(ctx, one, "value", ""),
                "opening_paren": flag_in(ctx, one, "opening_paren", False),
                "closing_paren": flag_in(ctx, one, "closing_paren", False),
            }
        )
    words = fault_of(sorted(found, key=lambda one: one["priority"]), fields)
    if words:
        refuse_page(ctx, 409, words)
    return found


def _member(kind: Row, device: Row) -> Row:
    if kind is COMPUTER:
        return {
            "id": device["id"],
            "name": device["general"]["name"],
            "mac_address": device["hardware"]["macAddress"],
            "alt_mac_address": device["hardware"]["altMacAddress"] or "",
            "serial_number": device["hardware"]["serialNumber"],
        }
    return {
        "id": device["id"],
        "name": device["general"]["displayName"],
        "mac_address": device["hardware"]["wifiMacAddress"],
        "udid": device["udid"],
        "wifi_mac_address": device["hardware"]["wifiMacAddress"],
        "serial_number": device["hardware"]["serialNumber"],
    }


def _groups(path: str, one: str, what: str, kind: Row) -> None:
    """Registers the groups of a kind of devices."""

    def short(ctx: HandlerContext, row: Row) -> Row:
        return {"id": row["id"], "name": row["name"], "is_smart": row["is_smart"]}

    def whole(ctx: HandlerContext, row: Row) -> Row:
        return {
            **short(ctx, row),
            "site": brief(ctx, "sites", row["site_id"]),
            "criteria": row["criteria"],
            kind["scope"]: [_member(kind, device) for device in members_of(ctx, row, kind)],
        }

    def read(ctx: HandlerContext, body: Row, old: Row | None) -> Row:
        usual = old or {"name": "", "is_smart": False, "site_id": None, "criteria": []}
        is_smart = flag_in(ctx, body, "is_smart", usual["is_smart"])
        if old and is_smart != old["is_smart"]:
            refuse_page(ctx, 409, "A group cannot be changed from static to smart, nor back")
        return {
            "name": text_in(ctx, body, "name", usual["name"]),
            "is_smart": is_smart,
            "site_id": reference_in(ctx, body, "site", "sites", usual["site_id"]),
            "criteria": read_criteria(ctx, body, kind["fields"], usual["criteria"]) if is_smart else [],
        }

    def after(ctx: HandlerContext, row: Row, body: Row, old: Row | None) -> None:
        if not row["is_smart"]:
            _change_members(ctx, row, body, kind)

    def remove(ctx: HandlerContext, row: Row) -> None:
        for member in ctx.query(kind["members"], {"group_id": row["id"]}):
            ctx.delete(kind["members"], {"group_id": row["id"], kind["device"]: member[kind["device"]]})
        ctx.delete(kind["groups"], {"id": row["id"]})
        tell_operation(ctx, "DELETE", what, row["id"], row["name"])

    RESOURCES[path] = Resource(
        kind["groups"], kind["groups"], one, what, short, whole, read, remove=remove, after=after
    )


def _change_members(ctx: HandlerContext, group: Row, body: Row, kind: Row) -> None:
    """Members of a static group: all of them, or some that come and go."""
    singular = kind["scope"][:-1]
    members = {row[kind["device"]] for row in ctx.query(kind["members"], {"group_id": group["id"]})}
    wanted = set(members)
    if body.get(kind["scope"]) is not None:
        wanted = _devices(ctx, body, kind["scope"], kind)
    wanted |= _devices(ctx, body, f"{singular}_additions", kind)
    wanted -= _devices(ctx, body, f"{singular}_deletions", kind)
    for id in sorted(members - wanted):
        ctx.delete(kind["members"], {"group_id": group["id"], kind["device"]: id})
    for id in sorted(wanted - members):
        ctx.insert(kind["members"], {"group_id": group["id"], kind["device"]: id})


def _devices(ctx: HandlerContext, body: Row, name: str, kind: Row) -> set[int]:
    found: set[int] = set()
    for one in list_in(ctx, body, name):
        serial = one.get("serial_number") if isinstance(one, dict) else None
        if serial and not one.get("id"):
            rows = [row for row in all_rows(ctx.query, kind["entity"]) if row["hardware"]["serialNumber"] == serial]
            if not rows:
                refuse_page(ctx, 409, f"Problem with {kind['entity']}: no serial number {str(serial)[:50]}")
            found.add(rows[0]["id"])
            continue
        id = referred(ctx, kind["entity"], one)
        if id is not None:
            found.add(id)
    return found


_groups("computergroups", "computer_group", "Static Computer Group", COMPUTER)
_groups("mobiledevicegroups", "mobile_device_group", "Static Mobile Device Group", MOBILE)


def _search_short(ctx: HandlerContext, row: Row) -> Row:
    return {"id": row["id"], "name": row["name"]}


def _search(ctx: HandlerContext, row: Row) -> Row:
    names = Names(ctx)

    def value(device: Row, path: str) -> Any:
        return criterion_value(names, device, path, COMPUTER)

    found = [
        device
        for device in names.rows("computers")
        if holds(row["criteria"], lambda path, device=device: value(device, path), COMPUTER_FIELDS, names.now)
    ]
    return {
        "id": row["id"],
        "name": row["name"],
        "view_as": "Standard Web Page",
        "criteria": row["criteria"],
        "display_fields": [{"name": name} for name in row["display_fields"]],
        "computers": [_found(device, row["display_fields"], value) for device in found],
        "site": brief(ctx, "sites", row["site_id"]),
    }


def _found(device: Row, fields: list[str], value: Any) -> Row:
    shown = {"id": device["id"], "name": device["general"]["name"], "udid": device["udid"]}
    for name in fields:
        said = value(device, COMPUTER_FIELDS[name])
        text = ", ".join(str(one) for one in said) if isinstance(said, list) else "" if said is None else str(said)
        shown[name.replace(" ", "_").replace("-", "_")] = text
    return shown


def _read_search(ctx: HandlerContext, body: Row, old: Row | None) -> Row:
    usual = old or {"name": "", "site_id": None, "criteria": [], "display_fields": []}
    fields = usual["display_fields"]
    if body.get("display_fields") is not None:
        fields = [text_in(ctx, one, "name", "") for one in list_in(ctx, body, "display_fields") if isinstance(one, dict)]
        unknown = [name for name in fields if name not in COMPUTER_FIELDS]
        if unknown:
            refuse_page(ctx, 409, f"Unknown display field: {unknown[0]}")
    return {
        "name": text_in(ctx, body, "name", usual["name"]),
        "site_id": reference_in(ctx, body, "site", "sites", usual["site_id"]),
        "criteria": read_criteria(ctx, body, COMPUTER_FIELDS, usual["criteria"]),
        "display_fields": fields,
    }


RESOURCES["advancedcomputersearches"] = Resource(
    "advanced_computer_searches", "advanced_computer_searches", "advanced_computer_search",
    "Advanced Computer Search", _search_short, _search, _read_search,
)  # fmt: skip
