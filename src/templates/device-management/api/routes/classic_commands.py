"""The older API: commands, which name the devices that they are for by their ids."""

from svc_env import HandlerContext, Row
from svc_env.finding import whole_number

from ..classic import XML
from ..commands import queue
from ..refusals import refuse_page
from ..xml_text import write_xml

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
