"""Judges whom the group selects, however its criteria are written, and what the policy reaches."""

from types import SimpleNamespace

from svc_env import VerifyContext, clock

from api.inventory import COMPUTER, members_of


def verify(ctx: VerifyContext) -> None:
    groups = ctx.query("computer_groups", {"name": "Not encrypted"})
    if not ctx.check("there is one group Not encrypted", len(groups) == 1, f"there are {len(groups)}"):
        return
    group = groups[0]
    ctx.check("it is smart", group["is_smart"])
    wanted = [
        row["id"]
        for row in ctx.query("computers", order_by="id")
        if row["general"]["remoteManagement"]["managed"] and row["operatingSystem"]["fileVault2Status"] != "ALL_ENCRYPTED"
    ]
    world = SimpleNamespace(query=ctx.query, get=ctx.get, clock=clock)
    found = [row["id"] for row in members_of(world, group, COMPUTER)]
    ctx.check("it selects the managed computers that are not encrypted", found == wanted, f"it selects {found}")
    ctx.check("it has criteria for both", {one["name"] for one in group["criteria"]} >= {"Managed", "FileVault 2 Status"})
    policy = ctx.get("policies", {"id": 5}) or {}
    ctx.check("the policy is on", policy.get("enabled") is True)
    nothing = {"computers": [], "buildings": [], "departments": [], "computer_groups": []}
    wanted_scope = {"all_computers": False, **nothing, "computer_groups": [group["id"]], "exclusions": nothing}
    ctx.check("it reaches the group and nothing else", policy.get("scope") == wanted_scope, f"{policy.get('scope')}")
