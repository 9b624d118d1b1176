"""Merging a pull request, and what comes after it: issues that it fixes, its branch."""

import re

from svc_env import HandlerContext, Row
from svc_env.finding import known

from .answers.commits import git_id
from .answers.repositories import setting
from .closing import close_issue
from .finding import numbered, place_of
from .history import record, tell
from .pulling import changed_files, mergeable_state
from .trees import keep_versions
from .viewer import VIEWER

#: Ways to merge: the setting that allows each, and what it is called.
METHODS = {
    "merge": ("allow_merge_commit", "Merge commits"),
    "squash": ("allow_squash_merge", "Squash merges"),
    "rebase": ("allow_rebase_merge", "Rebase merges"),
}

#: "Fixes #12" in the text of a pull request closes that issue with the merge.
FIXES = re.compile(r"\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?):?\s+#(\d{1,9})\b", re.IGNORECASE)


def obstacle(
    ctx: HandlerContext, repository: Row, issue: Row, pull: Row, method: str
) -> str | None:
    """Why the code host refuses to merge, in its words."""
    allowing, named = METHODS[method]
    if not setting(repository, allowing):
        return f"{named} are not allowed on this repository."
    if issue["state"] == "closed":
        return "Pull Request is not mergeable"
    return {
        "draft": "Pull Request is still a draft",
        "dirty": "Pull Request is not mergeable",
        "blocked": "At least 1 approving review is required by reviewers with write access.",
    }.get(mergeable_state(ctx, pull))


def write_merge(ctx: HandlerContext, pull: Row, method: str, message: str) -> Row:
    """Moves the base to a new commit and marks the pull request as merged. Answers it."""
    base_key = {**place_of(pull), "name": pull["base"]}
    tip, now = known(ctx, "branches", base_key)["sha"], ctx.clock.now()
    parents = [tip, pull["head_sha"]] if method == "merge" else [tip]
    commit = {
        **place_of(pull),
        "sha": git_id("merge", *parents, pull["head_sha"], message, now),
        "parents": parents,
        "message": message,
        "author": VIEWER,
        "committed_at": now,
        "files": changed_files(ctx, pull),
    }
    ctx.insert("commits", commit)
    names = [file["filename"] for file in commit["files"]]
    keep_versions(ctx, pull, pull["head_sha"], commit["sha"], names)
    ctx.update("branches", base_key, {"sha": commit["sha"]})
    ctx.update("repositories", {"owner": pull["owner"], "name": pull["repo"]}, {"pushed_at": now})
    merged = {
        "merged": True,
        "merged_at": now,
        "merged_by": VIEWER,
        "merge_method": method,
        "merge_commit_sha": commit["sha"],
    }
    return ctx.update("pulls", numbered(pull), merged)


def close_fixed_issues(ctx: HandlerContext, repository: Row, issue: Row, pull: Row) -> None:
    """Closes what a pull request says it fixes, once that has reached the default branch."""
    if pull["base"] != repository["default_branch"]:
        return
    for number in map(int, FIXES.findall(issue.get("body") or "")):
        fixed = ctx.get("issues", {**place_of(issue), "number": number})
        if fixed is not None and fixed["state"] == "open":
            close_issue(ctx, repository, fixed, commit_id=pull["merge_commit_sha"])


def delete_branch(ctx: HandlerContext, repository: Row, branch: Row) -> None:
    """Deletes a branch. Open pull requests that would merge it are closed."""
    ctx.delete("branches", {**place_of(branch), "name": branch["name"]})
    for pull in ctx.query("pulls", {**place_of(branch), "head": branch["name"]}):
        issue = known(ctx, "issues", numbered(pull))
        if issue["state"] == "open":
            close_issue(ctx, repository, issue)
        record(ctx, issue, "head_ref_deleted")
    tell(ctx, repository, "delete", None, ref=branch["name"], ref_type="branch")
