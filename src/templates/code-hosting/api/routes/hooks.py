"""Webhooks of a repository. The host delivers to them: [webhooks] in connector.toml says how."""

from svc_env import HandlerContext, Row

from ..answers.hooks import PING, hook_answer
from ..finding import find_hook, find_managed_repository, place
from ..history import tell
from ..paging import answer_page, by_id, each
from ..reading import body_of, flag_of, text_of
from ..refusals import impossible, invalid

#: Events that a hook gets unless it names others.
DEFAULT_EVENTS = ["push"]

CONTENT_TYPES = ("json", "form")

#: Events that a hook of a repository can ask for. Most of them never happen in this world.
KNOWN_EVENTS = frozenset(
    """
    branch_protection_configuration branch_protection_rule bypass_request_push_ruleset
    bypass_request_secret_scanning check_run check_suite code_scanning_alert commit_comment create
    custom_property_values delete dependabot_alert deploy_key deployment deployment_protection_rule
    deployment_review deployment_status discussion discussion_comment fork gollum issue_comment
    issue_dependencies issues label member membership merge_group meta milestone package page_build
    ping project project_card project_column projects_v2_item public pull_request
    pull_request_review pull_request_review_comment pull_request_review_thread push registry_package
    release repository repository_advisory repository_dispatch repository_import repository_ruleset
    repository_vulnerability_alert secret_scanning_alert secret_scanning_alert_location
    secret_scanning_scan security_and_analysis star status sub_issues team_add watch
    workflow_dispatch workflow_job workflow_run
    """.split()
)


def list_hooks(ctx: HandlerContext) -> None:
    find_managed_repository(ctx)
    answer_page(ctx, ctx.query("hooks", place(ctx)), each(hook_answer), by=by_id)


def get_hook(ctx: HandlerContext) -> Row:
    find_managed_repository(ctx)
    return hook_answer(find_hook(ctx))


def create_hook(ctx: HandlerContext) -> None:
    repository, body = find_managed_repository(ctx), body_of(ctx)
    if body.get("name", "web") != "web":
        invalid(ctx, "Hook", "name", "invalid")
    if not isinstance(body.get("config"), dict) or not body["config"].get("url"):
        impossible(ctx, "Hook", "Config must contain URL for webhooks")
    now, hook_id = ctx.clock.now(), ctx.ids.next("hooks", "id")
    hook = {
        **place(ctx),
        "id": hook_id,
        "repositories": [f"{repository['owner']}/{repository['name']}"],
        "hooks": [hook_id],
        "active": True,
        "events": _events(ctx, DEFAULT_EVENTS),
        "content_type": "form",
        "insecure_ssl": "0",
        "secret": None,
        "created_at": now,
        **_patch(ctx, []),
        "updated_at": now,
    }
    taken = [row for row in ctx.query("hooks", place(ctx)) if row["url"] == hook["url"]]
    if any(set(row["events"]) == set(hook["events"]) for row in taken):
        impossible(ctx, "Hook", "Hook already exists on this repository")
    ctx.insert("hooks", hook)
    _ping(ctx, repository, hook)
    answer = hook_answer(hook)
    ctx.respond(201, answer, {"location": answer["url"]})


def update_hook(ctx: HandlerContext) -> Row:
    find_managed_repository(ctx)
    hook = find_hook(ctx)
    patch = {**_patch(ctx, hook["events"]), "updated_at": ctx.clock.now()}
    return hook_answer(ctx.update("hooks", {"id": hook["id"]}, patch))


def delete_hook(ctx: HandlerContext) -> None:
    """Deletes a hook and first its deliveries."""
    find_managed_repository(ctx)
    hook = find_hook(ctx)
    for row in ctx.query("hook_deliveries", {"hook_id": hook["id"]}):
        ctx.delete("hook_deliveries", {"id": row["id"]})
    ctx.delete("hooks", {"id": hook["id"]})


def ping_hook(ctx: HandlerContext) -> None:
    _ping(ctx, find_managed_repository(ctx), find_hook(ctx))


def _ping(ctx: HandlerContext, repository: Row, hook: Row) -> None:
    """The first event of a hook says that it is there."""
    about = {"zen": "Keep it logically awesome.", "hook_id": hook["id"], "hook": hook_answer(hook)}
    tell(ctx, repository, PING, None, to=hook, **about)


def _patch(ctx: HandlerContext, before: list[str]) -> Row:
    """Converts the body to the fields of a hook's row."""
    body, found = body_of(ctx), {}
    if body.get("active") is not None:
        found["active"] = flag_of(ctx, "Hook", "active", body["active"])
    if body.get("events") is not None:
        found["events"] = _events(ctx, body["events"])
    added, removed = _names(ctx, body.get("add_events")), _names(ctx, body.get("remove_events"))
    if added or removed:
        kept = [event for event in before if event not in removed]
        found["events"] = _events(ctx, [*kept, *added])
    config = body.get("config")
    if config is None:
        return found
    if not isinstance(config, dict):
        invalid(ctx, "Hook", "config", "invalid")
    return {**found, **hook_config(ctx, config)}


def _events(ctx: HandlerContext, value: object) -> list[str]:
    """Names of events, and the ping; `*` is all of them, for which a row has none."""
    events = _names(ctx, value)
    return [] if "*" in events else list(dict.fromkeys([*(events or DEFAULT_EVENTS), PING]))


def _names(ctx: HandlerContext, events: object) -> list[str]:
    if events is None:
        return []
    if not isinstance(events, list) or not all(isinstance(event, str) for event in events):
        invalid(ctx, "Hook", "events", "invalid")
    unknown = [event for event in events if event != "*" and event not in KNOWN_EVENTS]
    if unknown:
        invalid(ctx, "Hook", "events", "invalid", value=unknown[0])
    return events


def _insecure(ctx: HandlerContext, value: object) -> str:
    """A text or a number, of which only 1 says that certificates do not count."""
    if not isinstance(value, (str, int, float)) or isinstance(value, bool):
        invalid(ctx, "Hook", "insecure_ssl", "invalid")
    return "1" if value in (1, "1") else "0"


def hook_config(ctx: HandlerContext, config: Row) -> Row:
    """Converts the settings of a hook to the fields of its row."""
    found: Row = {}
    if "url" in config:
        url = text_of(ctx, "Hook", "url", config["url"]) or ""
        if not url.startswith(("http://", "https://")):
            impossible(ctx, "Hook", "url must be a http or https address")
        found["url"] = url
    if "content_type" in config:
        if config["content_type"] not in CONTENT_TYPES:
            invalid(ctx, "Hook", "content_type", "invalid")
        found["content_type"] = config["content_type"]
    if "insecure_ssl" in config:
        found["insecure_ssl"] = _insecure(ctx, config["insecure_ssl"])
    if "secret" in config:
        found["secret"] = text_of(ctx, "Hook", "secret", config["secret"]) or None
    return found
