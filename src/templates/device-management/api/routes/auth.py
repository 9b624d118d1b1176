"""Tokens by user name and password, and who is asking. Tokens of API clients are minted by the host."""

from svc_env import HandlerContext, Row

from ..events import ACCOUNT


def create_token(ctx: HandlerContext) -> Row:
    """Returns a token to a client that has shown the session's token as the password of Basic."""
    return _minted(ctx)


def keep_alive(ctx: HandlerContext) -> Row:
    """A new token in place of the one that is shown."""
    ctx.revoke_token()
    return _minted(ctx)


def invalidate_token(ctx: HandlerContext) -> None:
    """The token that is shown is good for nothing from now on."""
    ctx.revoke_token()


def get_authorization(ctx: HandlerContext) -> Row:
    """The account, which may do everything."""
    sites = ctx.query("sites", order_by="id")
    return {
        "account": {
            "id": "1",
            "username": ACCOUNT,
            "realName": "API automation",
            "email": "it@tidewater.example",
            "preferences": {"language": "en", "dateFormat": "MM/dd/yyyy", "region": "Europe", "timezone": "Europe/Oslo"},
            "isMultiSiteAdmin": False,
            "accessLevel": "FullAccess",
            "privilegeSet": "ADMINISTRATOR",
            "groupIds": [],
            "currentSiteId": "-1",
        },
        "accountGroups": [],
        "sites": [{"id": str(site["id"]), "name": site["name"]} for site in sites],
        "authenticationType": "JSS",
    }


def get_version(ctx: HandlerContext) -> Row:
    return {"version": "11.20.1-t1759840000"}


def _minted(ctx: HandlerContext) -> Row:
    return ctx.mint_token()
