"""Tools in Python. A tool is a function of its name; its input arrives as keyword arguments."""

from collections import Counter

from svc_env import fail, get, query


def triage_summary(owner: str, repo: str) -> dict[str, object]:
    """Returns what waits for a person in a repository. As everywhere, a pull request is an issue, too."""
    if get("repositories", {"owner": owner, "name": repo}) is None:
        fail(f"there is no repository {owner}/{repo}", code="not_found")
    here = {"owner": owner, "repo": repo}
    issues = query("issues", here, order_by="number")
    waiting = [issue for issue in issues if issue["state"] == "open"]
    pulls = {pull["number"] for pull in query("pulls", here)}
    numbers = [issue["number"] for issue in waiting if issue["number"] not in pulls]
    labels = query("issue_labels", {**here, "issue_number": numbers}, order_by="label")

    def missing(entity: str) -> list[int]:
        """The open issues, without pull requests, that no row of this entity belongs to."""
        rows = query(entity, {**here, "issue_number": numbers})
        present = {row["issue_number"] for row in rows}
        return [number for number in numbers if number not in present]

    return {
        "open": len(waiting),
        "closed": len(issues) - len(waiting),
        "open_by_label": Counter(row["label"] for row in labels),
        "without_label": missing("issue_labels"),
        "without_assignee": missing("issue_assignees"),
        "without_comment": missing("comments"),
        "waiting_pulls": sorted(pulls.intersection(issue["number"] for issue in waiting)),
        "longest_quiet": _longest_quiet(waiting),
    }


def _longest_quiet(issues: list[dict[str, object]]) -> dict[str, object] | None:
    """Returns the issue that was not touched for the longest time. A name with `_` is no tool."""
    if not issues:
        return None
    issue = min(issues, key=lambda row: row["updated_at"])
    return {field: issue[field] for field in ("number", "title", "updated_at")}
