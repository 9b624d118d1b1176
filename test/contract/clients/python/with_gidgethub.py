"""What users of gidgethub do every day, against a session of `code-hosting`.

It has no methods for routes, so after the first call nearly each goes to an address that an answer gave.
"""

import asyncio

import aiohttp
import gidgethub
from asking import name, owner, tell, token, url
from gidgethub.aiohttp import GitHubAPI

loop = asyncio.new_event_loop()
wait = loop.run_until_complete


async def open_session():
    return aiohttp.ClientSession()


session = wait(open_session())
hub = GitHubAPI(session, "svc-clients", oauth_token=token, base_url=url)


def get(at, **filled):
    return wait(hub.getitem(at, filled))


def every(at, **filled):
    async def rows():
        return [row async for row in hub.getiter(at, filled)]

    return wait(rows())


def send(method, at, data=b"", **filled):
    return wait(getattr(hub, method)(at, filled, data=data))


def numbers(rows):
    return [row["number"] for row in rows]


def names(rows):
    return [row["name"] for row in rows]


repo = get("/repos/{owner}/{repo}", owner=owner, repo=name)


def users(call):
    me = call("/user", lambda: get("/user"), lambda me: me["login"] == "quay-triage")
    call("repos_url", lambda: every(me["repos_url"]), lambda all: isinstance(all, list))
    call("organizations_url", lambda: every(me["organizations_url"]), lambda all: isinstance(all, list))
    sam = call("/users/{user}", lambda: get("/users/{user}", user="sam-okafor"), lambda user: user["name"] == "Sam Okafor")
    call("url of a user", lambda: get(sam["url"]), lambda user: user == sam)
    org = call("/orgs/{org}", lambda: get("/orgs/{org}", org=owner), lambda org: org["login"] == owner)
    call("repos_url of an organization", lambda: names(every(org["repos_url"])), lambda all: len(all) == 3)
    call("members_url", lambda: every(org["members_url"]), lambda all: len(all) == 6)
    call("members_url, filled", lambda: get(org["members_url"], member="sam-okafor"), lambda none: none is None)
    call("public_members_url", lambda: every(org["public_members_url"]), lambda all: len(all) == 3)


def repositories(call):
    call("url", lambda: get(repo["url"]), lambda row: row["id"] == repo["id"])
    call("owner's url", lambda: get(repo["owner"]["url"]), lambda row: row["login"] == owner)
    call("commits_url", lambda: every(repo["commits_url"]), lambda all: len(all) >= 7)
    call("commits_url, filled", lambda: get(repo["commits_url"], sha="main"), lambda row: get(row["url"])["sha"] == row["sha"])
    call("assignees_url", lambda: every(repo["assignees_url"]), lambda all: len(all) >= 6)
    call("assignees_url, filled", lambda: get(repo["assignees_url"], user="sam-okafor"), lambda none: none is None)
    call("branches_url", lambda: names(every(repo["branches_url"])), lambda all: "main" in all)
    call("patch url", lambda: send("patch", repo["url"], {"description": "Berths"}), lambda row: row["description"] == "Berths")
    made = call("post /user/repos", lambda: send("post", "/user/repos", {"name": "scratch", "auto_init": True}))
    call("delete url", lambda: send("delete", made["url"]))
    call.fails("deleted", gidgethub.BadRequest, lambda: get(made["url"]), lambda error: error.status_code == 404)


def edited(issue):
    """What an issue holds, as an edit says it."""
    plain = {key: issue[key] for key in ("title", "body", "state", "state_reason")}
    milestone = issue["milestone"] and issue["milestone"]["number"]
    people = [user["login"] for user in issue["assignees"]]
    return {**plain, "milestone": milestone, "labels": names(issue["labels"]), "assignees": people}


def issues(call):
    asked = {"title": "Gangway light", "body": "It flickers", "labels": ["bug"], "assignees": ["sam-okafor"], "milestone": 3}
    issue = call("post issues_url", lambda: send("post", repo["issues_url"], asked), lambda row: names(row["labels"]) == ["bug"])
    at = issue["url"]
    call("url", lambda: get(at), lambda row: row["title"] == "Gangway light")
    call("repository_url", lambda: get(issue["repository_url"]), lambda row: row["id"] == repo["id"])
    call("issues_url, filled", lambda: get(repo["issues_url"], number=issue["number"]), lambda row: row["id"] == issue["id"])
    edits = [{"title": "Lights"}, {"body": "They flicker"}, {"milestone": 4}, {"milestone": None}, {"labels": ["p1"]}, {"assignees": []}]
    for edit in edits + [{"state": "closed", "state_reason": "completed"}, {"state": "open"}]:
        call(f"patch {edit}", lambda: send("patch", at, edit), lambda row: edit.items() <= edited(row).items())
    left = {"title": "Lights", "body": "They flicker", "milestone": None, "labels": ["p1"], "assignees": [], "state": "open"}
    call("edited", lambda: get(at), lambda row: left.items() <= edited(row).items())
    comment = call("post comments_url", lambda: send("post", issue["comments_url"], {"body": "Seen"}), lambda row: row["issue_url"] == at)
    call("comments_url", lambda: every(issue["comments_url"]), lambda all: [row["body"] for row in all] == ["Seen"])
    call("patch its url", lambda: send("patch", comment["url"], {"body": "Seen twice"}), lambda row: row["body"] == "Seen twice")
    call("issue_comment_url", lambda: get(repo["issue_comment_url"], number=comment["id"]), lambda row: row["body"] == "Seen twice")
    call("delete its url", lambda: send("delete", comment["url"]))
    call("put lock", lambda: send("put", at + "/lock"))
    call("delete lock", lambda: send("delete", at + "/lock"))
    call("events_url", lambda: every(issue["events_url"]), lambda all: "closed" in [row["event"] for row in all])
    call("url of an event", lambda: get(every(issue["events_url"])[0]["url"]), lambda row: row["issue"]["id"] == issue["id"])
    call("issue_events_url", lambda: every(repo["issue_events_url"]), lambda all: len(all) > 30)
    call("timeline_url", lambda: every(issue["timeline_url"]), lambda all: len(all) > 0)
    call("labels_url of an issue", lambda: names(every(issue["labels_url"])), lambda all: all == ["p1"])
    call("post labels_url", lambda: send("post", issue["labels_url"], {"labels": ["bug"]}), lambda all: len(all) == 2)
    call("delete labels_url, filled", lambda: send("delete", issue["labels_url"], name="p1"))
    call("url of a pull request", lambda: get(get(repo["issues_url"], number=150)["pull_request"]["url"]), lambda row: row["number"] == 150)


def labels(call):
    label = call("post labels_url", lambda: send("post", repo["labels_url"], {"name": "area: quay wall", "color": "a1b2c3"}))
    call("url", lambda: get(label["url"]), lambda row: row["name"] == "area: quay wall")
    call("labels_url", lambda: names(every(repo["labels_url"])), lambda all: "area: quay wall" in all)
    call("labels_url, filled", lambda: get(repo["labels_url"], name="area: quay wall"), lambda row: row["color"] == "a1b2c3")
    renamed = call("patch url", lambda: send("patch", label["url"], {"new_name": "area: quay"}), lambda row: row["name"] == "area: quay")
    call("delete url", lambda: send("delete", renamed["url"]))


def milestones(call):
    made = call("post milestones_url", lambda: send("post", repo["milestones_url"], {"title": "3.0"}), lambda row: row["number"] == 5)
    call("url", lambda: get(made["url"]), lambda row: row["title"] == "3.0")
    call("patch url", lambda: send("patch", made["url"], {"state": "closed"}), lambda row: row["closed_at"] is not None)
    call("milestones_url", lambda: numbers(every(repo["milestones_url"])), lambda all: all == [3, 4])
    call("labels_url", lambda: every(get(repo["milestones_url"], number=3)["labels_url"]), lambda all: "bug" in names(all))
    call("delete url", lambda: send("delete", made["url"]))


def pulls(call):
    call("pulls_url", lambda: numbers(every(repo["pulls_url"])), lambda all: all == [156, 155, 153, 150, 142])
    pull = call("pulls_url, filled", lambda: get(repo["pulls_url"], number=153), lambda row: row["mergeable"] is True)
    links = pull["_links"]
    call("_links.self", lambda: get(links["self"]["href"]), lambda row: row["id"] == pull["id"])
    call("_links.issue", lambda: get(links["issue"]["href"]), lambda row: row["number"] == 153)
    call("_links.comments", lambda: every(links["comments"]["href"]), lambda all: isinstance(all, list))
    call("_links.review_comments", lambda: every(links["review_comments"]["href"]), lambda all: isinstance(all, list))
    call("_links.commits", lambda: every(links["commits"]["href"]), lambda all: len(all) == 1)
    call("review_comment_url", lambda: get(get(repo["pulls_url"], number=150)["review_comment_url"], number=every(get(repo["pulls_url"], number=150)["review_comments_url"])[0]["id"]), lambda row: row["path"])
    call("issue_url", lambda: get(pull["issue_url"]), lambda row: row["number"] == 153)
    at = pull["url"]
    call("patch url", lambda: send("patch", at, {"body": "Fixes #152"}), lambda row: row["body"] == "Fixes #152")
    call("files", lambda: every(at + "/files"), lambda all: len(all) > 0)
    call("a file's contents_url", lambda: every(at + "/files")[0]["contents_url"], lambda at: at.startswith(url))
    call("post requested_reviewers", lambda: send("post", at + "/requested_reviewers", {"reviewers": ["jonas-eide"]}))
    call("delete requested_reviewers", lambda: send("delete", at + "/requested_reviewers", {"reviewers": ["jonas-eide"]}))
    for review in every(at + "/reviews"):
        call("a review's pull_request_url", lambda: get(review["pull_request_url"]), lambda row: row["number"] == 153)
        if review["state"] == "CHANGES_REQUESTED":
            call("put dismissals", lambda: send("put", f"{at}/reviews/{review['id']}/dismissals", {"message": "Done"}))
    call("post reviews", lambda: send("post", at + "/reviews", {"event": "APPROVE"}), lambda row: row["state"] == "APPROVED")
    call("put merge", lambda: send("put", at + "/merge", {"merge_method": "squash"}), lambda row: row["merged"] is True)
    call("get merge", lambda: get(at + "/merge"), lambda none: none is None)
    call.fails("put merge again", gidgethub.BadRequest, lambda: send("put", at + "/merge", {}), lambda error: error.status_code == 405)


def branches_with_slashes(call):
    tip = get(repo["branches_url"], branch="main")["commit"]["sha"]
    call("post git/refs", lambda: send("post", repo["url"] + "/git/refs", {"ref": "refs/heads/feat/winch/speed", "sha": tip}), lambda row: get(row["url"]) == row)
    call("branches_url, filled", lambda: get(repo["branches_url"], branch="feat/winch/speed"), lambda row: row["commit"]["sha"] == tip)
    call("branches/feat/…", lambda: get(repo["url"] + "/branches/feat/winch/speed"), lambda row: row["name"] == "feat/winch/speed")
    call("its _links.self", lambda: get(get(repo["url"] + "/branches/feat/winch/speed")["_links"]["self"]), lambda row: row["commit"]["sha"] == tip)
    call("git/ref/heads/feat/…", lambda: get(repo["url"] + "/git/ref/heads/feat/winch/speed"), lambda row: row["object"]["sha"] == tip)
    call("matching-refs", lambda: every(repo["url"] + "/git/matching-refs/heads/feat/"), lambda all: len(all) == 1)
    call("commits_url, filled", lambda: get(repo["commits_url"], sha="feat/winch/speed"), lambda row: row["sha"] == tip)
    call("commits/feat/…", lambda: get(repo["url"] + "/commits/feat/winch/speed"), lambda row: row["sha"] == tip)
    call("delete git/refs", lambda: send("delete", repo["url"] + "/git/refs/heads/feat/winch/speed"))
    call.fails("deleted", gidgethub.BadRequest, lambda: get(repo["url"] + "/branches/feat/winch/speed"), lambda error: error.status_code == 404)


def search(call):
    found = call("search/issues", lambda: every("/search/issues{?q}", q=f"repo:{owner}/{name} is:open reminder"), lambda all: len(all) >= 2)
    call("url of a hit", lambda: get(found[0]["url"]), lambda row: row["id"] == found[0]["id"])
    call("repository_url of a hit", lambda: get(found[0]["repository_url"]), lambda row: row["id"] == repo["id"])
    call("search/repositories", lambda: every("/search/repositories{?q}", q="berth"), lambda all: "berth" in names(all))
    call("search/users", lambda: every("/search/users{?q}", q="okafor"), lambda all: get(all[0]["url"])["login"] == "sam-okafor")


def webhooks(call):
    asked = {"name": "web", "config": {"url": "https://hooks.example/in", "secret": "s3"}, "events": ["issues"]}
    hook = call("post hooks_url", lambda: send("post", repo["hooks_url"], asked), lambda row: row["active"] is True)
    call("url", lambda: get(hook["url"]), lambda row: row["events"] == ["issues"])
    call("ping_url", lambda: send("post", hook["ping_url"]))
    call("patch url", lambda: send("patch", hook["url"], {"add_events": ["push"]}), lambda row: len(row["events"]) == 2)
    call("hooks_url", lambda: every(repo["hooks_url"]), lambda all: len(all) == 1)
    call("delete url", lambda: send("delete", hook["url"]))
    call("none left", lambda: every(repo["hooks_url"]), lambda all: all == [])


def paging(call):
    whole = call("issues", lambda: numbers(every(repo["issues_url"] + "?state=all&per_page=100")), lambda all: len(all) == len(set(all)) > 50)
    call("page by page", lambda: numbers(every(repo["issues_url"] + "?state=all&per_page=7")), lambda all: all == whole)
    call("comments", lambda: every(repo["url"] + "/issues/comments?per_page=9"), lambda all: len({row["id"] for row in all}) == len(all) > 50)
    call("search", lambda: every("/search/issues?per_page=5{&q}", q="is:issue"), lambda all: len({row["id"] for row in all}) == len(all) > 30)


def conditional_requests(call):
    cache = {}
    cached = GitHubAPI(session, "svc-clients", oauth_token=token, base_url=url, cache=cache)
    at = get(repo["issues_url"], number=139)["url"]
    first = call("first", lambda: wait(cached.getitem(at)))
    call("kept", lambda: cache[at], lambda kept: kept[0] is not None)
    cache[at] = (*cache[at][:2], "from the cache", None)
    call("304", lambda: wait(cached.getitem(at)), lambda row: row == "from the cache")
    call("a change", lambda: send("post", first["comments_url"], {"body": "Still there"}))
    call("200", lambda: wait(cached.getitem(at)), lambda row: row["comments"] == first["comments"] + 1)


def files_and_releases(call):
    root = call("contents_url", lambda: every(repo["contents_url"], path=""), lambda all: len(all) > 0)
    file = next(entry for entry in root if entry["type"] == "file")
    call("url of a file", lambda: get(file["url"]), lambda one: one["path"] == file["path"] and one["content"])
    call("its git_url", lambda: get(file["git_url"]), lambda one: one["encoding"] == "base64")
    call("contents_url, filled", lambda: get(repo["contents_url"], path=file["path"]), lambda one: one["sha"] == file["sha"])
    call("trees_url, filled", lambda: get(repo["trees_url"], sha="main"), lambda tree: len(tree["tree"]) > 0)
    call("compare_url, filled", lambda: get(repo["compare_url"], base="main", head="occupancy-nights"), lambda found: found["ahead_by"] == 2)
    call("languages_url", lambda: get(repo["languages_url"]), lambda all: len(all) > 0)
    call("contributors_url", lambda: every(repo["contributors_url"]), lambda all: len(all) > 0)
    call("tags_url", lambda: names(every(repo["tags_url"])), lambda all: "v2.7.0" in all)
    asked = {"tag_name": "v2.8.0", "name": "2.8"}
    release = call("post releases_url", lambda: send("post", repo["releases_url"], asked), lambda row: row["tag_name"] == "v2.8.0")
    call("releases_url, filled", lambda: get(repo["releases_url"], id=release["id"]), lambda row: row["id"] == release["id"])
    call("its assets_url", lambda: every(release["assets_url"]), lambda all: all == [])
    call("patch its url", lambda: send("patch", release["url"], {"body": "Newer"}), lambda row: row["body"] == "Newer")
    call("delete its url", lambda: send("delete", release["url"]))
    tip = get(repo["branches_url"], branch="main")["commit"]["sha"]
    call("post statuses_url", lambda: send("post", repo["statuses_url"], {"state": "success"}, sha=tip), lambda row: row["state"] == "success")
    call("statuses_url", lambda: every(repo["statuses_url"], sha=tip), lambda all: len(all) > 0)
    call("collaborators_url", lambda: every(repo["collaborators_url"]), lambda all: len(all) > 0)
    call("collaborators_url, filled", lambda: get(repo["collaborators_url"], collaborator="sam-okafor"), lambda none: none is None)
    call("teams_url", lambda: every(repo["teams_url"]), lambda all: isinstance(all, list))
    reactions = get(repo["issues_url"], number=139)["reactions"]["url"]
    call("post reactions", lambda: send("post", reactions, {"content": "heart"}), lambda row: row["content"] == "heart")
    call("reactions", lambda: every(reactions), lambda all: len(all) > 0)
    call("notifications_url", lambda: every(repo["notifications_url"], all="true"), lambda all: len(all) > 0)


def error_classes(call):
    stranger = GitHubAPI(session, "svc-clients", oauth_token="unknown", base_url=url)
    status = lambda code: lambda error: error.status_code == code
    call.fails("401", gidgethub.BadRequest, lambda: wait(stranger.getitem("/user")), status(401))
    call.fails("403", gidgethub.BadRequest, lambda: send("patch", "/repos/mikkelh/marstal-tides", {"description": "Mine"}), status(403))
    call.fails("404", gidgethub.BadRequest, lambda: get(repo["issues_url"], number=9999), status(404))
    call.fails("422", gidgethub.ValidationError, lambda: send("post", repo["issues_url"], {"title": "x" * 257}), lambda error: error.errors)


tell([users, repositories, issues, labels, milestones, pulls, branches_with_slashes, search, webhooks, paging, conditional_requests, files_and_releases, error_classes])
wait(session.close())
