"""Notifications of the viewer: threads, each about an issue or a pull request."""

from svc_env import HandlerContext, Row
from svc_env.finding import known

from ..answers.addresses import API, api_url
from ..answers.repositories import repository_answer
from ..finding import find_repository, find_thread, numbered, place
from ..paging import answer_page
from ..reading import body_of, flag_of, instant_asked, instant_of
from ..refusals import not_found

#: Seconds that a client shall wait before it asks again.
POLL_INTERVAL = 60

#: Reasons for a notification that concern the viewer.
PARTICIPATING = ("assign", "author", "comment", "mention", "review_requested", "state_change")


def list_notifications(ctx: HandlerContext) -> None:
    """Unread ones, the latest first; `all` for those that were read, too."""
    where: Row = {}
    if "repo" in ctx.args:
        find_repository(ctx)
        where = place(ctx)
    since, before = instant_asked(ctx, "Thread", "since"), instant_asked(ctx, "Thread", "before")
    rows = [
        row
        for row in ctx.query("notifications", where)
        if (row["unread"] or ctx.args.get("all") == "true")
        and (ctx.args.get("participating") != "true" or row["reason"] in PARTICIPATING)
        and since <= row["updated_at"] < (before or "9999")
    ]
    ctx.set_header("x-poll-interval", POLL_INTERVAL)
    answer_page(
        ctx,
        rows,
        lambda page: [_answer(ctx, row) for row in page],
        by=lambda row: (row["updated_at"], row["id"]),
        downwards=True,
    )


def mark_notifications(ctx: HandlerContext) -> None:
    """All that came until a moment are read; or unread, where the body says so."""
    where: Row = {}
    if "repo" in ctx.args:
        find_repository(ctx)
        where = place(ctx)
    body, now = body_of(ctx), ctx.clock.now()
    asked = body.get("last_read_at")
    until = now if asked is None else instant_of(ctx, "Thread", "last_read_at", asked)
    read = flag_of(ctx, "Thread", "read", body.get("read", True))
    for row in ctx.query("notifications", where):
        if row["updated_at"] <= until:
            _mark(ctx, row, read, now)
    ctx.respond(205)


def get_thread(ctx: HandlerContext) -> Row:
    return _answer(ctx, find_thread(ctx))


def mark_thread_read(ctx: HandlerContext) -> None:
    _mark(ctx, find_thread(ctx), True, ctx.clock.now())
    ctx.respond(205)


def mark_thread_done(ctx: HandlerContext) -> None:
    """Marks a thread as done: it is deleted, so lists no longer have it."""
    ctx.delete("notifications", {"id": find_thread(ctx)["id"]})


def get_thread_subscription(ctx: HandlerContext) -> Row:
    thread = find_thread(ctx)
    if thread["subscription"] == "none":
        not_found(ctx)
    return _subscription(thread)


def put_thread_subscription(ctx: HandlerContext) -> Row:
    """Sets whether the viewer follows a thread or ignores it."""
    thread = find_thread(ctx)
    ignored = flag_of(ctx, "Subscription", "ignored", body_of(ctx).get("ignored", False))
    patch = {"subscription": "ignored" if ignored else "subscribed"}
    return _subscription(ctx.update("notifications", {"id": thread["id"]}, patch))


def delete_thread_subscription(ctx: HandlerContext) -> None:
    ctx.update("notifications", {"id": find_thread(ctx)["id"]}, {"subscription": "none"})


def _mark(ctx: HandlerContext, row: Row, read: bool, now: str) -> None:
    patch = {"unread": not read, "last_read_at": now if read else row["last_read_at"]}
    ctx.update("notifications", {"id": row["id"]}, patch)


def _answer(ctx: HandlerContext, row: Row) -> Row:
    key = {"owner": row["owner"], "name": row["repo"]}
    issue = known(ctx, "issues", numbered(row))
    kind = "pulls" if row["kind"] == "PullRequest" else "issues"
    url = api_url(row, kind, row["number"])
    here = {"owner": row["owner"], "repo": row["repo"], "issue_number": row["number"]}
    last = ctx.query("comments", here, order_by="-id", limit=1)
    latest = api_url(row, "issues", "comments", last[0]["id"]) if last else url
    thread = f"{API}/notifications/threads/{row['id']}"
    return {
        "id": str(row["id"]),
        "repository": repository_answer(ctx, known(ctx, "repositories", key)),
        "subject": {
            "title": issue["title"],
            "url": url,
            "latest_comment_url": latest,
            "type": row["kind"],
        },
        "reason": row["reason"],
        "unread": row["unread"],
        "updated_at": row["updated_at"],
        "last_read_at": row["last_read_at"],
        "url": thread,
        "subscription_url": f"{thread}/subscription",
    }


def _subscription(row: Row) -> Row:
    thread = f"{API}/notifications/threads/{row['id']}"
    return {
        "subscribed": row["subscription"] == "subscribed",
        "ignored": row["subscription"] == "ignored",
        "reason": row["reason"],
        "created_at": row["updated_at"],
        "url": f"{thread}/subscription",
        "thread_url": thread,
    }
