"""Files and folders, as they are at a commit; writing one file is a commit of its own."""

import base64
import binascii

from svc_env import HandlerContext, Row

from ..answers.contents import file_answer, folder_answer, git_commit_answer, listed_answer
from ..committing import NOTHING, commit_file, move_branch, tell_of_push
from ..finding import commit_named, find_repository, place
from ..media import form_of
from ..reading import body_of, text_of
from ..refusals import not_found, refuse
from ..trees import blob_id, bytes_of, files_at, names_in, version_of
from ..viewer import require_write

READMES = ("readme.md", "readme", "readme.txt", "readme.rst")
LICENSES = ("license", "license.md", "license.txt", "copying")

#: Names that are rendered where HTML is asked for.
MARKDOWN = (".md", ".markdown")


def get_contents(ctx: HandlerContext) -> Row | list[Row] | None:
    """A file, or the names in a folder: the list of them, or an object with it."""
    repository = find_repository(ctx)
    files, ref = _files(ctx, repository)
    path = ctx.args.get("path", "").strip("/")
    if path in files:
        return _answer_file(ctx, files, path, ref)
    names = names_in(files, f"{path}/" if path else "")
    if not names and path:
        not_found(ctx)
    if form_of(ctx) == "object":
        return folder_answer(place(ctx), files, path, ref)
    return listed_answer(place(ctx), files, path, ref)


def get_readme(ctx: HandlerContext) -> Row | None:
    """The file that a folder, or the repository, is explained in."""
    return _answer_first(ctx, READMES, ctx.args.get("dir", "").strip("/"))


def get_license(ctx: HandlerContext) -> Row | None:
    repository = find_repository(ctx)
    answer = _answer_first(ctx, LICENSES, "")
    return answer and {**answer, "license": repository.get("license")}


def put_contents(ctx: HandlerContext) -> None:
    """Writes a file, in a commit of its own. Who changes one names what it held before."""
    repository, body = find_repository(ctx), body_of(ctx)
    require_write(ctx, repository)
    message, data = _needed(ctx, "message"), _decoded(ctx, _needed(ctx, "content"))
    branch, path = _branch(ctx, repository, body), _path(ctx)
    before = _file_of(ctx, branch, path)
    if before is not None:
        _require_sha(ctx, path, before, body.get("sha"))
    after = version_of(data)
    commit = commit_file(ctx, branch, path, before, after, message)
    _advance(ctx, repository, branch, commit["sha"])
    answer = {
        "content": file_answer(place(ctx), path, after, branch["name"], whole=False),
        "commit": git_commit_answer(ctx, repository, commit),
    }
    ctx.respond(201 if before is None else 200, answer)


def delete_contents(ctx: HandlerContext) -> Row:
    """Takes a file away, in a commit of its own. What it takes may stand in the query, too."""
    repository = find_repository(ctx)
    require_write(ctx, repository)
    body = {**{name: ctx.args.get(name) for name in ("branch", "sha")}, **body_of(ctx)}
    message = body_of(ctx).get("message") or ctx.args.get("message")
    message = _required(ctx, "message", message)
    branch, path = _branch(ctx, repository, body), _path(ctx)
    before = _file_of(ctx, branch, path) or not_found(ctx)
    _require_sha(ctx, path, before, body.get("sha"))
    commit = commit_file(ctx, branch, path, before, None, message)
    _advance(ctx, repository, branch, commit["sha"])
    return {"content": None, "commit": git_commit_answer(ctx, repository, commit)}


def _files(ctx: HandlerContext, repository: Row) -> tuple[dict[str, Row], str]:
    """The files at `ref`, or on the default branch, and the name that they were asked for by."""
    ref = ctx.args.get("ref") or repository["default_branch"]
    commit = commit_named(ctx, ref)
    if commit is None and not ctx.query("commits", place(ctx), limit=1):
        not_found(ctx, "This repository is empty.")
    if commit is None:
        not_found(ctx, f"No commit found for the ref {ref}")
    return files_at(ctx, commit, commit["sha"]), ref


def _answer_first(ctx: HandlerContext, wanted: tuple[str, ...], folder: str) -> Row | None:
    """The first file of a folder that has one of these names, however they are written."""
    files, ref = _files(ctx, find_repository(ctx))
    inside = f"{folder}/" if folder else ""
    names = {name.lower(): name for name, is_folder in names_in(files, inside) if not is_folder}
    found = next((names[name] for name in wanted if name in names), None)
    return _answer_file(ctx, files, inside + (found or not_found(ctx)), ref)


def _answer_file(ctx: HandlerContext, files: dict[str, Row], path: str, ref: str) -> Row | None:
    version, form = files[path], form_of(ctx)
    if form == "raw":
        text = bytes_of(version).decode(errors="replace")
        content_type = "application/vnd.github.raw; charset=utf-8"
        return ctx.respond(200, text, {"content-type": content_type})
    if form == "html" and path.lower().endswith(MARKDOWN):
        from ..markdown import page_of  # It takes memory, and most ask for no HTML.

        page = page_of(path, version["content"])
        return ctx.respond(200, page, {"content-type": "application/vnd.github.html; charset=utf-8"})
    return file_answer(place(ctx), path, version, ref)


def _needed(ctx: HandlerContext, field: str) -> str:
    return _required(ctx, field, body_of(ctx).get(field))


def _required(ctx: HandlerContext, field: str, value: object) -> str:
    if value is None:
        refuse(ctx, 422, f"Invalid request.\n\n\"{field}\" wasn't supplied.")
    return text_of(ctx, "Contents", field, value, 2**20) or ""


def _decoded(ctx: HandlerContext, content: str) -> bytes:
    try:
        return base64.b64decode("".join(content.split()), validate=True)
    except (binascii.Error, ValueError):
        refuse(ctx, 422, "content is not valid Base64")


def _path(ctx: HandlerContext) -> str:
    path = ctx.args["path"].strip("/")
    parts = path.split("/")
    if any(part in ("", ".", "..", ".git") for part in parts):
        refuse(ctx, 422, "path contains a malformed path component")
    return path


def _branch(ctx: HandlerContext, repository: Row, body: Row) -> Row:
    """The branch that is written to; in a repository without commits, one that is yet to be."""
    name = body.get("branch") or repository["default_branch"]
    branch = ctx.get("branches", {**place(ctx), "name": str(name).removeprefix("refs/heads/")})
    if branch is None and not ctx.query("commits", place(ctx), limit=1):
        return {**place(ctx), "name": repository["default_branch"], "protected": False}
    return branch or not_found(ctx, f"Branch {name} not found")


def _file_of(ctx: HandlerContext, branch: Row, path: str) -> Row | None:
    if "sha" not in branch:
        return None
    files = files_at(ctx, branch, branch["sha"])
    if names_in(files, f"{path}/"):
        refuse(ctx, 422, f"{path} is a directory")
    return files.get(path)


def _require_sha(ctx: HandlerContext, path: str, before: Row, sha: object) -> None:
    if sha is None:
        refuse(ctx, 422, "Invalid request.\n\n\"sha\" wasn't supplied.")
    if sha != blob_id(before):
        refuse(ctx, 409, f"{path} does not match {sha}")


def _advance(ctx: HandlerContext, repository: Row, branch: Row, sha: str) -> None:
    if "sha" in branch:
        move_branch(ctx, repository, branch, sha)
        return
    ctx.insert("branches", {**branch, "sha": sha})
    tell_of_push(ctx, repository, branch["name"], NOTHING, sha)
