"""Texts in addresses. `urllib.parse` does the same, and would take 0.2 MB of every session."""

from functools import lru_cache

from svc_env import Row

#: Bytes that stand for themselves.
PLAIN = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-~")


@lru_cache(maxsize=256)
def escaped(text: str, also: str = "") -> str:
    """A text for an address; `also` are further characters that stand for themselves."""
    kept = PLAIN | frozenset(also.encode())
    return "".join(chr(byte) if byte in kept else f"%{byte:02X}" for byte in text.encode())


def query_of(values: Row) -> str:
    """The query of an address; what has a list is in it once for each item."""
    pairs = [
        (name, item)
        for name, value in values.items()
        for item in (value if isinstance(value, (list, tuple)) else [value])
    ]
    return "&".join(f"{_word(name)}={_word(item)}" for name, item in pairs)


def _word(value: object) -> str:
    return escaped(str(value), " ").replace(" ", "+")
