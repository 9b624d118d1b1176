"""Repositories: finding, making, changing and deleting them, and their topics."""

import re

from svc_env import HandlerContext, Row
from svc_env.finding import known, same_name

from ..answers.addresses import node_id
from ..answers.commits import git_id
from ..answers.repositories import SETTINGS, repository_answer, whole_repository_answer
from ..answers.users import simple_user
from ..dating import dated
from ..finding import assignable, find_assignee, find_owner, find_repository
from ..labelling import make_label
from ..paging import answer_page, by_id, each
from ..reading import asked_choice, body_of, choice_of, flag_of, is_downwards, text_of
from ..refusals import forbidden, impossible, invalid, refuse_archived
from ..trees import write_version
from ..viewer import VIEWER, can_see, own_logins, require_manage, role_in

LONGEST_NAME = 100
#: How long the texts are that a repository keeps as they are.
LONGEST = {"description": 350, "homepage": 255}
TOPIC = re.compile(r"[a-z0-9][a-z0-9-]{0,49}")
MOST_TOPICS = 20

#: What `sort` of a list may be, and the field that it means.
SORTS = {
    "created": "created_at",
    "updated": "updated_at",
    "pushed": "pushed_at",
    "full_name": "name",
}

#: The labels that every new repository has, with color and description.
FIRST_LABELS = {
    "bug": ("d73a4a", "Something isn't working"),
    "documentation": ("0075ca", "Improvements or additions to documentation"),
    "duplicate": ("cfd3d7", "This issue or pull request already exists"),
    "enhancement": ("a2eeef", "New feature or request"),
    "good first issue": ("7057ff", "Good for newcomers"),
    "help wanted": ("008672", "Extra attention is needed"),
    "invalid": ("e4e669", "This doesn't seem right"),
    "question": ("d876e3", "Further information is requested"),
    "wontfix": ("ffffff", "This will not be worked on"),
}

#: What belongs to a repository, in the order in which it can be deleted: see the references in
#: schema/world.json.
BELONGINGS = (
    "autolinks",
    "hook_deliveries",
    "hooks",
    "notifications",
    "reactions",
    "invitations",
    "team_repositories",
    "team_review_requests",
    "release_assets",
    "releases",
    "check_runs",
    "statuses",
    "tags",
    "file_versions",
    "cross_references",
    "review_comments",
    "reviews",
    "review_requests",
    "pulls",
    "issue_events",
    "comments",
    "issue_assignees",
    "issue_labels",
    "issues",
    "milestones",
    "labels",
    "branches",
    "commits",
)

#: The key of each of them that is not `id`.
KEYS = {
    "team_repositories": ("org", "team", "owner", "repo"),
    "team_review_requests": ("owner", "repo", "number", "org", "team"),
    "tags": ("owner", "repo", "name"),
    "file_versions": ("owner", "repo", "commit", "path"),
    "cross_references": ("comment_id", "owner", "repo", "issue_number"),
    "review_requests": ("owner", "repo", "number", "login"),
    "pulls": ("owner", "repo", "number"),
    "issue_assignees": ("owner", "repo", "issue_number", "login"),
    "issue_labels": ("owner", "repo", "issue_number", "label"),
    "issues": ("owner", "repo", "number"),
    "milestones": ("owner", "repo", "number"),
    "labels": ("owner", "repo", "name"),
    "branches": ("owner", "repo", "name"),
    "commits": ("owner", "repo", "sha"),
}


def get_repository(ctx: HandlerContext) -> Row:
    repository = find_repository(ctx)
    return dated(ctx, whole_repository_answer(ctx, repository), repository["updated_at"])


def list_repositories_of_user(ctx: HandlerContext) -> None:
    _answer_repositories(ctx, {"owner": find_owner(ctx)["login"]}, "full_name")


def list_repositories_of_organization(ctx: HandlerContext) -> None:
    kinds = ("all", "public", "private", "forks", "sources", "member")
    kind = asked_choice(ctx, "Repository", "type", kinds, "all")
    where: Row = {"owner": find_owner(ctx)["login"]}
    if kind in ("public", "private"):
        where["private"] = kind == "private"
    _answer_repositories(ctx, where, "created", none=kind == "forks")


def list_own_repositories(ctx: HandlerContext) -> None:
    """The viewer's own, and those of the organizations that the viewer belongs to."""
    viewer, *organizations = own_logins(ctx)
    named = {"owner": [viewer], "organization_member": organizations, "collaborator": []}
    asked = (ctx.args.get("affiliation") or ",".join(named)).split(",")
    where: Row = {"owner": [login for name in asked for login in named.get(name.strip(), [])]}
    visibility = asked_choice(ctx, "Repository", "visibility", ("all", "public", "private"), "all")
    if visibility != "all":
        where["private"] = visibility == "private"
    _answer_repositories(ctx, where, "full_name")


def create_own_repository(ctx: HandlerContext) -> None:
    _create(ctx, known(ctx, "users", {"login": VIEWER}))


def create_repository_of_organization(ctx: HandlerContext) -> None:
    owner = find_owner(ctx)
    if role_in(ctx, owner["login"]) is None:
        message = "You need admin access to the organization before adding a repository to it."
        forbidden(ctx, message)
    _create(ctx, owner)


def update_repository(ctx: HandlerContext) -> Row:
    """Changes what the body names. A new name is refused: every row of the repository bears it."""
    repository, body = find_repository(ctx), body_of(ctx)
    require_manage(ctx, repository)
    if repository.get("archived") and body.get("archived") is not False:
        refuse_archived(ctx)
    if body.get("name") not in (None, repository["name"]):
        impossible(ctx, "Repository", "Repositories of this world cannot be renamed.")
    patch = {**_texts_and_flags(ctx, body), "updated_at": ctx.clock.now()}
    branch = body.get("default_branch")
    if branch is not None:
        key = {"owner": repository["owner"], "repo": repository["name"], "name": branch}
        if not isinstance(branch, str) or ctx.get("branches", key) is None:
            invalid(ctx, "Repository", "default_branch", "invalid")
        patch["default_branch"] = branch
    changed = ctx.update("repositories", _key(repository), patch)
    _count(ctx, repository, -1)
    _count(ctx, changed, 1)
    return whole_repository_answer(ctx, changed)


def delete_repository(ctx: HandlerContext) -> None:
    """Deletes a repository and first all that belongs to it: the contract insists on that order."""
    repository = find_repository(ctx)
    require_manage(ctx, repository)
    here = {"owner": repository["owner"], "repo": repository["name"]}
    from_here = {"from_owner": repository["owner"], "from_repo": repository["name"]}
    for entity, where in [("cross_references", from_here), *((name, here) for name in BELONGINGS)]:
        for row in ctx.query(entity, where):
            ctx.delete(entity, {field: row[field] for field in KEYS.get(entity, ("id",))})
    ctx.delete("repositories", _key(repository))
    _count(ctx, repository, -1)


def get_topics(ctx: HandlerContext) -> Row:
    return {"names": find_repository(ctx)["topics"]}


def replace_topics(ctx: HandlerContext) -> Row:
    repository, names = find_repository(ctx), body_of(ctx).get("names")
    require_manage(ctx, repository)
    if not isinstance(names, list) or len(names) > MOST_TOPICS:
        impossible(ctx, "Repository", f"A repository cannot have more than {MOST_TOPICS} topics.")
    topics = [str(name).lower() for name in names]
    if not all(TOPIC.fullmatch(topic) for topic in topics):
        impossible(
            ctx,
            "Repository",
            "Topics must start with a lowercase letter or number, consist of 50 characters or "
            "less, and can include hyphens.",
        )
    patch = {"topics": list(dict.fromkeys(topics)), "updated_at": ctx.clock.now()}
    return {"names": ctx.update("repositories", _key(repository), patch)["topics"]}


def list_assignees(ctx: HandlerContext) -> None:
    """Whom an issue can be given to."""
    find_repository(ctx)
    answer_page(ctx, assignable(ctx), each(simple_user), by=by_id)


def check_assignee(ctx: HandlerContext) -> None:
    """204, or 404 for whom no issue can be given to."""
    find_repository(ctx)
    find_assignee(ctx)


def _answer_repositories(ctx: HandlerContext, where: Row, default: str, none: bool = False) -> None:
    sort = asked_choice(ctx, "Repository", "sort", tuple(SORTS), default)
    downwards = is_downwards(ctx, "asc" if sort == "full_name" else "desc")
    rows = [] if none else [row for row in ctx.query("repositories", where) if can_see(ctx, row)]
    answer_page(
        ctx,
        rows,
        each(lambda row: repository_answer(ctx, row)),
        by=lambda row: (row[SORTS[sort]], row["id"]),
        downwards=downwards,
    )


def _create(ctx: HandlerContext, owner: Row) -> None:
    body, now = body_of(ctx), ctx.clock.now()
    name = text_of(ctx, "Repository", "name", body.get("name"), LONGEST_NAME)
    if not name:
        invalid(ctx, "Repository", "name", "missing_field")
    name = re.sub(r"[^A-Za-z0-9._-]", "-", name)
    taken = [row["name"] for row in ctx.query("repositories", {"owner": owner["login"]})]
    if any(same_name(name, other) for other in taken):
        message = "name already exists on this account"
        invalid(ctx, "Repository", "name", "custom", message=message)
    repository = {
        "id": ctx.ids.next("repositories", "id"),
        "owner": owner["login"],
        "name": name,
        "description": None,
        "homepage": None,
        "language": None,
        "license": None,
        "topics": [],
        "private": False,
        "default_branch": "main",
        "size": 0,
        "stargazers_count": 0,
        "forks_count": 0,
        "subscribers_count": 0,
        "created_at": now,
        "updated_at": now,
        "pushed_at": now,
        **_texts_and_flags(ctx, body),
    }
    ctx.insert("repositories", repository)
    _count(ctx, repository, 1)
    for label, (color, description) in FIRST_LABELS.items():
        make_label(ctx, repository, label, color, description, default=True)
    if body.get("auto_init") is True:
        _commit_first(ctx, repository)
    answer = whole_repository_answer(ctx, repository)
    ctx.respond(201, answer, {"location": answer["url"]})


def _commit_first(ctx: HandlerContext, repository: Row) -> None:
    """A branch with one commit, which `auto_init` asks for."""
    here = {"owner": repository["owner"], "repo": repository["name"]}
    text = f"# {repository['name']}"
    sha = git_id(node_id("R", repository["id"]), repository["created_at"])
    readme = {"filename": "README.md", "status": "added", "additions": 1, "deletions": 0}
    commit = {
        **here,
        "sha": sha,
        "parents": [],
        "message": "Initial commit",
        "author": VIEWER,
        "committed_at": repository["created_at"],
        "files": [{**readme, "patch": f"@@ -0,0 +1 @@\n+{text}"}],
    }
    ctx.insert("commits", commit)
    write_version(ctx, commit, sha, "README.md", {"content": text, "encoding": "utf-8"})
    branch = {**here, "name": repository["default_branch"], "sha": sha, "protected": False}
    ctx.insert("branches", branch)


def _texts_and_flags(ctx: HandlerContext, body: Row) -> Row:
    """The fields of the body that a repository keeps as they are."""
    found: Row = {
        name: text_of(ctx, "Repository", name, body[name], longest)
        for name, longest in LONGEST.items()
        if name in body
    }
    if body.get("visibility") is not None:
        choices = ("public", "private")
        visibility = choice_of(ctx, "Repository", "visibility", body["visibility"], choices)
        found["private"] = visibility == "private"
    flags = ("private", *SETTINGS)
    wanted = [name for name in flags if body.get(name) is not None]
    return {**found, **{name: flag_of(ctx, "Repository", name, body[name]) for name in wanted}}


def _count(ctx: HandlerContext, repository: Row, step: int) -> None:
    """Keeps the owner's number of public repositories."""
    if not repository["private"]:
        key = {"login": repository["owner"]}
        count = known(ctx, "users", key)["public_repos"] + step
        ctx.update("users", key, {"public_repos": max(0, count)})


def _key(repository: Row) -> Row:
    return {"owner": repository["owner"], "name": repository["name"]}
