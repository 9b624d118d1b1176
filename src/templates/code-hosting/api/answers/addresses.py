"""Addresses of objects: URLs, and the code host's second kind of id."""

import base64
import struct

from svc_env import Row

from ..escaping import escaped

API = "https://api.code.example"
WEB = "https://code.example"


def api_url(row: Row, *parts: object) -> str:
    """A URL below the repository of a row: `api_url(issue, "issues", 7)`."""
    return _below(f"{API}/repos/{row['owner']}/{row['repo']}", parts)


def web_url(row: Row, *parts: object) -> str:
    """The page of it that people look at."""
    return _below(f"{WEB}/{row['owner']}/{row['repo']}", parts)


def _below(url: str, parts: tuple[object, ...]) -> str:
    return "/".join([url, *map(_escaped, parts)])


def _escaped(part: object) -> str:
    return str(part) if isinstance(part, int) else escaped(str(part))


def links(**targets: str) -> Row:
    """The value of `_links`."""
    return {name: {"href": url} for name, url in targets.items()}


def node_id(prefix: str, *ids: int) -> str:
    """A prefix and the numeric ids, packed and in base 64."""
    packed = bytes([0x91 + len(ids), 0]) + b"".join(map(_pack, ids))
    return f"{prefix}_{base64.urlsafe_b64encode(packed).decode().rstrip('=')}"


def _pack(number: int) -> bytes:
    return struct.pack(">BI", 0xCE, number) if number < 2**32 else struct.pack(">BQ", 0xCF, number)
