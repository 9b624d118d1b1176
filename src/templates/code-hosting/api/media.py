"""Forms of an answer that the client asks for: the media types of the `Accept` header.

A client asks for `application/vnd.<host>+json`, with or without a version, and may add a form:
`.diff`, `.html+json`, `.text-match+json`. A form that the route does not have is answered in JSON,
but for those that are no JSON: where a route has none of them, that is 415, as is a type that is
none of the vendor's.
"""

import re
from functools import lru_cache

from svc_env import HandlerContext, Row

MEDIA_DOCUMENTATION = "https://docs.code.example/v3/media"

VENDOR_TYPE = re.compile(r"application/vnd\.[a-z]+((?:\.[\w-]+)*)(\+json)?")
WEIGHT = re.compile(r"q\s*=\s*(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)")
JSON_TYPES = ("*/*", "application/*", "application/json")

#: Forms that are no JSON, and the routes that have them.
PULL = "/repos/{owner}/{repo}/pulls/{pull_number}"
COMMIT = "/repos/{owner}/{repo}/commits/{ref...}"
COMPARISON = "/repos/{owner}/{repo}/compare/{basehead...}"
ASSET = "/repos/{owner}/{repo}/releases/assets/{asset_id}"
ROUTES = {
    "diff": {PULL, COMMIT, COMPARISON},
    "patch": {PULL, COMMIT, COMPARISON},
    "sha": {COMMIT},
}
BYTES = "application/octet-stream"

#: Routes that answer in no JSON, whatever form is asked for.
TEXTS = {
    "/zen": ("text/plain", "text/*"),
    "/markdown": ("text/html", "text/*"),
    "/markdown/raw": ("text/html", "text/*"),
}


def check_accepted(ctx: HandlerContext) -> None:
    """415 when none of the types that the client accepts can be answered."""
    accept = ctx.headers.get("accept", "")
    is_said = accept.strip(", ") != ""
    if is_said and not any(_can_answer(ctx.route, one) for one, _ in _weighed(accept)):
        message = f"Unsupported 'Accept' header: '{ctx.headers['accept']}'. "
        message += "Must accept 'application/json'."
        body = {"message": message, "documentation_url": MEDIA_DOCUMENTATION, "status": "415"}
        ctx.fail(415, body)
    form = form_of(ctx)
    said = f"param={form}; format=json" if form else "format=json"
    ctx.set_header("x-github-media-type", f"github.v3; {said}")


def form_of(ctx: HandlerContext) -> str:
    """The form that the type asks for which the client prefers: "diff", "html", … or the empty text. A
    preview's name asks for none, nor do the types of JSON, which clients put before the type that does;
    but one of less weight than JSON asks for less than that."""
    return _form_asked(ctx.headers.get("accept", ""), ctx.route)


@lru_cache(maxsize=32)
def _form_asked(accept: str, route: str) -> str:
    """The same, of a header and a route. It is asked for each item of a list."""
    types = _weighed(accept)
    json = max((weight for one, weight in types if one in JSON_TYPES), default=0.0)
    for one in [one for one, weight in types if weight >= json]:
        match = VENDOR_TYPE.fullmatch(one)
        if match and _can_answer(route, one) and not match[1].endswith("-preview"):
            return _form(match)
    return ""


def wants_bytes(ctx: HandlerContext) -> bool:
    return BYTES in (name for name, _ in _weighed(ctx.headers.get("accept", "")))


def said(ctx: HandlerContext, text: str | None) -> Row:
    """Returns the text of a user, in the fields that the media type has: `body`, `body_html`, `body_text`."""
    form = form_of(ctx)
    if form not in ("html", "text", "full"):
        return {"body": text}
    from .markdown import html_of, text_of_html  # It takes memory, and most ask for no HTML.

    html = html_of(text or "")
    forms = {
        "body": {"body": text},
        "html": {"body_html": html},
        "text": {"body_text": text_of_html(html)},
    }
    if form != "full":
        return forms[form]
    return {**forms["body"], **forms["html"], **forms["text"]}


@lru_cache(maxsize=32)
def _weighed(accept: str) -> tuple[tuple[str, float], ...]:
    """The accepted types and their weights, the heaviest first; those of weight 0 are not accepted."""
    texts = (text.lower().split(";") for text in accept.split(","))
    types = [(name.strip(), _weight(parameters)) for name, *parameters in texts]
    accepted = [(name, weight) for name, weight in types if name and weight > 0]
    return tuple(sorted(accepted, key=lambda one: -one[1]))


def _weight(parameters: list[str]) -> float:
    """The weight among a type's parameters. What is no weight is overlooked, as the code host does."""
    found = (WEIGHT.fullmatch(text.strip()) for text in parameters)
    return next((float(match[1]) for match in found if match), 1.0)


def _can_answer(route: str, one: str) -> bool:
    if one in JSON_TYPES or one in TEXTS.get(route, ()):
        return True
    if one == BYTES:
        return route == ASSET
    match = VENDOR_TYPE.fullmatch(one)
    if match is None:
        return False
    routes = ROUTES.get(_form(match))
    return routes is None or route in routes


def _form(match: re.Match[str]) -> str:
    """`.v3.html` is the form "html"; a version or the name of a preview is none."""
    last = match[1].rpartition(".")[2]
    known = ("raw", "html", "text", "full", "diff", "patch", "sha", "text-match", "object")
    return last if last in known else ""
