"""The older API: sites, categories, buildings, departments, scripts, packages, users, webhooks."""

from svc_env import HandlerContext, Row

from ..classic import (
    RESOURCES,
    Resource,
    brief,
    flag_in,
    number_in,
    reference_in,
    text_in,
)
from ..events import EVENTS, tell_operation
from ..reading import all_rows
from ..refusals import refuse_page
from .settings import MEMBERS, remove_setting


def _short(ctx: HandlerContext, row: Row) -> Row:
    return {"id": row["id"], "name": row["name"]}


def _read_name(ctx: HandlerContext, body: Row, old: Row | None) -> Row:
    return {"name": text_in(ctx, body, "name", old["name"] if old else "")}


def _remove_site(ctx: HandlerContext, row: Row) -> None:
    for entity in ("computers", "mobile_devices", "computer_groups", "mobile_device_groups", "policies",
                   "computer_profiles", "mobile_profiles", "advanced_computer_searches"):  # fmt: skip
        for other in ctx.query(entity, {"site_id": row["id"]}):
            ctx.update(entity, {"id": other["id"]}, {"site_id": None})
    ctx.delete("sites", {"id": row["id"]})
    tell_operation(ctx, "DELETE", "Site", row["id"], row["name"])


RESOURCES["sites"] = Resource("sites", "sites", "site", "Site", _short, _short, _read_name, remove=_remove_site)
RESOURCES["departments"] = Resource(
    "departments", "departments", "department", "Department", _short, _short, _read_name,
    remove=lambda ctx, row: remove_setting(ctx, "departments", row),
)  # fmt: skip


def _category(ctx: HandlerContext, row: Row) -> Row:
    return {"id": row["id"], "name": row["name"], "priority": row["priority"]}


def _read_category(ctx: HandlerContext, body: Row, old: Row | None) -> Row:
    priority = number_in(ctx, body, "priority", old["priority"] if old else 9)
    return {**_read_name(ctx, body, old), "priority": priority}


RESOURCES["categories"] = Resource(
    "categories", "categories", "category", "Category", _short, _category, _read_category,
    remove=lambda ctx, row: remove_setting(ctx, "categories", row),
)  # fmt: skip

_BUILDING = {
    "name": "name", "street_address1": "streetAddress1", "street_address2": "streetAddress2", "city": "city",
    "state_province": "stateProvince", "zip_postal_code": "zipPostalCode", "country": "country",
}  # fmt: skip


def _building(ctx: HandlerContext, row: Row) -> Row:
    return {"id": row["id"], **{ours: row[theirs] for ours, theirs in _BUILDING.items()}}


def _read_building(ctx: HandlerContext, body: Row, old: Row | None) -> Row:
    return {theirs: text_in(ctx, body, ours, old[theirs] if old else "") for ours, theirs in _BUILDING.items()}


RESOURCES["buildings"] = Resource(
    "buildings", "buildings", "building", "Building", _short, _building, _read_building,
    remove=lambda ctx, row: remove_setting(ctx, "buildings", row),
)  # fmt: skip

_PRIORITIES = {"Before": "BEFORE", "After": "AFTER", "At Reboot": "AT_REBOOT"}


def _script(ctx: HandlerContext, row: Row) -> Row:
    category = brief(ctx, "categories", row["category_id"], "No category assigned")
    return {
        "id": row["id"],
        "name": row["name"],
        "category": category["name"],
        "filename": row["name"],
        "info": row["info"],
        "notes": row["notes"],
        "priority": next(ours for ours, theirs in _PRIORITIES.items() if theirs == row["priority"]),
        "parameters": {f"parameter{number}": row[f"parameter{number}"] for number in range(4, 12)},
        "os_requirements": row["osRequirements"],
        "script_contents": row["scriptContents"],
    }


def _read_script(ctx: HandlerContext, body: Row, old: Row | None) -> Row:
    usual = old or {**MEMBERS["scripts"], "category_id": None}
    priority = text_in(ctx, body, "priority", "")
    if priority and priority not in _PRIORITIES:
        refuse_page(ctx, 409, f"priority must be one of {', '.join(_PRIORITIES)}")
    parameters = body.get("parameters") if isinstance(body.get("parameters"), dict) else {}
    return {
        "name": text_in(ctx, body, "name", usual["name"]),
        "info": text_in(ctx, body, "info", usual["info"], 10_000),
        "notes": text_in(ctx, body, "notes", usual["notes"], 10_000),
        "priority": _PRIORITIES.get(priority, usual["priority"]),
        "osRequirements": text_in(ctx, body, "os_requirements", usual["osRequirements"]),
        "scriptContents": text_in(ctx, body, "script_contents", usual["scriptContents"], 500_000),
        "category_id": reference_in(ctx, body, "category", "categories", usual["category_id"]),
        **{
            f"parameter{number}": text_in(ctx, parameters, f"parameter{number}", usual[f"parameter{number}"])
            for number in range(4, 12)
        },
    }


RESOURCES["scripts"] = Resource("scripts", "scripts", "script", "Script", _short, _script, _read_script)


def _package_short(ctx: HandlerContext, row: Row) -> Row:
    return {"id": row["id"], "name": row["packageName"]}


def _package(ctx: HandlerContext, row: Row) -> Row:
    return {
        "id": row["id"],
        "name": row["packageName"],
        "category": brief(ctx, "categories", row["category_id"], "No category assigned")["name"],
        "filename": row["fileName"],
        "info": row["info"],
        "notes": row["notes"],
        "priority": row["priority"],
        "reboot_required": row["rebootRequired"],
        "fill_user_template": row["fillUserTemplate"],
        "fill_existing_users": row["fillExistingUsers"],
        "allow_uninstalled": False,
        "os_requirements": row["osRequirements"],
        "required_processor": "None",
        "hash_type": row["hashType"],
        "hash_value": row["hashValue"],
        "switch_with_package": "Do Not Install",
        "install_if_reported_available": False,
        "reinstall_option": "Do Not Reinstall",
        "triggering_files": {},
        "send_notification": False,
    }


def _read_package(ctx: HandlerContext, body: Row, old: Row | None) -> Row:
    usual = old or {**MEMBERS["packages"], "category_id": None}
    row = {name: usual[name] for name in MEMBERS["packages"]}
    return {
        **row,
        "packageName": text_in(ctx, body, "name", usual["packageName"]),
        "fileName": text_in(ctx, body, "filename", usual["fileName"]),
        "info": text_in(ctx, body, "info", usual["info"], 10_000),
        "notes": text_in(ctx, body, "notes", usual["notes"], 10_000),
        "priority": number_in(ctx, body, "priority", usual["priority"]),
        "rebootRequired": flag_in(ctx, body, "reboot_required", usual["rebootRequired"]),
        "osRequirements": text_in(ctx, body, "os_requirements", usual["osRequirements"]),
        "category_id": reference_in(ctx, body, "category", "categories", usual["category_id"]),
    }


RESOURCES["packages"] = Resource(
    "packages", "packages", "package", "Package", _package_short, _package, _read_package, name="packageName"
)


def _user(ctx: HandlerContext, row: Row) -> Row:
    computers, devices = (
        [one for one in all_rows(ctx.query, entity, "id") if one["userAndLocation"]["username"] == row["name"]]
        for entity in ("computers", "mobile_devices")
    )
    return {
        "id": row["id"],
        "name": row["name"],
        "full_name": row["full_name"],
        "email": row["email"],
        "email_address": row["email"],
        "phone_number": row["phone_number"],
        "position": row["position"],
        "sites": [],
        "links": {
            "computers": [{"id": one["id"], "name": one["general"]["name"]} for one in computers],
            "mobile_devices": [{"id": one["id"], "name": one["general"]["displayName"]} for one in devices],
        },
    }


def _read_user(ctx: HandlerContext, body: Row, old: Row | None) -> Row:
    usual = old or {"name": "", "full_name": "", "email": "", "phone_number": "", "position": ""}
    fields = {name: text_in(ctx, body, name, usual[name]) for name in ("name", "full_name", "phone_number", "position")}
    return {**fields, "email": text_in(ctx, body, "email", text_in(ctx, body, "email_address", usual["email"]))}


RESOURCES["users"] = Resource("users", "users", "user", "User", _short, _user, _read_user, by=(("email", "email"),))


def _webhook(ctx: HandlerContext, row: Row) -> Row:
    return {
        "id": row["id"],
        "name": row["name"],
        "enabled": row["enabled"],
        "url": row["url"],
        "content_type": row["content_type"],
        "event": row["events"][0],
        "connection_timeout": row["connection_timeout"],
        "read_timeout": row["read_timeout"],
        "authentication_type": "NONE",
        "username": "",
        "smart_group_id": row["smart_group_id"] or 0,
        "enable_display_fields_for_group_object": False,
        "display_fields": [],
    }


def _read_webhook(ctx: HandlerContext, body: Row, old: Row | None) -> Row:
    usual = old or {
        "name": "", "enabled": True, "url": "", "content_type": "application/json", "events": [""],
        "connection_timeout": 5, "read_timeout": 2, "smart_group_id": None,
    }  # fmt: skip
    event = text_in(ctx, body, "event", usual["events"][0])
    if event not in EVENTS:
        refuse_page(ctx, 409, f"Unknown event: {event[:100]}")
    url = text_in(ctx, body, "url", usual["url"], 2_000)
    if not url.lower().startswith(("http://", "https://")):
        refuse_page(ctx, 409, "url must begin with http:// or https://")
    content_type = text_in(ctx, body, "content_type", usual["content_type"])
    if content_type != "application/json":
        refuse_page(ctx, 409, "content_type must be application/json: this world sends no other")
    group = number_in(ctx, body, "smart_group_id", usual["smart_group_id"] or 0)
    return {
        "name": text_in(ctx, body, "name", usual["name"]),
        "enabled": flag_in(ctx, body, "enabled", usual["enabled"]),
        "url": url,
        "content_type": content_type,
        "events": [event],
        "connection_timeout": number_in(ctx, body, "connection_timeout", usual["connection_timeout"]),
        "read_timeout": number_in(ctx, body, "read_timeout", usual["read_timeout"]),
        "smart_group_id": group or None,
    }


def _name_webhook(ctx: HandlerContext, row: Row, body: Row, old: Row | None) -> None:
    """Events are addressed to each webhook by its id, as each gets its own name."""
    ctx.update("webhooks", {"id": row["id"]}, {"hooks": [str(row["id"])]})


RESOURCES["webhooks"] = Resource(
    "webhooks", "webhooks", "webhook", "Webhook", _short, _webhook, _read_webhook, after=_name_webhook
)
