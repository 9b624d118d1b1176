"""Links between issues, links to elsewhere, and the files and properties of issues."""

from base64 import b64decode
from email import message_from_string
from email.message import Message
from email.utils import collapse_rfc2231_value

from svc_env import HandlerContext, Row

from ..addresses import rest
from ..answers.catalog import link_type_answer
from ..answers.issues import Shelf, issue_stub
from ..answers.people import users_by_id
from ..answers.talk import attachment_answer, remote_link_answer
from ..finding import by_name, find_by_id, find_issue, find_part, known
from ..history import item, record, tell, touch
from ..making import add_comment, add_link, end_meant, link_type_meant, remove_link
from ..reading import body_of, needed_text, optional_text, part_of
from ..refusals import invalid, not_found, refuse
from ..viewer import VIEWER


def create_issue_link(ctx: HandlerContext) -> None:
    body = body_of(ctx)
    kind = link_type_meant(ctx, body.get("type"))
    inward, outward = end_meant(ctx, body.get("inwardIssue")), end_meant(ctx, body.get("outwardIssue"))
    if inward["id"] == outward["id"]:
        refuse(ctx, 400, "You cannot link an issue to itself.")
    add_link(ctx, kind, inward, outward)
    if isinstance(body.get("comment"), dict):
        add_comment(ctx, inward, body["comment"])
    ctx.respond(201)


def _link(ctx: HandlerContext) -> Row:
    return find_by_id(ctx, "issue_links", ctx.args["linkId"], f"No issue link with id '{ctx.args['linkId']}' exists.")


def get_issue_link(ctx: HandlerContext) -> Row:
    link = _link(ctx)
    ends = [known(ctx, "issues", {"id": link[end]}) for end in ("inward_issue", "outward_issue")]
    shelf = Shelf(ctx, ends)
    return {
        "id": str(link["id"]),
        "self": rest(ctx, "issueLink", link["id"]),
        "type": link_type_answer(ctx, known(ctx, "link_types", {"id": link["type_id"]})),
        "inwardIssue": issue_stub(shelf, ends[0]),
        "outwardIssue": issue_stub(shelf, ends[1]),
    }


def delete_issue_link(ctx: HandlerContext) -> None:
    remove_link(ctx, _link(ctx))


def list_link_types(ctx: HandlerContext) -> Row:
    return {"issueLinkTypes": [link_type_answer(ctx, row) for row in ctx.query("link_types", order_by="name")]}


def _link_type(ctx: HandlerContext) -> Row:
    asked = ctx.args["issueLinkTypeId"]
    return find_by_id(ctx, "link_types", asked, f"No issue link type with id '{asked}' found.")


def get_link_type(ctx: HandlerContext) -> Row:
    return link_type_answer(ctx, _link_type(ctx))


def create_link_type(ctx: HandlerContext) -> None:
    parts = {name: needed_text(ctx, name, f"The {name} of the link type is required.") for name in ("name", "inward", "outward")}
    if by_name(ctx, "link_types", parts["name"]):
        invalid(ctx, "name", f"An issue link type with the name '{parts['name']}' already exists.")
    row = ctx.insert("link_types", {"id": ctx.ids.next("link_types", "id"), **parts})
    ctx.respond(201, link_type_answer(ctx, row))


def update_link_type(ctx: HandlerContext) -> Row:
    row = _link_type(ctx)
    patch = {name: optional_text(ctx, name, row[name]) or row[name] for name in ("name", "inward", "outward")}
    taken = by_name(ctx, "link_types", patch["name"])
    if taken and taken["id"] != row["id"]:
        invalid(ctx, "name", f"An issue link type with the name '{patch['name']}' already exists.")
    return link_type_answer(ctx, ctx.update("link_types", {"id": row["id"]}, patch))


def delete_link_type(ctx: HandlerContext) -> None:
    """With the links that are of it."""
    row = _link_type(ctx)
    for link in ctx.query("issue_links", {"type_id": row["id"]}):
        remove_link(ctx, link)
    ctx.delete("link_types", {"id": row["id"]})


def list_remote_links(ctx: HandlerContext) -> object:
    """All of an issue, or the one of a `globalId`."""
    issue, asked = find_issue(ctx), ctx.args.get("globalId")
    rows = ctx.query("remote_links", {"issue_id": issue["id"]}, order_by="id")
    if asked is None:
        return [remote_link_answer(ctx, row) for row in rows]
    found = next((row for row in rows if row.get("global_id") == asked), None)
    return remote_link_answer(ctx, found) if found else not_found(ctx, f"No remote issue link with globalId '{asked}' exists.")


def _remote(ctx: HandlerContext, issue: Row) -> Row:
    asked = ctx.args["linkId"]
    return find_part(ctx, "remote_links", issue, asked, f"No remote issue link with id '{asked}' exists.")


def get_remote_link(ctx: HandlerContext) -> Row:
    return remote_link_answer(ctx, _remote(ctx, find_issue(ctx)))


def _remote_parts(ctx: HandlerContext) -> Row:
    about = part_of(ctx, "object", dict)
    for name in ("url", "title"):
        if not isinstance(about.get(name), str) or not about[name].strip():
            invalid(ctx, name, f"'{name}' is required.")
    if not about["url"].startswith(("http://", "https://")):
        invalid(ctx, "url", "'url' must be an absolute address.")
    return {
        "url": about["url"],
        "title": about["title"],
        "summary": about.get("summary") if isinstance(about.get("summary"), str) else None,
        "global_id": optional_text(ctx, "globalId"),
        "relationship": optional_text(ctx, "relationship"),
        "application": part_of(ctx, "application", dict),
        "icon": about.get("icon") if isinstance(about.get("icon"), dict) else {},
        "status": about.get("status") if isinstance(about.get("status"), dict) else {},
    }


def create_remote_link(ctx: HandlerContext) -> None:
    """One of the same `globalId` is changed instead."""
    issue, parts = find_issue(ctx), _remote_parts(ctx)
    there = [row for row in ctx.query("remote_links", {"issue_id": issue["id"]}) if parts["global_id"] and row.get("global_id") == parts["global_id"]]
    if there:
        row = ctx.update("remote_links", {"id": there[0]["id"]}, parts)
    else:
        row = ctx.insert("remote_links", {"id": ctx.ids.next("remote_links", "id"), "issue_id": issue["id"], **parts})
        said = f'This issue links to "{row["title"]}"'
        record(ctx, issue, [item("RemoteIssueLink", (None, None), (row["id"], said))])
    touch(ctx, issue)
    address = rest(ctx, "issue", issue["id"], "remotelink", row["id"])
    ctx.respond(200 if there else 201, {"id": row["id"], "self": address})


def update_remote_link(ctx: HandlerContext) -> None:
    issue = find_issue(ctx)
    row, parts = _remote(ctx, issue), _remote_parts(ctx)
    ctx.update("remote_links", {"id": row["id"]}, parts)
    touch(ctx, issue)


def delete_remote_link(ctx: HandlerContext) -> None:
    issue = find_issue(ctx)
    ctx.delete("remote_links", {"id": _remote(ctx, issue)["id"]})
    touch(ctx, issue)


def delete_remote_link_by_id(ctx: HandlerContext) -> None:
    issue, asked = find_issue(ctx), ctx.args.get("globalId")
    rows = [row for row in ctx.query("remote_links", {"issue_id": issue["id"]}) if row.get("global_id") == asked]
    if not asked or not rows:
        not_found(ctx, f"No remote issue link with globalId '{asked or ''}' exists.")
    ctx.delete("remote_links", {"id": rows[0]["id"]})
    touch(ctx, issue)


def _attachment(ctx: HandlerContext) -> Row:
    asked = ctx.args["id"]
    return find_by_id(ctx, "attachments", asked, f"The attachment with id '{asked}' does not exist")


def get_attachment(ctx: HandlerContext) -> Row:
    return attachment_answer(ctx, _attachment(ctx), users_by_id(ctx))


def get_attachment_meta(ctx: HandlerContext) -> Row:
    return {"enabled": True, "uploadLimit": 1_000_000_000}


def delete_attachment(ctx: HandlerContext) -> None:
    row = _attachment(ctx)
    issue = known(ctx, "issues", {"id": row["issue_id"]})
    ctx.delete("attachments", {"id": row["id"]})
    record(ctx, issue, [item({"name": "Attachment", "id": "attachment"}, (row["id"], row["filename"]), (None, None))])
    touch(ctx, issue)


def add_attachments(ctx: HandlerContext) -> list[Row]:
    """Files that a form brings. Kept is what is known of each, not what is in it."""
    issue = find_issue(ctx)
    if ctx.headers.get("x-atlassian-token", "").lower() not in ("no-check", "nocheck"):
        refuse(ctx, 403, "XSRF check failed")
    files = _files(ctx)
    if not files:
        refuse(ctx, 400, "No file was sent: a form with a part named 'file' is needed.")
    return [_attach(ctx, issue, *file) for file in files]


def _files(ctx: HandlerContext) -> list[tuple[str, str, int]]:
    """Returns the name, the type and the size of each file of a form."""
    head = f"Content-Type: {ctx.headers.get('content-type', '')}\r\n\r\n"
    sent = b64decode(str(ctx.body or "")).decode("latin-1")  # A character for each byte.
    form = message_from_string(head + sent)
    parts = [part for part in form.walk() if part.get_filename()]
    return [
        (
            _file_name(part)[:255],
            part.get_content_type(),
            len(str(part.get_payload())),
        )
        for part in parts
        if part.get_param("name", header="content-disposition") == "file"
    ]


def _file_name(part: Message) -> str:
    """The name of a file as browsers write it, in UTF-8, or as RFC 2231 has it."""
    name = part.get_param("filename", "", "content-disposition")
    if isinstance(name, tuple):
        return collapse_rfc2231_value(name)
    return str(name).encode("latin-1").decode("utf-8", "replace")


def _attach(ctx: HandlerContext, issue: Row, filename: str, mime_type: str, size: int) -> Row:
    row = {
        "id": ctx.ids.next("attachments", "id"),
        "issue_id": issue["id"],
        "author": VIEWER,
        "filename": filename,
        "size": size,
        "mime_type": mime_type,
        "created": ctx.clock.now(),
    }
    ctx.insert("attachments", row)
    record(ctx, issue, [item({"name": "Attachment", "id": "attachment"}, (None, None), (row["id"], filename))])
    touch(ctx, issue)
    answer = attachment_answer(ctx, row, users_by_id(ctx))
    tell(ctx, "attachment_created", {"attachment": answer}, issue)
    return answer


def list_properties(ctx: HandlerContext) -> Row:
    issue = find_issue(ctx)
    rows = ctx.query("issue_properties", {"issue_id": issue["id"]}, order_by="key")
    return {"keys": [{"self": rest(ctx, "issue", issue["id"], "properties", row["key"]), "key": row["key"]} for row in rows]}


def _property(ctx: HandlerContext) -> tuple[Row, Row | None]:
    issue = find_issue(ctx)
    return issue, ctx.get("issue_properties", {"issue_id": issue["id"], "key": ctx.args["propertyKey"]})


def get_property(ctx: HandlerContext) -> Row:
    _, row = _property(ctx)
    if row is None:
        not_found(ctx, f"The property with key '{ctx.args['propertyKey']}' does not exist.")
    return {"key": row["key"], "value": row["value"]}


def set_property(ctx: HandlerContext) -> None:
    issue, row = _property(ctx)
    key = {"issue_id": issue["id"], "key": ctx.args["propertyKey"]}
    if len(ctx.args["propertyKey"]) > 255:
        refuse(ctx, 400, "The property key must not exceed 255 characters.")
    if row is None:
        ctx.insert("issue_properties", {**key, "value": ctx.body})
        ctx.respond(201)
    else:
        ctx.update("issue_properties", key, {"value": ctx.body})
        ctx.respond(200)


def delete_property(ctx: HandlerContext) -> None:
    issue, row = _property(ctx)
    if row is None:
        not_found(ctx, f"The property with key '{ctx.args['propertyKey']}' does not exist.")
    ctx.delete("issue_properties", {"issue_id": issue["id"], "key": row["key"]})
