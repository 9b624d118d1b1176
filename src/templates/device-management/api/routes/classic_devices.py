"""The older API: computers and mobile devices, and commands that name them by their ids."""

from datetime import datetime
from typing import Any

from svc_env import HandlerContext, Row
from svc_env.finding import whole_number

from ..blank import BLANK_COMPUTER
from ..classic import (
    RESOURCES,
    Resource,
    XML,
    brief,
    find,
    flag_in,
    object_in,
    reference_in,
    say,
    text_in,
)
from ..commands import queue
from ..events import computer_event, smart_groups, tell, tell_memberships, tell_operation
from ..inventory import COMPUTER, Names, groups_of, profiles_on
from ..refusals import refuse_page
from ..rsql import matches, read_filter
from ..xml_text import write_xml
from .computers import remove_computer

SUBSETS = {
    "general": "general",
    "location": "location",
    "purchasing": "purchasing",
    "hardware": "hardware",
    "security": "security",
    "software": "software",
    "groupsaccounts": "groups_accounts",
    "configurationprofiles": "configuration_profiles",
    "extensionattributes": "extension_attributes",
}


def _utc(at: str | None) -> str:
    """The older API's times: 2026-03-01T08:30:00.000+0000."""
    return f"{at[:19]}.000+0000" if at else ""


def _epoch(at: str | None) -> int:
    return int(datetime.fromisoformat(at).timestamp() * 1000) if at else 0


def _location(names: Names, row: Row, email: str, real: str, phone: str) -> Row:
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


def _computer_short(ctx: HandlerContext, row: Row) -> Row:
    return {"id": row["id"], "name": row["general"]["name"]}


def _computer(ctx: HandlerContext, row: Row) -> Row:
    names = Names(ctx)
    general, hardware, system = row["general"], row["hardware"], row["operatingSystem"]
    purchasing, security = row["purchasing"], row["security"]
    return {
        "general": {
            "id": row["id"],
            "name": general["name"],
            "mac_address": hardware["macAddress"],
            "alt_mac_address": hardware["altMacAddress"] or "",
            "ip_address": general["lastIpAddress"] or "",
            "last_reported_ip": general["lastReportedIp"] or "",
            "serial_number": hardware["serialNumber"],
            "udid": row["udid"],
            "jamf_version": general["jamfBinaryVersion"],
            "platform": general["platform"],
            "barcode_1": general["barcode1"] or "",
            "barcode_2": general["barcode2"] or "",
            "asset_tag": general["assetTag"] or "",
            "remote_management": {
                "managed": general["remoteManagement"]["managed"],
                "management_username": general["remoteManagement"]["managementUsername"] or "",
            },
            "supervised": general["supervised"],
            "mdm_capable": general["mdmCapable"]["capable"],
            "report_date": general["reportDate"] or "",
            "report_date_epoch": _epoch(general["reportDate"]),
            "report_date_utc": _utc(general["reportDate"]),
            "last_contact_time": general["lastContactTime"] or "",
            "last_contact_time_epoch": _epoch(general["lastContactTime"]),
            "last_contact_time_utc": _utc(general["lastContactTime"]),
            "initial_entry_date": general["initialEntryDate"] or "",
            "last_enrolled_date_epoch": _epoch(general["lastEnrolledDate"]),
            "last_enrolled_date_utc": _utc(general["lastEnrolledDate"]),
            "distribution_point": "",
            "site": brief(ctx, "sites", row["site_id"]),
            "itunes_store_account_is_active": False,
        },
        "location": _location(names, row, "email", "realname", "phone"),
        "purchasing": {
            "is_purchased": bool(purchasing["purchased"]),
            "is_leased": bool(purchasing["leased"]),
            "po_number": purchasing["poNumber"] or "",
            "vendor": purchasing["vendor"] or "",
            "applecare_id": purchasing["appleCareId"] or "",
            "purchase_price": purchasing["purchasePrice"] or "",
            "po_date": purchasing["poDate"] or "",
            "warranty_expires": purchasing["warrantyDate"] or "",
            "life_expectancy": purchasing["lifeExpectancy"] or 0,
        },
        "hardware": {
            "make": hardware["make"],
            "model": hardware["model"],
            "model_identifier": hardware["modelIdentifier"],
            "os_name": system["name"],
            "os_version": system["version"],
            "os_build": system["build"],
            "processor_type": hardware["processorType"],
            "is_apple_silicon": hardware["appleSilicon"],
            "processor_architecture": hardware["processorArchitecture"],
            "number_cores": hardware["coreCount"],
            "total_ram": hardware["totalRamMegabytes"],
            "total_ram_mb": hardware["totalRamMegabytes"],
            "sip_status": security["sipStatus"].title(),
            "gatekeeper_status": security["gatekeeperStatus"],
            "filevault2_users": row["diskEncryption"]["fileVault2EnabledUserNames"],
        },
        "security": {
            "activation_lock": security["activationLockEnabled"],
            "recovery_lock_enabled": security["recoveryLockEnabled"],
            "secure_boot_level": security["secureBootLevel"],
            "external_boot_level": security["externalBootLevel"],
            "firewall_enabled": security["firewallEnabled"],
        },
        "software": {
            "applications": [
                {"name": one["name"], "path": one["path"], "version": one["version"], "bundle_id": one["bundleId"]}
                for one in row["applications"]
            ],
        },
        "extension_attributes": [],
        "groups_accounts": {
            "computer_group_memberships": [group["name"] for group in groups_of(row, COMPUTER, names)],
            "local_accounts": [
                {
                    "name": one["username"],
                    "realname": one["fullName"],
                    "uid": one["uid"],
                    "home": one["homeDirectory"],
                    "administrator": one["admin"],
                    "filevault_enabled": one["fileVault2Enabled"],
                }
                for one in row["localUserAccounts"]
            ],
        },
        "configuration_profiles": [
            {"id": one["id"], "name": one["name"], "uuid": one["uuid"], "is_removable": one["user_removable"]}
            for one in profiles_on(row, COMPUTER, names)
        ],
    }


def list_computers_basic(ctx: HandlerContext) -> None:
    names = Names(ctx)
    say(ctx, "computers", [_basic(names, row) for row in ctx.query("computers", order_by="id")])


def match_computers(ctx: HandlerContext) -> None:
    """Computers whose name, serial number, address or user matches, with `*` for anything."""
    names = Names(ctx)
    field = frozenset({"it"})
    tree = read_filter(f'it=="{ctx.args["match"].replace(chr(34), "")}"', field)
    found = [
        row
        for row in ctx.query("computers", order_by="id")
        if any(matches(tree, lambda _, value=value: value) for value in _matched(row))
    ]
    say(ctx, "computers", [_basic(names, row) for row in found])


def _matched(row: Row) -> list[Any]:
    person = row["userAndLocation"]
    return [
        row["general"]["name"], row["general"]["assetTag"], row["udid"], row["hardware"]["serialNumber"],
        row["hardware"]["macAddress"], person["username"], person["realname"], person["email"],
    ]  # fmt: skip


def _basic(names: Names, row: Row) -> Row:
    general = row["general"]
    return {
        "id": row["id"],
        "name": general["name"],
        "managed": general["remoteManagement"]["managed"],
        "username": row["userAndLocation"]["username"] or "",
        "model": row["hardware"]["model"],
        "department": names.of("departments", row["department_id"]) or "",
        "building": names.of("buildings", row["building_id"]) or "",
        "mac_address": row["hardware"]["macAddress"],
        "udid": row["udid"],
        "serial_number": row["hardware"]["serialNumber"],
        "report_date_utc": _utc(general["reportDate"]),
        "report_date_epoch": _epoch(general["reportDate"]),
    }


def get_computer_subset(ctx: HandlerContext) -> None:
    """Parts of a computer, joined by `&` in the path."""
    row = _computer(ctx, find(ctx, RESOURCES["computers"]))
    wanted = [SUBSETS.get(part.lower().replace("_", "")) for part in ctx.args["subset"].split("&")]
    if None in wanted:
        refuse_page(ctx, 404)
    say(ctx, "computer", {name: row[name] for name in wanted if name})


def _read_computer(ctx: HandlerContext, body: Row, old: Row | None) -> Row:
    general, location = object_in(ctx, body, "general"), object_in(ctx, body, "location")
    row = old or _new_computer(ctx, general)
    management = object_in(ctx, general, "remote_management")
    managed = flag_in(ctx, management, "managed", row["general"]["remoteManagement"]["managed"])
    named = {
        "name": text_in(ctx, general, "name", row["general"]["name"]),
        "assetTag": _text(ctx, general, "asset_tag", row["general"]["assetTag"]),
        "barcode1": _text(ctx, general, "barcode_1", row["general"]["barcode1"]),
        "barcode2": _text(ctx, general, "barcode_2", row["general"]["barcode2"]),
        "remoteManagement": {**row["general"]["remoteManagement"], "managed": managed},
    }
    person = row["userAndLocation"]
    fields = {
        "general": {**row["general"], **named},
        "userAndLocation": {
            "username": _text(ctx, location, "username", person["username"]),
            "realname": _text(ctx, location, "realname", _text(ctx, location, "real_name", person["realname"])),
            "email": _text(ctx, location, "email_address", person["email"]),
            "position": _text(ctx, location, "position", person["position"]),
            "phone": _text(ctx, location, "phone", _text(ctx, location, "phone_number", person["phone"])),
            "room": _text(ctx, location, "room", person["room"]),
        },
        "department_id": reference_in(ctx, location, "department", "departments", row["department_id"]),
        "building_id": reference_in(ctx, location, "building", "buildings", row["building_id"]),
        "site_id": reference_in(ctx, general, "site", "sites", row["site_id"]),
    }
    if old is None:
        return {**row, **fields}
    return fields


def _after_computer(ctx: HandlerContext, row: Row, body: Row, old: Row | None) -> None:
    if old is None:
        tell(ctx, "ComputerAdded", computer_event(ctx, row, Names(ctx)))
    before = smart_groups(ctx, old) if old else {}
    tell_memberships(ctx, row, before, smart_groups(ctx, row))


def _text(ctx: HandlerContext, body: Row, name: str, usual: str | None) -> str | None:
    return usual if body.get(name) is None else text_in(ctx, body, name, "")


def _new_computer(ctx: HandlerContext, general: Row) -> Row:
    """A computer as it is before it has sent its inventory."""
    serial = text_in(ctx, general, "serial_number", "")
    udid = text_in(ctx, general, "udid", "") or ctx.ids.uuid().upper()
    if any(row["udid"] == udid.upper() for row in ctx.query("computers")):
        refuse_page(ctx, 409, "Duplicate UDID")
    if serial and any(row["hardware"]["serialNumber"] == serial for row in ctx.query("computers")):
        refuse_page(ctx, 409, "Duplicate serial number")
    hardware = {
        **BLANK_COMPUTER["hardware"],
        "serialNumber": serial,
        "macAddress": text_in(ctx, general, "mac_address", ""),
    }
    at = ctx.clock.now()
    entered = {**BLANK_COMPUTER["general"], "initialEntryDate": at[:10], "lastEnrolledDate": at}
    return {
        **BLANK_COMPUTER,
        "udid": udid.upper(),
        "management_id": ctx.ids.uuid(),
        "hardware": hardware,
        "general": entered,
    }


RESOURCES["computers"] = Resource(
    "computers", "computers", "computer", "Computer", _computer_short, _computer, _read_computer,
    name="general.name", remove=remove_computer, after=_after_computer,
    by=(("serialnumber", "hardware.serialNumber"), ("udid", "udid"), ("macaddress", "hardware.macAddress")),
)  # fmt: skip


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
            "last_inventory_update_utc": _utc(general["lastInventoryUpdateDate"]),
            "last_inventory_update_epoch": _epoch(general["lastInventoryUpdateDate"]),
            "device_ownership_level": general["deviceOwnershipType"],
            "site": brief(ctx, "sites", row["site_id"]),
        },
        "location": _location(Names(ctx), row, "emailAddress", "realName", "phoneNumber"),
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
    tag = _text(ctx, general, "asset_tag", old["general"]["assetTag"])
    return {
        "general": {**old["general"], "displayName": name, "assetTag": tag},
        "userAndLocation": {
            "username": _text(ctx, location, "username", person["username"]),
            "realName": _text(ctx, location, "realname", _text(ctx, location, "real_name", person["realName"])),
            "emailAddress": _text(ctx, location, "email_address", person["emailAddress"]),
            "position": _text(ctx, location, "position", person["position"]),
            "phoneNumber": _text(ctx, location, "phone", _text(ctx, location, "phone_number", person["phoneNumber"])),
            "room": _text(ctx, location, "room", person["room"]),
        },
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

_COMPUTER_COMMANDS = {
    "DeviceLock": "DEVICE_LOCK",
    "EraseDevice": "ERASE_DEVICE",
    "BlankPush": "BLANK_PUSH",
    "UnmanageDevice": "UNMANAGE_DEVICE",
    "RestartNow": "RESTART_DEVICE",
    "EnableRemoteDesktop": "ENABLE_REMOTE_DESKTOP",
    "DisableRemoteDesktop": "DISABLE_REMOTE_DESKTOP",
}
_MOBILE_COMMANDS = {
    "DeviceLock": "DEVICE_LOCK",
    "EraseDevice": "ERASE_DEVICE",
    "BlankPush": "BLANK_PUSH",
    "ClearPasscode": "CLEAR_PASSCODE",
    "UpdateInventory": "UPDATE_INVENTORY",
    "RestartDevice": "RESTART_DEVICE",
    "ShutDownDevice": "SHUT_DOWN_DEVICE",
    "EnableLostMode": "ENABLE_LOST_MODE",
    "DisableLostMode": "DISABLE_LOST_MODE",
    "UnmanageDevice": "UNMANAGE_DEVICE",
}


def send_computer_command(ctx: HandlerContext) -> None:
    """Commands to computers by their ids, several with commas; some need a passcode."""
    kind = _COMPUTER_COMMANDS.get(ctx.args["command"])
    devices = _named_devices(ctx, "computers")
    if kind is None:
        refuse_page(ctx, 400)
    passcode = ctx.args.get("passcode")
    if kind in ("DEVICE_LOCK", "ERASE_DEVICE"):
        if not isinstance(passcode, str) or len(passcode) != 6 or not passcode.isascii() or not passcode.isdigit():
            refuse_page(ctx, 409, "A passcode of six digits is needed")
    data = {"pin": passcode} if passcode else {}
    sent = [queue(ctx, kind, data, computer=device) for device in devices]
    _say_commands(ctx, "computer_command", [{"computer_id": row["computer_id"], **_said(row)} for row in sent])


def send_mobile_command(ctx: HandlerContext) -> None:
    kind = _MOBILE_COMMANDS.get(ctx.args["command"])
    devices = _named_devices(ctx, "mobile_devices")
    if kind is None:
        refuse_page(ctx, 400)
    data = {"lostModeMessage": "Please return this device."} if kind == "ENABLE_LOST_MODE" else {}
    sent = [queue(ctx, kind, data, mobile=device) for device in devices]
    _say_commands(ctx, "mobile_device_command", [{"id": row["mobile_device_id"], **_said(row)} for row in sent])


def _said(row: Row) -> Row:
    return {"command_uuid": row["uuid"], "status": "Command sent"}


def _say_commands(ctx: HandlerContext, name: str, told: list[Row]) -> None:
    ctx.respond(201, write_xml(name, {"command": {"name": ctx.args["command"]}, "commands": told}), {"content-type": XML})


def _named_devices(ctx: HandlerContext, entity: str) -> list[Row]:
    ids = [whole_number(part) for part in ctx.args["ids"].split(",")]
    if len(ids) > 500:
        refuse_page(ctx, 400)
    rows = [None if id is None else ctx.get(entity, {"id": id}) for id in dict.fromkeys(ids)]
    found = [row for row in rows if row]
    if len(found) < len(rows):
        refuse_page(ctx, 404)
    return found
