"""Computers in the newer API: inventory by sections, details, changes, commands of their own."""

from typing import Any

from svc_env import HandlerContext, Row
from svc_env.finding import by_id

from ..changing import object_body, patched, reference
from ..commands import queue
from ..events import smart_groups, tell_memberships, tell_operation
from ..inventory import COMPUTER_SECTIONS, Names, computer_answer
from ..paging import path_value, select
from ..reading import all_rows
from ..refusals import refuse, refuse_unknown

SORTS = frozenset(
    """general.name udid id general.assetTag general.jamfBinaryVersion general.lastContactTime general.lastEnrolledDate
    general.lastCloudBackupDate general.reportDate general.remoteManagement.managementUsername
    general.mdmCertificateExpiration general.platform general.lastLoggedInUsernameSelfService
    general.lastLoggedInUsernameSelfServiceTimestamp general.lastLoggedInUsernameBinary
    general.lastLoggedInUsernameBinaryTimestamp hardware.make hardware.model operatingSystem.build
    operatingSystem.supplementalBuildVersion operatingSystem.rapidSecurityResponse operatingSystem.name
    operatingSystem.version userAndLocation.realname purchasing.lifeExpectancy purchasing.warrantyDate""".split()
)
FILTERS = SORTS | frozenset(
    """general.barcode1 general.barcode2 general.enrolledViaAutomatedDeviceEnrollment general.lastIpAddress
    general.itunesStoreAccountActive general.lastReportedIp general.lastReportedIpV4 general.lastReportedIpV6
    general.managementId general.remoteManagement.managed general.mdmCapable.capable general.supervised
    general.userApprovedMdm general.declarativeDeviceManagementEnabled hardware.bleCapable hardware.macAddress
    hardware.modelIdentifier hardware.serialNumber hardware.supportsIosAppInstalls hardware.appleSilicon
    operatingSystem.activeDirectoryStatus operatingSystem.fileVault2Status security.activationLockEnabled
    security.recoveryLockEnabled security.firewallEnabled userAndLocation.buildingId userAndLocation.departmentId
    userAndLocation.email userAndLocation.phone userAndLocation.position userAndLocation.room
    userAndLocation.username diskEncryption.fileVault2Enabled purchasing.appleCareId purchasing.purchased
    purchasing.leased purchasing.vendor""".split()
)

#: What a computer may be changed in.
_KINDS: dict[str, dict[str, type]] = {
    "general": {"name": str, "lastIpAddress": str, "barcode1": str, "barcode2": str, "assetTag": str},
    "userAndLocation": {
        "username": str, "realname": str, "email": str, "position": str, "phone": str, "room": str,
    },
    "purchasing": {
        "leased": bool, "purchased": bool, "poNumber": str, "poDate": str, "vendor": str, "warrantyDate": str,
        "appleCareId": str, "leaseDate": str, "purchasePrice": str, "lifeExpectancy": int,
        "purchasingAccount": str, "purchasingContact": str,
    },
}  # fmt: skip


def value_of(row: Row, field: str) -> Any:
    """Returns the value by which a computer is filtered or sorted."""
    match field:
        case "userAndLocation.buildingId":
            return row["building_id"]
        case "userAndLocation.departmentId":
            return row["department_id"]
        case "general.managementId":
            return row["management_id"]
        case "diskEncryption.fileVault2Enabled":
            return row["operatingSystem"]["fileVault2Status"] in ("ALL_ENCRYPTED", "BOOT_ENCRYPTED")
    return path_value(row, field)


def sections_of(ctx: HandlerContext, known: dict[str, str], usual: list[str]) -> list[str]:
    """The sections that are asked for, several in one parameter or each in its own."""
    given = [part.strip().upper() for part in ",".join(ctx.args.get("section") or []).split(",") if part.strip()]
    for section in given:
        if section not in known and section != "ALL":
            refuse(ctx, 400, "INVALID_FIELD", f"Invalid section: {section}"[:200], "section")
    return list(known) if "ALL" in given else given or usual


def find_computer(ctx: HandlerContext) -> Row:
    """The computer that the path names."""
    row = by_id(ctx, "computers", ctx.args["id"])
    if row is None:
        refuse_unknown(ctx, "Computer", ctx.args["id"])
    return row


def list_computers(ctx: HandlerContext) -> Row:
    sections = sections_of(ctx, COMPUTER_SECTIONS, ["GENERAL"])
    rows, total = select(ctx, all_rows(ctx.query, "computers"), value_of, FILTERS, SORTS, "general.name:asc")
    names = Names(ctx)
    return {"totalCount": total, "results": [computer_answer(row, sections, names) for row in rows]}


def get_computer(ctx: HandlerContext) -> Row:
    sections = sections_of(ctx, COMPUTER_SECTIONS, ["GENERAL"])
    return computer_answer(find_computer(ctx), sections, Names(ctx))


def get_computer_detail(ctx: HandlerContext) -> Row:
    return computer_answer(find_computer(ctx), COMPUTER_SECTIONS, Names(ctx))


def update_computer(ctx: HandlerContext) -> Row:
    """Changes what is given, and answers the whole computer."""
    row, body = find_computer(ctx), object_body(ctx)
    patch: Row = {}
    for section, kinds in _KINDS.items():
        if body.get(section) is not None:
            patch[section] = patched(ctx, section, row[section], body[section], kinds)
    general, location = body.get("general") or {}, body.get("userAndLocation") or {}
    if "siteId" in general:
        patch["site_id"] = reference(ctx, "general.siteId", "sites", general["siteId"])
    if "departmentId" in location:
        patch["department_id"] = reference(ctx, "userAndLocation.departmentId", "departments", location["departmentId"])
    if "buildingId" in location:
        patch["building_id"] = reference(ctx, "userAndLocation.buildingId", "buildings", location["buildingId"])
    if not (patch.get("general") or row["general"])["name"]:
        refuse(ctx, 400, "INVALID_FIELD", "general.name must not be empty", "general.name")
    changed = change_computer(ctx, row, patch)
    return computer_answer(changed, COMPUTER_SECTIONS, Names(ctx))


def change_computer(ctx: HandlerContext, row: Row, patch: Row) -> Row:
    """Changes a computer, and tells webhooks of it and of the smart groups that it joined or left."""
    before = smart_groups(ctx, row)
    changed = ctx.update("computers", {"id": row["id"]}, patch) if patch else row
    tell_operation(ctx, "PUT", "Computer", row["id"], changed["general"]["name"])
    tell_memberships(ctx, changed, before, smart_groups(ctx, changed))
    return changed


def delete_computer(ctx: HandlerContext) -> None:
    remove_computer(ctx, find_computer(ctx))


def remove_computer(ctx: HandlerContext, row: Row) -> None:
    """Deletes a computer and what belongs to it; policies and profiles no longer name it."""
    for member in ctx.query("computer_group_members", {"computer_id": row["id"]}):
        ctx.delete("computer_group_members", {"group_id": member["group_id"], "computer_id": row["id"]})
    for command in ctx.query("mdm_commands", {"computer_id": row["id"]}):
        ctx.delete("mdm_commands", {"uuid": command["uuid"]})
    ctx.delete("computers", {"id": row["id"]})
    tell_operation(ctx, "DELETE", "Computer", row["id"], row["general"]["name"])


def erase_computer(ctx: HandlerContext) -> Row:
    """Queues the command that wipes a computer."""
    row = find_computer(ctx)
    pin = (ctx.body or {}).get("pin") if isinstance(ctx.body, dict) else None
    command = queue(ctx, "ERASE_DEVICE", {} if pin is None else {"pin": pin}, computer=row)
    return {"deviceId": str(row["id"]), "commandUuid": command["uuid"]}


def remove_mdm_profile(ctx: HandlerContext) -> Row:
    row = find_computer(ctx)
    command = queue(ctx, "UNMANAGE_DEVICE", {}, computer=row)
    return {"deviceId": str(row["id"]), "commandUuid": command["uuid"]}


def redeploy_framework(ctx: HandlerContext) -> Row:
    row = find_computer(ctx)
    command = queue(ctx, "INSTALL_ENTERPRISE_APPLICATION", {}, computer=row)
    return {"deviceId": str(row["id"]), "commandUuid": command["uuid"]}
