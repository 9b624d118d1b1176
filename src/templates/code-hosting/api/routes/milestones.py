"""Milestones."""

from svc_env import HandlerContext, Row

from ..answers.milestones import milestone_answer, milestone_answers
from ..dating import dated
from ..finding import find_milestone, find_repository, next_number, numbered, place
from ..history import tell
from ..paging import answer_page
from ..reading import asked_choice, body_of, choice_of, instant_of, is_downwards, text_of, title_of
from ..refusals import invalid
from ..viewer import VIEWER, require_write

LONGEST_TITLE = 255

#: A milestone without a date comes after all that have one.
NEVER = "9999"


def list_milestones(ctx: HandlerContext) -> None:
    """Open ones, the next due first, unless the query says otherwise."""
    repository = find_repository(ctx)
    state = asked_choice(ctx, "Milestone", "state", ("open", "closed", "all"), "open")
    sort = asked_choice(ctx, "Milestone", "sort", ("due_on", "completeness"), "due_on")
    rows = ctx.query("milestones", place(ctx) if state == "all" else {**place(ctx), "state": state})
    bodies = milestone_answers(ctx, repository, rows)
    done = {body["number"]: _completeness(body) for body in bodies}
    values = {
        "due_on": lambda row: row.get("due_on") or NEVER,
        "completeness": lambda row: done[row["number"]],
    }
    answer_page(
        ctx,
        rows,
        lambda page: milestone_answers(ctx, repository, page),
        by=lambda row: (values[sort](row), row["number"]),
        downwards=is_downwards(ctx, "asc"),
    )


def _completeness(body: Row) -> float:
    total = body["open_issues"] + body["closed_issues"]
    return body["closed_issues"] / total if total else 0.0


def get_milestone(ctx: HandlerContext) -> Row:
    repository, milestone = find_repository(ctx), find_milestone(ctx)
    return dated(ctx, milestone_answer(ctx, repository, milestone), milestone["updated_at"])


def create_milestone(ctx: HandlerContext) -> None:
    repository, now = find_repository(ctx), ctx.clock.now()
    require_write(ctx, repository)
    milestone = {
        **place(ctx),
        "number": next_number(ctx, "milestones"),
        "id": ctx.ids.next("milestones", "id"),
        "title": _free_title(ctx, body_of(ctx).get("title")),
        "description": None,
        "state": "open",
        "creator": VIEWER,
        "due_on": None,
        "created_at": now,
        "updated_at": now,
        "closed_at": None,
        **_details(ctx),
    }
    ctx.insert("milestones", milestone)
    answer = milestone_answer(ctx, repository, milestone)
    tell(ctx, repository, "milestone", "created", milestone=answer)
    ctx.respond(201, answer, {"location": answer["url"]})


def update_milestone(ctx: HandlerContext) -> Row:
    repository, milestone, body = find_repository(ctx), find_milestone(ctx), body_of(ctx)
    require_write(ctx, repository)
    patch = {**_details(ctx), "updated_at": ctx.clock.now()}
    if body.get("title") not in (None, milestone["title"]):
        patch["title"] = _free_title(ctx, body["title"])
    changed = ctx.update("milestones", numbered(milestone), patch)
    answer = milestone_answer(ctx, repository, changed)
    is_moved = changed["state"] != milestone["state"]
    action = {"open": "opened", "closed": "closed"}[changed["state"]] if is_moved else "edited"
    tell(ctx, repository, "milestone", action, milestone=answer)
    return answer


def delete_milestone(ctx: HandlerContext) -> None:
    """Takes its issues out of it first: they refer to it."""
    repository, milestone = find_repository(ctx), find_milestone(ctx)
    require_write(ctx, repository)
    answer = milestone_answer(ctx, repository, milestone)
    for issue in ctx.query("issues", {**place(ctx), "milestone": milestone["number"]}):
        ctx.update("issues", numbered(issue), {"milestone": None})
    ctx.delete("milestones", numbered(milestone))
    tell(ctx, repository, "milestone", "deleted", milestone=answer)


def _details(ctx: HandlerContext) -> Row:
    """Description, date and state, as far as the body has them."""
    body, found = body_of(ctx), {}
    if "description" in body:
        found["description"] = text_of(ctx, "Milestone", "description", body["description"])
    if "due_on" in body:
        due = body["due_on"]
        found["due_on"] = None if due is None else instant_of(ctx, "Milestone", "due_on", due)
    if body.get("state") is not None:
        state = choice_of(ctx, "Milestone", "state", body["state"], ("open", "closed"))
        found.update(state=state, closed_at=ctx.clock.now() if state == "closed" else None)
    return found


def _free_title(ctx: HandlerContext, value: object) -> str:
    """A title that no other milestone of the repository has."""
    title = title_of(ctx, "Milestone", value, LONGEST_TITLE)
    if ctx.query("milestones", {**place(ctx), "title": title}, limit=1):
        invalid(ctx, "Milestone", "title", "already_exists")
    return title
