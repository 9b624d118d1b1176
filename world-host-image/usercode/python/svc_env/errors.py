"""What ends a run before its function returns."""

from __future__ import annotations

from .typed import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any


class Refused(Exception):
    """The store said no to a read or a write; nothing of it was done.

    It is raised where the read or write is, and can be caught there, but for two cases that only the end
    of the call tells and that fail it then: a removed row that others still refer to, and a missing row
    of an entity that refers back (itself, or by way of others).

    entity: the entity it was about.
    kind: "shape" (the row breaks the contract), "duplicate", "missing_reference", "referenced",
        "not_found", "unknown_entity" or "full"; "too_large" for an answer with too many rows.
    field: the top-level field at fault, where there is one.
    pointer: JSON pointer to the value at fault, where there is one.
    detail: what is wrong, in words.
    """

    def __init__(
        self,
        entity: str,
        kind: str,
        detail: str,
        field: str | None = None,
        pointer: str | None = None,
    ) -> None:
        super().__init__(f"{entity}{pointer or ''}: {detail}")
        self.entity = entity
        self.kind = kind
        self.detail = detail
        self.field = field
        self.pointer = pointer


class Failed(BaseException):
    """Raised by `fail`. Not an Exception, so that a broad `except` of an author lets it through."""

    def __init__(self, message: str, code: str, details: dict[str, Any]) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.details = details


class Answered(BaseException):
    """Raised by `ctx.fail`: the vendor's own error answer."""

    def __init__(self, status: int, body: Any, headers: dict[str, str]) -> None:
        super().__init__(f"answered {status}")
        self.status = status
        self.body = body
        self.headers = headers
