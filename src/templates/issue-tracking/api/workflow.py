"""The steps that issues can take, and what taking one does."""

from svc_env import HandlerContext, Row

from .drafting import Draft
from .finding import known
from .history import item

DONE = 10000


def steps_of(ctx: HandlerContext, issue: Row) -> list[Row]:
    """The transitions that an issue can take from where it stands."""
    project = known(ctx, "projects", {"id": issue["project_id"]})
    rows = ctx.query("transitions", {"workflow_id": project["workflow_id"]}, order_by="id")
    return [
        row
        for row in rows
        if row["to_status_id"] != issue["status_id"]
        and (not row.get("from_status_ids") or issue["status_id"] in row["from_status_ids"])
    ]


def take(draft: Draft, step: Row) -> None:
    """Moves a draft on. A step that resolves sets a resolution, any other takes it away."""
    ctx, issue, now = draft.ctx, draft.issue, draft.ctx.clock.now()
    before = known(ctx, "statuses", {"id": issue["status_id"]})
    after = known(ctx, "statuses", {"id": step["to_status_id"]})
    draft.patch["status_id"] = after["id"]
    if before["category_id"] != after["category_id"]:
        draft.patch["status_changed"] = now
    draft.items.insert(0, item("status", (before["id"], before["name"]), (after["id"], after["name"])))
    wanted = draft.now("resolution_id") if step.get("resolves") else None
    if step.get("resolves"):
        wanted = wanted or DONE
    if wanted != draft.now("resolution_id"):
        parts = [ctx.get("resolutions", {"id": one or 0}) for one in (issue.get("resolution_id"), wanted)]
        draft.patch["resolution_id"] = wanted
        draft.items.append(item("resolution", *[(one["id"], one["name"]) if one else (None, None) for one in parts]))
    if bool(wanted) != bool(issue.get("resolved")):
        draft.patch["resolved"] = now if wanted else None
