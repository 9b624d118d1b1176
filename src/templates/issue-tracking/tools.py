"""Tools in Python. A tool is a function of its name; its input arrives as keyword arguments.

Most tools of this world are operations of connector.toml, and do all that the tracker does about a change.
"""

from collections import Counter
from datetime import datetime, timedelta
from typing import Any

from svc_env import clock, fail, query

#: After how many days without a change an issue in progress is stuck.
QUIET_DAYS = 14


def board_summary(project: str) -> dict[str, Any]:
    """Returns what waits for a person in a project."""
    found = query("projects", {"key": project.upper()})
    if not found:
        fail(f"there is no project {project}", code="not_found")
    issues = [row for row in query("issues", {"project_id": found[0]["id"]}, order_by="id") if not row.get("resolved")]
    statuses = {row["id"]: row for row in query("statuses")}
    names = {row["account_id"]: row["display_name"] for row in query("users")}
    today = clock.now()[:10]
    quiet = (datetime.fromisoformat(today) - timedelta(days=QUIET_DAYS)).strftime("%Y-%m-%d")
    working = {row["id"] for row in query("status_categories", {"key": "indeterminate"})}
    return {
        "unresolved": len(issues),
        "by_status": Counter(statuses[row["status_id"]]["name"] for row in issues),
        "by_assignee": Counter(names[row["assignee"]] for row in issues if row.get("assignee")),
        "without_assignee": [row["key"] for row in issues if not row.get("assignee")],
        "overdue": [row["key"] for row in issues if row.get("due_date") and row["due_date"] < today],
        "stuck": [row["key"] for row in issues if statuses[row["status_id"]]["category_id"] in working and row["updated"] < quiet],
    }
