"""Access to the world for its author's code: tools, route handlers and graders.

    from svc_env import get, query, insert, update, delete, fail, clock, ids, webhooks

    def close_issue(number, reason="completed"):
        issue = get("issues", {"number": number})
        if issue is None:
            fail(f"there is no issue {number}", code="not_found")
        return update("issues", {"number": number}, {"state": "closed", "state_reason": reason})

Rows and keys are dictionaries of JSON values. The writes of a call are committed together if the call
succeeds, and undone if it fails.
"""

from __future__ import annotations

from .ctx import HandlerContext, VerifyContext
from .errors import Failed, Refused
from .run import Row, current_run
from .typed import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any, NoReturn

__all__ = [
    "HandlerContext",
    "Refused",
    "Row",
    "VerifyContext",
    "clock",
    "count",
    "delete",
    "fail",
    "get",
    "ids",
    "insert",
    "query",
    "update",
    "webhooks",
]


def get(entity: str, key: Row) -> Row | None:
    """Returns the row with this primary key, or None.

    >>> get("users", {"login": "ada"})
    """
    return current_run().get(entity, key)


def query(
    entity: str,
    where: Row | None = None,
    limit: int | None = None,
    offset: int = 0,
    order_by: str | list[str] | None = None,
) -> list[Row]:
    """Returns the matching rows, in insertion order unless `order_by` is given.

    where: values by field or by path into a row ("owner.login" or "/owner/login"). A row must match all of
        them. A list matches any of its items; None matches a field that is null or absent.
    order_by: "created_at" for ascending, "-created_at" for descending order, or a list of such texts.

    >>> query("issues", {"state": ["open", "reopened"]}, order_by="-number", limit=10)
    """
    return current_run().query(entity, where, limit, offset, order_by)


def count(entity: str, where: Row | None = None) -> int:
    """Counts the matching rows without reading them. `where` is the same as in `query`.

    >>> count("issues", {"state": "open"})
    """
    return current_run().count(entity, where)


def insert(entity: str, row: Row) -> Row:
    """Adds a row and returns it.

    Raises Refused if the contract, a key or a reference forbids it.
    """
    return current_run().insert(entity, row)


def update(entity: str, key: Row, patch: Row) -> Row:
    """Replaces the named top-level fields of a row and returns the new row.

    Raises Refused if there is no such row, or if the contract forbids the change.
    """
    return current_run().update(entity, key, patch)


def delete(entity: str, key: Row) -> None:
    """Removes a row. Raises Refused if there is no such row.

    Rows that refer to the removed row are checked when the call ends.
    """
    current_run().delete(entity, key)


def fail(message: str, code: str = "failed", **details: Any) -> NoReturn:
    """Fails the call with an error that its caller can act on; nothing is written.

    Keyword arguments become the error's details. `except Exception` does not catch the error.

    >>> fail("issue 7 is locked", code="locked", number=7)
    """
    raise Failed(message, code, details)


class clock:
    """The world's clock. The world's time may differ from the machine's time."""

    @staticmethod
    def now() -> str:
        """Returns the world's time, in ISO 8601 and UTC."""
        return current_run().now()


class ids:
    """Source of new identifiers."""

    @staticmethod
    def uuid() -> str:
        """Returns a new UUID."""
        return current_run().uuid()

    @staticmethod
    def next(entity: str, field: str, within: Row | None = None) -> int:
        """Returns one more than the largest number that the field has, or ever had, in a row.

        Inserting a row with the number uses it up, and deleting that row does not make it available again.

        within: values of fields: only rows with these values count. A primary key or unique list must contain
            these fields and `field`.

        >>> ids.next("issues", "number", {"owner": "northquay", "repo": "berth"})
        """
        return current_run().next_integer(entity, field, within)


class webhooks:
    """The world's webhooks. They are rows of the entity that connector.toml names."""

    @staticmethod
    def deliver(
        event_type: str,
        body: Any,
        scope: Row | None = None,
        delivery_id: str | None = None,
    ) -> None:
        """Sends an event to every subscription that matches it, once the call has succeeded.

        body: JSON, at most 256 KiB. Later changes of the value have no effect.
        scope: the subject of the event, by the names of `[webhooks] scope`: a value or a list of values.
            Subscriptions that list other values get no delivery. Raises Refused beyond the limits.
        delivery_id: the id in the headers of all deliveries. By default, each delivery has its own id.

        >>> webhooks.deliver("issue.closed", {"number": 7}, {"repository": "berth"})
        """
        current_run().deliver(event_type, body, scope, delivery_id)
