"""Tells webhooks what happened, in the bodies that the vendor sends: the webhook itself, and the event."""

from datetime import datetime
from typing import Any

from svc_env import HandlerContext, Row

from .inventory import COMPUTER, Names, groups_of

#: The events that a webhook can be registered for. The world sends those that a request can cause.
EVENTS = frozenset(
    {
        "ComputerAdded", "ComputerCheckIn", "ComputerInventoryCompleted", "ComputerPatchPolicyCompleted",
        "ComputerPolicyFinished", "ComputerPushCapabilityChanged", "DeviceAddedToDEP", "JSSShutdown", "JSSStartup",
        "MobileDeviceCheckIn", "MobileDeviceCommandCompleted", "MobileDeviceEnrolled", "MobileDeviceInventoryCompleted",
        "MobileDevicePushSent", "MobileDeviceUnEnrolled", "PatchSoftwareTitleUpdated", "PushSent", "RestAPIOperation",
        "SCEPChallenge", "SmartGroupComputerMembershipChange", "SmartGroupMobileDeviceMembershipChange",
        "SmartGroupUserMembershipChange",
    }
)  # fmt: skip

#: Who acts: every caller of the API is this account.
ACCOUNT = "api-automation"


def tell(ctx: HandlerContext, event: str, body: Row) -> None:
    """Delivers an event to each webhook that is registered for it; each gets its own name."""
    at = int(datetime.fromisoformat(ctx.clock.now()).timestamp() * 1000)
    for hook in ctx.query("webhooks", {"enabled": True}, order_by="id"):
        if event not in hook["events"]:
            continue
        about = {"id": hook["id"], "name": hook["name"], "webhookEvent": event, "eventTimestamp": at}
        ctx.deliver(event, {"webhook": about, "event": body}, scope={"hook": str(hook["id"])})


def tell_operation(ctx: HandlerContext, kind: str, what: str, id: int, name: str) -> None:
    """An object was made, changed or deleted by the API."""
    body = {
        "operationSuccessful": True,
        "objectID": id,
        "objectName": name,
        "objectTypeName": what,
        "authorizedUsername": ACCOUNT,
        "restAPIOperationType": kind,
    }
    tell(ctx, "RestAPIOperation", body)


def computer_event(ctx: HandlerContext, row: Row, names: Names) -> Row:
    """A computer as events tell of it."""
    general, hardware, person = row["general"], row["hardware"], row["userAndLocation"]
    return {
        "udid": row["udid"],
        "deviceName": general["name"],
        "model": hardware["model"],
        "macAddress": hardware["macAddress"],
        "alternateMacAddress": hardware["altMacAddress"] or "",
        "serialNumber": hardware["serialNumber"],
        "osVersion": row["operatingSystem"]["version"],
        "osBuild": row["operatingSystem"]["build"],
        "userDirectoryID": "-1",
        "username": person["username"] or "",
        "realName": person["realname"] or "",
        "emailAddress": person["email"] or "",
        "phone": person["phone"] or "",
        "position": person["position"] or "",
        "department": names.of("departments", row["department_id"]) or "",
        "building": names.of("buildings", row["building_id"]) or "",
        "room": person["room"] or "",
        "ipAddress": general["lastIpAddress"] or "0.0.0.0",
        "reportedIpAddress": general["lastReportedIp"] or "0.0.0.0",
        "jssID": row["id"],
    }


def smart_groups(ctx: HandlerContext, row: Row) -> dict[int, Row]:
    """The smart groups that a computer is in."""
    return {group["id"]: group for group in groups_of(row, COMPUTER, Names(ctx)) if group["is_smart"]}


def tell_memberships(ctx: HandlerContext, row: Row, before: dict[int, Row], after: dict[int, Row]) -> None:
    """A computer has joined smart groups, or left them."""
    for id in sorted(before.keys() ^ after.keys()):
        group = after.get(id) or before[id]
        tell(ctx, "SmartGroupComputerMembershipChange", _change(group, row["id"], id in after))


def _change(group: Row, device: int, is_added: bool) -> dict[str, Any]:
    return {
        "name": group["name"],
        "smartGroup": True,
        "jssid": group["id"],
        "computer": True,
        "groupAddedDevices": [],
        "groupRemovedDevices": [],
        "groupAddedDevicesIds": [device] if is_added else [],
        "groupRemovedDevicesIds": [] if is_added else [device],
    }
