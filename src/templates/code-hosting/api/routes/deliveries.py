"""Deliveries of webhooks, the settings of webhooks, and sending a delivery again."""

from svc_env import HandlerContext, Row

from ..answers.hooks import config_answer, delivery_answer, whole_delivery_answer
from ..committing import NOTHING, tell_of_push
from ..finding import find_delivery, find_hook, find_managed_repository, place
from ..history import tell_again
from ..paging import answer_page, each
from ..reading import asked_choice, body_of
from ..refusals import not_found
from .hooks import hook_config


def get_hook_config(ctx: HandlerContext) -> Row:
    find_managed_repository(ctx)
    return config_answer(find_hook(ctx))


def update_hook_config(ctx: HandlerContext) -> Row:
    find_managed_repository(ctx)
    hook = find_hook(ctx)
    patch = {**hook_config(ctx, body_of(ctx)), "updated_at": ctx.clock.now()}
    return config_answer(ctx.update("hooks", {"id": hook["id"]}, patch))


def test_hook(ctx: HandlerContext) -> None:
    """Delivers the latest push to a hook, if it wants pushes."""
    repository, hook = find_managed_repository(ctx), find_hook(ctx)
    key = {**place(ctx), "name": repository["default_branch"]}
    branch = ctx.get("branches", key) or not_found(ctx)
    if not hook["events"] or "push" in hook["events"]:
        commit = ctx.get("commits", {**place(ctx), "sha": branch["sha"]}) or not_found(ctx)
        before = next(iter(commit["parents"]), NOTHING)
        tell_of_push(ctx, repository, branch["name"], before, branch["sha"], to=hook)


def list_deliveries(ctx: HandlerContext) -> None:
    """The latest first."""
    repository, hook = find_managed_repository(ctx), find_hook(ctx)
    asked = ctx.args.get("status") or "success"
    kind = asked_choice(ctx, "HookDelivery", "status", ("success", "failure"), asked)
    rows = ctx.query("hook_deliveries", {"hook_id": hook["id"]}) if kind == "success" else []
    answer_page(
        ctx,
        rows,
        each(lambda row: delivery_answer(repository, row)),
        by=lambda row: (row["id"],),
        downwards=True,
    )


def get_delivery(ctx: HandlerContext) -> Row:
    repository, hook = find_managed_repository(ctx), find_hook(ctx)
    return whole_delivery_answer(repository, hook, find_delivery(ctx, hook))


def redeliver(ctx: HandlerContext) -> None:
    """Sends a delivery of a hook again."""
    repository, hook = find_managed_repository(ctx), find_hook(ctx)
    tell_again(ctx, repository, hook, find_delivery(ctx, hook))
    ctx.respond(202, {})
