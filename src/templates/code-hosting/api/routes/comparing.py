"""Comparing branches, merging one into another, and bringing a pull request's branch up to date."""

from svc_env import HandlerContext, Row
from svc_env.finding import known, same_name

from ..answers.addresses import api_url, web_url
from ..answers.commits import commit_answers, file_answers, whole_commit_answer
from ..committing import insert_commit, move_branch
from ..differing import answer_difference
from ..finding import commit_named, find_pull, find_repository, place
from ..media import form_of
from ..paging import answer_page
from ..pulling import commits_since, files_of, fork_point
from ..reading import body_of, needed_text, text_of
from ..refusals import not_found, refuse
from ..trees import keep_versions
from ..viewer import require_write

#: How many files a comparison shows, and how many commits on a page where no other number is asked.
MOST_FILES = 300
COMMITS = 250


def compare_commits(ctx: HandlerContext) -> None:
    """Returns the commits of a branch, tag or commit that another lacks, since they parted."""
    repository = find_repository(ctx)
    left, dots, right = ctx.args["basehead"].partition("...")
    base, head = (_commit(ctx, name) for name in (left, right)) if dots else (None, None)
    if base is None or head is None:
        not_found(ctx)
    shared = fork_point(ctx, head, base)
    if shared is None:
        not_found(ctx, f"No common ancestor between {left} and {right}.")
    ahead = commits_since(ctx, head, base["sha"], head["sha"])
    behind = commits_since(ctx, base, head["sha"], base["sha"])
    form, files = form_of(ctx), files_of(ahead)
    if form in ("diff", "patch"):
        return answer_difference(ctx, form, files, ahead)
    basehead = f"{left}...{right}"
    page_url = web_url(head, "compare") + f"/{basehead}"
    states = {(True, True): "diverged", (True, False): "ahead", (False, True): "behind"}
    places = {commit["sha"]: index for index, commit in enumerate(ahead)}
    answer_page(
        ctx,
        ahead,
        lambda page: commit_answers(ctx, repository, page),
        by=lambda row: (places[row["sha"]],),
        default_size=COMMITS,
        wrap=lambda commits: {
            "url": api_url(head, "compare") + f"/{basehead}",
            "html_url": page_url,
            "permalink_url": web_url(head, "compare")
            + f"/{head['owner']}:{base['sha'][:7]}...{head['owner']}:{head['sha'][:7]}",
            "diff_url": f"{page_url}.diff",
            "patch_url": f"{page_url}.patch",
            "base_commit": whole_commit_answer(ctx, repository, base, with_files=False),
            "merge_base_commit": whole_commit_answer(ctx, repository, shared, with_files=False),
            "status": states.get((bool(ahead), bool(behind)), "identical"),
            "ahead_by": len(ahead),
            "behind_by": len(behind),
            "total_commits": len(ahead),
            "commits": commits,
            "files": file_answers(head, files[:MOST_FILES]),
        },
    )


def _commit(ctx: HandlerContext, name: str) -> Row | None:
    """The commit of `main`, or of `northquay:main` where that is the repository's own owner."""
    owner, colon, own = name.rpartition(":")
    if colon and not same_name(owner, ctx.args["owner"]):
        return None
    return commit_named(ctx, own) if own else None


def merge_branch(ctx: HandlerContext) -> None:
    """Merges a branch or a commit into a branch, without a pull request; 204 when it is there already."""
    repository, body = find_repository(ctx), body_of(ctx)
    require_write(ctx, repository)
    base, head = (needed_text(ctx, "Merge", name) for name in ("base", "head"))
    branch = ctx.get("branches", {**place(ctx), "name": base})
    if branch is None:
        not_found(ctx, "Base does not exist")
    commit = commit_named(ctx, head) or not_found(ctx, "Head does not exist")
    message = text_of(ctx, "Merge", "commit_message", body.get("commit_message"))
    if not commits_since(ctx, branch, branch["sha"], commit["sha"]):
        return ctx.respond(204)
    merged = _merge(ctx, repository, branch, commit["sha"], message or f"Merge {head} into {base}")
    ctx.respond(201, whole_commit_answer(ctx, repository, merged))


def update_branch(ctx: HandlerContext) -> None:
    """Brings the base into the branch of a pull request."""
    repository, (issue, pull), body = find_repository(ctx), find_pull(ctx), body_of(ctx)
    require_write(ctx, repository)
    expected = body.get("expected_head_sha")
    if expected not in (None, pull["head_sha"]):
        refuse(ctx, 422, "expected head sha didn't match current head ref.")
    branch = ctx.get("branches", {**place(ctx), "name": pull["head"]})
    base = ctx.get("branches", {**place(ctx), "name": pull["base"]})
    if issue["state"] == "closed" or branch is None or base is None:
        refuse(ctx, 422, "Cannot update a pull request that is closed.")
    if pull.get("conflicts"):
        refuse(ctx, 422, "merge conflict between base and head")
    if not commits_since(ctx, branch, branch["sha"], base["sha"]):
        refuse(ctx, 422, "There are no new commits on the base branch.")
    message = f"Merge branch '{base['name']}' into {branch['name']}"
    _merge(ctx, repository, branch, base["sha"], message)
    url = api_url(pull, "pulls", pull["number"])
    ctx.respond(202, {"message": "Updating pull request branch.", "url": url})


def _merge(ctx: HandlerContext, repository: Row, branch: Row, sha: str, message: str) -> Row:
    """A commit on a branch that brings in another one."""
    files = files_of(commits_since(ctx, branch, branch["sha"], sha))
    commit = insert_commit(ctx, branch, [branch["sha"], sha], message, files)
    keep_versions(ctx, branch, sha, commit["sha"], [file["filename"] for file in files])
    move_branch(ctx, repository, branch, commit["sha"])
    return known(ctx, "commits", {**place(ctx), "sha": commit["sha"]})
