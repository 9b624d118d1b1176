"""Adds up what the tracker says of each issue."""

from svc_env.testing import world


def solve():
    asked = {"jql": "project = BERTH AND fixVersion = 3.1", "fields": ["timespent"], "maxResults": 100}
    found = world.api.post("/rest/api/3/search/jql", json=asked).json()
    spent = sum(issue["fields"]["timespent"] or 0 for issue in found["issues"])
    world.answer(spent / 3600)
