"""Judges what the agent left. It is imported anew for each grade; it reads and cannot write."""

from datetime import datetime

from svc_env import Row, VerifyContext

HERE = {"owner": "northquay", "repo": "berth"}
#: 27 March 2026, whatever the hour, and in the zones of the harbours as well.
DUE_FROM = datetime.fromisoformat("2026-03-26T22:00:00Z")
DUE_BEFORE = datetime.fromisoformat("2026-03-28T00:00:00Z")

#: What was open in 2.9, by whether it is about bookings; and what must stay where it was.
TO_MOVE = {47, 99, 107, 114, 142, 144}
TO_STAY = {84, 128}
CLOSED = {157}
IN_2_8 = {64, 118, 134, 139, 141, 149, 150, 152, 153}


def verify(ctx: VerifyContext) -> None:
    found = ctx.query("milestones", {**HERE, "title": "2.10"})
    if not ctx.check("there is a milestone 2.10", len(found) == 1, f"there are {len(found)}"):
        return
    new = found[0]
    ctx.check("2.10 is open", new["state"] == "open")
    ctx.check("2.10 is due on 27 March 2026", _is_due(new), f"it is due on {new.get('due_on')}")
    moved = _numbers(ctx, new["number"])
    ctx.check("what is not about bookings is in 2.10", moved >= TO_MOVE, _list(TO_MOVE - moved))
    ctx.check("nothing else is in 2.10", moved <= TO_MOVE, _list(moved - TO_MOVE))
    old = _numbers(ctx, 4)
    ctx.check("what is about bookings stayed in 2.9", old >= TO_STAY, _list(TO_STAY - old))
    ctx.check("what is closed stayed in 2.9", old >= CLOSED, _list(CLOSED - old))
    ctx.check("2.8 has what it had", _numbers(ctx, 3) == IN_2_8)
    closed = ctx.query("issues", {**HERE, "number": sorted(TO_MOVE | TO_STAY), "state": "closed"})
    ctx.check("nothing was closed", not closed, _list({issue["number"] for issue in closed}))


def _is_due(milestone: Row) -> bool:
    due = milestone.get("due_on")
    return bool(due) and DUE_FROM <= datetime.fromisoformat(due) < DUE_BEFORE


def _numbers(ctx: VerifyContext, milestone: int) -> set[int]:
    return {issue["number"] for issue in ctx.query("issues", {**HERE, "milestone": milestone})}


def _list(numbers: set[int]) -> str:
    return ", ".join(f"#{number}" for number in sorted(numbers))
