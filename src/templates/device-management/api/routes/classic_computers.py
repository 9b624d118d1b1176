"""The older API: computers, whole, in parts, and found by words."""

from typing import Any

from svc_env import HandlerContext, Row

from ..blank import BLANK_COMPUTER
from ..classic import RESOURCES, Resource, brief, find, flag_in, object_in, reference_in, say, text_in
from ..classic_people import epoch_of, location_of, person_in, text_or, utc_of
from ..events import computer_event, smart_groups, tell, tell_memberships
from ..inventory import COMPUTER, Names, groups_of, profiles_on
from ..reading import all_rows
from ..refusals import refuse_page
from ..rsql import matches, read_filter
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
            "report_date_epoch": epoch_of(general["reportDate"]),
            "report_date_utc": utc_of(general["reportDate"]),
            "last_contact_time": general["lastContactTime"] or "",
            "last_contact_time_epoch": epoch_of(general["lastContactTime"]),
            "last_contact_time_utc": utc_of(general["lastContactTime"]),
            "initial_entry_date": general["initialEntryDate"] or "",
            "last_enrolled_date_epoch": epoch_of(general["lastEnrolledDate"]),
            "last_enrolled_date_utc": utc_of(general["lastEnrolledDate"]),
            "distribution_point": "",
            "site": brief(ctx, "sites", row["site_id"]),
            "itunes_store_account_is_active": False,
        },
        "location": location_of(names, row, "email", "realname", "phone"),
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
    say(ctx, "computers", [_basic(names, row) for row in all_rows(ctx.query, "computers", "id")])


def match_computers(ctx: HandlerContext) -> None:
    """Computers whose name, serial number, address or user matches, with `*` for anything."""
    names = Names(ctx)
    field = frozenset({"it"})
    tree = read_filter(f'it=="{ctx.args["match"].replace(chr(34), "")}"', field)
    found = [
        row
        for row in all_rows(ctx.query, "computers", "id")
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
        "report_date_utc": utc_of(general["reportDate"]),
        "report_date_epoch": epoch_of(general["reportDate"]),
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
        "assetTag": text_or(ctx, general, "asset_tag", row["general"]["assetTag"]),
        "barcode1": text_or(ctx, general, "barcode_1", row["general"]["barcode1"]),
        "barcode2": text_or(ctx, general, "barcode_2", row["general"]["barcode2"]),
        "remoteManagement": {**row["general"]["remoteManagement"], "managed": managed},
    }
    person = row["userAndLocation"]
    fields = {
        "general": {**row["general"], **named},
        "userAndLocation": person_in(ctx, location, person, "email", "realname", "phone"),
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


def _new_computer(ctx: HandlerContext, general: Row) -> Row:
    """A computer as it is before it has sent its inventory."""
    serial = text_in(ctx, general, "serial_number", "")
    udid = text_in(ctx, general, "udid", "") or ctx.ids.uuid().upper()
    if any(row["udid"] == udid.upper() for row in all_rows(ctx.query, "computers")):
        refuse_page(ctx, 409, "Duplicate UDID")
    if serial and any(row["hardware"]["serialNumber"] == serial for row in all_rows(ctx.query, "computers")):
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
