"""Errors that end a run before its function returns."""

from __future__ import annotations

from .typed import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any


class Refused(Exception):
    """Error for a read or a write that the store refused and therefore did not do.

    The read or write raises the error, and code can catch it. Two faults are found only at the end of the
    call, and then fail the call: a row was removed although other rows still refer to it, or a row is missing
    in an entity that refers back (to itself, or through other entities).

    entity: the entity of the read or write.
    kind: "shape" (the row does not fit the contract), "duplicate", "missing_reference", "referenced",
        "not_found", "unknown_entity" or "full"; "too_large" for an answer with too many rows.
    field: the top-level field at fault; None if no field is.
    pointer: the JSON pointer to the value at fault; None if no value is.
    detail: a description of the problem.
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
    """Error raised by `fail`. It is not an Exception, so that a broad `except` of an author does not catch
    it.
    """

    def __init__(self, message: str, code: str, details: dict[str, Any]) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.details = details


class Answered(BaseException):
    """Error raised by `ctx.fail`: the vendor's own error answer."""

    def __init__(self, status: int, body: Any, headers: dict[str, str]) -> None:
        super().__init__(f"answered {status}")
        self.status = status
        self.body = body
        self.headers = headers
