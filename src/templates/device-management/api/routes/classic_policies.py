"""The older API: policies, and configuration profiles of computers and of mobile devices."""

from svc_env import HandlerContext, Row
from svc_env.finding import whole_number

from ..classic import (
    RESOURCES,
    Resource,
    brief,
    flag_in,
    list_in,
    object_in,
    reference_in,
    referred,
    say,
    text_in,
)
from ..refusals import refuse_page
from ..scoping import OF_COMPUTERS, OF_MOBILE_DEVICES, read_scope, scope_answer

FREQUENCIES = (
    "Once per computer", "Once per user per computer", "Once per user", "Once every day", "Once every week",
    "Once every month", "Ongoing",
)  # fmt: skip
_TRIGGERS = ("checkin", "enrollment_complete", "login", "network_state_changed", "startup")
_ACTIONS = ("Install", "Cache", "Install Cached", "Uninstall")
_NO_CATEGORY = "No category assigned"


def _policy_short(ctx: HandlerContext, row: Row) -> Row:
    return {"id": row["id"], "name": row["name"]}


def _policy(ctx: HandlerContext, row: Row) -> Row:
    """A policy with the names of what it does and reaches; what has been deleted since is left out."""
    return {
        "general": {
            "id": row["id"],
            "name": row["name"],
            "enabled": row["enabled"],
            "trigger": "EVENT" if row["trigger_other"] else "CHECKIN",
            **{f"trigger_{name}": f"trigger_{name}" in row["triggers"] for name in _TRIGGERS},
            "trigger_other": row["trigger_other"],
            "frequency": row["frequency"],
            "category": brief(ctx, "categories", row["category_id"], _NO_CATEGORY),
            "site": brief(ctx, "sites", row["site_id"]),
        },
        "scope": scope_answer(ctx, row["scope"], "all_computers", OF_COMPUTERS),
        "self_service": {**row["self_service"]},
        "package_configuration": {
            "packages": [
                {"id": one["id"], "name": package["packageName"], "action": one["action"]}
                for one in row["packages"]
                if (package := ctx.get("packages", {"id": one["id"]}))
            ],
        },
        "scripts": [
            {"id": one["id"], "name": script["name"], "priority": one["priority"], "parameter4": one["parameter4"]}
            for one in row["scripts"]
            if (script := ctx.get("scripts", {"id": one["id"]}))
        ],
        "reboot": {"user_logged_in": row["reboot"], "minutes_until_reboot": 5},
        "maintenance": {"recon": row["recon"]},
    }


def _read_policy(ctx: HandlerContext, body: Row, old: Row | None) -> Row:
    usual = old or {
        "name": "", "enabled": True, "triggers": [], "trigger_other": "", "frequency": FREQUENCIES[0],
        "category_id": None, "site_id": None, "scope": None, "self_service": {}, "packages": [], "scripts": [],
        "reboot": "Do not restart", "recon": False,
    }  # fmt: skip
    general = object_in(ctx, body, "general")
    frequency = text_in(ctx, general, "frequency", usual["frequency"])
    if frequency not in FREQUENCIES:
        refuse_page(ctx, 409, f"frequency must be one of {', '.join(FREQUENCIES)}")
    triggers = [
        f"trigger_{name}"
        for name in _TRIGGERS
        if flag_in(ctx, general, f"trigger_{name}", f"trigger_{name}" in usual["triggers"])
    ]
    return {
        "name": text_in(ctx, general, "name", usual["name"]),
        "enabled": flag_in(ctx, general, "enabled", usual["enabled"]),
        "triggers": triggers,
        "trigger_other": text_in(ctx, general, "trigger_other", usual["trigger_other"]),
        "frequency": frequency,
        "category_id": reference_in(ctx, general, "category", "categories", usual["category_id"]),
        "site_id": reference_in(ctx, general, "site", "sites", usual["site_id"]),
        "scope": read_scope(ctx, body, "all_computers", OF_COMPUTERS, usual["scope"]),
        "self_service": _read_self_service(ctx, body, usual["self_service"]),
        "packages": _read_packages(ctx, body, usual["packages"]),
        "scripts": _read_scripts(ctx, body, usual["scripts"]),
        "reboot": text_in(ctx, object_in(ctx, body, "reboot"), "user_logged_in", usual["reboot"]),
        "recon": flag_in(ctx, object_in(ctx, body, "maintenance"), "recon", usual["recon"]),
    }


def _read_self_service(ctx: HandlerContext, body: Row, usual: Row) -> Row:
    given = object_in(ctx, body, "self_service")
    old = usual or {"use_for_self_service": False, "self_service_display_name": "", "self_service_description": ""}
    return {
        "use_for_self_service": flag_in(ctx, given, "use_for_self_service", old["use_for_self_service"]),
        "self_service_display_name": text_in(ctx, given, "self_service_display_name", old["self_service_display_name"]),
        "self_service_description": text_in(
            ctx, given, "self_service_description", old["self_service_description"], 4_000
        ),
    }


def _read_packages(ctx: HandlerContext, body: Row, usual: list[Row]) -> list[Row]:
    configuration = object_in(ctx, body, "package_configuration")
    if configuration.get("packages") is None:
        return usual
    found = []
    for one in list_in(ctx, configuration, "packages"):
        id = referred(ctx, "packages", one)
        action = text_in(ctx, one if isinstance(one, dict) else {}, "action", "Install")
        if action not in _ACTIONS:
            refuse_page(ctx, 409, f"action must be one of {', '.join(_ACTIONS)}")
        if id is not None:
            found.append({"id": id, "action": action})
    return found


def _read_scripts(ctx: HandlerContext, body: Row, usual: list[Row]) -> list[Row]:
    if body.get("scripts") is None:
        return usual
    found = []
    for one in list_in(ctx, body, "scripts"):
        id = referred(ctx, "scripts", one)
        members = one if isinstance(one, dict) else {}
        priority = text_in(ctx, members, "priority", "After")
        if id is not None:
            found.append({"id": id, "priority": priority, "parameter4": text_in(ctx, members, "parameter4", "")})
    return found


RESOURCES["policies"] = Resource("policies", "policies", "policy", "Policy", _policy_short, _policy, _read_policy)


def list_policies_of_category(ctx: HandlerContext) -> None:
    """The policies of a category, by its id or its name."""
    given = ctx.args["category"]
    id = whole_number(given)
    wanted = id if id is not None else referred(ctx, "categories", {"name": given})
    rows = [row for row in ctx.query("policies", order_by="id") if row["category_id"] == wanted]
    say(ctx, "policies", [_policy_short(ctx, row) for row in rows])


def _profiles(path: str, entity: str, many: str, one: str, what: str, all_name: str, parts: dict[str, str]) -> None:
    """Registers the configuration profiles of a kind of devices."""

    def short(ctx: HandlerContext, row: Row) -> Row:
        return {"id": row["id"], "name": row["name"]}

    def whole_profile(ctx: HandlerContext, row: Row) -> Row:
        return {
            "general": {
                "id": row["id"],
                "name": row["name"],
                "description": row["description"],
                "site": brief(ctx, "sites", row["site_id"]),
                "category": brief(ctx, "categories", row["category_id"], _NO_CATEGORY),
                "distribution_method": row["distribution_method"],
                "user_removable": row["user_removable"],
                "level": row["level"],
                "uuid": row["uuid"],
                "redeploy_on_update": "Newly Assigned",
                "payloads": row["payloads"],
            },
            "scope": scope_answer(ctx, row["scope"], all_name, parts),
        }

    def read(ctx: HandlerContext, body: Row, old: Row | None) -> Row:
        usual = old or {
            "name": "", "description": "", "site_id": None, "category_id": None, "user_removable": False,
            "distribution_method": "Install Automatically", "level": "System", "payloads": "", "scope": None,
        }  # fmt: skip
        general = object_in(ctx, body, "general")
        return {
            "name": text_in(ctx, general, "name", usual["name"]),
            "description": text_in(ctx, general, "description", usual["description"], 4_000),
            "site_id": reference_in(ctx, general, "site", "sites", usual["site_id"]),
            "category_id": reference_in(ctx, general, "category", "categories", usual["category_id"]),
            "user_removable": flag_in(ctx, general, "user_removable", usual["user_removable"]),
            "distribution_method": text_in(ctx, general, "distribution_method", usual["distribution_method"]),
            "level": text_in(ctx, general, "level", usual["level"]),
            "payloads": text_in(ctx, general, "payloads", usual["payloads"], 200_000),
            "scope": read_scope(ctx, body, all_name, parts, usual["scope"]),
            "uuid": old["uuid"] if old else ctx.ids.uuid().upper(),
        }

    RESOURCES[path] = Resource(entity, many, one, what, short, whole_profile, read, name="name")


_profiles(
    "osxconfigurationprofiles", "computer_profiles", "os_x_configuration_profiles", "os_x_configuration_profile",
    "macOS Configuration Profile", "all_computers", OF_COMPUTERS,
)  # fmt: skip
_profiles(
    "mobiledeviceconfigurationprofiles", "mobile_profiles", "configuration_profiles", "configuration_profile",
    "Mobile Device Configuration Profile", "all_mobile_devices", OF_MOBILE_DEVICES,
)  # fmt: skip
