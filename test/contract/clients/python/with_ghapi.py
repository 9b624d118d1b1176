"""What users of ghapi do every day, against a session of `code-hosting`.

Its methods are made from the vendor's own description of the API, and it sends what that says.
"""

from asking import name, owner, tell, token, url
from ghapi.all import APIError, GhApi
from ghapi.page import sync_paged
from rows import logins, names, numbers

hub = GhApi(owner=owner, repo=name, token=token, gh_host=url, sync=True)
issues_of, repos, of_pulls = hub.issues, hub.repos, hub.pulls


def status(code):
    return lambda error: error.status_code == code


def users(call):
    call("users.get_authenticated", hub.users.get_authenticated, lambda me: me.login == "quay-triage")
    call("users.get_by_username", lambda: hub.users.get_by_username("sam-okafor"), lambda user: user.name == "Sam Okafor")
    call("users.list", lambda: logins(hub.users.list()), lambda all: "mikkelh" in all)
    call("orgs.get", lambda: hub.orgs.get(owner), lambda org: org.login == owner)
    call("orgs.list_members", lambda: logins(hub.orgs.list_members(owner)), lambda all: len(all) == 6)
    call("orgs.check_membership_for_user", lambda: hub.orgs.check_membership_for_user(owner, "sam-okafor"))
    call("orgs.list_for_user", lambda: logins(hub.orgs.list_for_user("quay-triage")))
    call("orgs.list_for_authenticated_user", lambda: logins(hub.orgs.list_for_authenticated_user()), lambda all: all == [owner])
    call("repos.list_for_org", lambda: names(repos.list_for_org(owner)), lambda all: len(all) == 3)
    call("repos.list_for_user", lambda: names(repos.list_for_user("mikkelh")), lambda all: all == ["marstal-tides"])
    call("rate_limit.get", hub.rate_limit.get, lambda rate: rate.resources.core.remaining > 0)
    call("limit_rem", lambda: int(hub.limit_rem), lambda left: left > 0)


def repositories(call):
    call("repos.get", repos.get, lambda repo: repo.default_branch == "main")
    call("repos.update", lambda: repos.update(description="Berths"), lambda repo: repo.description == "Berths")
    call("repos.replace_all_topics", lambda: repos.replace_all_topics(names=["harbour"]), lambda topics: list(topics.names) == ["harbour"])
    call("repos.get_all_topics", repos.get_all_topics, lambda topics: list(topics.names) == ["harbour"])
    call("repos.list_commits", repos.list_commits, lambda all: len(all) >= 7)
    call("repos.get_commit", lambda: repos.get_commit(ref="main"), lambda commit: len(commit.files) > 0)
    call("issues.list_assignees", lambda: logins(issues_of.list_assignees()), lambda all: "sam-okafor" in all)
    call("issues.check_user_can_be_assigned", lambda: issues_of.check_user_can_be_assigned(assignee="sam-okafor"))
    made = call("repos.create_for_authenticated_user", lambda: repos.create_for_authenticated_user(name="scratch", auto_init=True), lambda repo: repo.name == "scratch")
    call("repos.delete", lambda: repos.delete(owner=made.owner.login, repo="scratch"))


def issues(call):
    issue = call(
        "issues.create",
        lambda: issues_of.create(title="Gangway light", body="It flickers", labels=["bug"], assignees=["sam-okafor"], milestone=3),
        lambda made: made.user.login == "quay-triage" and names(made.labels) == ["bug"] and made.milestone.number == 3,
    )
    number = issue.number
    edit = lambda **fields: issues_of.update(issue_number=number, **fields)
    call("issues.get", lambda: issues_of.get(number), lambda row: row.title == "Gangway light")
    call("update title", lambda: edit(title="Lights"), lambda row: row.title == "Lights")
    call("update body", lambda: edit(body="They flicker"), lambda row: row.body == "They flicker")
    call("update milestone", lambda: edit(milestone=4), lambda row: row.milestone.title == "2.9")
    call("update milestone away", lambda: edit(milestone=None), lambda row: row.milestone is None)
    call("update labels", lambda: edit(labels=["p1"]), lambda row: names(row.labels) == ["p1"])
    call("update assignees", lambda: edit(assignees=["priyaraman"]), lambda row: logins(row.assignees) == ["priyaraman"])
    call("update state", lambda: edit(state="closed", state_reason="not_planned"), lambda row: row.state_reason == "not_planned")
    call("update state back", lambda: edit(state="open"), lambda row: row.state == "open")
    call("issues.add_assignees", lambda: issues_of.add_assignees(number, assignees=["jonas-eide"]), lambda row: len(row.assignees) == 2)
    call("issues.remove_assignees", lambda: issues_of.remove_assignees(number, assignees=["jonas-eide"]), lambda row: len(row.assignees) == 1)
    call("issues.lock", lambda: issues_of.lock(number, lock_reason="resolved"))
    call("locked", lambda: issues_of.get(number), lambda row: row.locked and row.active_lock_reason == "resolved")
    call("issues.unlock", lambda: issues_of.unlock(number))
    comment = call("issues.create_comment", lambda: issues_of.create_comment(number, body="Seen at #139"), lambda row: row.body == "Seen at #139")
    call("issues.get_comment", lambda: issues_of.get_comment(comment.id), lambda row: row.user.login == "quay-triage")
    call("issues.update_comment", lambda: issues_of.update_comment(comment.id, body="Twice"), lambda row: row.body == "Twice")
    call("issues.list_comments", lambda: issues_of.list_comments(number), lambda all: len(all) == 1)
    call("issues.delete_comment", lambda: issues_of.delete_comment(comment.id))
    call("issues.list_comments_for_repo", issues_of.list_comments_for_repo, lambda all: len(all) == 30)
    call("issues.list_events", lambda: [row.event for row in issues_of.list_events(number)], lambda all: "closed" in all)
    call("issues.list_events_for_repo", issues_of.list_events_for_repo, lambda all: len(all) == 30)
    call("issues.list_events_for_timeline", lambda: issues_of.list_events_for_timeline(number), lambda all: len(all) > 0)
    call("issues.list_for_repo", lambda: numbers(issues_of.list_for_repo(labels="p1", state="open")), lambda all: number in all)
    call("by milestone", lambda: numbers(issues_of.list_for_repo(milestone="3")), lambda all: 139 in all)
    call("by assignee", lambda: numbers(issues_of.list_for_repo(assignee="priyaraman")), lambda all: number in all)
    call("issues.list", lambda: issues_of.list(filter="all"), lambda all: len(all) == 30)
    call("issues.list_for_org", lambda: issues_of.list_for_org(owner, filter="all"), lambda all: len(all) == 30)


def labels(call):
    call("issues.create_label", lambda: issues_of.create_label(name="area: quay wall", color="a1b2c3", description="Wet"), lambda row: row.color == "a1b2c3")
    call("issues.get_label", lambda: issues_of.get_label(name="area: quay wall"), lambda row: row.description == "Wet")
    call("issues.update_label", lambda: issues_of.update_label(name="area: quay wall", new_name="area: quay"), lambda row: row.name == "area: quay")
    call("issues.list_labels_for_repo", lambda: names(issues_of.list_labels_for_repo()), lambda all: "area: quay" in all)
    call("issues.add_labels", lambda: names(issues_of.add_labels(139, labels=["area: quay", "p1"])), lambda all: "p1" in all)
    call("issues.list_labels_on_issue", lambda: names(issues_of.list_labels_on_issue(139)), lambda all: "p1" in all)
    call("issues.remove_label", lambda: names(issues_of.remove_label(139, name="area: quay")), lambda all: "area: quay" not in all)
    call("issues.set_labels", lambda: names(issues_of.set_labels(139, labels=["bug"])), lambda all: all == ["bug"])
    call("issues.remove_all_labels", lambda: issues_of.remove_all_labels(139))
    call("issues.delete_label", lambda: issues_of.delete_label(name="area: quay"))


def milestones(call):
    call("issues.create_milestone", lambda: issues_of.create_milestone(title="3.0", due_on="2026-03-01T00:00:00Z"), lambda row: row.number == 5)
    call("issues.get_milestone", lambda: issues_of.get_milestone(5), lambda row: row.title == "3.0")
    call("issues.update_milestone", lambda: issues_of.update_milestone(5, state="closed"), lambda row: row.closed_at is not None)
    call("issues.list_milestones", lambda: numbers(issues_of.list_milestones(state="all")), lambda all: sorted(all) == [1, 2, 3, 4, 5])
    call("issues.list_labels_for_milestone", lambda: names(issues_of.list_labels_for_milestone(3)), lambda all: "bug" in all)
    call("issues.delete_milestone", lambda: issues_of.delete_milestone(5))


def pulls(call):
    call("pulls.list", lambda: numbers(of_pulls.list()), lambda all: all == [156, 155, 153, 150, 142])
    pull = call("pulls.get", lambda: of_pulls.get(153), lambda row: row.mergeable)
    call("pulls.update", lambda: of_pulls.update(153, body="Fixes #152"), lambda row: row.body == "Fixes #152")
    call("pulls.list_commits", lambda: of_pulls.list_commits(153), lambda all: len(all) == 1)
    files = call("pulls.list_files", lambda: of_pulls.list_files(153), lambda all: len(all) > 0)
    call.fails("pulls.check_if_merged", APIError, lambda: of_pulls.check_if_merged(153), status(404))
    call("pulls.request_reviewers", lambda: of_pulls.request_reviewers(153, reviewers=["jonas-eide"]), lambda row: "jonas-eide" in logins(row.requested_reviewers))
    call("pulls.list_requested_reviewers", lambda: of_pulls.list_requested_reviewers(153), lambda row: "jonas-eide" in logins(row.users))
    call("pulls.remove_requested_reviewers", lambda: of_pulls.remove_requested_reviewers(153, reviewers=["jonas-eide"]))
    asked = {"body": "Why here?", "commit_id": pull.head.sha, "path": files[0].filename, "line": 1, "side": "RIGHT"}
    note = call("pulls.create_review_comment", lambda: of_pulls.create_review_comment(153, **asked), lambda row: row.body == "Why here?")
    call("pulls.create_reply_for_review_comment", lambda: of_pulls.create_reply_for_review_comment(153, note.id, body="As asked"), lambda row: row.in_reply_to_id == note.id)
    call("pulls.get_review_comment", lambda: of_pulls.get_review_comment(note.id), lambda row: row.path == files[0].filename)
    call("pulls.update_review_comment", lambda: of_pulls.update_review_comment(note.id, body="Why there?"), lambda row: row.body == "Why there?")
    call("pulls.list_review_comments", lambda: of_pulls.list_review_comments(153), lambda all: len(all) >= 2)
    call("pulls.list_review_comments_for_repo", of_pulls.list_review_comments_for_repo, lambda all: len(all) >= 2)
    call("pulls.delete_review_comment", lambda: of_pulls.delete_review_comment(note.id))
    for review in call("pulls.list_reviews", lambda: of_pulls.list_reviews(153)):
        if review.state == "CHANGES_REQUESTED":
            call("pulls.dismiss_review", lambda: of_pulls.dismiss_review(153, review.id, message="Done"), lambda row: row.state == "DISMISSED")
    mine = call("pulls.create_review", lambda: of_pulls.create_review(153, body="So far"), lambda row: row.state == "PENDING")
    call("pulls.update_review", lambda: of_pulls.update_review(153, mine.id, body="All well"), lambda row: row.body == "All well")
    call("pulls.submit_review", lambda: of_pulls.submit_review(153, mine.id, event="APPROVE"), lambda row: row.state == "APPROVED")
    call("pulls.get_review", lambda: of_pulls.get_review(153, mine.id), lambda row: row.state == "APPROVED")
    call("pulls.merge", lambda: of_pulls.merge(153, merge_method="squash"), lambda row: row.merged is True)
    call("merged", lambda: of_pulls.get(153), lambda row: row.merged and row.merged_by.login == "quay-triage")
    call("the issue it fixes", lambda: issues_of.get(152).state, lambda state: state == "closed")


def branches_with_slashes(call):
    tip = call("repos.get_branch", lambda: repos.get_branch(branch="main"), lambda row: row.protected).commit.sha
    call("git.create_ref", lambda: hub.git.create_ref(ref="refs/heads/feat/winch/speed", sha=tip), lambda row: row.object.sha == tip)
    call("repos.get_branch, slashes", lambda: repos.get_branch(branch="feat/winch/speed"), lambda row: row.commit.sha == tip)
    call("git.get_ref", lambda: hub.git.get_ref(ref="heads/feat/winch/speed"), lambda row: row.ref == "refs/heads/feat/winch/speed")
    call("git.list_matching_refs", lambda: hub.git.list_matching_refs(ref="heads/feat/winch"), lambda all: len(all) == 1)
    call("repos.get_commit of it", lambda: repos.get_commit(ref="feat/winch/speed"), lambda row: row.sha == tip)
    call("repos.list_commits of it", lambda: repos.list_commits(sha="feat/winch/speed"), lambda all: all[0].sha == tip)
    call("repos.list_branches", lambda: names(repos.list_branches()), lambda all: "feat/winch/speed" in all)
    work = repos.get_branch(branch="danish-plads").commit.sha
    call("a branch with work", lambda: hub.git.create_ref(ref="refs/heads/fix/plads", sha=work))
    call("pulls.create", lambda: of_pulls.create(title="Plads", head="fix/plads", base="main", draft=True), lambda row: row.head.ref == "fix/plads")
    call("git.delete_ref", lambda: hub.git.delete_ref(ref="heads/feat/winch/speed"))
    call.fails("deleted", APIError, lambda: repos.get_branch(branch="feat/winch/speed"), status(404))


def search(call):
    call("search.issues_and_pull_requests", lambda: hub.search.issues_and_pull_requests(q=f"repo:{owner}/{name} is:issue reminder"), lambda found: found.total_count >= 2)
    call("search.repos", lambda: names(hub.search.repos(q="berth")["items"]), lambda all: "berth" in all)
    call("search.users", lambda: logins(hub.search.users(q="okafor")["items"]), lambda all: all == ["sam-okafor"])


def webhooks(call):
    config = {"url": "https://hooks.example/in", "content_type": "json", "secret": "s3"}
    hook = call("repos.create_webhook", lambda: repos.create_webhook(config=config, events=["issues", "push"]), lambda row: row.active)
    call("repos.get_webhook", lambda: repos.get_webhook(hook.id), lambda row: len(row.events) == 2)
    call("repos.update_webhook", lambda: repos.update_webhook(hook.id, events=["pull_request"]), lambda row: list(row.events) == ["pull_request"])
    call("repos.ping_webhook", lambda: repos.ping_webhook(hook.id))
    call("repos.list_webhooks", lambda: [row.id for row in repos.list_webhooks()], lambda all: all == [hook.id])
    call("repos.delete_webhook", lambda: repos.delete_webhook(hook.id))
    call("none left", lambda: list(repos.list_webhooks()), lambda all: all == [])


def paging(call):
    call("last_page", lambda: (issues_of.list_for_repo(state="all", per_page=7), hub.last_page())[1], lambda last: last >= 8)
    call("sync_paged", lambda: [row.number for rows in sync_paged(issues_of.list_for_repo, state="all", per_page=7) for row in rows], lambda all: len(all) == len(set(all)) > 50)
    at = hub.recv_hdrs
    call("x-ratelimit in headers", lambda: at["x-ratelimit-limit"], lambda limit: int(limit) > 0)
    call("an address followed", lambda: hub(issues_of.get(139).comments_url), lambda all: len(all) == 3)


def conditional_requests(call):
    call("issues.get", lambda: issues_of.get(139))
    tag = hub.recv_hdrs["etag"]
    call.fails("304", APIError, lambda: issues_of.get(139, headers_={"If-None-Match": tag}), status(304))
    call("a change", lambda: issues_of.create_comment(139, body="Still there"))
    call("200", lambda: issues_of.get(139, headers_={"If-None-Match": tag}, raw_=True), lambda answer: answer.status_code == 200)


def files_and_releases(call):
    call("repos.get_readme", repos.get_readme, lambda file: len(file.content) > 0)
    root = call("repos.get_content", lambda: repos.get_content(path=""), lambda all: len(all) > 0)
    path = next(entry.path for entry in root if entry.type == "file")
    call("repos.get_content of a file", lambda: repos.get_content(path=path), lambda file: file.encoding == "base64")
    asked = {"path": "docs/gangway.md", "message": "Say how", "content": "IyBHYW5nd2F5Cg==", "branch": "danish-plads"}
    made = call("repos.create_or_update_file_contents", lambda: repos.create_or_update_file_contents(**asked), lambda done: done.content.path == "docs/gangway.md")
    gone = {"path": "docs/gangway.md", "message": "Drop it", "sha": made.content.sha, "branch": "danish-plads"}
    call("repos.delete_file", lambda: repos.delete_file(**gone), lambda done: done.commit.sha)
    call("git.get_tree", lambda: hub.git.get_tree("main", recursive="1"), lambda tree: path in [entry.path for entry in tree.tree])
    call("repos.compare_commits", lambda: repos.compare_commits("main...occupancy-nights"), lambda found: found.ahead_by == 2)
    call("repos.list_languages", repos.list_languages, lambda all: len(all) > 0)
    call("repos.list_contributors", lambda: logins(repos.list_contributors()), lambda all: "sam-okafor" in all)
    call("repos.list_tags", lambda: names(repos.list_tags()), lambda all: "v2.7.0" in all)
    call("repos.get_latest_release", repos.get_latest_release, lambda row: row.tag_name == "v2.7.0")
    release = call("repos.create_release", lambda: repos.create_release(tag_name="v2.8.0", name="2.8"), lambda row: row.tag_name == "v2.8.0")
    call("repos.get_release_by_tag", lambda: repos.get_release_by_tag(tag="v2.8.0"), lambda row: row.id == release.id)
    call("repos.update_release", lambda: repos.update_release(release.id, body="Newer"), lambda row: row.body == "Newer")
    call("repos.delete_release", lambda: repos.delete_release(release.id))
    tip = repos.get_branch(branch="main").commit.sha
    call("repos.create_commit_status", lambda: repos.create_commit_status(tip, state="success", context="ci/build"), lambda row: row.state == "success")
    call("repos.get_combined_status_for_ref", lambda: repos.get_combined_status_for_ref(ref=tip), lambda all: len(all.statuses) > 0)
    call("checks.list_for_ref", lambda: hub.checks.list_for_ref(ref=tip), lambda found: found.total_count >= 0)
    call("repos.list_collaborators", lambda: logins(repos.list_collaborators()), lambda all: "sam-okafor" in all)
    call("repos.get_collaborator_permission_level", lambda: repos.get_collaborator_permission_level(username="sam-okafor"), lambda may: may.permission != "none")
    call("reactions.create_for_issue", lambda: hub.reactions.create_for_issue(139, content="heart"), lambda row: row.content == "heart")
    call("reactions.list_for_issue", lambda: hub.reactions.list_for_issue(139), lambda all: len(all) > 0)
    call("teams.list", lambda: hub.teams.list(owner), lambda all: len(all) > 0)
    call("activity.list_notifications_for_authenticated_user", lambda: hub.activity.list_notifications_for_authenticated_user(all=True), lambda all: len(all) > 0)
    call("meta.get", hub.meta.get)
    call("pulls.update_branch", lambda: of_pulls.update_branch(155), lambda done: done.message)


def error_classes(call):
    stranger = GhApi(token="unknown", gh_host=url, sync=True)
    call.fails("401", APIError, stranger.users.get_authenticated, status(401))
    call.fails("403", APIError, lambda: repos.update(owner="mikkelh", repo="marstal-tides", description="Mine"), status(403))
    call.fails("404", APIError, lambda: issues_of.get(9999), status(404))
    call.fails("422", APIError, lambda: issues_of.create(title="x" * 257), status(422))


tell([users, repositories, issues, labels, milestones, pulls, branches_with_slashes, search, webhooks, paging, conditional_requests, files_and_releases, error_classes])
