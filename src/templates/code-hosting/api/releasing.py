"""Consequences of a release: its tag, the choice of the latest one, and the notes of changes."""

from svc_env import HandlerContext, Row
from svc_env.finding import known

from .answers.addresses import web_url
from .finding import commit_named, numbered, place, place_of
from .history import tell
from .pulling import commits_since
from .refusals import invalid


def latest_release(ctx: HandlerContext) -> Row | None:
    """The newest one that is out and no trial; unless one was put before the others by hand."""
    rows = ctx.query("releases", {**place(ctx), "draft": False, "prerelease": False})
    standing = {"true": 1, "false": -1}
    order = [(standing.get(row.get("make_latest", ""), 0), row["published_at"]) for row in rows]
    ranked = sorted(zip(order, rows, strict=True), key=lambda pair: (pair[0], pair[1]["id"]))
    return ranked[-1][1] if ranked else None


def make_tag(ctx: HandlerContext, repository: Row, release: Row) -> None:
    """The tag of a release that is given out, from the branch or commit that it names."""
    key = {**place_of(release), "name": release["tag_name"]}
    if ctx.get("tags", key) is not None:
        return
    commit = commit_named(ctx, release["target_commitish"])
    if commit is None:
        invalid(ctx, "Release", "target_commitish", "invalid")
    ctx.insert("tags", {**key, "sha": commit["sha"]})
    tell(ctx, repository, "create", None, ref=release["tag_name"], ref_type="tag")


def write_notes(ctx: HandlerContext, tag: str, target: str, previous: str | None) -> Row:
    """A name and a text: the pull requests that were merged since the release before."""
    here = place(ctx)
    head = commit_named(ctx, tag) or commit_named(ctx, target)
    if head is None:
        invalid(ctx, "Release", "target_commitish", "invalid")
    before = previous or _tag_before(ctx, tag)
    base = commit_named(ctx, before) if before else None
    commits = commits_since(ctx, here, base["sha"] if base else "", head["sha"])
    shas = {commit["sha"] for commit in commits}
    pulls = ctx.query("pulls", {**here, "merged": True}, order_by="merged_at")
    lines = [_line(ctx, pull) for pull in pulls if pull["merge_commit_sha"] in shas]
    changes = "\n".join(["## What's Changed", *lines, "", ""]) if lines else ""
    compared = f"compare/{before}...{tag}" if before else f"commits/{tag}"
    return {"name": tag, "body": f"{changes}\n**Full Changelog**: {web_url(here)}/{compared}"}


def _tag_before(ctx: HandlerContext, tag: str) -> str | None:
    """The tag of the release that came out last."""
    where = {**place(ctx), "draft": False}
    rows = ctx.query("releases", where, order_by="published_at")
    tags = [row["tag_name"] for row in rows if row["tag_name"] != tag]
    return tags[-1] if tags else None


def _line(ctx: HandlerContext, pull: Row) -> str:
    issue = known(ctx, "issues", numbered(pull))
    address = web_url(pull, "pull", pull["number"])
    return f"* {issue['title']} by @{issue['user']} in {address}"
