"""Refs: what git calls branches and tags. A branch is made, moved and deleted as one."""

import re

from svc_env import HandlerContext, Row

from ..answers.repositories import ref_answer
from ..committing import NOTHING, move_branch, tell_of_push
from ..finding import find_repository, place
from ..history import tell
from ..merging import delete_branch
from ..pulling import history_of
from ..reading import body_of, flag_of, text_of
from ..refusals import not_found, refuse
from ..viewer import require_write

NAME = re.compile(r"(?!.*(\.\.|//|/$|^/))[A-Za-z0-9._/-]{1,255}")

#: The kinds of refs that there are, and where their rows are.
KINDS = {"heads": "branches", "tags": "tags"}


def list_matching_refs(ctx: HandlerContext) -> list[Row]:
    """The branches and tags whose ref begins like that of the path; all of them without one."""
    repository = find_repository(ctx)
    start = ctx.args.get("ref", "")
    return [
        ref_answer(repository, row, kind)
        for kind, entity in KINDS.items()
        for row in ctx.query(entity, place(ctx), order_by="name")
        if f"{kind}/{row['name']}".startswith(start)
    ]


def get_ref(ctx: HandlerContext) -> Row:
    repository = find_repository(ctx)
    kind, row = _of_path(ctx)
    return ref_answer(repository, row or not_found(ctx), kind)


def create_ref(ctx: HandlerContext) -> None:
    """Makes a branch or a tag."""
    repository, body = find_repository(ctx), body_of(ctx)
    require_write(ctx, repository)
    ref = text_of(ctx, "Reference", "ref", body.get("ref")) or ""
    kind, _, name = ref.removeprefix("refs/").partition("/")
    if not ref.startswith("refs/") or kind not in KINDS or not NAME.fullmatch(name):
        refuse(ctx, 422, "Reference name must start with 'refs/heads/' or 'refs/tags/'")
    sha = text_of(ctx, "Reference", "sha", body.get("sha")) or ""
    if ctx.get("commits", {**place(ctx), "sha": sha}) is None:
        refuse(ctx, 422, "Object does not exist")
    if ctx.get(KINDS[kind], {**place(ctx), "name": name}) is not None:
        refuse(ctx, 422, "Reference already exists")
    row = {**place(ctx), "name": name, "sha": sha}
    ctx.insert(KINDS[kind], {**row, "protected": False} if kind == "heads" else row)
    tell(ctx, repository, "create", None, ref=name, ref_type=_word(kind))
    if kind == "heads":
        tell_of_push(ctx, repository, name, NOTHING, sha)
    answer = ref_answer(repository, row, kind)
    ctx.respond(201, answer, {"location": answer["url"]})


def update_ref(ctx: HandlerContext) -> Row:
    """Moves a branch or a tag; with `force` also to where its commits are lost."""
    repository, body = find_repository(ctx), body_of(ctx)
    require_write(ctx, repository)
    kind, row = _of_path(ctx)
    if row is None:
        refuse(ctx, 422, "Reference does not exist")
    sha = text_of(ctx, "Reference", "sha", body.get("sha")) or ""
    if ctx.get("commits", {**place(ctx), "sha": sha}) is None:
        refuse(ctx, 422, "Object does not exist")
    is_ahead = any(commit["sha"] == row["sha"] for commit in history_of(ctx, row, sha))
    forced = flag_of(ctx, "Reference", "force", body.get("force", False))
    if not is_ahead and not forced:
        refuse(ctx, 422, "Update is not a fast forward")
    if kind == "heads":
        move_branch(ctx, repository, row, sha, forced=not is_ahead)
    else:
        ctx.update("tags", {**place(ctx), "name": row["name"]}, {"sha": sha})
    return ref_answer(repository, {**row, "sha": sha}, kind)


def delete_ref(ctx: HandlerContext) -> None:
    """Deletes a tag; or a branch, which closes the open pull requests that would merge it."""
    repository = find_repository(ctx)
    require_write(ctx, repository)
    kind, row = _of_path(ctx)
    if row is None:
        refuse(ctx, 422, "Reference does not exist")
    if kind == "tags":
        ctx.delete("tags", {**place(ctx), "name": row["name"]})
        tell(ctx, repository, "delete", None, ref=row["name"], ref_type=_word(kind))
        return
    if row["protected"] or row["name"] == repository["default_branch"]:
        refuse(ctx, 422, "Cannot delete a protected branch")
    delete_branch(ctx, repository, row)
    tell_of_push(ctx, repository, row["name"], row["sha"], NOTHING)


def _of_path(ctx: HandlerContext) -> tuple[str, Row | None]:
    """The kind and the row of `heads/name` or `tags/name`; of a name, where the path says `heads`."""
    ref = ctx.args["ref"] if "ref" in ctx.args else f"heads/{ctx.args['branch']}"
    kind, _, name = ref.removeprefix("refs/").partition("/")
    entity = KINDS.get(kind)
    return kind, ctx.get(entity, {**place(ctx), "name": name}) if entity else None


def _word(kind: str) -> str:
    return "branch" if kind == "heads" else "tag"
