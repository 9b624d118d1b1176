"""Drafts of issues: the new values of fields, and their changes."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from svc_env import HandlerContext, Row

from .history import item

#: Characters that a label or a text of a custom field may have.
LONGEST_TEXT = 255


class Wrong(Exception):
    """Mistake in the value of a field."""


@dataclass
class Draft:
    """Draft of an issue before it is written. issue: the present or the initial row."""

    ctx: HandlerContext
    issue: Row
    patch: Row = field(default_factory=dict)
    items: list[Row] = field(default_factory=list)
    #: New lists of the rows that belong to it: "issue_components", and versions by their kind.
    lists: dict[str, list[int]] = field(default_factory=dict)

    def now(self, name: str) -> Any:
        return self.patch.get(name, self.issue.get(name))

    def set(self, name: str, value: Any, change: Row) -> None:
        """Sets a field of the row, and remembers the change if it is one."""
        if self.issue.get(name) != value:
            self.patch[name] = value
            self.items.append(change)


Setter = Callable[[Draft, Any], None]


def reference_in(value: Any, *names: str) -> Any:
    """Returns the member by which an object names something: the first of these."""
    if not isinstance(value, dict):
        raise Wrong("data was not an object")
    return next((value[name] for name in names if value.get(name) is not None), None)


def set_row(draft: Draft, name: str, column: str, before: Row | None, row: Row | None) -> None:
    """Sets a field that refers to a row with a name."""
    parts = [(one["id"], one["name"]) if one else (None, None) for one in (before, row)]
    draft.set(column, row["id"] if row else None, item(name, *parts))


def date_of(value: Any) -> str | None:
    if value in (None, ""):
        return None
    try:
        return date.fromisoformat(str(value)).isoformat()
    except ValueError as error:
        raise Wrong(f"Error parsing date string: {value}") from error
