"""The world, for the code of its author: tools, route handlers and graders.

    from svc_env import get, query, insert, update, delete, fail, clock, ids, webhooks

    def close_issue(number, reason="completed"):
        issue = get("issues", {"number": number})
        if issue is None:
            fail(f"there is no issue {number}", code="not_found")
        return update("issues", {"number": number}, {"state": "closed", "state_reason": reason})

Rows and keys are dictionaries of JSON values. All that one call writes is written when it succeeds,
and nothing of it when it fails.
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
    """The row with this primary key, or None.

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
    """The rows that match, in the order they were inserted unless `order_by` says otherwise.

    where: values by field or by path into a row ("owner.login" or "/owner/login"); all must be
        equal. A list matches any of its items, None a field that is null or absent.
    order_by: "created_at" upwards, "-created_at" downwards, or a list of those.

    >>> query("issues", {"state": ["open", "reopened"]}, order_by="-number", limit=10)
    """
    return current_run().query(entity, where, limit, offset, order_by)


def count(entity: str, where: Row | None = None) -> int:
    """How many rows match, without reading them; `where` as in `query`.

    >>> count("issues", {"state": "open"})
    """
    return current_run().count(entity, where)


def insert(entity: str, row: Row) -> Row:
    """Adds a row and returns it.

    Raises Refused when the contract, a key or a reference forbids it.
    """
    return current_run().insert(entity, row)


def update(entity: str, key: Row, patch: Row) -> Row:
    """Replaces the named top-level fields of a row and returns the new row.

    Raises Refused when there is no such row or the contract forbids the change.
    """
    return current_run().update(entity, key, patch)


def delete(entity: str, key: Row) -> None:
    """Removes a row. Raises Refused when there is none.

    Rows that refer to it are looked for when the call ends.
    """
    current_run().delete(entity, key)


def fail(message: str, code: str = "failed", **details: Any) -> NoReturn:
    """Ends the call as failed, with an error that its caller can act on; nothing is written.

    Keyword arguments become the error's details. `except Exception` does not stop it.

    >>> fail("issue 7 is locked", code="locked", number=7)
    """
    raise Failed(message, code, details)


class clock:
    """The world's clock. The world's time may differ from the machine's."""

    @staticmethod
    def now() -> str:
        """The time in the world, ISO 8601 in UTC."""
        return current_run().now()


class ids:
    """New identifiers."""

    @staticmethod
    def uuid() -> str:
        """A new UUID."""
        return current_run().uuid()

    @staticmethod
    def next(entity: str, field: str, within: Row | None = None) -> int:
        """One more than the largest number that rows hold or have held in a field.

        Inserting a row takes it, and deleting that row does not give it back.

        within: fields that rows are counted within, where a key or unique list has them beside `field`.

        >>> ids.next("issues", "number", {"owner": "northquay", "repo": "berth"})
        """
        return current_run().next_integer(entity, field, within)


class webhooks:
    """The world's webhooks, registered by rows of the entity that connector.toml names."""

    @staticmethod
    def deliver(
        event_type: str,
        body: Any,
        scope: Row | None = None,
        delivery_id: str | None = None,
    ) -> None:
        """Sends an event to every subscription that wants it, once the call has succeeded.

        body: JSON, at most 256 KiB, fixed as it is now.
        scope: what it is about, by the names of `[webhooks] scope`: a value or a list of them.
            Subscriptions that list others are left out. Raises Refused beyond the limits.
        delivery_id: the one that its deliveries have in their headers; each has its own otherwise.

        >>> webhooks.deliver("issue.closed", {"number": 7}, {"repository": "berth"})
        """
        current_run().deliver(event_type, body, scope, delivery_id)
