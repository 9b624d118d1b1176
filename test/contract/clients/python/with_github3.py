"""What users of github3.py do every day, against a session of `code-hosting`."""

import github3
from asking import name, owner, tell, token, url
from rows import names, numbers

hub = github3.GitHub(token=token)
hub.session.base_url = url
repo = hub.repository(owner, name)


def users(call):
    me = call("me", hub.me, lambda me: me.login == "quay-triage")
    call("user", lambda: hub.user("sam-okafor"), lambda user: user.name == "Sam Okafor")
    call("all_users", lambda: [user.login for user in hub.all_users()], lambda all: "mikkelh" in all)
    call("refresh", lambda: next(hub.all_users()).refresh(), lambda user: user.created_at is not None)
    org = call("organization", lambda: hub.organization(owner), lambda org: org.login == owner)
    call("org.members", lambda: [user.login for user in org.members()], lambda all: len(all) == 6)
    call("org.is_member", lambda: org.is_member("sam-okafor"), lambda has: has is True)
    call("org.repositories", lambda: names(org.repositories()), lambda all: len(all) == 3)
    call("organizations", lambda: [row.login for row in hub.organizations()], lambda all: all == [owner])
    call("repositories_by", lambda: names(hub.repositories_by("mikkelh")), lambda all: all == ["marstal-tides"])
    call("rate_limit", hub.rate_limit, lambda rate: rate["resources"]["core"]["remaining"] > 0)
    call("me.refresh", me.refresh, lambda me: me.login == "quay-triage")


def repositories(call):
    call("repository", lambda: hub.repository(owner, name), lambda repo: repo.default_branch == "main")
    call("repo.refresh", repo.refresh, lambda repo: repo.full_name == f"{owner}/{name}")
    call("repo.edit", lambda: repo.edit(name, description="Berths"), lambda done: done is True)
    call("replace_topics", lambda: repo.replace_topics(["harbour"]), lambda topics: topics.names == ["harbour"])
    call("topics", repo.topics, lambda topics: topics.names == ["harbour"])
    call("commits", lambda: list(repo.commits()), lambda all: len(all) >= 7)
    call("commit", lambda: repo.commit("main"), lambda commit: len(commit.files) > 0)
    call("assignees", lambda: [user.login for user in repo.assignees()], lambda all: "sam-okafor" in all)
    call("is_assignee", lambda: repo.is_assignee("sam-okafor"), lambda has: has is True)
    made = call("create_repository", lambda: hub.create_repository("scratch", auto_init=True), lambda made: made.name == "scratch")
    call("delete", made.delete, lambda done: done is True)


def issues(call):
    issue = call(
        "create_issue",
        lambda: repo.create_issue("Gangway light", body="It flickers", labels=["bug"], assignees=["sam-okafor"], milestone=3),
        lambda made: made.user.login == "quay-triage" and names(made.original_labels) == ["bug"] and made.milestone.number == 3,
    )
    again = lambda: repo.issue(issue.number)
    call("edit title and body", lambda: issue.edit(title="Gangway lights", body="They flicker"), lambda done: done is True)
    call("edited", again, lambda row: (row.title, row.body) == ("Gangway lights", "They flicker"))
    call("edit milestone", lambda: issue.edit(milestone=4), lambda done: done is True)
    call("milestone set", again, lambda row: row.milestone.title == "2.9")
    call("edit milestone away", lambda: issue.edit(milestone=0), lambda done: done is True)
    call("milestone gone", again, lambda row: row.milestone is None)
    call("edit labels", lambda: issue.edit(labels=["p1"]), lambda done: done is True)
    call("add_assignees", lambda: issue.add_assignees(["priyaraman"]), lambda done: done)
    call("remove_assignees", lambda: issue.remove_assignees(["sam-okafor"]), lambda done: done)
    call("assignees", again, lambda row: [user.login for user in row.assignees] == ["priyaraman"])
    call("close", issue.close, lambda done: done is True)
    call("is_closed", lambda: again().is_closed(), lambda closed: closed is True)
    call("reopen", issue.reopen, lambda done: done is True)
    call("lock", issue.lock, lambda done: done is True)
    call("unlock", issue.unlock, lambda done: done is True)
    comment = call("create_comment", lambda: issue.create_comment("Seen at #139"), lambda made: made.body == "Seen at #139")
    call("comment", lambda: issue.comment(comment.id), lambda row: row.user.login == "quay-triage")
    call("comment.edit", lambda: comment.edit("Seen twice"), lambda done: done is True)
    call("comments", lambda: [row.body for row in issue.comments()], lambda all: all == ["Seen twice"])
    call("comment.delete", comment.delete, lambda done: done is True)
    call("events", lambda: [row.event for row in issue.events()], lambda all: "closed" in all)
    call("repository's events", lambda: list(repo.issue_events(10)), lambda all: len(all) == 10)
    call("issues", lambda: numbers(repo.issues(state="open", labels="p1")), lambda all: issue.number in all)
    call("issues by milestone", lambda: numbers(repo.issues(milestone=3)), lambda all: 139 in all)
    call("issues by assignee", lambda: numbers(repo.issues(assignee="priyaraman")), lambda all: issue.number in all)
    call("issues_on", lambda: numbers(hub.issues_on(owner, name, state="closed")), lambda all: 148 in all)
    call("own issues", lambda: list(hub.issues(filter="all")), lambda all: len(all) > 30)
    call("pull_request", lambda: repo.issue(150).pull_request(), lambda pull: pull.head.ref == "occupancy-nights")


def labels(call):
    call("create_label", lambda: repo.create_label("area: quay wall", "a1b2c3", "By the water"), lambda made: made.color == "a1b2c3")
    label = call("label", lambda: repo.label("area: quay wall"), lambda row: row.description == "By the water")
    call("label.update", lambda: label.update("area: quay", "d4e5f6"), lambda done: done is True)
    call("labels", lambda: names(repo.labels()), lambda all: "area: quay" in all and len(all) == 16)
    issue = call("an issue", lambda: repo.issue(139))
    call("add_labels", lambda: names(issue.add_labels("area: quay", "p1")), lambda all: all == ["area: quay", "p1"] or set(all) >= {"area: quay", "p1"})
    call("issue.labels", lambda: names(issue.labels()), lambda all: "p1" in all)
    call("remove_label", lambda: names(issue.remove_label("area: quay")), lambda all: "area: quay" not in all)
    call("replace_labels", lambda: names(issue.replace_labels(["bug"])), lambda all: all == ["bug"])
    call("remove_all_labels", issue.remove_all_labels)
    call("none left", lambda: list(issue.labels()), lambda all: all == [])
    call("label.delete", lambda: repo.label("area: quay").delete(), lambda done: done is True)


def milestones(call):
    made = call("create_milestone", lambda: repo.create_milestone("3.0", description="Next", due_on="2026-03-01T00:00:00Z"), lambda made: made.number == 5)
    call("milestone", lambda: repo.milestone(5), lambda row: row.title == "3.0" and row.due_on is not None)
    call("milestone.update", lambda: made.update(state="closed"), lambda done: done is True)
    call("milestones", lambda: [row.title for row in repo.milestones(state="all")], lambda all: len(all) == 5)
    call("milestone.labels", lambda: names(repo.milestone(3).labels()), lambda all: "bug" in all)
    call("milestone.delete", made.delete, lambda done: done is True)


def pulls(call):
    call("pull_requests", lambda: numbers(repo.pull_requests(state="open")), lambda all: all == [156, 155, 153, 150, 142])
    call("pull_requests by head", lambda: numbers(repo.pull_requests(head=f"{owner}:danish-plads")), lambda all: all == [155])
    pull = call("pull_request", lambda: repo.pull_request(153), lambda row: row.mergeable and row.base.ref == "main")
    call("update", lambda: pull.update(title="After the payment", body="Fixes #152"), lambda done: done is True)
    call("commits", lambda: list(pull.commits()), lambda all: len(all) == 1)
    files = call("files", lambda: list(pull.files()), lambda all: len(all) > 0)
    call("is_merged", pull.is_merged, lambda merged: merged is False)
    call("issue", pull.issue, lambda issue: issue.number == 153)
    call("create_comment", lambda: pull.create_comment("Looking at it"), lambda made: made.id > 0)
    call("issue_comments", lambda: [row.body for row in pull.issue_comments()], lambda all: all[-1] == "Looking at it")
    call("create_review_requests", lambda: pull.create_review_requests(reviewers=["jonas-eide"]))
    call("review_requests", lambda: [user.login for user in pull.review_requests().users], lambda all: "jonas-eide" in all)
    call("delete_review_requests", lambda: pull.delete_review_requests(reviewers=["jonas-eide"]))
    note = call("create_review_comment", lambda: pull.create_review_comment("Why here?", pull.head.sha, files[0].filename, 1), lambda made: made.path == files[0].filename)
    call("review comment.reply", lambda: note.reply("As asked"), lambda made: made.body == "As asked")
    call("review_comments", lambda: list(pull.review_comments()), lambda all: len(all) >= 2)
    call("review comment.edit", lambda: note.edit("Why there?"), lambda done: done is True)
    call("review comment.delete", note.delete, lambda done: done is True)
    draft = call("create_review, pending", lambda: pull.create_review("So far"), lambda made: made.state == "PENDING")
    call("review.submit", lambda: draft.submit("All well", "APPROVE"))
    call("reviews", lambda: [row.state for row in pull.reviews()], lambda all: "APPROVED" in all)
    call("merge", lambda: repo.pull_request(150).merge(merge_method="squash"), lambda merged: merged is True)
    call("merged", lambda: repo.pull_request(150), lambda row: row.merged and row.merged_by.login == "quay-triage")
    call.fails("merge what is blocked", github3.exceptions.GitHubException, pull.merge, lambda error: error.code == 405)
    call("close", pull.close, lambda done: done is True)
    call("reopen", pull.reopen, lambda done: done is True)


def branches_with_slashes(call):
    tip = call("branch", lambda: repo.branch("main"), lambda branch: branch.protected).commit.sha
    call("create_branch_ref", lambda: repo.create_branch_ref("feat/winch/speed", tip), lambda ref: ref.object.sha == tip)
    call("branch, slashes", lambda: repo.branch("feat/winch/speed"), lambda branch: branch.commit.sha == tip)
    ref = call("ref", lambda: repo.ref("heads/feat/winch/speed"), lambda ref: ref.ref == "refs/heads/feat/winch/speed")
    call("commits of it", lambda: next(repo.commits(sha="feat/winch/speed")).sha, lambda sha: sha == tip)
    call("commit of it", lambda: repo.commit("feat/winch/speed").sha, lambda sha: sha == tip)
    call("branches", lambda: names(repo.branches()), lambda all: "feat/winch/speed" in all)
    work = call("another", lambda: repo.branch("danish-plads").commit.sha)
    call("a branch with work", lambda: repo.create_ref("refs/heads/fix/plads", work))
    call("create_pull", lambda: repo.create_pull("Plads", "main", "fix/plads", body="Fixes #154"), lambda pull: pull.head.ref == "fix/plads")
    call("ref.delete", ref.delete, lambda done: done is True)
    call.fails("deleted", github3.exceptions.NotFoundError, lambda: repo.ref("heads/feat/winch/speed"))


def search(call):
    found = call("search_issues", lambda: list(hub.search_issues(f"repo:{owner}/{name} is:issue is:open reminder")), lambda all: len(all) >= 2)
    call("followed", lambda: found[0].issue.refresh().number, lambda number: number == found[0].issue.number)
    call("search_repositories", lambda: [row.repository.name for row in hub.search_repositories("berth")], lambda all: "berth" in all)
    call("search_users", lambda: [row.user.login for row in hub.search_users("okafor")], lambda all: all == ["sam-okafor"])


def webhooks(call):
    config = {"url": "https://hooks.example/in", "content_type": "json", "secret": "s3"}
    hook = call("create_hook", lambda: repo.create_hook("web", config, ["issues", "push"]), lambda made: made.active)
    call("hook", lambda: repo.hook(hook.id), lambda row: sorted(row.events) == ["issues", "push"])
    call("hook.edit", lambda: hook.edit(config, ["pull_request"]), lambda done: done is True)
    call("hook.ping", hook.ping, lambda done: done is True)
    call("hooks", lambda: [row.id for row in repo.hooks()], lambda all: all == [hook.id])
    call("hook.delete", hook.delete, lambda done: done is True)
    call("none left", lambda: list(repo.hooks()), lambda all: all == [])


def paging(call):
    whole = call("at once", lambda: numbers(repo.issues(state="all")), lambda all: len(all) == len(set(all)) > 50)
    pages = repo.issues(state="all")
    pages.params["per_page"] = 7
    call("page by page", lambda: numbers(pages), lambda all: all == whole)
    call("the first few", lambda: numbers(repo.issues(state="all", number=5)), lambda all: all == whole[:5])


def conditional_requests(call):
    pages = repo.labels()
    call("labels", lambda: list(pages))
    call("unchanged", lambda: list(repo.labels(etag=pages.etag)), lambda all: all == [])
    call("a change", lambda: repo.create_label("etag", "000000"))
    call("changed", lambda: names(repo.labels(etag=pages.etag)), lambda all: "etag" in all)
    issue = call("an issue", lambda: repo.issue(139), lambda row: row.etag)
    call("refresh(conditional)", lambda: issue.refresh(conditional=True), lambda row: row.number == 139)


def files_and_releases(call):
    call("readme", repo.readme, lambda file: len(file.decoded) > 0)
    root = call("directory_contents", lambda: repo.directory_contents("", return_as=dict), lambda all: len(all) > 0)
    path = next(path for path, entry in root.items() if entry.type == "file")
    call("file_contents", lambda: repo.file_contents(path), lambda file: len(file.decoded) > 0)
    call("create_file", lambda: repo.create_file("gangway.md", "Say how", b"# Gangway\n", branch="danish-plads"), lambda made: made["commit"].sha)
    call("contents.update", lambda: repo.file_contents("gangway.md", "danish-plads").update("Say more", b"# Gangways\n", branch="danish-plads"))
    call("read again", lambda: repo.file_contents("gangway.md", "danish-plads").decoded, lambda text: text == b"# Gangways\n")
    call("contents.delete", lambda: repo.file_contents("gangway.md", "danish-plads").delete("Drop it", branch="danish-plads"))
    call("tree", lambda: repo.tree("main", recursive=True), lambda tree: path in [entry.path for entry in tree.tree])
    call("compare_commits", lambda: repo.compare_commits("main", "occupancy-nights"), lambda found: found.ahead_by == 2)
    call("languages", lambda: dict(repo.languages()), lambda all: len(all) > 0)
    call("contributors", lambda: [user.login for user in repo.contributors()], lambda all: "sam-okafor" in all)
    call("tags", lambda: names(repo.tags()), lambda all: "v2.7.0" in all)
    call("latest_release", repo.latest_release, lambda release: release.tag_name == "v2.7.0")
    release = call("create_release", lambda: repo.create_release("v2.8.0", name="2.8", body="New"), lambda made: made.tag_name == "v2.8.0")
    call("release_from_tag", lambda: repo.release_from_tag("v2.8.0"), lambda row: row.id == release.id)
    call("releases", lambda: [row.tag_name for row in repo.releases()], lambda all: "v2.8.0" in all)
    call("release.edit", lambda: release.edit(body="Newer"), lambda done: done is True)
    call("release.delete", release.delete, lambda done: done is True)
    tip = repo.commit("main")
    call("create_status", lambda: repo.create_status(tip.sha, "success", context="ci/build"), lambda made: made.state == "success")
    call("commit.status", tip.status, lambda all: "ci/build" in [one.context for one in all.statuses])
    call("statuses", lambda: [one.context for one in repo.statuses(tip.sha)], lambda all: "ci/build" in all)
    call("commit.check_runs", lambda: list(tip.check_runs()), lambda all: isinstance(all, list))
    call("collaborators", lambda: [user.login for user in repo.collaborators()], lambda all: "sam-okafor" in all)
    call("is_collaborator", lambda: repo.is_collaborator("sam-okafor"), lambda has: has is True)
    call("teams", lambda: [team.slug for team in hub.organization(owner).teams()], lambda all: len(all) > 0)
    call("notifications", lambda: list(hub.notifications(all=True)), lambda all: len(all) > 0)
    call("repository_with_id", lambda: hub.repository_with_id(repo.id).name, lambda one: one == name)
    call("pull.diff", lambda: repo.pull_request(155).diff(), lambda text: text.startswith(b"diff --git"))
    call("pull.patch", lambda: repo.pull_request(155).patch(), lambda text: b"Subject:" in text)


def error_classes(call):
    stranger = github3.GitHub(token="unknown")
    stranger.session.base_url = url
    failures = github3.exceptions
    call.fails("401", failures.AuthenticationFailed, stranger.me)
    call.fails("403", failures.ForbiddenError, lambda: hub.repository("mikkelh", "marstal-tides").edit("marstal-tides", description="Mine"))
    call.fails("404", failures.NotFoundError, lambda: hub.repository(owner, "none"))
    call.fails("422", failures.UnprocessableEntity, lambda: repo.create_issue("x" * 257), lambda error: error.errors)


tell([users, repositories, issues, labels, milestones, pulls, branches_with_slashes, search, webhooks, paging, conditional_requests, files_and_releases, error_classes])
