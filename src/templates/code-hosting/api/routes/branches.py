"""Branches and commits."""

from svc_env import HandlerContext, Row
from svc_env.finding import known

from ..answers.addresses import web_url
from ..answers.commits import commit_answers, email_of, whole_commit_answer
from ..answers.pulls import pull_answers
from ..answers.repositories import branch_answer, protection_answer
from ..dating import dated
from ..differing import answer_difference
from ..finding import commit_named, find_commit, find_managed_repository, find_repository, place
from ..media import form_of
from ..paging import answer_page, each
from ..pulling import commits_between, history_of
from ..reading import instant_asked
from ..refusals import not_found, refuse

def list_branches(ctx: HandlerContext) -> None:
    find_repository(ctx)
    where = place(ctx)
    if ctx.args.get("protected") in ("true", "false"):
        where["protected"] = ctx.args["protected"] == "true"
    rows = ctx.query("branches", where)
    answer_page(ctx, rows, each(branch_answer), by=lambda row: (row["name"],))


def get_branch(ctx: HandlerContext) -> Row:
    repository = find_repository(ctx)
    key = {**place(ctx), "name": ctx.args["branch"]}
    branch = ctx.get("branches", key) or not_found(ctx, "Branch not found")
    commit = known(ctx, "commits", {**place(ctx), "sha": branch["sha"]})
    answer = branch_answer(branch)
    addresses = {
        "self": answer["protection_url"].removesuffix("/protection"),
        "html": web_url(branch, "tree", branch["name"]),
    }
    commit_answer = commit_answers(ctx, repository, [commit])[0]
    return {**answer, "commit": commit_answer, "_links": addresses}


def get_branch_protection(ctx: HandlerContext) -> Row:
    """Returns the conditions of a merge into a branch, for managers of the repository."""
    find_managed_repository(ctx)
    key = {**place(ctx), "name": ctx.args["branch"]}
    branch = ctx.get("branches", key) or not_found(ctx, "Branch not found")
    if not branch["protected"]:
        not_found(ctx, "Branch not protected")
    return protection_answer(branch)


def list_branches_of_head(ctx: HandlerContext) -> list[Row]:
    """The branches whose tip a commit is."""
    find_repository(ctx)
    sha = find_commit(ctx, ctx.args["commit_sha"])["sha"]
    rows = ctx.query("branches", {**place(ctx), "sha": sha}, order_by="name")
    fields = ("name", "commit", "protected")
    return [{field: branch_answer(row)[field] for field in fields} for row in rows]


def list_comments_of_commit(ctx: HandlerContext) -> None:
    """None: in this world people comment on pull requests."""
    find_repository(ctx)
    find_commit(ctx, ctx.args["commit_sha"])
    answer_page(ctx, [], list, by=lambda row: (row["id"],))


def list_commits(ctx: HandlerContext) -> None:
    """From the tip of `sha` (a branch or a commit; the default branch) back to the first."""
    repository = find_repository(ctx)
    name = ctx.args.get("sha") or repository["default_branch"]
    tip = commit_named(ctx, name)
    rows = history_of(ctx, place(ctx), tip["sha"]) if tip else []
    if not rows and not ctx.query("commits", place(ctx), limit=1):
        refuse(ctx, 409, "Git Repository is empty.")
    if not rows:
        not_found(ctx)
    places = {row["sha"]: index for index, row in enumerate(reversed(rows))}
    rows = [row for row in rows if _is_wanted(ctx, row)]
    answer_page(
        ctx,
        rows,
        lambda page: commit_answers(ctx, repository, page),
        by=lambda row: (places[row["sha"]],),
        downwards=True,
    )


def _is_wanted(ctx: HandlerContext, commit: Row) -> bool:
    """Returns true if a commit passes the parameters of its list. Its author is also its committer."""
    since, until = (instant_asked(ctx, "Commit", name) for name in ("since", "until"))
    path = (ctx.args.get("path") or "").strip("/")
    names = [file["filename"] for file in commit["files"]]
    author = known(ctx, "users", {"login": commit["author"]})
    identities = (author["login"].casefold(), email_of(author).casefold())
    people = [ctx.args.get(name) for name in ("author", "committer")]
    return (
        since <= commit["committed_at"] <= (until or commit["committed_at"])
        and (not path or any(name == path or name.startswith(f"{path}/") for name in names))
        and all(not one or one.casefold() in identities for one in people)
    )


def get_commit(ctx: HandlerContext) -> Row | None:
    """The commit of a sha, or at the tip of a branch; or its sha alone, or as a diff."""
    repository = find_repository(ctx)
    commit, form = find_commit(ctx, ctx.args["ref"]), form_of(ctx)
    if form == "sha":
        content_type = "application/vnd.github.sha; charset=utf-8"
        return ctx.respond(200, commit["sha"], {"content-type": content_type})
    if form in ("diff", "patch"):
        return answer_difference(ctx, form, commit["files"], [commit])
    return dated(ctx, whole_commit_answer(ctx, repository, commit), commit["committed_at"])


def list_pulls_of_commit(ctx: HandlerContext) -> None:
    """The pull requests that hold a commit, or whose merge it is."""
    repository = find_repository(ctx)
    sha = find_commit(ctx, ctx.args["commit_sha"])["sha"]
    rows = [
        pull
        for pull in ctx.query("pulls", place(ctx))
        if sha == pull.get("merge_commit_sha")
        or any(commit["sha"] == sha for commit in commits_between(ctx, pull))
    ]
    answer_page(
        ctx, rows, lambda page: pull_answers(ctx, repository, page), by=lambda row: (row["number"],)
    )
