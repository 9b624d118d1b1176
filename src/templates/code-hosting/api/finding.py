"""Finds the row that a path speaks of, or answers 404.

Names of owners, repositories and users are found however their letters are written, large or small;
what is answered and what is kept has the spelling of the row.
"""

import re

from svc_env import HandlerContext, Row
from svc_env.finding import by_id, by_name, same_name, whole_number

from .refusals import not_found, refuse, refuse_archived
from .viewer import can_see, require_manage, role_in

#: The beginning of a sha that is long enough to mean one commit.
SHORT_SHA = re.compile(r"[0-9a-f]{7,39}")

#: The path of a repository itself, which may be changed or deleted when it is archived.
REPOSITORY = "/repos/{owner}/{repo}"


def named(ctx: HandlerContext, entity: str, key: Row) -> Row | None:
    """The row whose key has these names, whatever the case of their letters."""
    exact = ctx.get(entity, key)
    if exact is not None:
        return exact
    rows = ctx.query(entity)
    return next((row for row in rows if all(same_name(row[of], key[of]) for of in key)), None)


def find_repository(ctx: HandlerContext) -> Row:
    """The repository of `/repos/{owner}/{repo}/…`. A stranger's private one is not found, and in an
    archived one nothing can be written.

    The arguments are spelled as the row is from here on: all that is found in the repository, and all
    that is written there, goes by `place`.
    """
    key = {"owner": ctx.args["owner"], "name": ctx.args["repo"]}
    repository = named(ctx, "repositories", key)
    if repository is None or not can_see(ctx, repository):
        not_found(ctx)
    if repository.get("archived") and ctx.method not in ("GET", "HEAD") and ctx.route != REPOSITORY:
        refuse_archived(ctx)
    ctx.args.update(owner=repository["owner"], repo=repository["name"])
    return repository


def find_managed_repository(ctx: HandlerContext) -> Row:
    """The same, or 403 unless the viewer may change the repository itself."""
    repository = find_repository(ctx)
    require_manage(ctx, repository)
    return repository


def find_issue(ctx: HandlerContext) -> Row:
    """The issue of `…/issues/{issue_number}/…`, which may be that of a pull request."""
    key = {**place(ctx), "number": _number(ctx, "issue_number")}
    return ctx.get("issues", key) or not_found(ctx)


def find_pull(ctx: HandlerContext) -> tuple[Row, Row]:
    """The issue and the pull request of `…/pulls/{pull_number}/…`."""
    key = {**place(ctx), "number": _number(ctx, "pull_number")}
    pull = ctx.get("pulls", key) or not_found(ctx)
    return ctx.get("issues", key) or not_found(ctx), pull


def find_milestone(ctx: HandlerContext) -> Row:
    """The milestone of `…/milestones/{milestone_number}`."""
    key = {**place(ctx), "number": _number(ctx, "milestone_number")}
    return ctx.get("milestones", key) or not_found(ctx)


def find_comment(ctx: HandlerContext) -> Row:
    """The comment of `…/issues/comments/{comment_id}`."""
    return _of_this_repository(ctx, "comments", "comment_id")


def find_review(ctx: HandlerContext, pull: Row) -> Row:
    """The review of `…/pulls/{pull_number}/reviews/{review_id}`."""
    review = _of_this_repository(ctx, "reviews", "review_id")
    return review if review["number"] == pull["number"] else not_found(ctx)


def find_review_comment(ctx: HandlerContext) -> Row:
    """The comment of `…/pulls/comments/{comment_id}`."""
    return _of_this_repository(ctx, "review_comments", "comment_id")


def find_hook(ctx: HandlerContext) -> Row:
    """The webhook of `…/hooks/{hook_id}`."""
    return _of_this_repository(ctx, "hooks", "hook_id")


def find_autolink(ctx: HandlerContext) -> Row:
    """The autolink of `…/autolinks/{autolink_id}`."""
    return _of_this_repository(ctx, "autolinks", "autolink_id")


def find_release(ctx: HandlerContext) -> Row:
    """The release of `…/releases/{release_id}`. A draft is for those who may write."""
    release = _of_this_repository(ctx, "releases", "release_id")
    if release["draft"] and role_in(ctx, release["owner"]) is None:
        not_found(ctx)
    return release


def find_asset(ctx: HandlerContext) -> Row:
    """The file of `…/releases/assets/{asset_id}`."""
    return _of_this_repository(ctx, "release_assets", "asset_id")


def find_check_run(ctx: HandlerContext) -> Row:
    """The run of `…/check-runs/{check_run_id}`."""
    return _of_this_repository(ctx, "check_runs", "check_run_id")


def find_invitation(ctx: HandlerContext) -> Row:
    """The invitation of `…/invitations/{invitation_id}`."""
    return _of_this_repository(ctx, "invitations", "invitation_id")


def find_delivery(ctx: HandlerContext, hook: Row) -> Row:
    """The delivery of `…/hooks/{hook_id}/deliveries/{delivery_id}`."""
    delivery = _of_this_repository(ctx, "hook_deliveries", "delivery_id")
    return delivery if delivery["hook_id"] == hook["id"] else not_found(ctx)


def find_reaction(ctx: HandlerContext, subject: str, row: Row) -> Row:
    """The reaction of `…/reactions/{reaction_id}`, under a row of this kind."""
    reaction = _of_this_repository(ctx, "reactions", "reaction_id")
    is_under = (reaction["subject"], reaction["subject_id"]) == (subject, row["id"])
    return reaction if is_under else not_found(ctx)


def find_thread(ctx: HandlerContext) -> Row:
    """The notification of `/notifications/threads/{thread_id}`."""
    return by_id(ctx, "notifications", ctx.args["thread_id"]) or not_found(ctx)


def find_team(ctx: HandlerContext) -> Row:
    """The team of `/orgs/{org}/teams/{team_slug}/…`, for those who belong to the organization."""
    org = find_owner(ctx)["login"]
    team = ctx.get("teams", {"org": org, "slug": ctx.args["team_slug"].lower()})
    return team if team and role_in(ctx, org) else not_found(ctx)


def find_user(ctx: HandlerContext) -> Row:
    """The user of `…/{username}`, who is no organization."""
    user = named(ctx, "users", {"login": ctx.args["username"]})
    return user if user and user["type"] != "Organization" else not_found(ctx)


def find_by_id(ctx: HandlerContext, entity: str, argument: str) -> Row:
    """The row of a path that has its number and nothing else: `/repositories/{repository_id}`."""
    rows = ctx.query(entity, {"id": _number(ctx, argument)}, limit=1)
    return rows[0] if rows else not_found(ctx)


def find_label(ctx: HandlerContext) -> Row:
    """The label of `…/labels/{name}`."""
    return label_named(ctx, ctx.args["name"]) or not_found(ctx)


def label_named(ctx: HandlerContext, name: str) -> Row | None:
    """A label of the path's repository. The case of its letters does not matter."""
    return by_name(ctx, "labels", name, place(ctx))


def commit_named(ctx: HandlerContext, ref: str) -> Row | None:
    """The commit of a branch, a tag, a sha or the beginning of one, in the path's repository."""
    name = ref.removeprefix("refs/")
    here = place(ctx)
    branch = ctx.get("branches", {**here, "name": name.removeprefix("heads/")})
    tag = ctx.get("tags", {**here, "name": name.removeprefix("tags/")})
    sha = (branch or tag or {"sha": ref})["sha"]
    exact = ctx.get("commits", {**here, "sha": sha})
    if exact is not None or not SHORT_SHA.fullmatch(sha):
        return exact
    found = [row for row in ctx.query("commits", here) if row["sha"].startswith(sha)]
    return found[0] if len(found) == 1 else None


def find_commit(ctx: HandlerContext, ref: str) -> Row:
    """The same, or 422."""
    return commit_named(ctx, ref) or refuse(ctx, 422, f"No commit found for SHA: {ref}")


def find_owner(ctx: HandlerContext) -> Row:
    """The user of `/users/{username}/…`, or the organization of `/orgs/{org}/…`."""
    owner = named(ctx, "users", {"login": ctx.args.get("org") or ctx.args["username"]})
    if owner is None or ("org" in ctx.args and owner["type"] != "Organization"):
        not_found(ctx)
    return owner


def find_assignee(ctx: HandlerContext) -> Row:
    """The user of `…/assignees/{assignee}`."""
    login = ctx.args["assignee"]
    found = (user for user in assignable(ctx) if same_name(user["login"], login))
    return next(found, None) or not_found(ctx)


def assignable(ctx: HandlerContext) -> list[Row]:
    """Whom issues of the path's repository can be given to: the owner's people."""
    owner = ctx.args["owner"]
    logins = [row["login"] for row in ctx.query("memberships", {"org": owner})]
    return ctx.query("users", {"login": logins or [owner], "type": "User"})


def place(ctx: HandlerContext) -> Row:
    """Returns the key of the path's repository, as the rows spell it, once it was found."""
    return {"owner": ctx.args["owner"], "repo": ctx.args["repo"]}


def place_of(row: Row) -> Row:
    """Returns the key of the repository that a row belongs to."""
    return {"owner": row["owner"], "repo": row["repo"]}


def numbered(row: Row) -> Row:
    """The key of an issue, a pull request or a milestone."""
    return {**place_of(row), "number": row["number"]}


def on_issue(issue: Row) -> Row:
    """Returns the fields by which rows refer to an issue."""
    return {**place_of(issue), "issue_number": issue["number"]}


def next_number(ctx: HandlerContext, entity: str) -> int:
    """The next `number` in the repository of the path.

    Hosts of the release before count in whole entities alone, and run this while releases change or
    after going back: there it is one more than the largest that a row holds.
    """
    if "within" in ctx.ids.next.__annotations__:
        return ctx.ids.next(entity, "number", place(ctx))
    newest = ctx.query(entity, place(ctx), order_by="-number", limit=1)
    return newest[0]["number"] + 1 if newest else 1


def count_of(ctx: HandlerContext, entity: str, where: Row) -> int:
    """Returns how many rows match. Hosts of the previous release cannot count: there it reads the rows."""
    if hasattr(ctx, "count"):
        return ctx.count(entity, where)
    return len(ctx.query(entity, where))


def _of_this_repository(ctx: HandlerContext, entity: str, argument: str) -> Row:
    row = by_id(ctx, entity, ctx.args[argument])
    return row if row and place_of(row) == place(ctx) else not_found(ctx)


def _number(ctx: HandlerContext, argument: str) -> int:
    """A number in a path. Whatever is none cannot be found."""
    number = whole_number(ctx.args[argument])
    return not_found(ctx) if number is None else number
