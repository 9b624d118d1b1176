"""Additions of people to issues: comments, worklogs, attachments, remote links, and the log of changes."""

from svc_env import HandlerContext, Row

from ..addresses import has_documents, rest
from ..documents import to_html, to_markup
from ..times import duration_text, shown


def _text(ctx: HandlerContext, document: Row | None) -> object:
    return document if has_documents(ctx) else to_markup(document)


def comment_answer(
    ctx: HandlerContext, row: Row, users: dict[str, Row], rendered: bool = False
) -> Row:
    visibility = {"visibility": row["visibility"]} if row.get("visibility") else {}
    return {
        "self": rest(ctx, "issue", row["issue_id"], "comment", row["id"]),
        "id": str(row["id"]),
        "author": users[row["author"]],
        "body": _text(ctx, row["body"]),
        **({"renderedBody": to_html(row["body"])} if rendered else {}),
        "updateAuthor": users[row["update_author"]],
        "created": shown(row["created"]),
        "updated": shown(row["updated"]),
        **visibility,
        "jsdPublic": True,
    }


def worklog_answer(ctx: HandlerContext, row: Row, users: dict[str, Row]) -> Row:
    comment = {"comment": _text(ctx, row["comment"])} if row.get("comment") else {}
    return {
        "self": rest(ctx, "issue", row["issue_id"], "worklog", row["id"]),
        "author": users[row["author"]],
        "updateAuthor": users[row["update_author"]],
        **comment,
        "created": shown(row["created"]),
        "updated": shown(row["updated"]),
        "started": shown(row["started"]),
        "timeSpent": duration_text(row["seconds"]),
        "timeSpentSeconds": row["seconds"],
        "id": str(row["id"]),
        "issueId": str(row["issue_id"]),
    }


def attachment_answer(ctx: HandlerContext, row: Row, users: dict[str, Row]) -> Row:
    return {
        "self": rest(ctx, "attachment", row["id"]),
        "id": str(row["id"]),
        "filename": row["filename"],
        "author": users[row["author"]],
        "created": shown(row["created"]),
        "size": row["size"],
        "mimeType": row["mime_type"],
        "content": rest(ctx, "attachment", "content", row["id"]),
    }


def remote_link_answer(ctx: HandlerContext, row: Row) -> Row:
    optional = {"globalId": row.get("global_id"), "relationship": row.get("relationship")}
    about = {"summary": row.get("summary"), "icon": row.get("icon"), "status": row.get("status")}
    return {
        "id": row["id"],
        "self": rest(ctx, "issue", row["issue_id"], "remotelink", row["id"]),
        **{name: value for name, value in optional.items() if value},
        "application": row.get("application") or {},
        "object": {
            "url": row["url"],
            "title": row["title"],
            **{name: value for name, value in about.items() if value is not None},
        },
    }


def change_answer(row: Row, users: dict[str, Row]) -> Row:
    return {
        "id": str(row["id"]),
        "author": users[row["author"]],
        "created": shown(row["created"]),
        "items": [change_item(item) for item in row["items"]],
    }


def change_item(item: Row) -> Row:
    return {
        "field": item["field"],
        "fieldtype": item["fieldtype"],
        "fieldId": item["fieldId"],
        "from": item.get("from_id"),
        "fromString": item.get("from_text"),
        "to": item.get("to_id"),
        "toString": item.get("to_text"),
    }
