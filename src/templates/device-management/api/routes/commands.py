"""Commands in the newer API: sent to devices by their management ids, and listed."""

from typing import Any

from svc_env import HandlerContext, Row

from ..changing import object_body
from ..commands import NEEDED, ONLY_COMPUTER, ONLY_MOBILE, SENT, queue
from ..paging import select
from ..reading import all_rows
from ..refusals import refuse

MOST_DEVICES = 500

_FIELDS = {
    "uuid": "uuid",
    "command": "command_type",
    "status": "state",
    "dateSent": "date_sent",
    "dateCompleted": "date_completed",
    "validAfter": "date_sent",
    "clientManagementId": "clientManagementId",
    "clientType": "clientType",
    "active": "active",
    "profileId": "profileId",
    "profileIdentifier": "profileId",
}


def send_command(ctx: HandlerContext) -> None:
    """Queues one command for each device; none if one of them cannot have it."""
    body = object_body(ctx)
    data, clients = body.get("commandData"), body.get("clientData")
    if not isinstance(data, dict) or data.get("commandType") not in SENT:
        said = data.get("commandType") if isinstance(data, dict) else None
        refuse(ctx, 400, "INVALID_FIELD", f"Unsupported command type: {said}"[:200], "commandData.commandType")
    if not isinstance(clients, list) or not 1 <= len(clients) <= MOST_DEVICES:
        refuse(ctx, 400, "INVALID_FIELD", f"clientData must name 1 to {MOST_DEVICES} devices", "clientData")
    kind = data["commandType"]
    values = {name: value for name, value in data.items() if name != "commandType"}
    _check_values(ctx, kind, values)
    targets = [_target(ctx, kind, client) for client in clients]
    sent = [queue(ctx, kind, values, **{what: device}) for what, device in targets]
    ctx.respond(201, [{"id": row["uuid"], "href": f"/api/v2/mdm/commands/{row['uuid']}"} for row in sent])


def _check_values(ctx: HandlerContext, kind: str, values: Row) -> None:
    for name in NEEDED.get(kind, ()):
        if not isinstance(values.get(name), str) or not values[name]:
            refuse(ctx, 400, "INVALID_FIELD", f"{kind} needs {name}", f"commandData.{name}")
    pin = values.get("pin")
    if pin is not None and not (isinstance(pin, str) and len(pin) == 6 and pin.isascii() and pin.isdigit()):
        refuse(ctx, 400, "INVALID_FIELD", "pin must have six digits", "commandData.pin")


def _target(ctx: HandlerContext, kind: str, client: Any) -> tuple[str, Row]:
    id = client.get("managementId") if isinstance(client, dict) else None
    where = {"management_id": str(id).lower()}
    computers = ctx.query("computers", where, limit=1)
    devices = computers or ctx.query("mobile_devices", where, limit=1)
    if not devices:
        refuse(ctx, 400, "INVALID_ID", f"No device has the management id {id}"[:200], "clientData.managementId")
    what = "computer" if computers else "mobile"
    if kind in (ONLY_MOBILE if computers else ONLY_COMPUTER):
        refuse(ctx, 400, "INVALID_FIELD", f"{kind} is not supported by this kind of device", "commandData.commandType")
    if not _is_managed(devices[0]):
        refuse(ctx, 400, "INVALID_ID", f"The device with the management id {id} is not managed", "clientData.managementId")
    return what, devices[0]


def _is_managed(device: Row) -> bool:
    general = device["general"]
    return bool(general["remoteManagement"]["managed"] if "remoteManagement" in general else general["managed"])


def command_answer(ctx: HandlerContext, row: Row) -> Row:
    is_computer = row["computer_id"] is not None
    entity = "computers" if is_computer else "mobile_devices"
    device = ctx.get(entity, {"id": row["computer_id"] or row["mobile_device_id"]})
    management_id = device["management_id"] if device else None
    return {
        "uuid": row["uuid"],
        "client": {
            "managementId": management_id,
            "clientType": "COMPUTER" if is_computer else "MOBILE_DEVICE",
        },
        "commandState": row["state"],
        "commandType": row["command_type"],
        "dateSent": row["date_sent"],
        # The vendor tells the beginning of time for what has not come to an end.
        "dateCompleted": row["date_completed"] or "1970-01-01T00:00:00Z",
        "profileId": None,
        "profileIdentifier": None,
        "active": row["state"] in ("PENDING", "NOT_NOW"),
    }


def list_commands(ctx: HandlerContext) -> Row:
    answers = {row["uuid"]: command_answer(ctx, row) for row in all_rows(ctx.query, "mdm_commands")}

    def value(row: Row, field: str) -> Any:
        answer = answers[row["uuid"]]
        match _FIELDS[field]:
            case "clientManagementId":
                return answer["client"]["managementId"]
            case "clientType":
                return answer["client"]["clientType"]
            case "active":
                return answer["active"]
            case "profileId":
                return None
        return row[_FIELDS[field]]

    fields = frozenset(_FIELDS)
    rows, total = select(ctx, all_rows(ctx.query, "mdm_commands"), value, fields, fields, "dateSent:asc")
    return {"totalCount": total, "results": [answers[row["uuid"]] for row in rows]}


def renew_profiles(ctx: HandlerContext) -> Row:
    """Queues the renewal of enrolment for devices by their udids; the answer lists unknown ones."""
    udids = object_body(ctx).get("udids")
    if not isinstance(udids, list) or len(udids) > MOST_DEVICES or not all(isinstance(one, str) for one in udids):
        refuse(ctx, 400, "INVALID_FIELD", f"udids must be a list of at most {MOST_DEVICES} texts", "udids")
    unknown = []
    for udid in udids:
        computers = ctx.query("computers", {"udid": udid.upper()}, limit=1)
        devices = computers or ctx.query("mobile_devices", {"udid": udid.upper()}, limit=1)
        if devices:
            queue(ctx, "REINSTALL_PROFILE", {}, **{"computer" if computers else "mobile": devices[0]})
        else:
            unknown.append(udid)
    return {"udidsNotProcessed": {"udids": unknown, "uuids": unknown}}
