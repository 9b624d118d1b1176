"""Smart groups: criteria as the vendor has them, held to the inventory of a device.

Criteria are read in the order of their priorities. `and` binds more tightly than `or`, and parentheses open before
a criterion and close after one.
"""

import re
from collections.abc import Callable
from datetime import date, datetime, timedelta
from typing import Any

from svc_env import Row

#: Where inventory has what a criterion is named by.
COMPUTER_FIELDS = {
    "Computer Name": "general.name",
    "Asset Tag": "general.assetTag",
    "IP Address": "general.lastIpAddress",
    "Last Check-in": "general.lastContactTime",
    "Last Inventory Update": "general.reportDate",
    "Last Enrollment": "general.lastEnrolledDate",
    "Managed": "general.remoteManagement.managed",
    "Supervised": "general.supervised",
    "Serial Number": "hardware.serialNumber",
    "Model": "hardware.model",
    "Model Identifier": "hardware.modelIdentifier",
    "Make": "hardware.make",
    "Architecture Type": "hardware.processorArchitecture",
    "Apple Silicon": "hardware.appleSilicon",
    "Total RAM MB": "hardware.totalRamMegabytes",
    "Operating System Name": "operatingSystem.name",
    "Operating System Version": "operatingSystem.version",
    "Operating System Build": "operatingSystem.build",
    "FileVault 2 Status": "operatingSystem.fileVault2Status",
    "Firewall Enabled": "security.firewallEnabled",
    "Gatekeeper": "security.gatekeeperStatus",
    "System Integrity Protection": "security.sipStatus",
    "Boot Drive Available MB": "storage.bootDriveAvailableSpaceMegabytes",
    "Warranty Expiration": "purchasing.warrantyDate",
    "Username": "userAndLocation.username",
    "Full Name": "userAndLocation.realname",
    "Email Address": "userAndLocation.email",
    "Position": "userAndLocation.position",
    "Room": "userAndLocation.room",
    "Department": "department",
    "Building": "building",
    "Site": "site",
    "Application Title": "applications",
    "Computer Group": "groups",
}

MOBILE_FIELDS = {
    "Display Name": "general.displayName",
    "Asset Tag": "general.assetTag",
    "Last Inventory Update": "general.lastInventoryUpdateDate",
    "Managed": "general.managed",
    "Supervised": "general.supervised",
    "Device Ownership Type": "general.deviceOwnershipType",
    "OS Version": "general.osVersion",
    "Model": "hardware.model",
    "Model Identifier": "hardware.modelIdentifier",
    "Serial Number": "hardware.serialNumber",
    "Capacity MB": "hardware.capacityMb",
    "Battery Level": "hardware.batteryLevel",
    "Passcode Status": "security.passcodePresent",
    "Lost Mode Enabled": "security.lostModeEnabled",
    "Username": "userAndLocation.username",
    "Full Name": "userAndLocation.realName",
    "Email Address": "userAndLocation.emailAddress",
    "Department": "department",
    "Building": "building",
    "Site": "site",
    "Mobile Device Group": "groups",
}

SEARCH_TYPES = frozenset(
    {
        "is", "is not", "like", "not like", "has", "does not have", "matches regex", "does not match regex",
        "before (yyyy-mm-dd)", "after (yyyy-mm-dd)", "more than x days ago", "less than x days ago",
        "member of", "not member of", "more than", "less than", "greater than",
        "greater than or equal", "less than or equal",
    }
)  # fmt: skip

_NEGATED = {
    "is not": "is",
    "not like": "like",
    "does not have": "has",
    "does not match regex": "matches regex",
    "not member of": "member of",
}

MOST_CRITERIA = 100


def fault_of(criteria: list[Row], fields: dict[str, str]) -> str | None:
    """Returns the mistake in criteria, in words; None if they can be evaluated."""
    if len(criteria) > MOST_CRITERIA:
        return f"A group has at most {MOST_CRITERIA} criteria"
    depth = 0
    for criterion in criteria:
        if criterion["name"] not in fields:
            return f"Unknown criterion: {criterion['name']}"
        if criterion["search_type"] not in SEARCH_TYPES:
            return f"Unknown search type: {criterion['search_type']}"
        if "regex" in criterion["search_type"] and (words := _regex_fault(criterion["value"])):
            return words
        depth += criterion["opening_paren"]
        depth -= criterion["closing_paren"]
        if depth < 0:
            return "A parenthesis closes that was not opened"
    return "A parenthesis is not closed" if depth else None


def _regex_fault(pattern: str) -> str | None:
    """Patterns that repeat what repeats could take for ever, so they are not taken."""
    if len(pattern) > 200 or re.search(r"[*+}]\)?[*+{]|\([^)]*[*+][^)]*\)[*+{]|\\\d", pattern):
        return "The regular expression is too complex"
    try:
        re.compile(pattern)
    except re.error as error:
        return f"The regular expression is wrong: {error}"
    return None


def holds(
    criteria: list[Row], value_of: Callable[[str], Any], fields: dict[str, str], now: Callable[[], str]
) -> bool:
    """Returns true if a device meets criteria, also without any, as at the vendor. Only days depend on the time."""
    ordered = sorted(criteria, key=lambda one: one["priority"])
    if not ordered:
        return True
    met, _ = _either(ordered, 0, lambda one: _meets(one, value_of(fields[one["name"]]), now))
    return met


#: Where a list of criteria is read: the next one, and how many of its parentheses were opened already.
_Meets = Callable[[Row], bool]


def _either(criteria: list[Row], at: int, meets: _Meets) -> tuple[bool, int]:
    """Criteria from here to the parenthesis that closes them, or the end."""
    any_met, all_met, first = False, True, True
    while at < len(criteria):
        criterion = criteria[at]
        if not first and criterion["and_or"] == "or":
            any_met, all_met = any_met or all_met, True
        first = False
        if criterion["opening_paren"] and not criterion.get("opened"):
            opened = [*criteria[:at], {**criterion, "opened": True, "and_or": "and"}, *criteria[at + 1 :]]
            met, end = _either(opened, at, meets)
            all_met, at = all_met and met, end
            continue
        all_met = all_met and meets(criterion)
        at += 1
        if criterion["closing_paren"]:
            break
    return any_met or all_met, at


def _meets(criterion: Row, value: Any, now: Callable[[], str]) -> bool:
    kind = criterion["search_type"]
    if kind in _NEGATED:
        return not _test(_NEGATED[kind], value, criterion["value"], now)
    return _test(kind, value, criterion["value"], now)


def _test(kind: str, value: Any, wanted: str, now: Callable[[], str]) -> bool:
    if isinstance(value, list):
        return any(_test(kind, one, wanted, now) for one in value)
    text = "" if value is None else _said(value)
    match kind:
        case "is" | "has" | "member of":
            return text.lower() == wanted.lower()
        case "like":
            return wanted.lower() in text.lower()
        case "matches regex":
            return re.search(wanted, text) is not None
        case "more than x days ago" | "less than x days ago":
            return _by_days(kind, text, wanted, now())
        case "before (yyyy-mm-dd)" | "after (yyyy-mm-dd)":
            return text != "" and (text[:10] < wanted if kind.startswith("before") else text[:10] > wanted)
    if text == "":
        return False
    ours, theirs = _comparable(text), _comparable(wanted)
    return {
        "more than": ours > theirs,
        "greater than": ours > theirs,
        "greater than or equal": ours >= theirs,
        "less than": ours < theirs,
        "less than or equal": ours <= theirs,
    }[kind]


def _said(value: Any) -> str:
    """As the page of the vendor has it: yes and no are such criteria's words, too."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _by_days(kind: str, text: str, days: str, now: str) -> bool:
    if text == "" or not days.isdigit():
        return False
    then = date.fromisoformat(text[:10])
    border = datetime.fromisoformat(now).date() - timedelta(days=min(int(days), 36500))
    return then < border if kind.startswith("more") else then >= border


def _comparable(text: str) -> list[tuple[int, str]]:
    """Numbers and versions piece by piece: 14.10 is more than 14.9."""
    return [(int(piece), "") if piece.isdigit() else (-1, piece.lower()) for piece in text.split(".")]
