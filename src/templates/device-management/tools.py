"""Tools in Python. A tool is a function of its name; its input arrives as keyword arguments."""

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from api.criteria import fault_of
from api.inventory import COMPUTER, COMPUTER_SECTIONS, MOBILE, MOBILE_SECTIONS
from api.inventory import Names, computer_answer, members_of, mobile_answer
from api.reading import all_rows
from api.routes.computers import FILTERS, SORTS, value_of
from api.routes.mobile_devices import FIELDS, reader_of
from api.rsql import FilterError, matches, read_filter, sortable
from svc_env import Row, clock, delete, fail, get, ids, insert, query, update


class _World:
    """The world as the modules of the API use it."""

    clock = clock
    ids = ids
    get = staticmethod(get)
    query = staticmethod(query)


_KINDS = {"computers": COMPUTER, "mobile_devices": MOBILE}


def search_computers(filter: str = "", sort: str = "id:asc", page: int = 0, limit: int = 50) -> Row:
    names = Names(_World)
    found = _search(all_rows(query, "computers"), value_of, FILTERS, SORTS, filter, sort)
    rows = found[page * limit : (page + 1) * limit]
    return {"total": len(found), "computers": [_short_computer(row, names) for row in rows]}


def get_computer(id: int | None = None, serial_number: str | None = None) -> Row:
    row = _find("computers", id, serial_number)
    return computer_answer(row, COMPUTER_SECTIONS, Names(_World))


def search_mobile_devices(filter: str = "", sort: str = "mobileDeviceId:asc", page: int = 0, limit: int = 50) -> Row:
    names = Names(_World)
    found = _search(all_rows(query, "mobile_devices"), reader_of(names), FIELDS, FIELDS, filter, sort)
    rows = found[page * limit : (page + 1) * limit]
    return {"total": len(found), "mobile_devices": [_short_mobile(row, names) for row in rows]}


def get_mobile_device(id: int | None = None, serial_number: str | None = None) -> Row:
    row = _find("mobile_devices", id, serial_number)
    return mobile_answer(row, MOBILE_SECTIONS, Names(_World))


def list_groups(kind: str) -> list[Row]:
    return query(_KINDS[kind]["groups"], order_by="id")


def get_group_members(kind: str, group_id: int) -> list[Row]:
    device = _KINDS[kind]
    names = Names(_World)
    short = _short_computer if kind == "computers" else _short_mobile
    return [short(row, names) for row in members_of(_World, _group(device, group_id), device)]


def create_smart_group(kind: str, name: str, criteria: list[Row]) -> Row:
    device = _KINDS[kind]
    usual = {"and_or": "and", "opening_paren": False, "closing_paren": False}
    written = [{**usual, **one, "priority": at} for at, one in enumerate(criteria)]
    words = fault_of(written, device["fields"])
    if words:
        fail(words, code="invalid")
    if any(row["name"].lower() == name.lower() for row in query(device["groups"])):
        fail(f"there is a group {name} already", code="conflict")
    row = {"id": ids.next(device["groups"], "id"), "name": name, "is_smart": True, "site_id": None, "criteria": written}
    insert(device["groups"], row)
    return {**row, "members": len(members_of(_World, row, device))}


def change_group_members(kind: str, group_id: int, add: list[int] = [], remove: list[int] = []) -> Row:
    device = _KINDS[kind]
    group = _group(device, group_id)
    if group["is_smart"]:
        fail("the members of a smart group follow from its criteria", code="invalid")
    for id in add:
        key = {"group_id": group_id, device["device"]: id}
        if get(device["entity"], {"id": id}) is None:
            fail(f"there is no device {id}", code="not_found")
        if get(device["members"], key) is None:
            insert(device["members"], key)
    for id in remove:
        key = {"group_id": group_id, device["device"]: id}
        if get(device["members"], key) is not None:
            delete(device["members"], key)
    members = query(device["members"], {"group_id": group_id}, order_by=device["device"])
    return {"id": group_id, "name": group["name"], "members": [row[device["device"]] for row in members]}


def change_policy(policy_id: int, enabled: bool | None = None, scope: Row | None = None) -> Row:
    policy = get("policies", {"id": policy_id})
    if policy is None:
        fail(f"there is no policy {policy_id}", code="not_found")
    patch: Row = {} if enabled is None else {"enabled": enabled}
    if scope is not None:
        for part in ("computers", "computer_groups", "buildings", "departments"):
            for id in scope.get(part, []):
                if get(part, {"id": id}) is None:
                    fail(f"there is no row {id} of {part}", code="not_found")
        patch["scope"] = {**policy["scope"], **scope}
    return update("policies", {"id": policy_id}, patch) if patch else policy


def fleet_summary() -> Row:
    computers, mobiles = list(all_rows(query, "computers")), list(all_rows(query, "mobile_devices"))
    names = Names(_World)
    managed = [row for row in computers if row["general"]["remoteManagement"]["managed"]]
    return {
        "computers": len(computers),
        "managed_computers": len(managed),
        "by_system": Counter(row["operatingSystem"]["version"] for row in computers),
        "by_site": Counter(names.of("sites", row["site_id"]) or "None" for row in computers),
        "by_encryption": Counter(row["operatingSystem"]["fileVault2Status"] for row in computers),
        "mobile_devices": len(mobiles),
        "supervised_mobile_devices": sum(row["general"]["supervised"] for row in mobiles),
        "pending_commands": len(query("mdm_commands", {"state": "PENDING"})),
    }


def _search(
    rows: Iterable[Row],
    value: Callable[[Row, str], Any],
    fields: frozenset[str],
    sorts: frozenset[str],
    written: str,
    sort: str,
) -> list[Row]:
    found = list(rows)
    if written:
        try:
            tree = read_filter(written, fields)
        except FilterError as error:
            fail(f"{error}; fields are {', '.join(sorted(fields))}", code="invalid")
        found = [row for row in found if matches(tree, lambda field, row=row: value(row, field))]
    field, _, direction = sort.partition(":")
    if field not in sorts:
        fail(f"nothing is sorted by {field}; fields are {', '.join(sorted(sorts))}", code="invalid")
    return sorted(found, key=lambda row: sortable(value(row, field)), reverse=direction == "desc")


def _find(entity: str, id: int | None, serial_number: str | None) -> Row:
    if id is None and serial_number is None:
        fail("give an id or a serial_number", code="invalid")
    rows = [get(entity, {"id": id})] if id is not None else query(entity, {"hardware.serialNumber": serial_number})
    found = [row for row in rows if row]
    if not found:
        fail(f"there is no such row of {entity}", code="not_found")
    return found[0]


def _group(device: Row, id: int) -> Row:
    group = get(device["groups"], {"id": id})
    if group is None:
        fail(f"there is no group {id}", code="not_found")
    return group


def _short_computer(row: Row, names: Names) -> Row:
    return {
        "id": row["id"],
        "name": row["general"]["name"],
        "serial_number": row["hardware"]["serialNumber"],
        "management_id": row["management_id"],
        "model": row["hardware"]["model"],
        "os_version": row["operatingSystem"]["version"],
        "username": row["userAndLocation"]["username"],
        "full_name": row["userAndLocation"]["realname"],
        "department": names.of("departments", row["department_id"]),
        "building": names.of("buildings", row["building_id"]),
        "site": names.of("sites", row["site_id"]),
        "managed": row["general"]["remoteManagement"]["managed"],
        "last_check_in": row["general"]["lastContactTime"],
    }


def _short_mobile(row: Row, names: Names) -> Row:
    return {
        "id": row["id"],
        "name": row["general"]["displayName"],
        "serial_number": row["hardware"]["serialNumber"],
        "management_id": row["management_id"],
        "model": row["hardware"]["model"],
        "os_version": row["general"]["osVersion"],
        "username": row["userAndLocation"]["username"],
        "full_name": row["userAndLocation"]["realName"],
        "department": names.of("departments", row["department_id"]),
        "building": names.of("buildings", row["building_id"]),
        "site": names.of("sites", row["site_id"]),
        "supervised": row["general"]["supervised"],
        "last_inventory": row["general"]["lastInventoryUpdateDate"],
    }
