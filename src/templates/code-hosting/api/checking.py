"""Results about a commit: statuses that users wrote, and runs of checks."""

from svc_env import HandlerContext, Row

from .finding import place_of

FAILED = ("failure", "timed_out", "cancelled", "action_required")


def latest_statuses(ctx: HandlerContext, row: Row, sha: str) -> list[Row]:
    """The last word of each context, in the order of their first."""
    found: dict[str, Row] = {}
    for status in ctx.query("statuses", {**place_of(row), "sha": sha}, order_by="id"):
        found[status["context"]] = status
    return list(found.values())


def latest_runs(ctx: HandlerContext, row: Row, sha: str) -> list[Row]:
    """The last run of each check."""
    runs = ctx.query("check_runs", {**place_of(row), "sha": sha}, order_by="id")
    return list({run["name"]: run for run in runs}.values())


def combined_state(statuses: list[Row]) -> str:
    """One word for all: what failed counts before what is awaited. Without statuses it is awaited."""
    states = {status["state"] for status in statuses}
    if states & {"error", "failure"}:
        return "failure"
    return "pending" if "pending" in states or not states else "success"


def is_unstable(ctx: HandlerContext, row: Row, sha: str) -> bool:
    """Returns true if a status or check of the commit failed or is pending."""
    statuses, runs = latest_statuses(ctx, row, sha), latest_runs(ctx, row, sha)
    if statuses and combined_state(statuses) != "success":
        return True
    return any(run["status"] != "completed" or run["conclusion"] in FAILED for run in runs)
