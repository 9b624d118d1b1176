"""What users of PyGithub do every day, against a session of `code-hosting`."""

from datetime import datetime, timezone

import github
from asking import name, owner, tell, token, url
from rows import names, numbers

# The client pauses between requests to spare the vendor, and tries again; neither helps here.
at_once = {"retry": None, "seconds_between_requests": None, "seconds_between_writes": None}
hub = github.Github(base_url=url, auth=github.Auth.Token(token), **at_once)
repo = hub.get_repo(f"{owner}/{name}")


def users(call):
    me = call("get_user", hub.get_user, lambda me: me.login == "quay-triage")
    call("get_user(login)", lambda: hub.get_user("sam-okafor"), lambda user: user.name == "Sam Okafor")
    call("user.get_repos", lambda: names(hub.get_user("mikkelh").get_repos()), lambda all: all == ["marstal-tides"])
    call("user.get_orgs", lambda: [org.login for org in me.get_orgs()], lambda all: all == [owner])
    call("me.get_repos", lambda: names(me.get_repos()), lambda all: "handbook" in all)
    call("me.get_issues", lambda: list(me.get_issues(filter="all")), lambda all: len(all) > 30)
    call("get_users", lambda: [user.login for user in hub.get_users()], lambda all: "mikkelh" in all)
    org = call("get_organization", lambda: hub.get_organization(owner), lambda org: org.login == owner)
    call("org.get_repos", lambda: names(org.get_repos()), lambda all: len(all) == 3)
    call("org.get_members", lambda: list(org.get_members()), lambda all: len(all) == 6)
    call("org.has_in_members", lambda: org.has_in_members(hub.get_user("sam-okafor")), lambda has: has is True)
    call("org.has_in_members, of a stranger", lambda: org.has_in_members(hub.get_user("mikkelh")), lambda has: has is False)
    call("get_rate_limit", hub.get_rate_limit, lambda rate: rate.resources.core.remaining > 0)


def repositories(call):
    full = call("get_repo", lambda: hub.get_repo(f"{owner}/{name}"), lambda repo: repo.default_branch == "main")
    call("repo.owner", lambda: full.owner.login, lambda login: login == owner)
    call("repo.update", full.update, lambda changed: changed is False)
    call("repo.get_topics", repo.get_topics, lambda topics: isinstance(topics, list))
    call("repo.replace_topics", lambda: repo.replace_topics(["harbour", "boats"]))
    call("topics replaced", repo.get_topics, lambda topics: topics == ["harbour", "boats"])
    call("repo.edit", lambda: full.edit(description="Berths"))
    call("edited", lambda: hub.get_repo(f"{owner}/{name}").description, lambda text: text == "Berths")
    call("repo.get_commits", lambda: list(repo.get_commits()), lambda all: len(all) >= 7)
    call("repo.get_commit", lambda: repo.get_commit("main"), lambda commit: len(commit.sha) == 40)
    call("commit.files", lambda: list(repo.get_commit("main").files), lambda files: len(files) > 0)
    call("commit.get_pulls", lambda: numbers(repo.get_commit("occupancy-nights").get_pulls()), lambda all: all == [150])
    call("repo.get_assignees", lambda: [user.login for user in repo.get_assignees()], lambda all: "sam-okafor" in all)
    call("repo.has_in_assignees", lambda: repo.has_in_assignees("sam-okafor"), lambda has: has is True)
    made = call("user.create_repo", lambda: hub.get_user().create_repo("scratch", auto_init=True), lambda made: made.name == "scratch")
    call("archived", lambda: made.edit(archived=True))
    call("it is", lambda: hub.get_repo("quay-triage/scratch").archived, lambda archived: archived is True)
    call("repo.delete", made.delete)
    by_org = call("org.create_repo", lambda: hub.get_organization(owner).create_repo("pilot", private=True), lambda made: made.private)
    call("org's repo.delete", by_org.delete)


def issues(call):
    issue = call(
        "create_issue",
        lambda: repo.create_issue("Gangway light", body="It flickers", labels=["bug"], assignee="sam-okafor", milestone=repo.get_milestone(3)),
        lambda made: made.user.login == "quay-triage" and names(made.labels) == ["bug"] and made.milestone.number == 3,
    )
    again = lambda: repo.get_issue(issue.number)
    call("get_issue", again, lambda row: row.assignees[0].login == "sam-okafor" and row.comments == 0)
    call("edit title and body", lambda: issue.edit(title="Gangway lights", body="They flicker"))
    call("edited", again, lambda row: (row.title, row.body) == ("Gangway lights", "They flicker"))
    call("edit milestone", lambda: issue.edit(milestone=repo.get_milestone(4)))
    call("milestone set", again, lambda row: row.milestone.title == "2.9")
    call("edit milestone away", lambda: issue.edit(milestone=None))
    call("milestone gone", again, lambda row: row.milestone is None)
    call("edit assignees", lambda: issue.edit(assignees=["priyaraman", "jonas-eide"]))
    call("assignees set", again, lambda row: sorted(who.login for who in row.assignees) == ["jonas-eide", "priyaraman"])
    call("edit state", lambda: issue.edit(state="closed", state_reason="not_planned"))
    call("closed", again, lambda row: (row.state, row.state_reason, row.closed_by.login) == ("closed", "not_planned", "quay-triage"))
    call("edit state back", lambda: issue.edit(state="open"))
    call("open again", again, lambda row: (row.state, row.state_reason) == ("open", "reopened"))
    call("add_to_assignees", lambda: issue.add_to_assignees("tobias-wendt"), lambda _: len(issue.assignees) == 3)
    call("remove_from_assignees", lambda: issue.remove_from_assignees("tobias-wendt"), lambda _: len(issue.assignees) == 2)
    call("lock", lambda: issue.lock("resolved"))
    call("locked", again, lambda row: row.locked and row.active_lock_reason == "resolved")
    call("unlock", issue.unlock)
    comment = call("create_comment", lambda: issue.create_comment("Seen at #139"), lambda made: made.body == "Seen at #139")
    call("get_comment", lambda: issue.get_comment(comment.id), lambda row: row.user.login == "quay-triage")
    call("comment.edit", lambda: comment.edit("Seen twice"), lambda _: comment.body == "Seen twice")
    call("get_comments", lambda: [row.body for row in issue.get_comments()], lambda all: all == ["Seen twice"])
    call("comment.delete", comment.delete)
    call("get_issues_comments", lambda: list(repo.get_issues_comments()), lambda all: len(all) > 50)
    call("get_events", lambda: [event.event for event in issue.get_events()], lambda all: "closed" in all and "milestoned" in all)
    call("get_timeline", lambda: [event.event for event in issue.get_timeline()], lambda all: "labeled" in all)
    call("get_issues", lambda: list(repo.get_issues(state="open", labels=["bug"])), lambda all: issue.number in numbers(all))
    call("get_issues by milestone", lambda: numbers(repo.get_issues(milestone=repo.get_milestone(3))), lambda all: 139 in all)
    call("get_issues by assignee", lambda: numbers(repo.get_issues(assignee="priyaraman")), lambda all: issue.number in all)
    since = datetime(2025, 11, 1, tzinfo=timezone.utc)
    call("get_issues since", lambda: list(repo.get_issues(since=since, state="all")), lambda all: all and all[-1].updated_at >= since)
    call("issue.repository", lambda: again().repository.full_name, lambda full: full == f"{owner}/{name}")
    call("as_pull_request", lambda: repo.get_issue(150).as_pull_request(), lambda pull: pull.head.ref == "occupancy-nights")


def labels(call):
    label = call("create_label", lambda: repo.create_label("area: quay wall", "a1b2c3", "By the water"), lambda made: made.color == "a1b2c3")
    call("get_label", lambda: repo.get_label("area: quay wall"), lambda row: row.description == "By the water")
    call("label.edit", lambda: label.edit("area: quay", "d4e5f6", "Water"), lambda _: label.name == "area: quay")
    call("get_labels", lambda: names(repo.get_labels()), lambda all: "area: quay" in all and len(all) == 16)
    issue = call("an issue", lambda: repo.get_issue(139))
    call("add_to_labels", lambda: issue.add_to_labels("area: quay", "p1"))
    call("issue.get_labels", lambda: names(issue.get_labels()), lambda all: "area: quay" in all and "p1" in all)
    call("remove_from_labels", lambda: issue.remove_from_labels("area: quay"))
    call("set_labels", lambda: issue.set_labels("bug", label))
    call("labels set", lambda: sorted(names(repo.get_issue(139).labels)), lambda all: all == ["area: quay", "bug"])
    call("delete_labels", issue.delete_labels)
    call("none left", lambda: repo.get_issue(139).labels, lambda all: all == [])
    call("label.delete", label.delete)
    call.fails("deleted", github.UnknownObjectException, lambda: repo.get_label("area: quay"))


def milestones(call):
    due = datetime(2026, 3, 1, tzinfo=timezone.utc)
    made = call("create_milestone", lambda: repo.create_milestone("3.0", description="Next", due_on=due), lambda made: made.number == 5)
    call("get_milestone", lambda: repo.get_milestone(5), lambda row: row.title == "3.0" and row.due_on is not None)
    call("milestone.edit", lambda: made.edit("3.0", state="closed"))
    call("closed", lambda: repo.get_milestone(5), lambda row: row.state == "closed" and row.closed_at is not None)
    call("get_milestones", lambda: [row.title for row in repo.get_milestones(state="all")], lambda all: len(all) == 5)
    call("milestone.get_labels", lambda: names(repo.get_milestone(3).get_labels()), lambda all: "bug" in all)
    call("milestone.delete", made.delete)


def pulls(call):
    call("get_pulls", lambda: numbers(repo.get_pulls()), lambda all: all == [156, 155, 153, 150, 142])
    call("get_pulls by head", lambda: numbers(repo.get_pulls(head=f"{owner}:danish-plads")), lambda all: all == [155])
    pull = call("get_pull", lambda: repo.get_pull(153), lambda row: row.mergeable and row.base.ref == "main")
    call("pull.update", pull.update)
    call("pull.edit", lambda: pull.edit(title="Take the number after the payment", body="Fixes #152"))
    call("edited", lambda: repo.get_pull(153).title, lambda title: title == "Take the number after the payment")
    call("get_commits", lambda: list(pull.get_commits()), lambda all: len(all) == 1)
    call("get_files", lambda: [file.filename for file in pull.get_files()], lambda all: len(all) > 0)
    call("is_merged", pull.is_merged, lambda merged: merged is False)
    call("as_issue", pull.as_issue, lambda issue: issue.number == 153)
    call("create_issue_comment", lambda: pull.create_issue_comment("Looking at it"), lambda made: made.id > 0)
    call("get_issue_comments", lambda: [row.body for row in pull.get_issue_comments()], lambda all: all[-1] == "Looking at it")
    call("create_review_request", lambda: pull.create_review_request(reviewers=["jonas-eide"]))
    call("get_review_requests", lambda: [user.login for user in pull.get_review_requests()[0]], lambda all: "jonas-eide" in all)
    call("delete_review_request", lambda: pull.delete_review_request(reviewers=["jonas-eide"]))
    file = pull.get_files()[0].filename
    note = call("create_review_comment", lambda: pull.create_review_comment("Why here?", pull.get_commits()[0], file, line=1), lambda made: made.path == file)
    call("create_review_comment_reply", lambda: pull.create_review_comment_reply(note.id, "As asked"), lambda made: made.in_reply_to_id == note.id)
    call("get_review_comments", lambda: len(list(pull.get_review_comments())), lambda count: count >= 2)
    call("get_review_comment", lambda: pull.get_review_comment(note.id), lambda row: row.body == "Why here?")
    call("review comment.edit", lambda: note.edit("Why there?"))
    call("review comment.delete", note.delete)
    asks = call("create_review", lambda: pull.create_review(body="One thing", event="REQUEST_CHANGES"), lambda made: made.state == "CHANGES_REQUESTED")
    call("get_review", lambda: pull.get_review(asks.id), lambda row: row.body == "One thing")
    call("review.edit", lambda: asks.edit("Two things"))
    call("review.dismiss", lambda: asks.dismiss("Done"))
    for review in pull.get_reviews():
        if review.state == "CHANGES_REQUESTED":
            call("dismiss another's", lambda: review.dismiss("Done"))
    call("create_review that approves", lambda: pull.create_review(event="APPROVE"), lambda made: made.state == "APPROVED")
    call("get_reviews", lambda: [row.state for row in pull.get_reviews()], lambda all: "APPROVED" in all and "DISMISSED" in all)
    call("merge", lambda: pull.merge(merge_method="squash"), lambda status: status.merged)
    call("merged", lambda: repo.get_pull(153), lambda row: row.merged and row.merged_by.login == "quay-triage")
    call.fails("merge again", github.GithubException, pull.merge, lambda error: error.status == 405)
    call("the issue it fixes", lambda: repo.get_issue(152).state, lambda state: state == "closed")


def branches_with_slashes(call):
    tip = call("get_branch", lambda: repo.get_branch("main"), lambda branch: branch.protected).commit.sha
    call("create_git_ref", lambda: repo.create_git_ref("refs/heads/feat/winch/speed", tip), lambda ref: ref.object.sha == tip)
    call("get_branch, slashes", lambda: repo.get_branch("feat/winch/speed"), lambda branch: branch.commit.sha == tip)
    call("get_git_ref", lambda: repo.get_git_ref("heads/feat/winch/speed"), lambda ref: ref.ref == "refs/heads/feat/winch/speed")
    call("get_git_matching_refs", lambda: [ref.ref for ref in repo.get_git_matching_refs("heads/feat")], lambda all: all == ["refs/heads/feat/winch/speed"])
    call("get_commits of it", lambda: list(repo.get_commits(sha="feat/winch/speed")), lambda all: all[0].sha == tip)
    call("get_commit of it", lambda: repo.get_commit("feat/winch/speed"), lambda commit: commit.sha == tip)
    call("get_branches", lambda: names(repo.get_branches()), lambda all: "feat/winch/speed" in all)
    work = repo.get_branch("danish-plads").commit.sha
    call("a branch with work", lambda: repo.create_git_ref("refs/heads/fix/plads", work))
    pull = call("create_pull", lambda: repo.create_pull("main", "fix/plads", title="Plads", body="Fixes #154", draft=True), lambda pull: pull.head.ref == "fix/plads" and pull.draft)
    call("edit state", lambda: pull.edit(state="closed"))
    call("git_ref.delete", lambda: repo.get_git_ref("heads/feat/winch/speed").delete())
    call.fails("deleted", github.UnknownObjectException, lambda: repo.get_git_ref("heads/feat/winch/speed"))


def search(call):
    found = call("search_issues", lambda: hub.search_issues(f"repo:{owner}/{name} is:issue is:open reminder"), lambda rows: rows.totalCount >= 2)
    call("followed", lambda: found[0].repository.full_name, lambda full: full == f"{owner}/{name}")
    call("search_issues, sorted", lambda: numbers(hub.search_issues("label:bug", sort="created", order="asc")), lambda all: len(all) > 5)
    call("search_repositories", lambda: names(hub.search_repositories("berth")), lambda all: "berth" in all)
    call("search_users", lambda: [user.login for user in hub.search_users("okafor")], lambda all: all == ["sam-okafor"])


def webhooks(call):
    config = {"url": "https://hooks.example/in", "content_type": "json", "secret": "s3"}
    hook = call("create_hook", lambda: repo.create_hook("web", config, ["issues", "push"], active=True), lambda made: made.active)
    call("get_hook", lambda: repo.get_hook(hook.id), lambda row: sorted(row.events) == ["issues", "push"])
    call("hook.edit", lambda: hook.edit("web", config, events=["pull_request"]), lambda _: hook.events == ["pull_request"])
    call("hook.ping", hook.ping)
    call("get_hooks", lambda: [row.id for row in repo.get_hooks()], lambda all: all == [hook.id])
    call("hook.delete", hook.delete)
    call("none left", lambda: list(repo.get_hooks()), lambda all: all == [])


def paging(call):
    few = github.Github(base_url=url, auth=github.Auth.Token(token), per_page=7, **at_once)
    pages = few.get_repo(f"{owner}/{name}").get_issues(state="all")
    count = call("totalCount", lambda: pages.totalCount)
    every = call("all pages", lambda: numbers(pages), lambda all: len(all) == len(set(all)) == count)
    call("reversed", lambda: numbers(pages.reversed), lambda all: all == every[::-1])
    call("get_page", lambda: numbers(pages.get_page(2)), lambda all: all == every[14:21])
    call("by index", lambda: pages[20].number, lambda number: number == every[20])


def conditional_requests(call):
    issue = call("get_issue", lambda: repo.get_issue(139))
    call("unchanged", issue.update, lambda changed: changed is False)
    call("a change", lambda: repo.get_issue(139).create_comment("Still there"))
    call("changed", issue.update, lambda changed: changed is True)


def files_and_releases(call):
    call("get_readme", repo.get_readme, lambda file: len(file.decoded_content) > 0)
    root = call("get_contents", lambda: repo.get_contents(""), lambda all: len(all) > 0)
    file = next(entry for entry in root if entry.type == "file")
    call("get_contents of a file", lambda: repo.get_contents(file.path), lambda one: len(one.decoded_content) > 0)
    made = call("create_file", lambda: repo.create_file("docs/gangway.md", "Say how", "# Gangway\n", branch="danish-plads"))
    changed = {"path": "docs/gangway.md", "message": "Say more", "content": "# Gangways\n", "branch": "danish-plads"}
    again = call("update_file", lambda: repo.update_file(sha=made["content"].sha, **changed), lambda done: done["commit"].sha)
    call("read again", lambda: repo.get_contents("docs/gangway.md", ref="danish-plads"), lambda one: one.decoded_content == b"# Gangways\n")
    call("delete_file", lambda: repo.delete_file("docs/gangway.md", "Drop it", again["content"].sha, branch="danish-plads"))
    call("get_git_tree", lambda: repo.get_git_tree("main", recursive=True), lambda tree: file.path in [entry.path for entry in tree.tree])
    call("compare", lambda: repo.compare("main", "occupancy-nights"), lambda found: found.ahead_by == 2 and len(found.files) == 2)
    call("get_languages", repo.get_languages, lambda all: len(all) > 0)
    call("get_contributors", lambda: [user.login for user in repo.get_contributors()], lambda all: "sam-okafor" in all)
    call("get_tags", lambda: names(repo.get_tags()), lambda all: "v2.7.0" in all)
    call("get_latest_release", lambda: repo.get_latest_release().tag_name, lambda tag: tag == "v2.7.0")
    release = call("create_git_release", lambda: repo.create_git_release("v2.8.0", "2.8", "New", draft=False), lambda made: made.tag_name == "v2.8.0")
    call("get_releases", lambda: [row.tag_name for row in repo.get_releases()], lambda all: all[0] == "v2.8.0")
    call("get_release by tag", lambda: repo.get_release("v2.8.0").id, lambda id: id == release.id)
    call("update_release", lambda: release.update_release("2.8.0", "Newer"), lambda row: row.body == "Newer")
    call("delete_release", release.delete_release)
    tip = repo.get_commit("main")
    call("create_status", lambda: tip.create_status("success", context="ci/build"), lambda made: made.state == "success")
    call("get_combined_status", tip.get_combined_status, lambda all: "ci/build" in [one.context for one in all.statuses])
    call("get_statuses", lambda: [one.context for one in tip.get_statuses()], lambda all: "ci/build" in all)
    call("get_check_runs", lambda: list(tip.get_check_runs()), lambda all: isinstance(all, list))
    call("get_collaborators", lambda: [user.login for user in repo.get_collaborators()], lambda all: "sam-okafor" in all)
    call("get_collaborator_permission", lambda: repo.get_collaborator_permission("sam-okafor"), lambda may: may in ("admin", "write", "read"))
    issue = repo.get_issue(139)
    mine = call("create_reaction", lambda: issue.create_reaction("heart"), lambda made: made.content == "heart")
    call("get_reactions", lambda: [one.content for one in issue.get_reactions()], lambda all: "heart" in all)
    call("delete_reaction", lambda: issue.delete_reaction(mine.id))
    call("get_teams", lambda: [team.slug for team in hub.get_organization(owner).get_teams()], lambda all: len(all) > 0)
    call("get_notifications", lambda: list(hub.get_user().get_notifications(all=True)), lambda all: len(all) > 0)
    call("get_repo by id", lambda: hub.get_repo(repo.id).full_name, lambda full: full == f"{owner}/{name}")
    call("update_branch", lambda: repo.get_pull(155).update_branch(), lambda done: done is True)


def error_classes(call):
    stranger = github.Github(base_url=url, auth=github.Auth.Token("unknown"), **at_once)
    call.fails("401", github.BadCredentialsException, lambda: stranger.get_user().login, lambda error: error.status == 401)
    call.fails("404 of a repository", github.UnknownObjectException, lambda: hub.get_repo(f"{owner}/none"), lambda error: error.status == 404)
    call.fails("404 of an issue", github.UnknownObjectException, lambda: repo.get_issue(9999))
    call.fails("403", github.GithubException, lambda: hub.get_repo("mikkelh/marstal-tides").edit(description="Mine"), lambda error: error.status == 403)
    call.fails("422", github.GithubException, lambda: repo.create_issue("x" * 257), lambda error: error.status == 422 and error.data["errors"])
    call.fails("409", github.GithubException, lambda: repo.get_pull(156).merge(), lambda error: error.status in (405, 409))


tell([users, repositories, issues, labels, milestones, pulls, branches_with_slashes, search, webhooks, paging, conditional_requests, files_and_releases, error_classes])
