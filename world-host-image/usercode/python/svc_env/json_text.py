"""Encodes values of user code as JSON, and refuses values that are not JSON with their place."""

from __future__ import annotations

import json
import math

from .typed import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

#: Created once, because `json.dumps` creates an encoder for each message without spaces.
_encode = json.JSONEncoder(allow_nan=False, separators=(",", ":")).encode

#: Maximum number of levels that are searched for the value that is not JSON.
_DEEPEST = 200

#: Advice to the author, by the name of the value's type.
_WAYS = {
    "datetime": "give its isoformat()",
    "date": "give its isoformat()",
    "Decimal": "give float() or str() of it",
    "bytes": "decode it",
    "set": "give a sorted list of it",
    "frozenset": "give a sorted list of it",
    "generator": "give a list of it",
    "coroutine": "await it",
}


def json_text(message: dict[str, Any]) -> str:
    """Returns the JSON of a message to the host.

    If a value is not JSON, raises TypeError or ValueError, as `json` does. The error names the value's place
    in the answer, or in the arguments of a store operation. If a value is nested too deep, raises
    RecursionError.
    """
    try:
        return _encode(message)
    except (TypeError, ValueError) as error:
        fault = _find_fault(message, _DEEPEST)
        if fault is None:
            raise
        pointer, what = fault
        for start in ("/result/value", "/arguments"):
            pointer = pointer.removeprefix(start)
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"{pointer or 'it'} is {what}") from None


def _find_fault(value: Any, levels: int) -> tuple[str, str] | None:
    """Returns the pointer and kind of the first value that JSON cannot represent."""
    if value is None or isinstance(value, (bool, int, str)) or levels == 0:
        return None
    if isinstance(value, float):
        return None if math.isfinite(value) else ("", repr(value))
    if isinstance(value, dict):
        members = list(value.items())
    elif isinstance(value, (list, tuple)):
        members = list(enumerate(value))
    else:
        kind = type(value).__name__
        return "", f"of type {kind}" + (f": {_WAYS[kind]}" if kind in _WAYS else "")
    for name, member in members:
        if not isinstance(name, (str, int, float, type(None))):
            return "", f"an object with a key of type {type(name).__name__}: keys are texts"
        fault = _find_fault(member, levels - 1)
        if fault is not None:
            return f"/{str(name).replace('~', '~0').replace('/', '~1')}{fault[0]}", fault[1]
    return None
