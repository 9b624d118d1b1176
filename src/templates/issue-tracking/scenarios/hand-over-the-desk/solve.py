"""Finds what is open by the search, as an agent does."""

from svc_env.testing import world

LEILA, OWEN = "5f04bf83253c00009d6ca612", "5f04de7225bf00009d6e3f2b"


def solve():
    jql = f"project = SUP AND assignee = {LEILA} AND resolution is EMPTY"
    found = world.tools.search_issues(jql=jql, fields="status", maxResults=100)
    for issue in found["issues"]:
        world.tools.assign_issue(issueIdOrKey=issue["key"], accountId=OWEN)
        if issue["fields"]["status"]["name"] == "Waiting for customer":
            world.tools.add_comment(issueIdOrKey=issue["key"], body="Owen Pritchard has taken over.")
