"""Makes the bodies of computers and mobile devices from rows: sections, and what is computed."""

from collections.abc import Iterable
from typing import Any

from svc_env import HandlerContext, Row

from .criteria import COMPUTER_FIELDS, MOBILE_FIELDS, holds
from .paging import path_value
from .reading import all_rows

#: The sections of a computer, with the member that each answers as.
COMPUTER_SECTIONS = {
    "GENERAL": "general",
    "DISK_ENCRYPTION": "diskEncryption",
    "PURCHASING": "purchasing",
    "APPLICATIONS": "applications",
    "STORAGE": "storage",
    "USER_AND_LOCATION": "userAndLocation",
    "CONFIGURATION_PROFILES": "configurationProfiles",
    "PRINTERS": "printers",
    "SERVICES": "services",
    "HARDWARE": "hardware",
    "LOCAL_USER_ACCOUNTS": "localUserAccounts",
    "CERTIFICATES": "certificates",
    "ATTACHMENTS": "attachments",
    "PLUGINS": "plugins",
    "PACKAGE_RECEIPTS": "packageReceipts",
    "FONTS": "fonts",
    "SECURITY": "security",
    "OPERATING_SYSTEM": "operatingSystem",
    "LICENSED_SOFTWARE": "licensedSoftware",
    "IBEACONS": "ibeacons",
    "SOFTWARE_UPDATES": "softwareUpdates",
    "EXTENSION_ATTRIBUTES": "extensionAttributes",
    "CONTENT_CACHING": "contentCaching",
    "GROUP_MEMBERSHIPS": "groupMemberships",
}
MOBILE_SECTIONS = {
    "GENERAL": "general",
    "HARDWARE": "hardware",
    "USER_AND_LOCATION": "userAndLocation",
    "PURCHASING": "purchasing",
    "SECURITY": "security",
    "APPLICATIONS": "applications",
    "EBOOKS": "ebooks",
    "NETWORK": "network",
    "SERVICE_SUBSCRIPTIONS": "serviceSubscriptions",
    "CERTIFICATES": "certificates",
    "PROFILES": "profiles",
    "USER_PROFILES": "userProfiles",
    "PROVISIONING_PROFILES": "provisioningProfiles",
    "SHARED_USERS": "sharedUsers",
    "EXTENSION_ATTRIBUTES": "extensionAttributes",
}

#: Sections that a row has; the others are computed, or nothing here has any.
_STORED = frozenset(
    {
        "general", "diskEncryption", "purchasing", "applications", "storage", "userAndLocation", "hardware",
        "localUserAccounts", "security", "operatingSystem", "network",
    }
)  # fmt: skip
_SINGLE = {"packageReceipts": {"installedByJamfPro": [], "installedByInstallerSwu": [], "cached": []}}

COMPUTER = {
    "entity": "computers",
    "groups": "computer_groups",
    "members": "computer_group_members",
    "device": "computer_id",
    "profiles": "computer_profiles",
    "fields": COMPUTER_FIELDS,
    "scope": "computers",
    "group_scope": "computer_groups",
    "all": "all_computers",
}
MOBILE = {
    "entity": "mobile_devices",
    "groups": "mobile_device_groups",
    "members": "mobile_device_group_members",
    "device": "mobile_device_id",
    "profiles": "mobile_profiles",
    "fields": MOBILE_FIELDS,
    "scope": "mobile_devices",
    "group_scope": "mobile_device_groups",
    "all": "all_mobile_devices",
}


class Names:
    """Rows that many devices of a request share, each entity read once: names, groups, members, profiles."""

    def __init__(self, ctx: HandlerContext) -> None:
        self._ctx = ctx
        self._names: dict[str, dict[int, str]] = {}
        self._rows: dict[str, list[Row]] = {}
        self._groups_of: dict[str, dict[int, list[int]]] = {}
        self._now: str | None = None

    def of(self, entity: str, id: int | None) -> str | None:
        """The name of a row."""
        if entity not in self._names:
            self._names[entity] = {row["id"]: row["name"] for row in self.rows(entity)}
        return None if id is None else self._names[entity].get(id)

    def rows(self, entity: str) -> list[Row]:
        """All rows of an entity."""
        if entity not in self._rows:
            self._rows[entity] = list(all_rows(self._ctx.query, entity, "id"))
        return self._rows[entity]

    def static_groups(self, kind: Row, device: Row) -> list[int]:
        """The static groups that a device is in."""
        if kind["members"] not in self._groups_of:
            found: dict[int, list[int]] = {}
            for row in all_rows(self._ctx.query, kind["members"]):
                found.setdefault(row[kind["device"]], []).append(row["group_id"])
            self._groups_of[kind["members"]] = found
        return self._groups_of[kind["members"]].get(device["id"], [])

    def now(self) -> str:
        """The time of the request, asked for by criteria that count days."""
        if self._now is None:
            self._now = self._ctx.clock.now()
        return self._now


def criterion_value(names: Names, device: Row, path: str, kind: Row) -> Any:
    """Returns the value that a criterion compares. Smart groups that name groups see the static ones."""
    match path:
        case "department" | "building" | "site":
            return names.of(f"{path}s", device[f"{path}_id"])
        case "applications":
            return [one["name"] for one in device.get("applications") or []]
        case "groups":
            return [names.of(kind["groups"], id) for id in names.static_groups(kind, device)]
    return path_value(device, path)


def is_member(names: Names, group: Row, device: Row, kind: Row) -> bool:
    """Returns true if a device is in a group, static or smart."""
    if not group["is_smart"]:
        return group["id"] in names.static_groups(kind, device)
    return holds(
        group["criteria"], lambda path: criterion_value(names, device, path, kind), kind["fields"], names.now
    )


def members_of(ctx: HandlerContext, group: Row, kind: Row) -> list[Row]:
    """The devices in a group, by their ids."""
    names = Names(ctx)
    return [device for device in names.rows(kind["entity"]) if is_member(names, group, device, kind)]


def groups_of(device: Row, kind: Row, names: Names) -> list[Row]:
    """The groups that a device is in."""
    return [group for group in names.rows(kind["groups"]) if is_member(names, group, device, kind)]


def in_scope(scope: Row, device: Row, groups: Iterable[Row], kind: Row) -> bool:
    """Returns true if a policy or profile reaches a device; exclusions win."""
    ids = {group["id"] for group in groups}

    def named(part: Row) -> bool:
        return (
            device["id"] in part[kind["scope"]]
            or not ids.isdisjoint(part[kind["group_scope"]])
            or device["building_id"] in part["buildings"]
            or device["department_id"] in part["departments"]
        )

    return (scope[kind["all"]] or named(scope)) and not named(scope["exclusions"])


def wire_id(id: int | None) -> str | None:
    """Ids are texts in the newer API; -1 stands for none where it always tells one."""
    return None if id is None else str(id)


def computer_answer(row: Row, sections: Iterable[str], names: Names) -> Row:
    """A computer with some sections; the others are null."""
    answer: Row = {"id": str(row["id"]), "udid": row["udid"]}
    wanted = set(sections)
    for section, member in COMPUTER_SECTIONS.items():
        answer[member] = _computer_section(row, member, names) if section in wanted else None
    return answer


def _computer_section(row: Row, member: str, names: Names) -> Any:
    match member:
        case "general":
            site = {"id": wire_id(row["site_id"]) or "-1", "name": names.of("sites", row["site_id"]) or "None"}
            return {**row["general"], "site": site, "managementId": row["management_id"], "extensionAttributes": []}
        case "userAndLocation":
            return {
                **row["userAndLocation"],
                "departmentId": wire_id(row["department_id"]),
                "buildingId": wire_id(row["building_id"]),
                "extensionAttributes": [],
            }
        case "groupMemberships":
            return [
                {"groupId": str(group["id"]), "groupName": group["name"], "smartGroup": group["is_smart"]}
                for group in groups_of(row, COMPUTER, names)
            ]
        case "configurationProfiles":
            return [
                {
                    "id": str(profile["id"]),
                    "username": None,
                    "lastInstalled": row["general"]["lastEnrolledDate"],
                    "removable": profile["user_removable"],
                    "displayName": profile["name"],
                    "profileIdentifier": profile["uuid"],
                }
                for profile in profiles_on(row, COMPUTER, names)
            ]
        case "contentCaching":
            return None
        case "packageReceipts":
            return _SINGLE[member]
    return row[member] if member in _STORED else []


def profiles_on(row: Row, kind: Row, names: Names) -> list[Row]:
    """The configuration profiles that reach a device."""
    groups = groups_of(row, kind, names)
    return [one for one in names.rows(kind["profiles"]) if in_scope(one["scope"], row, groups, kind)]


def mobile_answer(row: Row, sections: Iterable[str], names: Names) -> Row:
    """A mobile device with some sections, as the list of details has it."""
    answer: Row = {"mobileDeviceId": str(row["id"]), "deviceType": row["device_type"]}
    wanted = set(sections)
    for section, member in MOBILE_SECTIONS.items():
        answer[member] = _mobile_section(row, member, names) if section in wanted else None
    return answer


def _mobile_section(row: Row, member: str, names: Names) -> Any:
    match member:
        case "general":
            return {
                "udid": row["udid"],
                "siteId": wire_id(row["site_id"]) or "-1",
                "managementId": row["management_id"],
                **row["general"],
                "extensionAttributes": [],
            }
        case "userAndLocation":
            return {
                **row["userAndLocation"],
                "departmentId": wire_id(row["department_id"]),
                "buildingId": wire_id(row["building_id"]),
                "department": names.of("departments", row["department_id"]),
                "building": names.of("buildings", row["building_id"]),
                "extensionAttributes": [],
            }
        case "profiles":
            return [
                {
                    "displayName": profile["name"],
                    "version": "1",
                    "uuid": profile["uuid"],
                    "identifier": profile["uuid"],
                    "removable": profile["user_removable"],
                    "lastInstalled": row["general"]["lastEnrolledDate"],
                }
                for profile in profiles_on(row, MOBILE, names)
            ]
    return row[member] if member in _STORED else []
