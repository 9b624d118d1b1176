"""The functions that connector.toml calls: one for each route.

`handler = "update_computer"` there is `update_computer` here, which this file takes from where it is written. The
routes of the older API share five functions; what they do for each resource is said in routes/classic_*.py, which
are imported for that.
"""

from .classic import create_object, delete_object, get_object, list_objects, update_object
from .routes import classic_groups as _groups  # noqa: F401  its resources are registered
from .routes import classic_mobile_devices as _mobile_devices  # noqa: F401  likewise
from .routes import classic_settings as _settings  # noqa: F401  likewise
from .routes.auth import create_token, get_authorization, get_version, invalidate_token, keep_alive
from .routes.classic_commands import send_computer_command, send_mobile_command
from .routes.classic_computers import get_computer_subset, list_computers_basic, match_computers
from .routes.classic_policies import list_policies_of_category
from .routes.commands import list_commands, renew_profiles, send_command
from .routes.computers import (
    delete_computer,
    erase_computer,
    get_computer,
    get_computer_detail,
    list_computers,
    redeploy_framework,
    remove_mdm_profile,
    update_computer,
)
from .routes.groups import (
    get_computer_group_members,
    get_mobile_device_group_members,
    list_computer_groups,
    list_mobile_device_groups,
)
from .routes.mobile_devices import (
    get_mobile_device,
    get_mobile_device_detail,
    list_mobile_device_details,
    list_mobile_devices,
    update_mobile_device,
)
from .routes.settings import (
    create_setting,
    delete_setting,
    get_setting,
    list_settings,
    list_sites,
    update_setting,
)

__all__ = [
    "create_object",
    "create_setting",
    "create_token",
    "delete_computer",
    "delete_object",
    "delete_setting",
    "erase_computer",
    "get_authorization",
    "get_computer",
    "get_computer_detail",
    "get_computer_group_members",
    "get_computer_subset",
    "get_mobile_device",
    "get_mobile_device_detail",
    "get_mobile_device_group_members",
    "get_object",
    "get_setting",
    "get_version",
    "invalidate_token",
    "keep_alive",
    "list_commands",
    "list_computer_groups",
    "list_computers",
    "list_computers_basic",
    "list_mobile_device_details",
    "list_mobile_device_groups",
    "list_mobile_devices",
    "list_objects",
    "list_policies_of_category",
    "list_settings",
    "list_sites",
    "match_computers",
    "redeploy_framework",
    "remove_mdm_profile",
    "renew_profiles",
    "send_command",
    "send_computer_command",
    "send_mobile_command",
    "update_computer",
    "update_mobile_device",
    "update_object",
    "update_setting",
]
