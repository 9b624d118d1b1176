"""Objects of the newer API that others refer to: buildings, departments, categories, scripts, packages.

They differ only in their members, so one function of each kind answers for all: the second segment of the path
below the version says which.
"""

from typing import Any

from svc_env import HandlerContext, Refused, Row
from svc_env.finding import by_id, whole_number

from ..changing import object_body, reference, text
from ..events import tell_operation
from ..paging import select
from ..refusals import refuse, refuse_unknown

#: Members of each, with what they are when a body leaves them out; the first is the name.
MEMBERS: dict[str, dict[str, Any]] = {
    "buildings": {
        "name": "", "streetAddress1": "", "streetAddress2": "", "city": "", "stateProvince": "",
        "zipPostalCode": "", "country": "",
    },
    "departments": {"name": ""},
    "categories": {"name": "", "priority": 9},
    "scripts": {
        "name": "", "info": "", "notes": "", "priority": "AFTER", "osRequirements": "", "scriptContents": "",
        **{f"parameter{number}": "" for number in range(4, 12)},
    },
    "packages": {
        "packageName": "", "fileName": "", "info": "", "notes": "", "priority": 10, "osRequirements": "",
        "fillUserTemplate": False, "indexed": False, "fillExistingUsers": False, "swu": False,
        "rebootRequired": False, "selfHealNotify": False, "selfHealingAction": "nothing", "osInstall": False,
        "suppressUpdates": False, "ignoreConflicts": False, "suppressFromDock": False, "suppressEula": False,
        "suppressRegistration": False, "hashType": "SHA_512", "hashValue": "", "size": "",
    },
}  # fmt: skip
WHAT = {
    "buildings": "Building",
    "departments": "Department",
    "categories": "Category",
    "scripts": "Script",
    "packages": "Package",
}
_LONGEST = {"scriptContents": 500_000, "info": 10_000, "notes": 10_000}
_CATEGORIZED = ("scripts", "packages")
_PRIORITIES = ("BEFORE", "AFTER", "AT_REBOOT")


def name_of(entity: str, row: Row) -> str:
    return row["packageName" if entity == "packages" else "name"]


def answer(ctx: HandlerContext, entity: str, row: Row) -> Row:
    """A row as the newer API has it."""
    body = {"id": str(row["id"]), **{name: row[name] for name in MEMBERS[entity]}}
    if entity == "categories":
        return body
    if entity in _CATEGORIZED:
        id = row["category_id"]
        body["categoryId"] = "-1" if id is None else str(id)
    if entity == "scripts":
        category = None if row["category_id"] is None else ctx.get("categories", {"id": row["category_id"]})
        body["categoryName"] = category["name"] if category else "NONE"
    if entity == "packages":
        body |= {name: None for name in ("serialNumber", "parentPackageId", "basePath", "installLanguage", "md5",
                 "sha256", "osInstallerVersion", "manifest", "manifestFileName", "format")}  # fmt: skip
        body["cloudTransferStatus"] = "READY"
    return body


def _entity(ctx: HandlerContext) -> str:
    return ctx.route.split("/")[3]


def _find(ctx: HandlerContext, entity: str) -> Row:
    row = by_id(ctx, entity, ctx.args["id"])
    if row is None:
        refuse_unknown(ctx, WHAT[entity], ctx.args["id"])
    return row


def list_settings(ctx: HandlerContext) -> Row:
    entity = _entity(ctx)
    fields = frozenset({"id", *MEMBERS[entity], *(("categoryId", "categoryName", "manifestFileName") if entity in _CATEGORIZED else ())})
    answers = {row["id"]: answer(ctx, entity, row) for row in ctx.query(entity)}

    def value(row: Row, field: str) -> Any:
        return row["id"] if field == "id" else answers[row["id"]].get(field)

    rows, total = select(ctx, ctx.query(entity), value, fields, fields, "id:asc")
    return {"totalCount": total, "results": [answers[row["id"]] for row in rows]}


def get_setting(ctx: HandlerContext) -> Row:
    entity = _entity(ctx)
    return answer(ctx, entity, _find(ctx, entity))


def create_setting(ctx: HandlerContext) -> None:
    entity = _entity(ctx)
    row = {"id": ctx.ids.next(entity, "id"), **_read(ctx, entity, MEMBERS[entity], None)}
    _write(ctx, lambda: ctx.insert(entity, row))
    tell_operation(ctx, "POST", WHAT[entity], row["id"], name_of(entity, row))
    ctx.respond(201, {"id": str(row["id"]), "href": f"/api/v1/{entity}/{row['id']}"})


def update_setting(ctx: HandlerContext) -> Row:
    """PUT replaces: what a body leaves out is as in a new one."""
    entity = _entity(ctx)
    old = _find(ctx, entity)
    patch = _read(ctx, entity, MEMBERS[entity], old)
    new = _write(ctx, lambda: ctx.update(entity, {"id": old["id"]}, patch))
    tell_operation(ctx, "PUT", WHAT[entity], new["id"], name_of(entity, new))
    return answer(ctx, entity, new)


def delete_setting(ctx: HandlerContext) -> None:
    entity = _entity(ctx)
    remove_setting(ctx, entity, _find(ctx, entity))


def remove_setting(ctx: HandlerContext, entity: str, row: Row) -> None:
    """Deletes a row; devices and others that refer to it refer to nothing afterwards, as at the vendor."""
    release(ctx, entity, row["id"])
    ctx.delete(entity, {"id": row["id"]})
    tell_operation(ctx, "DELETE", WHAT[entity], row["id"], name_of(entity, row))


_REFERRED = {
    "buildings": ("building_id", ("computers", "mobile_devices")),
    "departments": ("department_id", ("computers", "mobile_devices")),
    "categories": ("category_id", ("scripts", "packages", "policies", "computer_profiles", "mobile_profiles")),
}


def release(ctx: HandlerContext, entity: str, id: int) -> None:
    field, others = _REFERRED.get(entity, ("", ()))
    for other in others:
        for row in ctx.query(other, {field: id}):
            ctx.update(other, {"id": row["id"]}, {field: None})


def _read(ctx: HandlerContext, entity: str, usual: Row, old: Row | None) -> Row:
    body = object_body(ctx)
    read = {name: _member(ctx, name, body.get(name), value) for name, value in usual.items()}
    name = next(iter(usual))
    if not read[name].strip():
        refuse(ctx, 400, "REQUIRED_FIELD", f"{name} is required", name)
    taken = [row for row in ctx.query(entity, {name: read[name]}) if old is None or row["id"] != old["id"]]
    if taken:
        refuse(ctx, 400, "DUPLICATE_FIELD", f"{name} must be unique: {read[name]}", name)
    if entity == "packages" and not read["fileName"]:
        refuse(ctx, 400, "REQUIRED_FIELD", "fileName is required", "fileName")
    if entity == "scripts" and read["priority"] not in _PRIORITIES:
        refuse(ctx, 400, "INVALID_FIELD", f"priority must be one of {', '.join(_PRIORITIES)}", "priority")
    if entity in _CATEGORIZED:
        read["category_id"] = reference(ctx, "categoryId", "categories", body.get("categoryId"))
    return read


def _member(ctx: HandlerContext, name: str, given: Any, usual: Any) -> Any:
    if given is None:
        return usual
    if isinstance(usual, str):
        return text(ctx, name, given, _LONGEST.get(name, 255))
    if isinstance(usual, bool):
        if not isinstance(given, bool):
            refuse(ctx, 400, "INVALID_FIELD", f"{name} must be a boolean", name)
        return given
    number = whole_number(given)
    if number is None or not 0 <= number <= 20:
        refuse(ctx, 400, "INVALID_FIELD", f"{name} must be a whole number from 0 to 20", name)
    return number


def _write(ctx: HandlerContext, act: Any) -> Row:
    try:
        return act()
    except Refused as refused:
        refuse(ctx, 400, "INVALID_FIELD", refused.detail or "The data is not valid", refused.field)


def list_sites(ctx: HandlerContext) -> list[Row]:
    return [{"id": str(row["id"]), "name": row["name"]} for row in ctx.query("sites", order_by="id")]
