"""The older API: mobile devices. They are made by enrolment, so here they are read, changed and deleted."""

from svc_env import HandlerContext, Row

from ..classic import RESOURCES, Resource, brief, object_in, reference_in, text_in
from ..classic_people import epoch_of, location_of, person_in, text_or, utc_of
from ..events import tell_operation
from ..inventory import Names
from ..refusals import refuse_page


def _mobile_short(ctx: HandlerContext, row: Row) -> Row:
    general, hardware = row["general"], row["hardware"]
    return {
        "id": row["id"],
        "name": general["displayName"],
        "device_name": general["displayName"],
        "udid": row["udid"],
        "serial_number": hardware["serialNumber"],
        "phone_number": row["userAndLocation"]["phoneNumber"] or "",
        "wifi_mac_address": hardware["wifiMacAddress"],
        "managed": general["managed"],
        "supervised": general["supervised"],
        "model": hardware["model"],
        "model_identifier": hardware["modelIdentifier"],
        "model_display": hardware["model"],
        "username": row["userAndLocation"]["username"] or "",
    }


def _mobile(ctx: HandlerContext, row: Row) -> Row:
    general, hardware, security = row["general"], row["hardware"], row["security"]
    return {
        "general": {
            **_mobile_short(ctx, row),
            "display_name": general["displayName"],
            "asset_tag": general["assetTag"] or "",
            "os_type": row["device_type"],
            "os_version": general["osVersion"],
            "os_build": general["osBuild"],
            "ip_address": general["ipAddress"] or "",
            "capacity_mb": hardware["capacityMb"],
            "battery_level": hardware["batteryLevel"],
            "last_inventory_update_utc": utc_of(general["lastInventoryUpdateDate"]),
            "last_inventory_update_epoch": epoch_of(general["lastInventoryUpdateDate"]),
            "device_ownership_level": general["deviceOwnershipType"],
            "site": brief(ctx, "sites", row["site_id"]),
        },
        "location": location_of(Names(ctx), row, "emailAddress", "realName", "phoneNumber"),
        "security": {
            "data_protection": security["dataProtected"],
            "passcode_present": security["passcodePresent"],
            "passcode_compliant": security["passcodeCompliant"],
            "activation_lock_enabled": security["activationLockEnabled"],
            "lost_mode_enabled": security["lostModeEnabled"],
        },
        "applications": [],
        "extension_attributes": [],
    }


def _read_mobile(ctx: HandlerContext, body: Row, old: Row | None) -> Row:
    if old is None:
        refuse_page(ctx, 409, "Mobile devices are made by enrolment")
    general, location = object_in(ctx, body, "general"), object_in(ctx, body, "location")
    person = old["userAndLocation"]
    name = text_in(ctx, general, "display_name", text_in(ctx, general, "name", old["general"]["displayName"]))
    tag = text_or(ctx, general, "asset_tag", old["general"]["assetTag"])
    return {
        "general": {**old["general"], "displayName": name, "assetTag": tag},
        "userAndLocation": person_in(ctx, location, person, "emailAddress", "realName", "phoneNumber"),
        "department_id": reference_in(ctx, location, "department", "departments", old["department_id"]),
        "building_id": reference_in(ctx, location, "building", "buildings", old["building_id"]),
        "site_id": reference_in(ctx, general, "site", "sites", old["site_id"]),
    }


def _remove_mobile(ctx: HandlerContext, row: Row) -> None:
    for member in ctx.query("mobile_device_group_members", {"mobile_device_id": row["id"]}):
        key = {"group_id": member["group_id"], "mobile_device_id": row["id"]}
        ctx.delete("mobile_device_group_members", key)
    for command in ctx.query("mdm_commands", {"mobile_device_id": row["id"]}):
        ctx.delete("mdm_commands", {"uuid": command["uuid"]})
    ctx.delete("mobile_devices", {"id": row["id"]})
    tell_operation(ctx, "DELETE", "Mobile Device", row["id"], row["general"]["displayName"])


RESOURCES["mobiledevices"] = Resource(
    "mobile_devices", "mobile_devices", "mobile_device", "Mobile Device", _mobile_short, _mobile, _read_mobile,
    name="general.displayName", remove=_remove_mobile,
    by=(("serialnumber", "hardware.serialNumber"), ("udid", "udid")),
)  # fmt: skip
