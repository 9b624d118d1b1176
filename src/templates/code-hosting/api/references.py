"""Remembers which comments speak of which issues, as the code host's timeline does.

A check of a task can then ask whether a comment names an issue, without reading prose.
"""

import re

from svc_env import HandlerContext, Row

from .answers.addresses import WEB
from .finding import named

#: `#12`, `owner/repo#12`, or the address of an issue's page. An owner is read from the beginning of its
#: name alone: once more from each dash, a long row of them would take minutes.
MENTION = re.compile(
    r"(?<![\w/#&])(?:(?<!-)(?P<owner>[\w-]+)/(?P<repo>[\w.-]+))?#(?P<number>\d{1,9})\b"
    rf"|{re.escape(WEB)}/(?P<page_owner>[\w-]+)/(?P<page_repo>[\w.-]+)/(?:issues|pull)/(?P<page>\d{{1,9}})\b"
)


def record_references(ctx: HandlerContext, comment: Row) -> None:
    """Writes a reference for each issue that exists and is not the one commented on."""
    here = (comment["owner"], comment["repo"], comment["issue_number"])
    for owner, repo, number in sorted(_mentions(ctx, comment) - {here}):
        if ctx.get("issues", {"owner": owner, "repo": repo, "number": number}) is None:
            continue
        reference = {
            "comment_id": comment["id"],
            "owner": owner,
            "repo": repo,
            "issue_number": number,
            "from_owner": comment["owner"],
            "from_repo": comment["repo"],
            "from_number": comment["issue_number"],
            "user": comment["user"],
            "created_at": comment["updated_at"],
        }
        ctx.insert("cross_references", reference)


def forget_references(ctx: HandlerContext, comment: Row) -> None:
    """Deletes what `record_references` wrote. A comment cannot be deleted before."""
    for row in ctx.query("cross_references", {"comment_id": comment["id"]}):
        key = {field: row[field] for field in ("comment_id", "owner", "repo", "issue_number")}
        ctx.delete("cross_references", key)


def _mentions(ctx: HandlerContext, comment: Row) -> set[tuple[str, str, int]]:
    found = set()
    for match in MENTION.finditer(comment["body"]):
        owner = match["owner"] or match["page_owner"] or comment["owner"]
        repo = match["repo"] or match["page_repo"] or comment["repo"]
        repository = named(ctx, "repositories", {"owner": owner, "name": repo})
        if repository is not None:
            number = int(match["number"] or match["page"])
            found.add((repository["owner"], repository["name"], number))
    return found
