"""Makes and removes what belongs to issues; the routes and `update` of an edit share it."""

from svc_env import HandlerContext, Row

from .answers.people import users_by_id
from .answers.talk import comment_answer, worklog_answer
from .finding import by_id, by_name, issue_named, known
from .history import item, record, tell, tell_of_part, touch
from .reading import rich_text
from .refusals import invalid, not_found, refuse
from .times import duration_seconds, parse_time
from .viewer import VIEWER


def add_comment(ctx: HandlerContext, issue: Row, body: Row) -> Row:
    """A comment by the viewer."""
    document = rich_text(ctx, "comment", body.get("body"))
    if document is None or not document.get("content"):
        invalid(ctx, "comment", "Comment body can not be empty!")
    now = ctx.clock.now()
    comment = {
        "id": ctx.ids.next("comments", "id"),
        "issue_id": issue["id"],
        "author": VIEWER,
        "update_author": VIEWER,
        "body": document,
        "created": now,
        "updated": now,
        **({"visibility": body["visibility"]} if isinstance(body.get("visibility"), dict) else {}),
    }
    ctx.insert("comments", comment)
    touch(ctx, issue)
    tell_of_part(ctx, "comment_created", issue, "comment", comment_answer(ctx, comment, users_by_id(ctx)))
    return comment


def seconds_of(ctx: HandlerContext, body: Row, default: int | None = None) -> int:
    """Returns how long a person worked."""
    seconds = body.get("timeSpentSeconds")
    if seconds is None and body.get("timeSpent") is not None:
        seconds = duration_seconds(str(body["timeSpent"]))
        if seconds is None:
            invalid(ctx, "timeLogged", f"Invalid time duration entered: {body['timeSpent']}")
    if seconds is None and default is not None:
        return default
    if not isinstance(seconds, int) or isinstance(seconds, bool) or seconds < 1:
        invalid(ctx, "timeLogged", "You must indicate the time spent working.")
    return seconds


def started_of(ctx: HandlerContext, body: Row, default: str) -> str:
    given = body.get("started")
    if given is None:
        return default
    try:
        return parse_time(str(given))
    except ValueError:
        refuse(ctx, 400, f"Unexpected format for 'started': {given}. Expected yyyy-MM-dd'T'HH:mm:ss.SSSZ")


def add_worklog(ctx: HandlerContext, issue: Row, body: Row) -> Row:
    """Work of the viewer; what remains to be done gets less by it."""
    now = ctx.clock.now()
    worklog = {
        "id": ctx.ids.next("worklogs", "id"),
        "issue_id": issue["id"],
        "author": VIEWER,
        "update_author": VIEWER,
        "started": started_of(ctx, body, now),
        "seconds": seconds_of(ctx, body),
        "comment": rich_text(ctx, "comment", body.get("comment")),
        "created": now,
        "updated": now,
    }
    ctx.insert("worklogs", worklog)
    adjust_estimate(ctx, issue, worklog["seconds"])
    tell_of_part(ctx, "worklog_created", issue, "worklog", worklog_answer(ctx, worklog, users_by_id(ctx)))
    return worklog


def adjust_estimate(ctx: HandlerContext, issue: Row, spent: int) -> None:
    """Updates the remaining estimate after more, or less, work; `adjustEstimate` may override it."""
    how, remaining = ctx.args.get("adjustEstimate", "auto"), issue.get("remaining_estimate")
    patch = {"updated": ctx.clock.now()}
    if how == "new":
        seconds = duration_seconds(str(ctx.args.get("newEstimate", "")))
        if seconds is None:
            invalid(ctx, "newEstimate", "You must supply a valid new estimate.")
        patch["remaining_estimate"] = seconds
    elif how == "auto" and remaining is not None:
        patch["remaining_estimate"] = max(0, remaining - spent)
    ctx.update("issues", {"id": issue["id"]}, patch)


def add_link(ctx: HandlerContext, kind: Row, inward: Row, outward: Row) -> Row:
    """A link between two issues, which both remember; one that is there already is kept as it is."""
    ends = {"type_id": kind["id"], "inward_issue": inward["id"], "outward_issue": outward["id"]}
    there = ctx.query("issue_links", ends, limit=1)
    if there:
        return there[0]
    link = ctx.insert("issue_links", {"id": ctx.ids.next("issue_links", "id"), **ends})
    for issue, other, said in ((inward, outward, kind["outward"]), (outward, inward, kind["inward"])):
        text = f"This issue {said} {other['key']}"
        record(ctx, issue, [item({"name": "Link", "id": "issuelinks"}, (None, None), (other["key"], text))])
        touch(ctx, issue)
    tell(ctx, "issuelink_created", {"issueLink": link_told(ctx, link)})
    return link


def remove_link(ctx: HandlerContext, link: Row) -> None:
    kind = known(ctx, "link_types", {"id": link["type_id"]})
    ends = [known(ctx, "issues", {"id": link[end]}) for end in ("inward_issue", "outward_issue")]
    tell(ctx, "issuelink_deleted", {"issueLink": link_told(ctx, link)})
    ctx.delete("issue_links", {"id": link["id"]})
    for issue, other, said in ((*ends, kind["outward"]), (*reversed(ends), kind["inward"])):
        text = f"This issue {said} {other['key']}"
        record(ctx, issue, [item({"name": "Link", "id": "issuelinks"}, (other["key"], text), (None, None))])
        touch(ctx, issue)


def link_told(ctx: HandlerContext, link: Row) -> Row:
    kind = known(ctx, "link_types", {"id": link["type_id"]})
    told = {"id": kind["id"], "name": kind["name"], "inwardName": kind["inward"], "outwardName": kind["outward"]}
    return {
        "id": link["id"],
        "sourceIssueId": link["inward_issue"],
        "destinationIssueId": link["outward_issue"],
        "issueLinkType": told,
    }


def link_type_meant(ctx: HandlerContext, value: object) -> Row:
    asked = value if isinstance(value, dict) else {}
    found = by_id(ctx, "link_types", asked.get("id")) or by_name(ctx, "link_types", asked.get("name"))
    return found or not_found(ctx, f"No issue link type with name '{asked.get('name', asked.get('id'))}' found.")


def end_meant(ctx: HandlerContext, value: object) -> Row:
    asked = value if isinstance(value, dict) else {}
    found = issue_named(ctx, asked.get("key") or asked.get("id") or "")
    return found or not_found(ctx, "Issue does not exist or you do not have permission to see it.")


def add_parts(ctx: HandlerContext, issue: Row, added: dict[str, list[Row]]) -> None:
    """Adds what `update` adds to an issue besides its fields: comments, work, links."""
    for body in added.get("comment", []):
        add_comment(ctx, issue, body)
    for body in added.get("worklog", []):
        add_worklog(ctx, issue, body)
    for body in added.get("issuelinks", []):
        kind = link_type_meant(ctx, body.get("type"))
        if body.get("outwardIssue"):
            add_link(ctx, kind, issue, end_meant(ctx, body["outwardIssue"]))
        else:
            add_link(ctx, kind, end_meant(ctx, body.get("inwardIssue")), issue)


#: What goes with an issue that is deleted. Links are taken away one by one.
BELONGINGS = {
    "issue_components": ("issue_id", "component_id"),
    "issue_versions": ("issue_id", "version_id", "kind"),
    "comments": ("id",),
    "worklogs": ("id",),
    "remote_links": ("id",),
    "attachments": ("id",),
    "watchers": ("issue_id", "account_id"),
    "votes": ("issue_id", "account_id"),
    "issue_properties": ("issue_id", "key"),
    "changes": ("id",),
}


def remove_issue(ctx: HandlerContext, issue: Row) -> None:
    """Deletes an issue with all that belongs to it."""
    for end in ("inward_issue", "outward_issue"):
        for link in ctx.query("issue_links", {end: issue["id"]}):
            remove_link(ctx, link)
    for entity, key in BELONGINGS.items():
        for row in ctx.query(entity, {"issue_id": issue["id"]}):
            ctx.delete(entity, {name: row[name] for name in key})
    ctx.delete("issues", {"id": issue["id"]})
