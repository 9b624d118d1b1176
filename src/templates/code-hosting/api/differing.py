"""Changes as text: the diff of files, and the patches that commits can be mailed as."""

from svc_env import HandlerContext, Row
from svc_env.finding import known

from .answers.commits import email_of, git_id

#: Where a file that is added comes from, and one that is removed goes to.
NOWHERE = "/dev/null"


def answer_difference(
    ctx: HandlerContext, form: str, files: list[Row], commits: list[Row]
) -> None:
    """Answers the text of a change: all of it ("diff"), or commit by commit ("patch")."""
    text = diff_of(files) if form == "diff" else "".join(_patch(ctx, one) for one in commits)
    content_type = f"application/vnd.github.{form}; charset=utf-8"
    ctx.respond(200, text, {"content-type": content_type})


def diff_of(files: list[Row]) -> str:
    """Changed files as git shows them. A file whose patch is not known shows its names alone."""
    return "".join(map(_of_file, files))


def _of_file(file: Row) -> str:
    name, status = file["filename"], file["status"]
    before = file.get("previous_filename", name)
    blob = file.get("sha") or git_id("blob", name)
    lines = [f"diff --git a/{before} b/{name}"]
    if status == "added":
        lines += ["new file mode 100644", f"index 0000000..{blob[:7]}"]
    elif status == "removed":
        lines += ["deleted file mode 100644", f"index {blob[:7]}..0000000"]
    else:
        lines.append(f"index {git_id('before', blob)[:7]}..{blob[:7]} 100644")
    if file.get("patch"):
        lines.append(f"--- {NOWHERE if status == 'added' else f'a/{before}'}")
        lines.append(f"+++ {NOWHERE if status == 'removed' else f'b/{name}'}")
        lines.append(file["patch"])
    return "\n".join(lines) + "\n"


def _patch(ctx: HandlerContext, commit: Row) -> str:
    """A commit as a mail."""
    author = known(ctx, "users", {"login": commit["author"]})
    title, _, text = commit["message"].partition("\n")
    stats = "".join(
        f" {file['filename']} | {file['additions'] + file['deletions']}\n"
        for file in commit["files"]
    )
    return (
        f"From {commit['sha']} Mon Sep 17 00:00:00 2001\n"
        f"From: {author['name'] or author['login']} <{email_of(author)}>\n"
        f"Date: {commit['committed_at']}\n"
        f"Subject: [PATCH] {title}\n"
        f"{text and f'{text}' + chr(10)}\n---\n{stats}\n{diff_of(commit['files'])}"
    )
