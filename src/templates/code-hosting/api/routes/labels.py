"""Labels: those that a repository has, and those that an issue carries."""

from svc_env import HandlerContext, Row
from svc_env.finding import known

from ..answers.issues import label_answer, labels_of
from ..answers.users import simple_user
from ..finding import (
    find_issue,
    find_label,
    find_milestone,
    find_repository,
    label_named,
    on_issue,
    place,
    place_of,
)
from ..history import tell, touch
from ..labelling import (
    DEFAULT_COLOR,
    attach_labels,
    delete_label_rows,
    detach_labels,
    make_label,
    rename_label,
    replace_labels,
)
from ..paging import Position, answer_page, each
from ..reading import body_of, color_of, description_of, flag_of, label_name_of, label_names
from ..refusals import invalid, not_found
from ..viewer import VIEWER, require_write


def by_name(label: Row) -> Position:
    return (label["name"],)


# Of an issue


def list_labels_on_issue(ctx: HandlerContext) -> None:
    repository, issue = find_repository(ctx), find_issue(ctx)
    labels = labels_of(ctx, repository, [issue])[issue["number"]]
    answer_page(ctx, labels, each(label_answer), by=by_name)


def add_labels(ctx: HandlerContext) -> list[Row]:
    repository, issue = _labelled_issue(ctx)
    attach_labels(ctx, repository, issue, label_names(ctx, _label_list(ctx)))
    return _touched_labels(ctx, repository, issue)


def set_labels(ctx: HandlerContext) -> list[Row]:
    repository, issue = _labelled_issue(ctx)
    replace_labels(ctx, repository, issue, label_names(ctx, _label_list(ctx)))
    return _touched_labels(ctx, repository, issue)


def remove_label(ctx: HandlerContext) -> list[Row]:
    repository, issue = _labelled_issue(ctx)
    label = label_named(ctx, ctx.args["name"])
    row = {**on_issue(issue), "label": label["name"] if label else ""}
    if ctx.get("issue_labels", row) is None:
        not_found(ctx, "Label does not exist")
    detach_labels(ctx, repository, issue, [row])
    return _touched_labels(ctx, repository, issue)


def remove_all_labels(ctx: HandlerContext) -> None:
    repository, issue = _labelled_issue(ctx)
    replace_labels(ctx, repository, issue, [])
    touch(ctx, issue)


def _labelled_issue(ctx: HandlerContext) -> tuple[Row, Row]:
    repository = find_repository(ctx)
    require_write(ctx, repository)
    return repository, find_issue(ctx)


def _label_list(ctx: HandlerContext) -> object:
    """`{"labels": […]}` or the bare list; the code host takes both."""
    return ctx.body if isinstance(ctx.body, list) else body_of(ctx).get("labels")


def _touched_labels(ctx: HandlerContext, repository: Row, issue: Row) -> list[Row]:
    touch(ctx, issue)
    return [label_answer(label) for label in labels_of(ctx, repository, [issue])[issue["number"]]]


# Of a repository


def list_repository_labels(ctx: HandlerContext) -> None:
    find_repository(ctx)
    answer_page(ctx, ctx.query("labels", place(ctx)), each(label_answer), by=by_name)


def list_labels_of_milestone(ctx: HandlerContext) -> None:
    """The labels that issues of a milestone carry."""
    repository, milestone = find_repository(ctx), find_milestone(ctx)
    issues = ctx.query("issues", {**place(ctx), "milestone": milestone["number"]})
    carried = labels_of(ctx, repository, issues).values()
    labels = {label["name"]: label for found in carried for label in found}
    answer_page(ctx, list(labels.values()), each(label_answer), by=by_name)


def create_label(ctx: HandlerContext) -> None:
    repository, body = find_repository(ctx), body_of(ctx)
    require_write(ctx, repository)
    name = _label_name(ctx, body.get("name"))
    color = color_of(ctx, body.get("color", DEFAULT_COLOR))
    description = description_of(ctx, body.get("description"))
    label = make_label(ctx, repository, name, color, description)
    tell(ctx, repository, "label", "created", label=label_answer(label))
    ctx.respond(201, label_answer(label), {"location": label["url"]})


def get_label(ctx: HandlerContext) -> Row:
    find_repository(ctx)
    return label_answer(find_label(ctx))


def update_label(ctx: HandlerContext) -> Row:
    repository, before, body = find_repository(ctx), find_label(ctx), body_of(ctx)
    require_write(ctx, repository)
    patch: Row = {}
    if "color" in body:
        patch["color"] = color_of(ctx, body["color"])
    if "description" in body:
        patch["description"] = description_of(ctx, body["description"])
    if "archived" in body:
        patch.update(_archiving(ctx, before, body["archived"]))
    label = before
    if patch:
        label = ctx.update("labels", {**place_of(label), "name": label["name"]}, patch)
    name = body.get("new_name", body.get("name"))  # clients in Go and Python send `name`
    if name not in (None, label["name"]):
        label = rename_label(ctx, label, _label_name(ctx, name, label))
    fields = ("name", "color", "description")
    changes = {name: {"from": before[name]} for name in fields if before[name] != label[name]}
    tell(ctx, repository, "label", "edited", label=label_answer(label), changes=changes)
    return label_answer(label)


def _archiving(ctx: HandlerContext, label: Row, archived: object) -> Row:
    """Returns the change that archives a label or takes it back into use; nothing if it is so already."""
    wanted = flag_of(ctx, "Label", "archived", archived)
    if wanted == bool(label.get("archived_at")):
        return {}
    viewer = simple_user(known(ctx, "users", {"login": VIEWER}))
    times = {"archived_at": ctx.clock.now(), "archived_by": viewer}
    return times if wanted else dict.fromkeys(times)


def delete_label(ctx: HandlerContext) -> None:
    repository, label = find_repository(ctx), find_label(ctx)
    require_write(ctx, repository)
    delete_label_rows(ctx, label)
    tell(ctx, repository, "label", "deleted", label=label_answer(label))


def _label_name(ctx: HandlerContext, name: object, renamed: Row | None = None) -> str:
    """A name that no label of the repository has, but for the one that is being renamed."""
    text = label_name_of(ctx, name)
    known = label_named(ctx, text)
    if known is not None and known["id"] != (renamed or {}).get("id"):
        invalid(ctx, "Label", "name", "already_exists")
    return text
