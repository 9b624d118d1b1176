"""Objects of git: commits, trees, blobs and tags; and sums over a repository's files and commits."""

from collections import Counter

from svc_env import HandlerContext, Row

from ..answers.addresses import api_url, node_id
from ..answers.commits import git_id
from ..answers.contents import blob_answer, git_commit_answer, tree_answer
from ..answers.users import users_named
from ..finding import commit_named, find_repository, place
from ..media import form_of
from ..paging import answer_page
from ..pulling import history_of
from ..refusals import not_found
from ..trees import blob_id, bytes_of, files_at, folder_with_id

#: Languages by the ending of a file's name. Texts and data are none.
LANGUAGES = {
    "ts": "TypeScript",
    "js": "JavaScript",
    "py": "Python",
    "sql": "PLpgSQL",
    "css": "CSS",
    "html": "HTML",
    "go": "Go",
    "rs": "Rust",
    "sh": "Shell",
    "Dockerfile": "Dockerfile",
}


def get_git_commit(ctx: HandlerContext) -> Row:
    repository = find_repository(ctx)
    commit = ctx.get("commits", {**place(ctx), "sha": ctx.args["commit_sha"]})
    return git_commit_answer(ctx, repository, commit or not_found(ctx))


def get_tree(ctx: HandlerContext) -> Row:
    """The tree of a branch, a tag or a commit; or a folder, by its id."""
    find_repository(ctx)
    sha, recursive = ctx.args["tree_sha"], bool(ctx.args.get("recursive"))
    commits = ctx.query("commits", place(ctx))
    of_tree = next((row for row in commits if git_id("tree", row["sha"]) == sha), None)
    commit = commit_named(ctx, sha) or of_tree
    if commit is not None:
        shown = sha if of_tree else commit["sha"]
        files = files_at(ctx, commit, commit["sha"])
        return tree_answer(place(ctx), files, "", shown, recursive)
    files, folder = folder_with_id(ctx, place(ctx), sha) or not_found(ctx)
    return tree_answer(place(ctx), files, folder, sha, recursive)


def get_blob(ctx: HandlerContext) -> Row | None:
    repository = find_repository(ctx)
    versions = ctx.query("file_versions", place(ctx))
    sha = ctx.args["file_sha"]
    found = (row for row in versions if row["content"] is not None and blob_id(row) == sha)
    version = next(found, None) or not_found(ctx)
    if form_of(ctx) == "raw":
        text = bytes_of(version).decode(errors="replace")
        return ctx.respond(200, text, {"content-type": "application/vnd.github.raw; charset=utf-8"})
    return blob_answer(repository, place(ctx), version)


def list_tags(ctx: HandlerContext) -> None:
    """The last of the alphabet first, as versions count."""
    repository = find_repository(ctx)
    answer_page(
        ctx,
        ctx.query("tags", place(ctx)),
        lambda page: [_tag_answer(repository, row) for row in page],
        by=lambda row: (row["name"],),
        downwards=True,
    )


def _tag_answer(repository: Row, tag: Row) -> Row:
    ref = f"refs/tags/{tag['name']}"
    return {
        "name": tag["name"],
        "zipball_url": f"{api_url(tag, 'zipball')}/{ref}",
        "tarball_url": f"{api_url(tag, 'tarball')}/{ref}",
        "commit": {"sha": tag["sha"], "url": api_url(tag, "commits", tag["sha"])},
        "node_id": f"{node_id('REF', repository['id'])}:{ref}",
    }


def list_languages(ctx: HandlerContext) -> Row:
    """Bytes by language, on the default branch, most first."""
    repository = find_repository(ctx)
    tip = commit_named(ctx, repository["default_branch"])
    sizes: Counter[str] = Counter()
    for path, version in (files_at(ctx, tip, tip["sha"]) if tip else {}).items():
        language = LANGUAGES.get(path.rpartition(".")[2].rpartition("/")[2])
        if language:
            sizes[language] += len(bytes_of(version))
    return dict(sizes.most_common())


def list_contributors(ctx: HandlerContext) -> None:
    """Lists the authors of the default branch's commits, most commits first; 204 if there are none."""
    repository = find_repository(ctx)
    tip = commit_named(ctx, repository["default_branch"])
    if tip is None:
        return ctx.respond(204)
    counts = Counter(commit["author"] for commit in history_of(ctx, tip, tip["sha"]))
    users = users_named(ctx, counts)
    rows = [{**users[login], "contributions": count} for login, count in counts.items()]
    answer_page(ctx, rows, list, by=lambda row: (-row["contributions"], row["id"]))
