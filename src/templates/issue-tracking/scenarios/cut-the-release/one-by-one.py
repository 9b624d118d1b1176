"""Moves each open issue by itself, and releases the version then."""

from svc_env.testing import world


def solve():
    asked = {"jql": "project = BERTH AND fixVersion = 3.3 AND resolution is EMPTY", "fields": "summary", "maxResults": 100}
    found = world.api.get("/rest/api/3/search/jql", params=asked).json()
    for issue in found["issues"]:
        update = {"fixVersions": [{"remove": {"name": "3.3"}}, {"add": {"name": "4.0"}}]}
        world.tools.edit_issue(issueIdOrKey=issue["key"], update=update)
    world.api.put("/rest/api/3/version/10003", json={"released": True})
