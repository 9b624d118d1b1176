"""Addresses of objects. Answers of version 2 lead to version 2, because clients follow them."""

import re
from functools import lru_cache

from svc_env import HandlerContext

SITE = "https://northquay.issues.example"

_VERSION = re.compile(r"^/rest/api/(2|3|latest)(/|$)")


def version(ctx: HandlerContext) -> str:
    """The version of the API that the request's path names; 3 where it names none."""
    return _version_in(ctx.path)


@lru_cache
def _version_in(path: str) -> str:
    found = _VERSION.match(path)
    return found[1] if found else "3"


def has_documents(ctx: HandlerContext) -> bool:
    """Returns true if rich text is a document in this request, not markup as in earlier versions."""
    return version(ctx) == "3"


def rest(ctx: HandlerContext, *parts: object) -> str:
    """The address of a resource: `rest(ctx, "issue", 10100)`."""
    return "/".join([f"{SITE}/rest/api/{version(ctx)}", *map(str, parts)])
