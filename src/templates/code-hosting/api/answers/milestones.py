"""Milestones, with how many of their issues are open and closed."""

from collections import Counter

from svc_env import HandlerContext, Row

from .addresses import api_url, node_id, web_url
from .users import users_named


def milestone_answer(ctx: HandlerContext, repository: Row, milestone: Row) -> Row:
    return milestone_answers(ctx, repository, [milestone])[0]


def milestone_answers(ctx: HandlerContext, repository: Row, milestones: list[Row]) -> list[Row]:
    """Milestones of one repository."""
    numbers = [milestone["number"] for milestone in milestones]
    whose = {"owner": repository["owner"], "repo": repository["name"]}
    issues = ctx.query("issues", {**whose, "milestone": numbers})
    counts = Counter((issue["milestone"], issue["state"]) for issue in issues)
    users = users_named(ctx, (milestone["creator"] for milestone in milestones))

    def answer(milestone: Row) -> Row:
        number = milestone["number"]
        url = api_url(milestone, "milestones", number)
        return {
            "url": url,
            "html_url": web_url(milestone, "milestone", number),
            "labels_url": f"{url}/labels",
            "id": milestone["id"],
            "node_id": node_id("MI", repository["id"], milestone["id"]),
            "number": number,
            "title": milestone["title"],
            "description": milestone.get("description"),
            "creator": users[milestone["creator"]],
            "open_issues": counts[number, "open"],
            "closed_issues": counts[number, "closed"],
            "state": milestone["state"],
            "created_at": milestone["created_at"],
            "updated_at": milestone["updated_at"],
            "due_on": milestone.get("due_on"),
            "closed_at": milestone.get("closed_at"),
        }

    return [answer(milestone) for milestone in milestones]
