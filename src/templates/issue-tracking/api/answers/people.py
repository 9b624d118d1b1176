"""Users and groups as the API has them."""

from svc_env import HandlerContext, Row

from ..addresses import SITE, rest

_SIZES = ("48x48", "24x24", "16x16", "32x32")


def avatar_urls(kind: str, avatar: object) -> Row:
    address = f"{SITE}/rest/api/3/universal_avatar/view/type/{kind}/avatar/{avatar}"
    return {
        size: address if size == "48x48" else f"{address}?size={name}"
        for size, name in zip(_SIZES, ("xlarge", "small", "xsmall", "medium"), strict=True)
    }


def user_answer(ctx: HandlerContext, user: Row) -> Row:
    account_id = user["account_id"]
    address = {"emailAddress": user["email"]} if user.get("email") else {}
    return {
        "self": rest(ctx, f"user?accountId={account_id}"),
        "accountId": account_id,
        **address,
        "avatarUrls": avatar_urls("user", account_id),
        "displayName": user["display_name"],
        "active": user["active"],
        "timeZone": user.get("time_zone", "Etc/GMT"),
        "locale": user.get("locale", "en_US"),
        "accountType": user["account_type"],
    }


def users_by_id(ctx: HandlerContext) -> dict[str, Row]:
    """All users as answers, by their accounts."""
    return {user["account_id"]: user_answer(ctx, user) for user in ctx.query("users")}


def group_answer(ctx: HandlerContext, group: Row) -> Row:
    return {
        "name": group["name"],
        "groupId": group["group_id"],
        "self": rest(ctx, f"group?groupId={group['group_id']}"),
    }
