"""Commits and the files that they change."""

from svc_env import HandlerContext, Row

from ..digests import sha1
from .addresses import api_url, node_id, web_url
from .users import simple_user


def git_id(*parts: str) -> str:
    """Forty hexadecimal digits that depend on the parts and on nothing else."""
    return sha1("\0".join(parts).encode())


def email_of(user: Row) -> str:
    """The address that a user's commits bear."""
    return user["email"] or f"{user['id']}+{user['login']}@users.code.example"


def commit_answers(ctx: HandlerContext, repository: Row, commits: list[Row]) -> list[Row]:
    """Commits of one repository, without their files."""
    logins = sorted({commit["author"] for commit in commits})
    authors = {user["login"]: user for user in ctx.query("users", {"login": logins})}

    def answer(commit: Row) -> Row:
        sha, author = commit["sha"], authors[commit["author"]]
        tree = git_id("tree", sha)
        git_url = api_url(commit, "git", "commits", sha)
        signature = {
            "name": author["name"] or author["login"],
            "email": email_of(author),
            "date": commit["committed_at"],
        }
        return {
            "sha": sha,
            "node_id": f"{node_id('C', repository['id'])}:{sha}",
            "url": api_url(commit, "commits", sha),
            "html_url": web_url(commit, "commit", sha),
            "comments_url": api_url(commit, "commits", sha, "comments"),
            "commit": {
                "url": git_url,
                "author": signature,
                "committer": signature,
                "message": commit["message"],
                "tree": {"sha": tree, "url": api_url(commit, "git", "trees", tree)},
                "comment_count": 0,
                "verification": {
                    "verified": False,
                    "reason": "unsigned",
                    "signature": None,
                    "payload": None,
                    "verified_at": None,
                },
            },
            "author": simple_user(author),
            "committer": simple_user(author),
            "parents": [
                {
                    "sha": parent,
                    "url": api_url(commit, "commits", parent),
                    "html_url": web_url(commit, "commit", parent),
                }
                for parent in commit["parents"]
            ],
        }

    return [answer(commit) for commit in commits]


def whole_commit_answer(
    ctx: HandlerContext, repository: Row, commit: Row, with_files: bool = True
) -> Row:
    """A commit with what it changes."""
    if not with_files:
        return commit_answers(ctx, repository, [commit])[0]
    files = file_answers(commit, commit["files"])
    additions = sum(file["additions"] for file in files)
    deletions = sum(file["deletions"] for file in files)
    total = {"total": additions + deletions, "additions": additions, "deletions": deletions}
    return {**commit_answers(ctx, repository, [commit])[0], "stats": total, "files": files}


def file_answers(commit: Row, files: list[Row]) -> list[Row]:
    """Changed files, at a commit."""

    def answer(file: Row) -> Row:
        path, sha = file["filename"], commit["sha"]
        contents = api_url(commit, "contents", path)
        return {
            "sha": git_id("blob", sha, path),
            **file,
            "changes": file["additions"] + file["deletions"],
            "blob_url": web_url(commit, "blob", sha, path),
            "raw_url": web_url(commit, "raw", sha, path),
            "contents_url": f"{contents}?ref={sha}",
        }

    return [answer(file) for file in files]
