"""Files, folders, blobs and trees."""

from svc_env import HandlerContext, Row

from ..trees import blob_id, bytes_of, names_in, tree_id, wrapped
from .addresses import WEB, api_url, node_id, web_url
from .commits import commit_answers

RAW = "https://raw.code.example"


def file_answer(place: Row, path: str, version: Row, ref: str, whole: bool = True) -> Row:
    """A file; `whole` with what it holds."""
    data = bytes_of(version)
    answer = {**_entry(place, path, "file", blob_id(version), len(data), ref)}
    if whole:
        answer.update(content=wrapped(data), encoding="base64")
    return answer


def listed_answer(place: Row, files: dict[str, Row], folder: str, ref: str) -> list[Row]:
    """Returns the contents of a folder, in the order of names."""
    inside = f"{folder}/" if folder else ""

    def answer(name: str, is_folder: bool) -> Row:
        path = inside + name
        if is_folder:
            return _entry(place, path, "dir", tree_id(files, f"{path}/"), 0, ref)
        return file_answer(place, path, files[path], ref, whole=False)

    return [answer(name, is_folder) for name, is_folder in names_in(files, inside)]


def folder_answer(place: Row, files: dict[str, Row], folder: str, ref: str) -> Row:
    """A folder as an object."""
    sha = tree_id(files, f"{folder}/" if folder else "")
    entries = listed_answer(place, files, folder, ref)
    return {**_entry(place, folder, "dir", sha, 0, ref), "entries": entries}


def _entry(place: Row, path: str, kind: str, sha: str, size: int, ref: str) -> Row:
    parts = path.split("/") if path else []
    url = f"{api_url(place, 'contents', *parts)}?ref={ref}"
    is_file = kind == "file"
    git_url = api_url(place, "git", "blobs" if is_file else "trees", sha)
    html_url = web_url(place, "blob" if is_file else "tree", *ref.split("/"), *parts)
    raw = web_url(place, *ref.split("/"), *parts).replace(WEB, RAW, 1)
    return {
        "name": parts[-1] if parts else "",
        "path": path,
        "sha": sha,
        "size": size,
        "url": url,
        "html_url": html_url,
        "git_url": git_url,
        "download_url": raw if is_file else None,
        "type": kind,
        "_links": {"self": url, "git": git_url, "html": html_url},
    }


def blob_answer(repository: Row, place: Row, version: Row) -> Row:
    data, sha = bytes_of(version), blob_id(version)
    return {
        "sha": sha,
        "node_id": f"{node_id('B', repository['id'])}:{sha}",
        "size": len(data),
        "url": api_url(place, "git", "blobs", sha),
        "content": wrapped(data),
        "encoding": "base64",
    }


def tree_answer(place: Row, files: dict[str, Row], folder: str, sha: str, recursive: bool) -> Row:
    """The entries of a folder, or with those of all folders below it."""

    def entries(inside: str) -> list[Row]:
        found = []
        for name, is_folder in names_in(files, inside):
            path = inside + name
            shown = path[len(folder) :]
            if is_folder:
                inner = tree_id(files, f"{path}/")
                about = {"mode": "040000", "type": "tree", "sha": inner}
                found.append({"path": shown, **about, "url": api_url(place, "git", "trees", inner)})
                found += entries(f"{path}/") if recursive else []
            else:
                blob = blob_id(files[path])
                about = {"mode": "100644", "type": "blob", "sha": blob}
                about["size"] = len(bytes_of(files[path]))
                found.append({"path": shown, **about, "url": api_url(place, "git", "blobs", blob)})
        return found

    url = api_url(place, "git", "trees", sha)
    return {"sha": sha, "url": url, "tree": entries(folder), "truncated": False}


def git_commit_answer(ctx: HandlerContext, repository: Row, commit: Row) -> Row:
    """A commit as git has it: without the users that its addresses belong to."""
    whole = commit_answers(ctx, repository, [commit])[0]
    inner = whole["commit"]
    fields = ("author", "committer", "message", "tree", "verification", "url")
    return {
        "sha": commit["sha"],
        "node_id": whole["node_id"],
        "html_url": whole["html_url"],
        **{name: inner[name] for name in fields},
        "parents": whole["parents"],
    }
