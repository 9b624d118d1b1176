"""Releases and the files that belong to them."""

from collections import defaultdict

from svc_env import HandlerContext, Row

from ..media import said
from ..reacting import counts_of, rollup
from .addresses import api_url, node_id, web_url
from .users import users_named


def release_answer(ctx: HandlerContext, repository: Row, release: Row) -> Row:
    return release_answers(ctx, repository, [release])[0]


def release_answers(ctx: HandlerContext, repository: Row, releases: list[Row]) -> list[Row]:
    """Releases of one repository with their files."""
    users = users_named(ctx, (release["author"] for release in releases))
    reactions = counts_of(ctx, "release", releases)
    assets = defaultdict(list)
    where = {"release_id": [release["id"] for release in releases]}
    for row, body in _with_bodies(ctx, repository, ctx.query("release_assets", where)):
        assets[row["release_id"]].append(body)

    def answer(release: Row) -> Row:
        release_id, tag = release["id"], release["tag_name"]
        url = api_url(release, "releases", release_id)
        # A draft has no tag yet, and its page no name to be found by.
        page = f"untagged-{release_id:x}" if release["draft"] else tag
        counts = reactions[release_id]
        fields = ("tag_name", "target_commitish", "name", "draft", "prerelease")
        times = ("created_at", "published_at", "updated_at")
        return {
            "url": url,
            "assets_url": f"{url}/assets",
            "upload_url": f"{url}/assets{{?name,label}}",
            "html_url": web_url(release, "releases", "tag", page),
            "id": release_id,
            "node_id": node_id("RE", repository["id"], release_id),
            "author": users[release["author"]],
            **{field: release[field] for field in fields},
            "immutable": False,
            **{field: release[field] for field in times},
            "tarball_url": None if release["draft"] else api_url(release, "tarball", tag),
            "zipball_url": None if release["draft"] else api_url(release, "zipball", tag),
            "assets": assets[release_id],
            **said(ctx, release["body"]),
            **({"reactions": rollup(url, counts)} if counts else {}),
        }

    return [answer(release) for release in releases]


def asset_answers(ctx: HandlerContext, repository: Row, assets: list[Row]) -> list[Row]:
    return [body for _, body in _with_bodies(ctx, repository, assets)]


def download_url(ctx: HandlerContext, asset: Row) -> str:
    release = ctx.get("releases", {"id": asset["release_id"]}) or {"tag_name": ""}
    return web_url(asset, "releases", "download", release["tag_name"], asset["name"])


def _with_bodies(
    ctx: HandlerContext, repository: Row, assets: list[Row]
) -> list[tuple[Row, Row]]:
    users = users_named(ctx, (asset["uploader"] for asset in assets))
    fields = ("id", "name", "label", "content_type", "size", "digest", "download_count")

    def answer(asset: Row) -> Row:
        return {
            "url": api_url(asset, "releases", "assets", asset["id"]),
            **{field: asset[field] for field in fields},
            "node_id": node_id("RA", repository["id"], asset["id"]),
            "state": "uploaded",
            "created_at": asset["created_at"],
            "updated_at": asset["updated_at"],
            "uploader": users[asset["uploader"]],
            "browser_download_url": download_url(ctx, asset),
        }

    return [(asset, answer(asset)) for asset in assets]
