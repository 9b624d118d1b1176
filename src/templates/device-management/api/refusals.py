"""Refuses in the vendor's words: JSON below /api, an HTML page below /JSSResource."""

from typing import NoReturn

from svc_env import HandlerContext

#: What the older API says of each status, and the section of the old standard that it points to.
_PAGES = {
    400: ("Bad Request", "The request could not be understood by the server due to malformed syntax", "10.4.1"),
    404: ("Not Found", "The server has not found anything matching the request URI", "10.4.5"),
    409: ("Conflict", "", "10.4.10"),
    415: ("Unsupported Media Type", "The request entity has a format that is not supported", "10.4.16"),
}

_PAGE = """<html>
<head>
   <title>Status page</title>
</head>
<body style="font-family: sans-serif;">
<p style="font-size: 1.2em;font-weight: bold;margin: 1em 0px;">{title}</p>
<p>{words}</p>
<p>You can get technical details <a href="http://www.w3.org/Protocols/rfc2616/rfc2616-sec10.html#sec{section}">here</a>.<br>
Please continue your visit at our <a href="/">home page</a>.
</p>
</body>
</html>
"""


def refuse(
    ctx: HandlerContext, status: int, code: str, description: str, field: str | None = None, id: str = "0"
) -> NoReturn:
    """Ends a request to the newer API."""
    error = {"code": code, "description": description, "id": id, "field": field}
    ctx.fail(status, {"httpStatus": status, "errors": [error]})


def refuse_unknown(ctx: HandlerContext, what: str, id: object) -> NoReturn:
    """There is no such thing."""
    refuse(ctx, 404, "INVALID_ID", f"{what} with id {id} does not exist", "id", str(id))


def refuse_page(ctx: HandlerContext, status: int, words: str | None = None) -> NoReturn:
    """Ends a request to the older API; `words` say what is wrong."""
    title, usual, section = _PAGES[status]
    said = f"Error: {_escaped(words)}" if words else usual
    page = _PAGE.format(title=title, words=said, section=section)
    ctx.fail(status, page, {"content-type": "text/html; charset=utf-8"})


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
