"""Commands to devices: rows in a queue, and events of webhooks. Devices are not real, so commands stay pending."""

from typing import Any

from svc_env import HandlerContext, Row

from .events import tell_operation

#: The commands that are sent by the newer API.
SENT = frozenset(
    """APPLY_REDEMPTION_CODE CERTIFICATE_LIST CLEAR_PASSCODE CLEAR_RESTRICTIONS_PASSWORD DECLARATIVE_MANAGEMENT
    DELETE_USER DEVICE_INFORMATION DEVICE_LOCATION DEVICE_LOCK DISABLE_LOST_MODE DISABLE_REMOTE_DESKTOP
    ENABLE_LOST_MODE ENABLE_REMOTE_DESKTOP ERASE_DEVICE INSTALLED_APPLICATION_LIST LOG_OUT_USER
    MANAGED_APPLICATION_LIST MANAGED_MEDIA_LIST PLAY_LOST_MODE_SOUND PROVISIONING_PROFILE_LIST
    REFRESH_CELLULAR_PLANS REQUEST_MIRRORING RESTART_DEVICE SECURITY_INFO SET_AUTO_ADMIN_PASSWORD SET_RECOVERY_LOCK
    SETTINGS SHUT_DOWN_DEVICE STOP_MIRRORING UNLOCK_USER_ACCOUNT VALIDATE_APPLICATIONS VERIFY_RECOVERY_LOCK""".split()
)

#: Those that only one kind of device understands.
ONLY_MOBILE = frozenset(
    """CLEAR_PASSCODE CLEAR_RESTRICTIONS_PASSWORD DEVICE_LOCATION DISABLE_LOST_MODE ENABLE_LOST_MODE
    PLAY_LOST_MODE_SOUND REFRESH_CELLULAR_PLANS""".split()
)
ONLY_COMPUTER = frozenset(
    """DISABLE_REMOTE_DESKTOP ENABLE_REMOTE_DESKTOP SET_AUTO_ADMIN_PASSWORD SET_RECOVERY_LOCK UNLOCK_USER_ACCOUNT
    VERIFY_RECOVERY_LOCK""".split()
)

#: What a command must have, and what it may have beside that.
NEEDED = {
    "ENABLE_LOST_MODE": ("lostModeMessage",),
    "DELETE_USER": ("userName",),
    "SET_RECOVERY_LOCK": ("newPassword",),
    "APPLY_REDEMPTION_CODE": ("identifier", "redemptionCode"),
}


def queue(
    ctx: HandlerContext, kind: str, data: Row, computer: Row | None = None, mobile: Row | None = None
) -> Row:
    """A new command for one device."""
    device = computer or mobile or {}
    row = {
        "uuid": ctx.ids.uuid(),
        "command_type": kind,
        "state": "PENDING",
        "date_sent": ctx.clock.now(),
        "date_completed": None,
        "computer_id": computer["id"] if computer else None,
        "mobile_device_id": mobile["id"] if mobile else None,
        "data": data,
    }
    ctx.insert("mdm_commands", row)
    if mobile and kind in ("ENABLE_LOST_MODE", "DISABLE_LOST_MODE"):
        _set_lost_mode(ctx, mobile, data if kind == "ENABLE_LOST_MODE" else None)
    general = device["general"]
    what = "Computer Command" if computer else "Mobile Device Command"
    tell_operation(ctx, "POST", what, device["id"], general["name"] if computer else general["displayName"])
    return row


def _set_lost_mode(ctx: HandlerContext, device: Row, data: Row | None) -> None:
    """The record shows at once what was asked of the device."""
    wording: dict[str, Any] = data or {}
    security = {
        **device["security"],
        "lostModeEnabled": data is not None,
        "lostModeMessage": wording.get("lostModeMessage"),
        "lostModePhoneNumber": wording.get("lostModePhone"),
        "lostModeFootnote": wording.get("lostModeFootnote"),
    }
    ctx.update("mobile_devices", {"id": device["id"]}, {"security": security})
