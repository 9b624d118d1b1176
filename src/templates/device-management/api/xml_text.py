"""The older API's XML, read into the values that its JSON has, and written from them.

Strangers' XML has no document types and no entities of its own here: a text with them is refused before it
is parsed, and so is one that nests too deep.
"""

import re
from typing import Any
from xml.etree import ElementTree

MOST_DEPTH = 40

#: What the items of a list are called, by the name of the list. An element of that name holds a list.
ITEMS = {
    "advanced_computer_searches": "advanced_computer_search",
    "applications": "application",
    "buildings": "building",
    "categories": "category",
    "computer_additions": "computer",
    "computer_deletions": "computer",
    "computer_group_memberships": "group",
    "computer_groups": "computer_group",
    "computers": "computer",
    "configuration_profiles": "configuration_profile",
    "criteria": "criterion",
    "departments": "department",
    "display_fields": "display_field",
    "extension_attributes": "extension_attribute",
    "local_accounts": "user",
    "mobile_device_additions": "mobile_device",
    "mobile_device_commands": "mobile_device_command",
    "mobile_device_deletions": "mobile_device",
    "mobile_device_groups": "mobile_device_group",
    "mobile_devices": "mobile_device",
    "os_x_configuration_profiles": "os_x_configuration_profile",
    "packages": "package",
    "policies": "policy",
    "scripts": "script",
    "sites": "site",
    "storage": "device",
    "users": "user",
    "webhooks": "webhook",
}


class XmlError(Exception):
    """The text is no XML that is taken here."""


def read_xml(text: str) -> tuple[str, Any]:
    """The name of the root, and what it holds: objects, lists and texts."""
    if re.search(r"<!(?:DOCTYPE|ENTITY)", text, re.IGNORECASE):
        raise XmlError("document types and entities are not taken")
    try:
        root = ElementTree.fromstring(text.removeprefix("\ufeff"))
    except (ElementTree.ParseError, ValueError, LookupError) as error:
        raise XmlError(str(error)) from None
    return root.tag, _value(root, 0)


def _value(element: ElementTree.Element, depth: int) -> Any:
    if depth > MOST_DEPTH:
        raise XmlError("it nests too deep")
    item = ITEMS.get(element.tag)
    children = list(element)
    if item is not None and all(child.tag in (item, "size") for child in children):
        if children or not (element.text or "").strip():
            return [_value(child, depth + 1) for child in children if child.tag == item]
    if children:
        return {child.tag: _value(child, depth + 1) for child in children}
    return element.text or ""


def write_xml(name: str, value: Any) -> str:
    """A document with this root."""
    return f'<?xml version="1.0" encoding="UTF-8"?>{_element(name, value)}'


def _element(name: str, value: Any) -> str:
    if isinstance(value, dict):
        inner = "".join(_element(key, member) for key, member in value.items())
    elif isinstance(value, list):
        item = ITEMS.get(name, name.removesuffix("s"))
        inner = f"<size>{len(value)}</size>" + "".join(_element(item, member) for member in value)
    elif value is None:
        inner = ""
    else:
        inner = _text(str(value).lower() if isinstance(value, bool) else str(value))
    return f"<{name}>{inner}</{name}>" if inner else f"<{name}/>"


def _text(text: str) -> str:
    known = "".join(char for char in text if char >= " " or char in "\t\n\r")
    return known.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
