"""Pull requests: lists, opening, changing and merging them, and who is asked to review."""

from svc_env import HandlerContext, Row
from svc_env.finding import known, same_name

from ..answers.commits import commit_answers, file_answers
from ..answers.pulls import pull_answer, pull_answers, requested_teams
from ..answers.repositories import setting
from ..answers.teams import team_answer
from ..answers.users import simple_user, users_named
from ..closing import close_issue, reopen_issue
from ..committing import tell_of_push
from ..dating import dated
from ..differing import answer_difference
from ..finding import find_pull, find_repository, numbered, place
from ..history import record, tell_of_issue, touch
from ..matching import comment_counts, place_and_number
from ..media import form_of
from ..merging import METHODS, close_fixed_issues, delete_branch, obstacle, write_merge
from ..paging import Position, answer_page
from ..pulling import changed_files, commits_between, fork_point
from ..reading import (
    asked_choice,
    body_of,
    choice_of,
    flag_of,
    is_downwards,
    text_of,
    title_of,
    user_logins,
)
from ..refusals import impossible, invalid, not_found, refuse
from ..viewer import VIEWER, require_write, role_in
from .issues import insert_issue, write_texts

SORTS = ("created", "updated", "popularity", "long-running")


def list_pulls(ctx: HandlerContext) -> None:
    """Open ones, newest first, unless the query says otherwise."""
    repository = find_repository(ctx)
    state = asked_choice(ctx, "PullRequest", "state", ("open", "closed", "all"), "open")
    sort = asked_choice(ctx, "PullRequest", "sort", SORTS, "created")
    pulls = ctx.query("pulls", place(ctx))
    where = {**place(ctx), "number": [pull["number"] for pull in pulls]}
    issues = {issue["number"]: issue for issue in ctx.query("issues", where)}
    comments = comment_counts(ctx, place(ctx))

    def position(pull: Row) -> Position:
        issue = issues[pull["number"]]
        popularity = comments[place_and_number(pull)]
        value = {"updated": issue["updated_at"], "popularity": popularity}
        return value.get(sort, issue["created_at"]), pull["number"]

    answer_page(
        ctx,
        [pull for pull in pulls if _is_wanted(ctx, pull, issues[pull["number"]], state)],
        lambda page: pull_answers(ctx, repository, page),
        by=position,
        downwards=is_downwards(ctx, "desc" if sort == "created" else "asc"),
    )


def _is_wanted(ctx: HandlerContext, pull: Row, issue: Row, state: str) -> bool:
    """`head` is a user and a branch, `northquay:fix-mails`; `base` a branch."""
    head, base = ctx.args.get("head"), ctx.args.get("base")
    owner, _, branch = (head or "").partition(":")
    return (
        state in ("all", issue["state"])
        and base in (None, "", pull["base"])
        and (not head or (branch == pull["head"] and same_name(owner, pull["owner"])))
    )


def get_pull(ctx: HandlerContext) -> Row | None:
    repository, (issue, pull) = find_repository(ctx), find_pull(ctx)
    form = form_of(ctx)
    if form in ("diff", "patch"):
        commits = commits_between(ctx, pull)
        return answer_difference(ctx, form, changed_files(ctx, pull), commits)
    return dated(ctx, pull_answer(ctx, repository, pull), issue["updated_at"])


def create_pull(ctx: HandlerContext) -> None:
    """Opens a pull request, and the issue that holds its title and its text."""
    repository, body = find_repository(ctx), body_of(ctx)
    require_write(ctx, repository)
    head, base = _branch(ctx, "head"), _branch(ctx, "base")
    start = _fork_point(ctx, head, base)
    if _open_pulls(ctx, head["name"], base["name"]):
        label = f"{repository['owner']}:{head['name']}"
        impossible(ctx, "PullRequest", f"A pull request already exists for {label}.")
    title = title_of(ctx, "PullRequest", body.get("title"))
    text = text_of(ctx, "PullRequest", "body", body.get("body"))
    issue = insert_issue(ctx, repository, title, text)
    pull = {
        **numbered(issue),
        "id": ctx.ids.next("pulls", "id"),
        "head": head["name"],
        "head_sha": head["sha"],
        "base": base["name"],
        "base_sha": start,
        "draft": flag_of(ctx, "PullRequest", "draft", body.get("draft", False)),
        "conflicts": False,
        "merged": False,
        "merged_at": None,
        "merged_by": None,
        "merge_method": None,
        "merge_commit_sha": None,
    }
    ctx.insert("pulls", pull)
    tell_of_issue(ctx, repository, issue, "opened")
    answer = pull_answer(ctx, repository, pull)
    ctx.respond(201, answer, {"location": answer["url"]})


def _branch(ctx: HandlerContext, field: str) -> Row:
    """A branch that the body names, with or without its owner: `main`, `northquay:main`."""
    name = text_of(ctx, "PullRequest", field, body_of(ctx).get(field)) or ""
    if not name:
        invalid(ctx, "PullRequest", field, "missing_field")
    owner, _, branch = name.rpartition(":")
    is_ours = same_name(owner or ctx.args["owner"], ctx.args["owner"])
    found = ctx.get("branches", {**place(ctx), "name": branch}) if is_ours else None
    return found or invalid(ctx, "PullRequest", field, "invalid")


def _fork_point(ctx: HandlerContext, head: Row, base: Row) -> str:
    """The newest commit that both branches have. There must be newer ones on the head."""
    shared = fork_point(ctx, head, base)
    if shared is None or shared["sha"] == head["sha"]:
        message = f"No commits between {base['name']} and {head['name']}"
        impossible(ctx, "PullRequest", message)
    return shared["sha"]


def _open_pulls(ctx: HandlerContext, head: str, base: str) -> list[Row]:
    pulls = ctx.query("pulls", {**place(ctx), "head": head, "base": base, "merged": False})
    return [pull for pull in pulls if known(ctx, "issues", numbered(pull))["state"] == "open"]


def update_pull(ctx: HandlerContext) -> Row:
    """Title, text, base, and whether it is open. What is merged stays closed."""
    repository, (issue, pull), body = find_repository(ctx), find_pull(ctx), body_of(ctx)
    if issue["user"] != VIEWER:
        require_write(ctx, repository)
    if body.get("base") not in (None, pull["base"]):
        base = _branch(ctx, "base")
        head = {**place(ctx), "name": pull["head"], "sha": pull["head_sha"]}
        moved = {"base": base["name"], "base_sha": _fork_point(ctx, head, base)}
        pull = ctx.update("pulls", numbered(pull), moved)
    issue = write_texts(ctx, repository, issue, body, "PullRequest")
    if body.get("state") is not None:
        _write_state(ctx, repository, issue)
    touch(ctx, issue)
    return pull_answer(ctx, repository, pull)


def _write_state(ctx: HandlerContext, repository: Row, issue: Row) -> None:
    state = choice_of(ctx, "PullRequest", "state", body_of(ctx)["state"], ("open", "closed"))
    if state == issue["state"]:
        return
    if state == "closed":
        close_issue(ctx, repository, issue)
        return
    reopen_issue(ctx, repository, issue)


def list_commits_of_pull(ctx: HandlerContext) -> None:
    repository, (_, pull) = find_repository(ctx), find_pull(ctx)
    rows = commits_between(ctx, pull)
    places = {row["sha"]: index for index, row in enumerate(rows)}
    answer_page(
        ctx,
        rows,
        lambda page: commit_answers(ctx, repository, page),
        by=lambda row: (places[row["sha"]],),
    )


def list_files_of_pull(ctx: HandlerContext) -> None:
    _, (_, pull) = find_repository(ctx), find_pull(ctx)
    head = {**place(ctx), "sha": pull["head_sha"]}
    files = changed_files(ctx, pull)
    answer_page(
        ctx, files, lambda page: file_answers(head, page), by=lambda file: (file["filename"],)
    )


# Merging


def check_merged(ctx: HandlerContext) -> None:
    """204 when it is merged, 404 when it is not."""
    _, (_, pull) = find_repository(ctx), find_pull(ctx)
    if not pull["merged"]:
        not_found(ctx)


def merge_pull(ctx: HandlerContext) -> Row:
    repository, (issue, pull), body = find_repository(ctx), find_pull(ctx), body_of(ctx)
    require_write(ctx, repository)
    wanted = body.get("merge_method") or "merge"
    method = choice_of(ctx, "PullRequest", "merge_method", wanted, tuple(METHODS))
    if body.get("sha") not in (None, pull["head_sha"]):
        refuse(ctx, 409, "Head branch was modified. Review and try the merge again.")
    why_not = obstacle(ctx, repository, issue, pull, method)
    if why_not is not None:
        refuse(ctx, 405, why_not)
    before = known(ctx, "branches", {**place(ctx), "name": pull["base"]})["sha"]
    pull = write_merge(ctx, pull, method, _commit_message(ctx, issue, pull, method))
    tell_of_push(ctx, repository, pull["base"], before, pull["merge_commit_sha"])
    record(ctx, issue, "merged", commit_id=pull["merge_commit_sha"])
    close_issue(ctx, repository, issue, commit_id=pull["merge_commit_sha"])
    close_fixed_issues(ctx, repository, issue, pull)
    branch = ctx.get("branches", {**place(ctx), "name": pull["head"]})
    if branch and setting(repository, "delete_branch_on_merge"):
        delete_branch(ctx, repository, branch)
    message = "Pull Request successfully merged"
    return {"sha": pull["merge_commit_sha"], "merged": True, "message": message}


def _commit_message(ctx: HandlerContext, issue: Row, pull: Row, method: str) -> str:
    """A title and, below an empty line, a text: those of the body, else what is usual."""
    source = f"{pull['owner']}/{pull['head']}"
    usual = {
        "merge": (f"Merge pull request #{issue['number']} from {source}", issue["title"]),
        "squash": (f"{issue['title']} (#{issue['number']})", ""),
        "rebase": (issue["title"], ""),
    }[method]
    given = (body_of(ctx).get("commit_title"), body_of(ctx).get("commit_message"))
    pairs = zip(given, usual, strict=True)
    texts = [default if text is None else str(text) for text, default in pairs]
    return "\n\n".join(filter(None, texts))


# Who is asked to review


def list_requested_reviewers(ctx: HandlerContext) -> Row:
    _, (_, pull) = find_repository(ctx), find_pull(ctx)
    asked = [row["login"] for row in ctx.query("review_requests", numbered(pull))]
    users = users_named(ctx, asked)
    teams = requested_teams(ctx, numbered(pull))[pull["number"]]
    return {"users": [users[login] for login in asked], "teams": teams}


def request_reviewers(ctx: HandlerContext) -> None:
    repository, issue, pull, logins = _reviewers(ctx)
    full_name = f"{repository['owner']}/{repository['name']}"
    for login in logins:
        if login == issue["user"]:
            refuse(ctx, 422, "Review cannot be requested from pull request author.")
        if role_in(ctx, repository["owner"], login) is None:
            refuse(
                ctx,
                422,
                "Reviews may only be requested from collaborators. One or more of the users or "
                f"teams you specified is not a collaborator of the {full_name} repository.",
            )
        row = {**numbered(pull), "login": login}
        if ctx.get("review_requests", row) is None:
            ctx.insert("review_requests", row)
            _requested(ctx, repository, issue, login, "review_requested")
    for team in _teams(ctx, repository):
        key = {**numbered(pull), "org": team["org"], "team": team["slug"]}
        if ctx.get("team_review_requests", key) is None:
            ctx.insert("team_review_requests", key)
            _requested_of(ctx, repository, issue, team, "review_requested")
    touch(ctx, issue)
    ctx.respond(201, pull_answers(ctx, repository, [pull])[0])


def remove_requested_reviewers(ctx: HandlerContext) -> Row:
    repository, issue, pull, logins = _reviewers(ctx)
    for login in logins:
        row = {**numbered(pull), "login": login}
        if ctx.get("review_requests", row) is not None:
            ctx.delete("review_requests", row)
            _requested(ctx, repository, issue, login, "review_request_removed")
    for team in _teams(ctx, repository):
        key = {**numbered(pull), "org": team["org"], "team": team["slug"]}
        if ctx.get("team_review_requests", key) is not None:
            ctx.delete("team_review_requests", key)
            _requested_of(ctx, repository, issue, team, "review_request_removed")
    touch(ctx, issue)
    return pull_answers(ctx, repository, [pull])[0]


def _reviewers(ctx: HandlerContext) -> tuple[Row, Row, Row, list[str]]:
    repository, (issue, pull) = find_repository(ctx), find_pull(ctx)
    require_write(ctx, repository)
    logins = body_of(ctx).get("reviewers", [])
    return repository, issue, pull, user_logins(ctx, "PullRequest", "reviewers", logins)


def _teams(ctx: HandlerContext, repository: Row) -> list[Row]:
    """The teams that the body names: those that may read the repository."""
    names = body_of(ctx).get("team_reviewers") or []
    if not isinstance(names, list):
        invalid(ctx, "PullRequest", "team_reviewers", "invalid")
    found = []
    for name in names:
        key = {"org": repository["owner"], "slug": str(name).rpartition("/")[2].lower()}
        team = ctx.get("teams", key)
        shared = {"org": key["org"], "team": key["slug"], **place(ctx)}
        if team is None or ctx.get("team_repositories", shared) is None:
            full_name = f"{repository['owner']}/{repository['name']}"
            refuse(
                ctx,
                422,
                "Reviews may only be requested from collaborators. One or more of the users or "
                f"teams you specified is not a collaborator of the {full_name} repository.",
            )
        found.append(team)
    return found


def _requested_of(
    ctx: HandlerContext, repository: Row, issue: Row, team: Row, event: str
) -> None:
    tell_of_issue(ctx, repository, issue, event, requested_team=team_answer(ctx, team))


def _requested(ctx: HandlerContext, repository: Row, issue: Row, login: str, event: str) -> None:
    record(ctx, issue, event, login=login)
    user = simple_user(known(ctx, "users", {"login": login}))
    tell_of_issue(ctx, repository, issue, event, requested_reviewer=user)
