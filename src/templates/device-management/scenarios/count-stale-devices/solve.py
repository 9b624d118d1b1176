"""Counts by the filter of the API."""

from svc_env.testing import world


def solve() -> None:
    wanted = "supervised==true;lastInventoryUpdateDate=lt=2026-02-01T00:00:00Z"
    params = {"filter": wanted, "section": "GENERAL", "page-size": 200}
    listed = world.api.get("/api/v2/mobile-devices/detail", params=params).json()
    sites = {site["name"]: site["id"] for site in world.api.get("/api/v1/sites").json()}
    world.answer(sum(one["general"]["siteId"] == sites["Rotterdam"] for one in listed["results"]))
