"""Releases, and what is known of the files that belong to them."""

import re
from base64 import b64decode

from svc_env import HandlerContext, Row

from ..answers.releases import asset_answers, download_url, release_answer, release_answers
from ..dating import dated
from ..digests import sha256
from ..finding import find_asset, find_release, find_repository, place
from ..history import as_stored, has_listeners, tell
from ..media import BYTES, wants_bytes
from ..paging import answer_page, by_id
from ..reacting import forget_reactions
from ..reading import body_of, choice_of, flag_of, needed_text, text_of
from ..refusals import invalid, not_found
from ..releasing import latest_release, make_tag, write_notes
from ..viewer import VIEWER, require_write, role_in
from .refs import NAME

LATEST = ("true", "false", "legacy")


def list_releases(ctx: HandlerContext) -> None:
    """Newest first. Drafts are for those who may write."""
    repository = find_repository(ctx)
    sees_drafts = role_in(ctx, repository["owner"]) is not None
    where = place(ctx) if sees_drafts else {**place(ctx), "draft": False}
    answer_page(
        ctx,
        ctx.query("releases", where),
        lambda page: release_answers(ctx, repository, page),
        by=lambda row: (row["created_at"], row["id"]),
        downwards=True,
    )


def get_release(ctx: HandlerContext) -> Row:
    return _answer(ctx, find_repository(ctx), find_release(ctx))


def get_latest_release(ctx: HandlerContext) -> Row:
    repository = find_repository(ctx)
    return _answer(ctx, repository, latest_release(ctx) or not_found(ctx))


def get_release_by_tag(ctx: HandlerContext) -> Row:
    """A release that is out: a draft has no tag yet."""
    repository = find_repository(ctx)
    found = _out(ctx, ctx.args["tag"])
    return _answer(ctx, repository, found[0] if found else not_found(ctx))


def create_release(ctx: HandlerContext) -> None:
    """Gives a version out, with a tag that is made unless there is one; or keeps it as a draft."""
    repository, body, now = find_repository(ctx), body_of(ctx), ctx.clock.now()
    require_write(ctx, repository)
    release = {
        "id": ctx.ids.next("releases", "id"),
        **place(ctx),
        "target_commitish": repository["default_branch"],
        "name": None,
        "body": None,
        "draft": False,
        "prerelease": False,
        "author": VIEWER,
        "created_at": now,
        **_patch(ctx, repository, None),
        "published_at": None,
        "updated_at": now,
    }
    if flag_of(ctx, "Release", "generate_release_notes", body.get("generate_release_notes", False)):
        notes = write_notes(ctx, release["tag_name"], release["target_commitish"], None)
        given = [release["body"], notes["body"]]
        release["name"] = release["name"] or notes["name"]
        release["body"] = "\n\n".join(filter(None, given))
    ctx.insert("releases", release)
    if not release["draft"]:
        release = _publish(ctx, repository, release)
    _tell(ctx, repository, release, "created")
    if not release["draft"]:
        _tell_of_publication(ctx, repository, release)
    answer = release_answer(ctx, repository, release)
    ctx.respond(201, answer, {"location": answer["url"]})


def update_release(ctx: HandlerContext) -> Row:
    """Changes what the body names. A draft that is one no longer is given out."""
    repository = find_repository(ctx)
    require_write(ctx, repository)
    before = find_release(ctx)
    patch = {**_patch(ctx, repository, before), "updated_at": ctx.clock.now()}
    release = ctx.update("releases", {"id": before["id"]}, patch)
    if not release["draft"] and release["published_at"] is None:
        release = _publish(ctx, repository, release)
        _tell_of_publication(ctx, repository, release)
    else:
        fields = ("name", "body", "tag_name")
        changed = [field for field in fields if before[field] != release[field]]
        changes = {field: {"from": before[field]} for field in changed}
        _tell(ctx, repository, release, "edited", changes=changes)
    return release_answer(ctx, repository, release)


def delete_release(ctx: HandlerContext) -> None:
    """Deletes a release and first its files. Its tag stays."""
    repository = find_repository(ctx)
    require_write(ctx, repository)
    release = find_release(ctx)
    _tell(ctx, repository, release, "deleted")
    for asset in ctx.query("release_assets", {"release_id": release["id"]}):
        ctx.delete("release_assets", {"id": asset["id"]})
    forget_reactions(ctx, "release", release)
    ctx.delete("releases", {"id": release["id"]})


def generate_notes(ctx: HandlerContext) -> Row:
    """Notes for a release that is yet to be."""
    repository, body = find_repository(ctx), body_of(ctx)
    require_write(ctx, repository)
    tag = needed_text(ctx, "Release", "tag_name")
    target = text_of(ctx, "Release", "target_commitish", body.get("target_commitish"))
    previous = text_of(ctx, "Release", "previous_tag_name", body.get("previous_tag_name"))
    if previous and ctx.get("tags", {**place(ctx), "name": previous}) is None:
        invalid(ctx, "Release", "previous_tag_name", "invalid")
    return write_notes(ctx, tag, target or repository["default_branch"], previous)


# Their files


def list_assets(ctx: HandlerContext) -> None:
    repository, release = find_repository(ctx), find_release(ctx)
    rows = ctx.query("release_assets", {"release_id": release["id"]})
    answer_page(ctx, rows, lambda page: asset_answers(ctx, repository, page), by=by_id)


def upload_asset(ctx: HandlerContext) -> None:
    """Adds the file that is sent to a release. Its size and digest are kept, not its bytes."""
    repository = find_repository(ctx)
    require_write(ctx, repository)
    release, now = find_release(ctx), ctx.clock.now()
    data = b64decode(str(ctx.body or ""))
    if not data:
        message = "size must be greater than or equal to 1"
        invalid(ctx, "ReleaseAsset", "size", "custom", message=message)
    asset = {
        "id": ctx.ids.next("release_assets", "id"),
        **place(ctx),
        "release_id": release["id"],
        "name": _free_file_name(ctx, release),
        "label": ctx.args.get("label") or None,
        "content_type": ctx.content_type or BYTES,
        "size": len(data),
        "digest": sha256(data),
        "download_count": 0,
        "uploader": VIEWER,
        "created_at": now,
        "updated_at": now,
    }
    ctx.insert("release_assets", asset)
    ctx.respond(201, asset_answers(ctx, repository, [asset])[0])


def get_asset(ctx: HandlerContext) -> Row | None:
    """Returns the data of a file; redirects a request for its bytes to the place where they would be."""
    repository, asset = find_repository(ctx), find_asset(ctx)
    if wants_bytes(ctx):
        return ctx.respond(302, None, {"location": download_url(ctx, asset)})
    return asset_answers(ctx, repository, [asset])[0]


def update_asset(ctx: HandlerContext) -> Row:
    repository, body = find_repository(ctx), body_of(ctx)
    require_write(ctx, repository)
    asset, patch = find_asset(ctx), {"updated_at": ctx.clock.now()}
    if body.get("name") is not None:
        patch["name"] = needed_text(ctx, "ReleaseAsset", "name")
    if "label" in body:
        patch["label"] = text_of(ctx, "ReleaseAsset", "label", body["label"])
    others = ctx.query("release_assets", {"release_id": asset["release_id"]})
    if any(row["name"] == patch.get("name") and row["id"] != asset["id"] for row in others):
        invalid(ctx, "ReleaseAsset", "name", "already_exists")
    changed = ctx.update("release_assets", {"id": asset["id"]}, patch)
    return asset_answers(ctx, repository, [changed])[0]


def delete_asset(ctx: HandlerContext) -> None:
    require_write(ctx, find_repository(ctx))
    ctx.delete("release_assets", {"id": find_asset(ctx)["id"]})


def _free_file_name(ctx: HandlerContext, release: Row) -> str:
    """The name of the query, which no other file of the release has. The code host writes a dot for each run of
    characters that are neither letters, digits, `-`, `_`, `+` nor `@`, and none at the ends."""
    name = re.sub(r"[^A-Za-z0-9_+@.-]+", ".", ctx.args.get("name") or "").strip(".")
    if not name:
        invalid(ctx, "ReleaseAsset", "name", "missing_field")
    if ctx.query("release_assets", {"release_id": release["id"], "name": name}, limit=1):
        invalid(ctx, "ReleaseAsset", "name", "already_exists")
    return name


def _answer(ctx: HandlerContext, repository: Row, release: Row) -> Row:
    answer = release_answer(ctx, repository, release)
    return dated(ctx, answer, release["updated_at"])


def _out(ctx: HandlerContext, tag: str) -> list[Row]:
    """The release of a tag that was given out, if there is one."""
    return ctx.query("releases", {**place(ctx), "tag_name": tag, "draft": False}, limit=1)


def _patch(ctx: HandlerContext, repository: Row, before: Row | None) -> Row:
    """Converts the body to the fields of a release's row."""
    body, found = body_of(ctx), {}
    if before is None or body.get("tag_name") is not None:
        found["tag_name"] = _free_tag(ctx, before)
    if body.get("target_commitish") is not None:
        target = text_of(ctx, "Release", "target_commitish", body["target_commitish"])
        found["target_commitish"] = target or repository["default_branch"]
    for name in ("name", "body"):
        if name in body:
            found[name] = text_of(ctx, "Release", name, body[name], 125_000)
    for name in ("draft", "prerelease"):
        if body.get(name) is not None:
            found[name] = flag_of(ctx, "Release", name, body[name])
    if body.get("make_latest") is not None:
        latest = choice_of(ctx, "Release", "make_latest", body["make_latest"], LATEST)
        found["make_latest"] = latest
        for row in ctx.query("releases", place(ctx)) if latest == "true" else []:
            ctx.update("releases", {"id": row["id"]}, {"make_latest": "legacy"})
    return found


def _free_tag(ctx: HandlerContext, before: Row | None) -> str:
    """A tag that no other release that is out has."""
    tag = needed_text(ctx, "Release", "tag_name")
    if not NAME.fullmatch(tag):
        message = "tag_name is not a valid tag"
        invalid(ctx, "Release", "tag_name", "custom", message=message)
    if any(row["id"] != (before or {}).get("id") for row in _out(ctx, tag)):
        invalid(ctx, "Release", "tag_name", "already_exists")
    return tag


def _publish(ctx: HandlerContext, repository: Row, release: Row) -> Row:
    make_tag(ctx, repository, release)
    now = {"published_at": ctx.clock.now()}
    return ctx.update("releases", {"id": release["id"]}, now)


def _tell_of_publication(ctx: HandlerContext, repository: Row, release: Row) -> None:
    _tell(ctx, repository, release, "published")
    _tell(ctx, repository, release, "prereleased" if release["prerelease"] else "released")


def _tell(ctx: HandlerContext, repository: Row, release: Row, action: str, **parts: Row) -> None:
    if has_listeners(ctx, repository):
        with as_stored(ctx):
            body = release_answer(ctx, repository, release)
        tell(ctx, repository, "release", action, release=body, **parts)
