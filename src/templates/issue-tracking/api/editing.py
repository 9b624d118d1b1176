"""Sets the fields of issues, as they are made, edited and moved on.

A request names fields in two ways: `fields` has their new values, `update` adds to lists and takes from them.
Each field reads its value, says what is wrong with it, and tells what changed. Nothing is written before
every field was read, and all that is wrong is answered at once.
"""

from collections.abc import Callable
from typing import Any

from svc_env import HandlerContext, Row

from .answers.issues import custom_fields
from .customizing import set_custom
from .drafting import Draft, Setter, Wrong
from .finding import indexed
from .listing import ROWS_OF, listed, read_component, read_label, read_version, set_labels, set_list_of
from .reading import part_of
from .refusals import refuse
from .setting import (
    set_assignee,
    set_choice_of,
    set_due,
    set_issue_type,
    set_parent,
    set_reporter,
    set_rich_of,
    set_summary,
    set_tracking,
)

SETTERS: dict[str, Setter] = {
    "summary": set_summary,
    "issuetype": set_issue_type,
    "description": set_rich_of("description"),
    "environment": set_rich_of("environment"),
    "priority": set_choice_of("priority", "priorities", "The priority selected is invalid."),
    "resolution": set_choice_of("resolution", "resolutions", "The resolution selected is invalid.", needed=False),
    "assignee": set_assignee,
    "reporter": set_reporter,
    "duedate": set_due,
    "parent": set_parent,
    "timetracking": set_tracking,
}

#: Fields that are lists: how an item is read, what is there now, and how the new list is set.
LISTS: dict[str, tuple[Callable[[Draft, Any], Any], Callable[[Draft], list], Callable[[Draft, list], None]]] = {
    "labels": (read_label, lambda draft: list(draft.now("labels") or []), set_labels),
    **{
        name: (
            read_component if name == "components" else read_version,
            lambda draft, name=name: draft.lists.get(name, listed(draft.ctx, draft.issue, name)),
            set_list_of(name),
        )
        for name in ROWS_OF
    },
}

#: What `update` may add beside fields; the routes that make these rows do it.
PARTS = ("comment", "issuelinks", "worklog")


def read_edits(draft: Draft, skipped: tuple[str, ...] = ()) -> dict[str, list[Row]]:
    """Reads `fields` and `update` of the body into a draft, and answers 400 with all that is wrong.

    Answers what `update` adds beside fields: comments, links, worklogs.
    """
    errors: dict[str, str] = {}
    added: dict[str, list[Row]] = {}
    custom = indexed(custom_fields(draft.ctx))
    for name, value in part_of(draft.ctx, "fields", dict).items():
        if name not in skipped:
            _trying(errors, name, lambda name=name, value=value: _set_field(draft, custom, name, value))
    for name, steps in part_of(draft.ctx, "update", dict).items():
        if name in PARTS:
            added[name] = _added(draft.ctx, name, steps)
        elif name not in skipped:
            _trying(errors, name, lambda name=name, steps=steps: _update_field(draft, custom, name, steps))
    if errors:
        refuse(draft.ctx, 400, errors=errors)
    return added


def _trying(errors: dict[str, str], name: str, run: Callable[[], None]) -> None:
    try:
        run()
    except Wrong as wrong:
        errors[name] = str(wrong)


def _set_field(draft: Draft, custom: dict[str, Row], name: str, value: Any) -> None:
    if name in LISTS:
        read, _, put = LISTS[name]
        if value is not None and not isinstance(value, list):
            raise Wrong("data was not an array")
        put(draft, [read(draft, one) for one in value or []])
    elif name in SETTERS:
        SETTERS[name](draft, value)
    elif name in custom:
        set_custom(draft, custom[name], value)
    else:
        raise Wrong(f"Field '{name}' cannot be set. It is not on the appropriate screen, or unknown.")


def _update_field(draft: Draft, custom: dict[str, Row], name: str, steps: Any) -> None:
    if not isinstance(steps, list) or not all(isinstance(step, dict) for step in steps):
        raise Wrong("data was not an array")
    pairs = [pair for step in steps for pair in step.items()]
    if name in LISTS:
        _update_list(draft, name, pairs)
        return
    for verb, value in pairs:
        if verb not in ("set", "edit"):
            raise Wrong(f"Field '{name}' does not support operation '{verb}'")
        _set_field(draft, custom, name, value)


def _update_list(draft: Draft, name: str, pairs: list[tuple[str, Any]]) -> None:
    """Adds to a list and takes from it, step by step; what comes of it is one change."""
    read, current, put = LISTS[name]
    held = current(draft)
    for verb, value in pairs:
        if verb == "set":
            if not isinstance(value, list):
                raise Wrong("data was not an array")
            held = [read(draft, one) for one in value]
        elif verb in ("add", "remove"):
            one = read(draft, value)
            held = [other for other in held if other != one] + ([one] if verb == "add" else [])
        else:
            raise Wrong(f"Field '{name}' does not support operation '{verb}'")
    put(draft, held)


def _added(ctx: HandlerContext, name: str, steps: Any) -> list[Row]:
    added = [step.get("add") for step in steps] if isinstance(steps, list) and all(isinstance(one, dict) for one in steps) else []
    if not added or not all(isinstance(one, dict) for one in added):
        refuse(ctx, 400, errors={name: f"Field '{name}' only supports the operation 'add' here"})
    return added
