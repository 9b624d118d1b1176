"""Groups in the newer API: named, and who is in them. They are made and changed by the older one."""

from svc_env import HandlerContext, Row
from svc_env.finding import by_id

from ..inventory import COMPUTER, MOBILE, members_of
from ..refusals import refuse_unknown


def list_computer_groups(ctx: HandlerContext) -> list[Row]:
    return [_short(row) for row in ctx.query("computer_groups", order_by="id")]


def list_mobile_device_groups(ctx: HandlerContext) -> list[Row]:
    return [_short(row) for row in ctx.query("mobile_device_groups", order_by="id")]


def get_computer_group_members(ctx: HandlerContext) -> Row:
    return _members(ctx, COMPUTER)


def get_mobile_device_group_members(ctx: HandlerContext) -> Row:
    return _members(ctx, MOBILE)


def _short(row: Row) -> Row:
    return {"id": str(row["id"]), "name": row["name"], "smartGroup": row["is_smart"]}


def _members(ctx: HandlerContext, kind: Row) -> Row:
    group = by_id(ctx, kind["groups"], ctx.args["id"])
    if group is None:
        refuse_unknown(ctx, "Group", ctx.args["id"])
    return {"members": [device["id"] for device in members_of(ctx, group, kind)]}
