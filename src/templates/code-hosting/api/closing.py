"""Closing issues and pull requests, and opening them again."""

from svc_env import HandlerContext, Row

from .finding import numbered, place_of
from .history import record, tell_of_issue
from .refusals import invalid
from .viewer import VIEWER


def close_issue(
    ctx: HandlerContext,
    repository: Row,
    issue: Row,
    reason: str | None = "completed",
    commit_id: str | None = None,
) -> Row:
    """Closes what is open. Pull requests have no reason.

    commit_id: the commit whose message or pull request did it.
    """
    if ctx.get("pulls", numbered(issue)) is not None:
        reason = None
    now = ctx.clock.now()
    patch = {"state": "closed", "state_reason": reason, "closed_at": now, "closed_by": VIEWER}
    closed = ctx.update("issues", numbered(issue), {**patch, "updated_at": now})
    record(ctx, issue, "closed", commit_id=commit_id, state_reason=reason)
    tell_of_issue(ctx, repository, closed, "closed")
    return closed


def reopen_issue(ctx: HandlerContext, repository: Row, issue: Row) -> Row:
    """Opens what is closed; 422 for a pull request that cannot be opened again."""
    pull = ctx.get("pulls", numbered(issue))
    if pull:
        _require_reopenable(ctx, pull)
    patch = {
        "state": "open",
        "state_reason": None if pull else "reopened",
        "closed_at": None,
        "closed_by": None,
        "updated_at": ctx.clock.now(),
    }
    opened = ctx.update("issues", numbered(issue), patch)
    record(ctx, issue, "reopened")
    tell_of_issue(ctx, repository, opened, "reopened")
    return opened


def _require_reopenable(ctx: HandlerContext, pull: Row) -> None:
    """422 for a closed pull request that is merged, or whose branch is gone."""
    if pull["merged"]:
        invalid(ctx, "PullRequest", "state", "invalid")
    if ctx.get("branches", {**place_of(pull), "name": pull["head"]}) is None:
        message = f"state cannot be changed. The {pull['head']} branch has been deleted."
        invalid(ctx, "PullRequest", "state", "custom", message=message)
