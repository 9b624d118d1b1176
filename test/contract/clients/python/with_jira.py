"""What users of PyPI's jira do every day, against a session of `issue-tracking`. The client speaks version 2."""

import io
import json

from asking import tell, token, url
from jira import JIRA, JIRAError

me = "5f03a91c20a100009d5e4431"
sam = "5f03e6fa21a700009d617663"
tracker = JIRA(url, basic_auth=("quay-triage@northquay.example", token), max_retries=0)


def keys(rows):
    return [row.key for row in rows]


def site(call):
    call("server_info", tracker.server_info, lambda info: info["deploymentType"] == "Cloud")
    call("myself", tracker.myself, lambda user: user["accountId"] == me)
    call("my_permissions", lambda: tracker.my_permissions(permissions="BROWSE_PROJECTS"), lambda all: all["permissions"]["BROWSE_PROJECTS"]["havePermission"])
    call("fields", tracker.fields, lambda all: "Story Points" in [one["name"] for one in all])
    call("issue_types", tracker.issue_types, lambda all: len(all) == 7)
    call("issue_type_by_name", lambda: tracker.issue_type_by_name("Bug"), lambda one: one.id == "10003")
    call("priorities", tracker.priorities, lambda all: all[0].name == "Highest")
    call("priority", lambda: tracker.priority("3"), lambda one: one.name == "Medium")
    call("resolutions", tracker.resolutions, lambda all: len(all) == 4)
    call("statuses", tracker.statuses, lambda all: "In Review" in [one.name for one in all])
    call("status", lambda: tracker.status("10003"), lambda one: one.statusCategory.key == "indeterminate")
    call("statuscategories", tracker.statuscategories, lambda all: len(all) == 4)
    call("issue_link_types", tracker.issue_link_types, lambda all: [one.name for one in all][0] == "Blocks")


def people(call):
    call("search_users", lambda: tracker.search_users(query="sam"), lambda all: [one.displayName for one in all] == ["Sam Okafor"])
    call("user", lambda: tracker.user(sam), lambda one: one.emailAddress == "sam.okafor@northquay.example")
    call("search_assignable_users_for_projects", lambda: tracker.search_assignable_users_for_projects("", "BERTH"), lambda all: len(all) == 13)
    call("search_assignable_users_for_issues", lambda: tracker.search_assignable_users_for_issues(query="priya", project="BERTH"), lambda all: len(all) == 1)
    call("groups", tracker.groups, lambda all: "developers" in list(all))


def projects(call):
    call("projects", tracker.projects, lambda all: sorted(keys(all)) == ["BERTH", "OPS", "SUP", "TIDE"])
    call("project", lambda: tracker.project("BERTH"), lambda one: one.lead.displayName == "Priya Raman")
    call("project_components", lambda: tracker.project_components("BERTH"), lambda all: len(all) == 5)
    call("project_versions", lambda: tracker.project_versions("BERTH"), lambda all: [one.name for one in all][-1] == "4.0")
    call("project_roles", lambda: tracker.project_roles("BERTH"), lambda all: "Developers" in all)
    call("project_role", lambda: tracker.project_role("BERTH", "10003"), lambda one: len(one.actors) == 6)
    call("issue_types_for_project", lambda: tracker.issue_types_for_project("10002"))
    part = call("create_component", lambda: tracker.create_component("Locks", "TIDE", description="Of canals"), lambda made: made.name == "Locks")
    call("component.update", lambda: part.update(description="Of rivers"))
    call("component", lambda: tracker.component(part.id), lambda one: one.description == "Of rivers")
    call("component_count_related_issues", lambda: tracker.component_count_related_issues(part.id), lambda count: count == 0)
    call("component.delete", part.delete)
    version = call("create_version", lambda: tracker.create_version("2.1", "TIDE", releaseDate="2026-03-01"), lambda made: not made.released)
    call("version.update", lambda: version.update(released=True))
    call("version", lambda: tracker.version(version.id), lambda one: one.released)
    call("rename_version", lambda: tracker.rename_version("TIDE", "2.1", "2.2"))
    call("version_count_related_issues", lambda: tracker.version_count_related_issues("10012"), lambda counts: counts["issuesFixedCount"] > 0)
    call("version_count_unresolved_issues", lambda: tracker.version_count_unresolved_issues("10012"), lambda count: count > 0)
    call("version.delete", version.delete)


def issues(call):
    fields = {"project": "BERTH", "summary": "Gangway light", "description": "It *flickers*\n\n* at night", "issuetype": {"name": "Bug"}}
    issue = call("create_issue", lambda: tracker.create_issue(**fields), lambda made: made.key == "BERTH-121" and made.fields.description == fields["description"])
    again = lambda: tracker.issue(issue.key)
    call("issue", again, lambda one: one.fields.creator.accountId == me)
    call("update", lambda: issue.update(summary="Gangway lights", fields={"labels": ["light"]}, priority={"name": "High"}, customfield_10016=3))
    call("updated", again, lambda one: (one.fields.summary, one.fields.labels, one.fields.priority.name, one.fields.customfield_10016) == ("Gangway lights", ["light"], "High", 3))
    call("add_field_value", lambda: issue.add_field_value("labels", "quay"))
    call("added", again, lambda one: one.fields.labels == ["light", "quay"])
    call("assign_issue", lambda: tracker.assign_issue(issue.key, "Sam Okafor"), lambda done: done is True)
    call("assigned", again, lambda one: one.fields.assignee.displayName == "Sam Okafor")
    call("assign_issue, to no user", lambda: tracker.assign_issue(issue.key, None))
    call("transitions", lambda: [one["name"] for one in tracker.transitions(issue)], lambda all: "Start progress" in all)
    call("transition_issue", lambda: tracker.transition_issue(issue, "Start progress"))
    call("transition_issue, with fields", lambda: tracker.transition_issue(issue, "Done", fields={"resolution": {"name": "Cannot Reproduce"}}, comment="Gone"))
    call("moved on", again, lambda one: (one.fields.status.name, one.fields.resolution.name, one.fields.comment.comments[0].body) == ("Done", "Cannot Reproduce", "Gone"))
    call("changelog", lambda: tracker.issue(issue.key, expand="changelog"), lambda one: one.changelog.histories[0].items[0].field == "status")
    call("create_issues", lambda: tracker.create_issues([{**fields, "project": {"key": "BERTH"}}] * 2), lambda made: all(one["error"] is None for one in made))
    call("editmeta", lambda: tracker.editmeta(issue.key), lambda meta: meta["fields"]["summary"]["required"])
    call("createmeta", lambda: tracker.createmeta("BERTH", issuetypeNames="Bug", expand="projects.issuetypes.fields"), lambda meta: meta["projects"][0]["issuetypes"][0]["fields"]["summary"]["required"])
    call("subtask", lambda: tracker.create_issue(project="BERTH", summary="Bulb", issuetype={"name": "Sub-task"}, parent={"key": issue.key}), lambda made: made.fields.parent.key == issue.key)
    call("delete", lambda: issue.delete(deleteSubtasks=True))
    call.fails("deleted", JIRAError, again, lambda error: error.status_code == 404)


def what_is_added(call):
    issue = tracker.issue("BERTH-109")
    comment = call("add_comment", lambda: tracker.add_comment(issue, "h2. Seen\n\nSee [the notes|https://docs.example/a]."), lambda made: made.body.startswith("h2. Seen"))
    call("comment.update", lambda: comment.update(body="Seen"))
    call("comment", lambda: tracker.comment(issue, comment.id), lambda one: one.body == "Seen" and one.author.accountId == me)
    call("comments", lambda: tracker.comments(issue), lambda all: all[-1].id == comment.id)
    call("comment.delete", comment.delete)
    work = call("add_worklog", lambda: tracker.add_worklog(issue, timeSpent="2h", comment="Tried"), lambda made: made.timeSpentSeconds == 7200)
    call("worklogs", lambda: tracker.worklogs(issue), lambda all: all[-1].id == work.id)
    call("worklog.delete", work.delete)
    call("create_issue_link", lambda: tracker.create_issue_link("Blocks", "BERTH-2", issue.key))
    link = call("issuelinks", lambda: tracker.issue(issue.key).fields.issuelinks[0], lambda one: one.inwardIssue.key == "BERTH-2")
    call("issue_link", lambda: tracker.issue_link(link.id), lambda one: one.type.name == "Blocks")
    call("delete_issue_link", lambda: tracker.delete_issue_link(link.id))
    call("add_simple_link", lambda: tracker.add_simple_link(issue.key, {"url": "https://docs.example/a", "title": "Notes"}))
    call("remote_links", lambda: tracker.remote_links(issue), lambda all: all[0].object.title == "Notes")
    call("add_watcher", lambda: tracker.add_watcher(issue.key, "Sam Okafor"))
    call("watchers", lambda: tracker.watchers(issue), lambda all: "Sam Okafor" in [one.displayName for one in all.watchers])
    call("remove_watcher", lambda: tracker.remove_watcher(issue.key, "Sam Okafor"))
    call("add_vote", lambda: tracker.add_vote(issue.key))
    call("votes", lambda: tracker.votes(issue), lambda votes: votes.hasVoted)
    call("remove_vote", lambda: tracker.remove_vote(issue.key))
    file = call("add_attachment", lambda: tracker.add_attachment(issue, io.BytesIO("Brücke auf\n".encode()), "server.log"), lambda made: made.filename == "server.log" and made.size == 12)
    call("attachment", lambda: tracker.attachment(file.id), lambda one: one.author.accountId == me)
    call("attachments of the issue", lambda: tracker.issue(issue.key).fields.attachment, lambda all: [one.id for one in all] == [file.id])
    call("delete_attachment", lambda: tracker.delete_attachment(file.id))
    call("add_issue_property", lambda: tracker.add_issue_property(issue.key, "seen", {"by": "us"}))
    call("issue_property", lambda: tracker.issue_property(issue.key, "seen"), lambda one: one.value.by == "us")


def search(call):
    call("search_issues", lambda: tracker.search_issues("project = BERTH ORDER BY key", maxResults=5), lambda page: keys(page)[0] == "BERTH-1" and len(page) == 5)
    call("all of them", lambda: tracker.search_issues("project in (BERTH, TIDE, OPS, SUP)", maxResults=0, fields="summary"), lambda all: len(set(keys(all))) >= 291)
    call("enhanced_search_issues", lambda: tracker.enhanced_search_issues("assignee = currentUser()", maxResults=0, fields=["summary"]), lambda all: len(all) > 0)
    call("by words", lambda: tracker.search_issues('summary ~ "invoice" AND statusCategory != Done'), lambda all: "BERTH-83" in keys(all))
    saved = call("create_filter", lambda: tracker.create_filter("Bulbs", "", "summary ~ bulb", False), lambda made: made.jql == "summary ~ bulb")
    call("filter", lambda: tracker.filter(saved.id), lambda one: one.name == "Bulbs")
    call("update_filter", lambda: tracker.update_filter(saved.id, jql="summary ~ light"), lambda one: one.jql == "summary ~ light")
    call("favourite_filters", tracker.favourite_filters, lambda all: len(all) == 2)


def webhooks(call):
    session, hooks = tracker._session, f"{url}/rest/webhooks/1.0/webhook"
    asked = {"name": "To the chat", "url": "https://hooks.northquay.example/chat", "secret": "mooring", "events": ["jira:issue_created", "jira:issue_updated", "comment_created"]}
    made = call("register", lambda: session.post(hooks, data=json.dumps(asked)).json(), lambda hook: hook["enabled"])
    call("listed", lambda: session.get(hooks).json(), lambda all: [hook["self"] for hook in all] == [made["self"]])
    issue = call("an issue that it hears of", lambda: tracker.create_issue(project="BERTH", summary="A buoy is adrift", issuetype={"name": "Bug"}))
    call("a comment that it hears of", lambda: tracker.add_comment(issue, "Seen"))
    call("a change that it hears of", lambda: issue.update(summary="Two buoys are adrift"))
    call("removed", lambda: session.delete(made["self"]), lambda answer: answer.status_code == 204)


def error_classes(call):
    def says(status, text):
        return lambda error: error.status_code == status and text in error.text

    call.fails("no such issue", JIRAError, lambda: tracker.issue("BERTH-9999"), says(404, "Issue does not exist"))
    call.fails("no such project", JIRAError, lambda: tracker.project("NOPE"), says(404, "No project could be found"))
    call.fails("no query", JIRAError, lambda: tracker.search_issues("colour = red"), says(400, "Field 'colour' does not exist"))
    call.fails("no summary", JIRAError, lambda: tracker.create_issue(project="BERTH", summary="", issuetype={"name": "Bug"}), says(400, "You must specify a summary"))
    call.fails("no such step", JIRAError, lambda: tracker.transition_issue("BERTH-2", "999"), says(400, "Transition id '999'"))
    wrong = lambda: JIRA(url, basic_auth=("me@northquay.example", "wrong"), max_retries=0, get_server_info=False).myself()
    call.fails("wrong token", JIRAError, wrong, lambda error: error.status_code == 401)


tell([site, people, projects, issues, what_is_added, search, webhooks, error_classes])
