"""Contents of a pull request, and whether it may be merged."""

from collections import Counter

from svc_env import HandlerContext, Row

from .checking import is_unstable
from .finding import numbered, place_of


def commits_between(ctx: HandlerContext, pull: Row) -> list[Row]:
    """The commits of a pull request: those of its head since it left the base. Oldest first."""
    return commits_since(ctx, pull, pull["base_sha"], pull["head_sha"])


def history_of(ctx: HandlerContext, row: Row, sha: str) -> list[Row]:
    """A commit and all that it was made of, also what merges brought in. Newest first, and none
    before a commit that is made of it."""
    known = _commits_by_sha(ctx, row)
    reached: dict[str, Row] = {}
    waiting = [sha]
    while waiting:
        one = waiting.pop()
        if one in known and one not in reached:
            reached[one] = known[one]
            waiting += known[one]["parents"]
    unseen = Counter(parent for commit in reached.values() for parent in commit["parents"])
    ready, found = [sha] if sha in reached else [], []
    while ready:
        ready.sort(key=lambda one: (reached[one]["committed_at"], one))
        commit = reached[ready.pop()]
        found.append(commit)
        for parent in commit["parents"]:
            unseen[parent] -= 1
            if unseen[parent] == 0 and parent in reached:
                ready.append(parent)
    return found


def _commits_by_sha(ctx: HandlerContext, row: Row) -> dict[str, Row]:
    return {commit["sha"]: commit for commit in ctx.query("commits", place_of(row))}


def commits_since(ctx: HandlerContext, row: Row, base: str, head: str) -> list[Row]:
    """The commits that one has and another has not. Oldest first."""
    on_base = {commit["sha"] for commit in history_of(ctx, row, base)}
    return [one for one in history_of(ctx, row, head)[::-1] if one["sha"] not in on_base]


def fork_point(ctx: HandlerContext, head: Row, base: Row) -> Row | None:
    """The newest commit that two branches, or commits, have in common."""
    on_base = {commit["sha"] for commit in history_of(ctx, base, base["sha"])}
    on_head = history_of(ctx, head, head["sha"])
    return next((commit for commit in on_head if commit["sha"] in on_base), None)


def changed_files(ctx: HandlerContext, pull: Row) -> list[Row]:
    """The files that a pull request changes."""
    return files_of(commits_between(ctx, pull))


def files_of(commits: list[Row]) -> list[Row]:
    """The files that commits change; those that several of them change are put together. A merge says
    again what other commits have said."""
    files: dict[str, Row] = {}
    for commit in commits:
        if len(commit["parents"]) > 1:
            continue
        for file in commit["files"]:
            before = files.get(file["filename"])
            files[file["filename"]] = file if before is None else _changed_again(before, file)
    return sorted(files.values(), key=lambda file: file["filename"])


def _changed_again(before: Row, file: Row) -> Row:
    sums = {name: before[name] + file[name] for name in ("additions", "deletions")}
    return {**file, "status": before["status"], **sums}


def is_approved(ctx: HandlerContext, pull: Row) -> bool:
    """Returns true if a reviewer approved and no reviewer's last word was to ask for changes."""
    states = {}
    for review in ctx.query("reviews", numbered(pull), order_by=["submitted_at", "id"]):
        if review["state"] in ("APPROVED", "CHANGES_REQUESTED", "DISMISSED"):
            states[review["user"]] = review["state"]
    return "APPROVED" in states.values() and "CHANGES_REQUESTED" not in states.values()


def needs_approval(ctx: HandlerContext, pull: Row) -> bool:
    base = ctx.get("branches", {**place_of(pull), "name": pull["base"]})
    return bool(base and base["protected"])


def mergeable_state(ctx: HandlerContext, pull: Row) -> str:
    """Returns what prevents the merge of an open pull request; "clean": nothing. "unstable" does not:
    a check that failed is no reason not to merge."""
    if pull["draft"]:
        return "draft"
    if pull.get("conflicts"):
        return "dirty"
    if needs_approval(ctx, pull) and not is_approved(ctx, pull):
        return "blocked"
    return "unstable" if is_unstable(ctx, pull, pull["head_sha"]) else "clean"
