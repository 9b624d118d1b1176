"""What a pull request holds, and whether it may be merged."""

from svc_env import HandlerContext, Row

from .finding import numbered, place_of


def commits_between(ctx: HandlerContext, pull: Row) -> list[Row]:
    """The commits of a pull request: from its head back to where it left the base. Oldest first."""
    return history_of(ctx, pull, pull["head_sha"], pull["base_sha"])[::-1]


def history_of(ctx: HandlerContext, row: Row, sha: str, end: str | None = None) -> list[Row]:
    """A commit and its first parents, newest first, down to `end`, which is left out."""
    known = {commit["sha"]: commit for commit in ctx.query("commits", place_of(row))}
    found = []
    while sha != end and sha in known:
        found.append(known[sha])
        sha = next(iter(known[sha]["parents"]), "")
    return found


def changed_files(ctx: HandlerContext, pull: Row) -> list[Row]:
    """The files that a pull request changes; those that several commits change are put together."""
    files: dict[str, Row] = {}
    for commit in commits_between(ctx, pull):
        for file in commit["files"]:
            before = files.get(file["filename"])
            files[file["filename"]] = file if before is None else _changed_again(before, file)
    return sorted(files.values(), key=lambda file: file["filename"])


def _changed_again(before: Row, file: Row) -> Row:
    sums = {name: before[name] + file[name] for name in ("additions", "deletions")}
    return {**file, "status": before["status"], **sums}


def is_approved(ctx: HandlerContext, pull: Row) -> bool:
    """Whether somebody approved and nobody's last word was to ask for changes."""
    states = {}
    for review in ctx.query("reviews", numbered(pull), order_by=["submitted_at", "id"]):
        if review["state"] in ("APPROVED", "CHANGES_REQUESTED", "DISMISSED"):
            states[review["user"]] = review["state"]
    return "APPROVED" in states.values() and "CHANGES_REQUESTED" not in states.values()


def needs_approval(ctx: HandlerContext, pull: Row) -> bool:
    base = ctx.get("branches", {**place_of(pull), "name": pull["base"]})
    return bool(base and base["protected"])


def mergeable_state(ctx: HandlerContext, pull: Row) -> str:
    """What stands in the way of merging an open pull request; "clean": nothing."""
    if pull["draft"]:
        return "draft"
    if pull.get("conflicts"):
        return "dirty"
    return "blocked" if needs_approval(ctx, pull) and not is_approved(ctx, pull) else "clean"
