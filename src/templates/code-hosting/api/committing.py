"""Commits that the API itself makes, and branches that move to them."""

from svc_env import HandlerContext, Row
from svc_env.finding import known

from .answers.addresses import api_url, web_url
from .answers.commits import email_of, git_id
from .finding import numbered, place_of
from .history import has_listeners, tell, tell_of_issue, touch
from .pulling import commits_since, fork_point
from .trees import write_version
from .viewer import VIEWER

#: The commit that there is none before, or after.
NOTHING = "0" * 40


def insert_commit(
    ctx: HandlerContext, row: Row, parents: list[str], message: str, files: list[Row]
) -> Row:
    """A commit of the viewer's in a row's repository."""
    now = ctx.clock.now()
    names = (file["filename"] + file.get("patch", "") for file in files)
    commit = {
        **place_of(row),
        "sha": git_id("commit", *place_of(row).values(), *parents, message, now, *names),
        "parents": parents,
        "message": message,
        "author": VIEWER,
        "committed_at": now,
        "files": files,
    }
    return ctx.insert("commits", commit)


def commit_file(
    ctx: HandlerContext, branch: Row, path: str, before: Row | None, after: Row | None, message: str
) -> Row:
    """A commit that changes one file. A branch that is new has no `sha` yet."""
    parents = [branch["sha"]] if "sha" in branch else []
    commit = insert_commit(ctx, branch, parents, message, [_change(path, before, after)])
    write_version(ctx, branch, commit["sha"], path, after)
    return commit


def move_branch(
    ctx: HandlerContext, repository: Row, branch: Row, sha: str, forced: bool = False
) -> None:
    """Puts a branch to a commit, and with it the open pull requests that would merge it."""
    before, now = branch["sha"], ctx.clock.now()
    ctx.update("branches", {**place_of(branch), "name": branch["name"]}, {"sha": sha})
    ctx.update("repositories", _key(repository), {"pushed_at": now})
    tell_of_push(ctx, repository, branch["name"], before, sha, forced)
    for pull in ctx.query("pulls", {**place_of(branch), "head": branch["name"], "merged": False}):
        issue = known(ctx, "issues", numbered(pull))
        if issue["state"] == "open":
            base = ctx.get("branches", {**place_of(pull), "name": pull["base"]})
            shared = base and fork_point(ctx, {**branch, "sha": sha}, base)
            start = {"base_sha": shared["sha"]} if shared else {}
            ctx.update("pulls", numbered(pull), {"head_sha": sha, **start})
            touch(ctx, issue)
            tell_of_issue(ctx, repository, issue, "synchronize", before=before, after=sha)


def tell_of_push(
    ctx: HandlerContext,
    repository: Row,
    name: str,
    before: str,
    after: str,
    forced: bool = False,
    to: Row | None = None,
) -> None:
    """Delivers `push` for a branch that moved. A new one tells of what the default branch lacks."""
    if not has_listeners(ctx, repository):
        return
    here = {"owner": repository["owner"], "repo": repository["name"]}
    default = ctx.get("branches", {**here, "name": repository["default_branch"]})
    start = default["sha"] if before == NOTHING and default else before
    commits = [_pushed(ctx, commit) for commit in commits_since(ctx, here, start, after)]
    viewer = known(ctx, "users", {"login": VIEWER})
    compared = f"{before[:12]}...{after[:12]}" if before != NOTHING else after[:12]
    tip = ctx.get("commits", {**here, "sha": after})
    body = {
        "ref": f"refs/heads/{name}",
        "before": before,
        "after": after,
        "created": before == NOTHING,
        "deleted": after == NOTHING,
        "forced": forced,
        "base_ref": None,
        "compare": web_url(here, "compare") + f"/{compared}",
        "commits": commits,
        "head_commit": _pushed(ctx, tip) if tip else None,
        "pusher": {"name": viewer["login"], "email": email_of(viewer)},
    }
    tell(ctx, repository, "push", None, to=to, **body)


def _pushed(ctx: HandlerContext, commit: Row) -> Row:
    """A commit as a push tells of it."""
    author = known(ctx, "users", {"login": commit["author"]})
    who = {"name": author["name"] or author["login"], "email": email_of(author)}
    who["username"] = author["login"]
    names: dict[str, list[str]] = {"added": [], "removed": [], "modified": []}
    for file in commit["files"]:
        names[file["status"] if file["status"] in names else "modified"].append(file["filename"])
    return {
        "id": commit["sha"],
        "tree_id": git_id("tree", commit["sha"]),
        "distinct": True,
        "message": commit["message"],
        "timestamp": commit["committed_at"],
        "url": api_url(commit, "commits", commit["sha"]),
        "author": who,
        "committer": who,
        **names,
    }


def _change(path: str, before: Row | None, after: Row | None) -> Row:
    """Returns the entry of a commit for a file that it changes."""
    import difflib  # 0.1 MB, which few sessions come to

    status = "added" if before is None else "removed" if after is None else "modified"
    old, new = _lines(before), _lines(after)
    patch = list(difflib.unified_diff(old, new, lineterm=""))[2:]
    added = sum(line.startswith("+") for line in patch)
    removed = sum(line.startswith("-") for line in patch)
    counts = {"additions": added, "deletions": removed}
    return {"filename": path, "status": status, **counts, "patch": "\n".join(patch)}


def _lines(version: Row | None) -> list[str]:
    """The lines of a text; what is no text has none."""
    if version is None or version.get("encoding") == "base64":
        return []
    return version["content"].splitlines()


def _key(repository: Row) -> Row:
    return {"owner": repository["owner"], "name": repository["name"]}
