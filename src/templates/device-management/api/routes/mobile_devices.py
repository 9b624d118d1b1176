"""Mobile devices in the newer API: a short list, details by sections, changes."""

from typing import Any

from svc_env import HandlerContext, Row
from svc_env.finding import by_id

from ..changing import object_body, patched, reference
from ..events import tell_operation
from ..inventory import MOBILE_SECTIONS, Names, mobile_answer, wire_id
from ..paging import path_value, select
from ..reading import all_rows
from ..refusals import refuse, refuse_unknown
from .computers import sections_of

#: Where a row has what the API filters and sorts by, in one flat list of names.
_PATHS = {
    "mobileDeviceId": "id",
    "udid": "udid",
    "building": "building",
    "department": "department",
    "fullName": "userAndLocation.realName",
    "userPhoneNumber": "userAndLocation.phoneNumber",
    "passcodePresent": "security.passcodePresent",
    "passcodeCompliant": "security.passcodeCompliant",
    "passcodeCompliantWithProfile": "security.passcodeCompliantWithProfile",
    "activationLockEnabled": "security.activationLockEnabled",
    "jailbreakStatus": "security.jailBreakDetected",
    "lostModeEnabled": "security.lostModeEnabled",
    "dataProtection": "security.dataProtected",
    "warrantyExpirationDate": "purchasing.warrantyExpiresDate",
    "vendor": "purchasing.vendor",
    "poNumber": "purchasing.poNumber",
    "currentCarrierNetwork": "network.currentCarrierNetwork",
    "imei": "network.imei",
    "iccid": "network.iccid",
    **{
        name: f"general.{name}"
        for name in """displayName assetTag osVersion osBuild ipAddress managed supervised deviceOwnershipType
        lastInventoryUpdateDate lastEnrolledDate mdmProfileExpirationDate timeZone
        declarativeDeviceManagementEnabled""".split()
    },
    **{
        name: f"hardware.{name}"
        for name in """serialNumber model modelIdentifier modelNumber capacityMb availableSpaceMb usedSpacePercentage
        batteryLevel wifiMacAddress bluetoothMacAddress deviceId modemFirmwareVersion
        bluetoothLowEnergyCapable""".split()
    },
    **{name: f"userAndLocation.{name}" for name in ("username", "emailAddress", "position", "room")},
}
FIELDS = frozenset(_PATHS)

_GENERAL: dict[str, type] = {"displayName": str, "assetTag": str, "timeZone": str}
_LOCATION: dict[str, type] = {
    "username": str, "realName": str, "emailAddress": str, "position": str, "phoneNumber": str, "room": str,
}  # fmt: skip


def reader_of(names: Names) -> Any:
    def value(row: Row, field: str) -> Any:
        if field in ("building", "department"):
            return names.of(f"{field}s", row[f"{field}_id"])
        return path_value(row, _PATHS[field])

    return value


def short_answer(row: Row) -> Row:
    """A mobile device as the short list has it."""
    general, hardware = row["general"], row["hardware"]
    return {
        "id": str(row["id"]),
        "name": general["displayName"],
        "serialNumber": hardware["serialNumber"],
        "wifiMacAddress": hardware["wifiMacAddress"],
        "udid": row["udid"],
        "phoneNumber": row["userAndLocation"]["phoneNumber"],
        "model": hardware["model"],
        "modelIdentifier": hardware["modelIdentifier"],
        "username": row["userAndLocation"]["username"],
        "type": row["device_type"].lower(),
        "managementId": row["management_id"],
        "softwareUpdateDeviceId": hardware["modelIdentifier"],
    }


def detail_answer(row: Row, names: Names) -> Row:
    """A mobile device alone, as its own address has it."""
    general = row["general"]
    whole_device = mobile_answer(row, MOBILE_SECTIONS, names)
    return {
        "id": str(row["id"]),
        "name": general["displayName"],
        "type": row["device_type"].lower(),
        "siteId": wire_id(row["site_id"]) or "-1",
        "managementId": row["management_id"],
        "udid": row["udid"],
        "assetTag": general["assetTag"],
        "osVersion": general["osVersion"],
        "osBuild": general["osBuild"],
        "ipAddress": general["ipAddress"],
        "managed": general["managed"],
        "supervised": general["supervised"],
        "serialNumber": row["hardware"]["serialNumber"],
        "wifiMacAddress": row["hardware"]["wifiMacAddress"],
        "lastInventoryUpdateTimestamp": general["lastInventoryUpdateDate"],
        "location": whole_device["userAndLocation"],
        "ios": {name: whole_device[name] for name in ("purchasing", "security", "network", "applications")},
    }


def find_device(ctx: HandlerContext) -> Row:
    """The mobile device that the path names."""
    row = by_id(ctx, "mobile_devices", ctx.args["id"])
    if row is None:
        refuse_unknown(ctx, "Mobile device", ctx.args["id"])
    return row


def list_mobile_devices(ctx: HandlerContext) -> Row:
    names = Names(ctx)
    rows, total = select(
        ctx, all_rows(ctx.query, "mobile_devices"), reader_of(names), FIELDS, FIELDS, "mobileDeviceId:asc"
    )
    return {"totalCount": total, "results": [short_answer(row) for row in rows]}


def list_mobile_device_details(ctx: HandlerContext) -> Row:
    sections = sections_of(ctx, MOBILE_SECTIONS, ["GENERAL"])
    names = Names(ctx)
    rows, total = select(
        ctx, all_rows(ctx.query, "mobile_devices"), reader_of(names), FIELDS, FIELDS, "displayName:asc"
    )
    return {"totalCount": total, "results": [mobile_answer(row, sections, names) for row in rows]}


def get_mobile_device(ctx: HandlerContext) -> Row:
    return short_answer(find_device(ctx))


def get_mobile_device_detail(ctx: HandlerContext) -> Row:
    return detail_answer(find_device(ctx), Names(ctx))


def update_mobile_device(ctx: HandlerContext) -> Row:
    """Changes what is given, and answers the device."""
    row, body = find_device(ctx), object_body(ctx)
    patch: Row = {}
    general = {"displayName": body["name"]} if "name" in body else {}
    general |= {name: body[name] for name in ("assetTag", "timeZone") if name in body}
    if general:
        patch["general"] = patched(ctx, "general", row["general"], general, _GENERAL)
        if not patch["general"]["displayName"]:
            refuse(ctx, 400, "INVALID_FIELD", "name must not be empty", "name")
    if "siteId" in body:
        patch["site_id"] = reference(ctx, "siteId", "sites", body["siteId"])
    if body.get("location") is not None:
        location = body["location"]
        patch["userAndLocation"] = patched(ctx, "location", row["userAndLocation"], location, _LOCATION)
        for name in ("department", "building"):
            if f"{name}Id" in location:
                field = f"location.{name}Id"
                patch[f"{name}_id"] = reference(ctx, field, f"{name}s", location[f"{name}Id"])
    changed = ctx.update("mobile_devices", {"id": row["id"]}, patch) if patch else row
    tell_operation(ctx, "PUT", "Mobile Device", row["id"], changed["general"]["displayName"])
    return detail_answer(changed, Names(ctx))
