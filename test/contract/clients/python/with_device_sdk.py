"""What users of jamf-pro-sdk do every day, against a session of `device-management`."""

import re
import urllib.parse

import requests
from asking import tell, token, url
from jamf_pro_sdk import ApiClientCredentialsProvider, JamfProClient, SessionConfig, UserCredentialsProvider
from jamf_pro_sdk.clients.pro_api.pagination import FilterField, SortField, filter_group
from jamf_pro_sdk.models.classic.advanced_computer_searches import (
    ClassicAdvancedComputerSearch,
    ClassicAdvancedComputerSearchDisplayField,
)
from jamf_pro_sdk.models.classic.categories import ClassicCategory
from jamf_pro_sdk.models.classic.computer_groups import ClassicComputerGroup
from jamf_pro_sdk.models.classic.computers import ClassicComputer
from jamf_pro_sdk.models.classic.criteria import ClassicCriterion
from jamf_pro_sdk.models.classic.packages import ClassicPackage
from jamf_pro_sdk.models.pro.mdm import DeviceLockCommand, EnableLostModeCommand, RestartDeviceCommand

address = urllib.parse.urlsplit(url)
plain = SessionConfig(scheme="http")


def client(credentials):
    return JamfProClient(address.hostname, credentials, port=address.port, session_config=plain)


manager = client(ApiClientCredentialsProvider("any client", token))
pro, classic = manager.pro_api, manager.classic_api
everything = pro.get_computer_inventory_v3


def tokens(call):
    call("client credentials", lambda: str(manager.get_access_token()), lambda text: len(text) > 20)
    user = client(UserCredentialsProvider("ada", token))
    call("user name and password", lambda: user.pro_api.get_computer_inventory_v3(end_page=0, page_size=1), lambda all: len(all) > 0)
    kept = call("get_access_token", lambda: user.get_access_token().token)
    credentials = {"authorization": f"Bearer {kept}"}
    fresh = call(
        "keep-alive",
        lambda: requests.post(f"{url}/api/v1/auth/keep-alive", headers=credentials).json()["token"],
        lambda text: text != kept,
    )
    call("the one before", lambda: requests.get(f"{url}/api/v1/auth", headers=credentials).status_code, lambda status: status == 401)
    renewed = {"authorization": f"Bearer {fresh}"}
    call("get authorization", lambda: requests.get(f"{url}/api/v1/auth", headers=renewed).json()["account"], lambda account: account["username"] == "api-automation")
    call("invalidate", lambda: requests.post(f"{url}/api/v1/auth/invalidate-token", headers=renewed).status_code, lambda status: status == 204)
    call("invalidated", lambda: requests.get(f"{url}/api/v1/auth", headers=renewed).json(), lambda said: said["errors"][0]["code"] == "INVALID_TOKEN")
    call.fails("a wrong secret", Exception, lambda: client(ApiClientCredentialsProvider("any", "wrong")).pro_api.get_packages_v1())


def computers(call):
    call("all pages", lambda: everything(page_size=40), lambda all: len({one.id for one in all}) == 150)
    pages = call("a page at a time", lambda: list(everything(page_size=60, return_generator=True)), lambda pages: len(pages) == 3)
    call("counted", lambda: {page.total_count for page in pages}, lambda totals: totals == {150})
    one = call("all sections", lambda: everything(sections=["ALL"], filter_expression=FilterField("id").eq(1))[0])
    call("typed", lambda: one.security.sipStatus.value, lambda value: value == "ENABLED")
    call("groups that it is in", lambda: [group.groupName for group in one.groupMemberships], lambda names: "Bergen laptops" in names)
    call("get_computer_inventory_detail_v3", lambda: pro.get_computer_inventory_detail_v3(1).general.assetTag, lambda tag: tag == "TW10001")
    call("v1", lambda: pro.get_computer_inventory_v1(sections=["HARDWARE"])[0].hardware.make, lambda make: make == "Apple")
    call("update_computer_v3", lambda: pro.update_computer_v3(5, {"general": {"assetTag": "X1"}, "userAndLocation": {"room": "9.99"}}), lambda one: one.general.assetTag == "X1" and one.userAndLocation.room == "9.99")
    call("update_computer_v3, of a reference", lambda: pro.update_computer_v3(5, {"userAndLocation": {"buildingId": "2"}}).userAndLocation.buildingId, lambda id: id == "2")
    call("delete_computer_v3", lambda: pro.delete_computer_v3(149))
    call("deleted", lambda: everything(page_size=200), lambda all: len(all) == 149)


def filters_and_sorting(call):
    name, system = FilterField("general.name"), FilterField("operatingSystem.version")
    managed = FilterField("general.remoteManagement.managed")
    found = lambda expression: everything(sections=["GENERAL", "OPERATING_SYSTEM"], filter_expression=expression, page_size=200)
    call("eq", lambda: found(FilterField("hardware.appleSilicon").eq("false")), lambda all: 0 < len(all) < 30)
    call("a wildcard", lambda: found(name.eq("rtm-L*")), lambda all: {one.general.name[:5] for one in all} == {"RTM-L"})
    call("ne", lambda: len(found(managed.ne("true"))), lambda count: count == 5)
    call("and", lambda: found(name.eq("BGO*") & system.eq("15.3.1")), lambda all: all and all[0].operatingSystem.version == "15.3.1")
    either = call("or", lambda: found(system.eq("15.3.1") | system.eq("15.3")))
    call("in", lambda: len(found(system.is_in(["15.3.1", "15.3"]))), lambda count: count == len(either))
    call("out", lambda: len(found(system.not_in(["15.3.1", "15.3"]))) + len(either), lambda count: count == 149)
    call("a group", lambda: found(filter_group(system.eq("15.3.1") | system.eq("15.3")) & name.eq("GDN*")), lambda all: 0 < len(all) < len(either))
    call("gte, lt", lambda: found(FilterField("id").gte(10) & FilterField("id").lt(20)), lambda all: len(all) == 10)
    call("dates", lambda: found(FilterField("general.lastContactTime").lt("2026-01-15T00:00:00Z")), lambda all: all and all[0].general.lastContactTime.year <= 2026)
    rising = call("asc", lambda: [one.general.name for one in everything(sort_expression=SortField("general.name").asc(), page_size=200)])
    call("in order", lambda: rising == sorted(rising, key=str.lower), lambda is_so: is_so)
    falling = SortField("operatingSystem.version").desc() & SortField("general.name").asc()
    call("desc, then asc", lambda: [one.operatingSystem.version for one in everything(sections=["OPERATING_SYSTEM"], sort_expression=falling, page_size=200)], lambda all: all == sorted(all, reverse=True))


def mobile_devices(call):
    inventory = pro.get_mobile_device_inventory_v2
    call("all pages", lambda: inventory(page_size=25), lambda all: len({one.mobileDeviceId for one in all}) == 80)
    call("sections", lambda: inventory(sections=["HARDWARE", "SECURITY"])[0], lambda one: one.hardware and one.general is None)
    call("filter", lambda: inventory(filter_expression=FilterField("supervised").eq("false")), lambda all: 0 < len(all) < 30)
    call("sort", lambda: inventory(sort_expression=SortField("displayName").desc())[0].general.displayName, lambda name: name > "T")
    patched = call("patch", lambda: manager.pro_api_request("patch", "v2/mobile-devices/2", data={"assetTag": "M2", "location": {"departmentId": "4"}}).json())
    call("patched", lambda: patched["location"]["department"], lambda name: name == "IT")


def commands(call):
    one = everything(filter_expression=FilterField("id").eq(1))[0]
    device = pro.get_mobile_device_inventory_v2(filter_expression=FilterField("mobileDeviceId").eq(1))[0]
    sent = call("restart", lambda: pro.send_mdm_command_v2([one.general.managementId], RestartDeviceCommand(rebuildKernelCache=False, kextPaths=[], notifyUser=False)), lambda all: len(all) == 1)
    call("lock", lambda: pro.send_mdm_command_v2([one.general.managementId], DeviceLockCommand(pin="123456")))
    lost = EnableLostModeCommand(lostModeMessage="Call us", lostModePhone="+47 55 00 00 00", lostModeFootnote="Thank you")
    call("lost mode", lambda: pro.send_mdm_command_v2([device.general.model_extra["managementId"]], lost))
    call("it is lost", lambda: pro.get_mobile_device_inventory_v2(sections=["SECURITY"], filter_expression=FilterField("mobileDeviceId").eq(1))[0].security.lostModeMessage, lambda text: text == "Call us")
    call("one command", lambda: pro.get_mdm_commands_v2(filter_expression=FilterField("uuid").eq(sent[0].id))[0].commandState.value, lambda state: state == "PENDING")
    call("all commands", lambda: pro.get_mdm_commands_v2(filter_expression=FilterField("status").is_in(["PENDING", "ACKNOWLEDGED", "ERROR"])), lambda all: len(all) >= 20)
    call("renew", lambda: pro.renew_mdm_profile_v1([one.udid]), lambda said: not said.udidsNotProcessed)


def groups(call):
    call("list_all_computer_groups", classic.list_all_computer_groups, lambda all: {group.is_smart for group in all} == {True, False})
    criterion = ClassicCriterion(name="Model", priority=0, and_or="and", search_type="like", value="iMac", opening_paren=False, closing_paren=False)
    smart = ClassicComputerGroup(name="Desks & <more>", is_smart=True, criteria=[criterion])
    made = call("create_computer_group", lambda: classic.create_computer_group(smart))
    read = call("get_computer_group_by_id", lambda: classic.get_computer_group_by_id(made), lambda group: group.name == "Desks & <more>" and group.computers)
    criterion.value = "Mac mini"
    call("update_smart_computer_group_by_id", lambda: classic.update_smart_computer_group_by_id(made, ClassicComputerGroup(name="Desks", is_smart=True, criteria=[criterion])))
    call("evaluated again", lambda: classic.get_computer_group_by_id(made).computers, lambda members: members and members != read.computers)
    static = {group.name: group.id for group in classic.list_all_computer_groups()}["Pilot ring"]
    before = {one.id for one in classic.get_computer_group_by_id(static).computers}
    gone = sorted(before)[0]
    call("update_static_computer_group_membership_by_id", lambda: classic.update_static_computer_group_membership_by_id(static, computers_to_add=[1, 2], computers_to_remove=[gone]))
    call("members", lambda: {one.id for one in classic.get_computer_group_by_id(static).computers}, lambda now: now == (before | {1, 2}) - {gone})


def older_api(call):
    call("list_all_computers", classic.list_all_computers, lambda all: len(all) == 149)
    call("list_all_computers, basic", lambda: classic.list_all_computers(subsets=["basic"]), lambda all: all[0].serial_number)
    call("get_computer_by_id", lambda: classic.get_computer_by_id(1), lambda one: one.hardware.is_apple_silicon and one.software.applications)
    call("get_computer_by_id, subsets", lambda: classic.get_computer_by_id(1, subsets=["general", "location"]).location.username, lambda name: name == "isolheim")
    change = ClassicComputer()
    change.location.room = "1.01"
    call("update_computer_by_id", lambda: classic.update_computer_by_id(1, change))
    call("updated", lambda: classic.get_computer_by_id(1).location, lambda place: place.room == "1.01" and place.username == "isolheim")
    category = call("create_category", lambda: classic.create_category(ClassicCategory(name="Fonts & more", priority=4)))
    call("get_category_by_id", lambda: classic.get_category_by_id(category), lambda one: one.name == "Fonts & more" and one.priority == 4)
    call("update_category_by_id", lambda: classic.update_category_by_id(category, ClassicCategory(name="Fonts", priority=4)))
    call("list_all_categories", classic.list_all_categories, lambda all: "Fonts" in [one.name for one in all])
    call("delete_category_by_id", lambda: classic.delete_category_by_id(category))
    package = call("create_package", lambda: classic.create_package(ClassicPackage(name="Fonts", filename="fonts.pkg", category="Applications")))
    call("get_package_by_id", lambda: classic.get_package_by_id(package), lambda one: one.category == "Applications")
    call("get_packages_v1", lambda: pro.get_packages_v1(filter_expression=FilterField("packageName").eq("Fonts")), lambda all: len(all) == 1)
    call("delete_package_by_id", lambda: classic.delete_package_by_id(package))
    search = ClassicAdvancedComputerSearch(
        name="Old systems",
        criteria=[ClassicCriterion(name="Operating System Version", priority=0, and_or="and", search_type="less than", value="14.7", opening_paren=False, closing_paren=False)],
        display_fields=[ClassicAdvancedComputerSearchDisplayField(name="Serial Number")],
    )
    saved = call("create_advanced_computer_search", lambda: classic.create_advanced_computer_search(search))
    call("get_advanced_computer_search_by_id", lambda: classic.get_advanced_computer_search_by_id(saved).computers, lambda found: found and found[0].Serial_Number)
    call("delete_advanced_computer_search_by_id", lambda: classic.delete_advanced_computer_search_by_id(saved))


def policies_and_profiles(call):
    ask = manager.classic_api_request
    listed = call("list", lambda: ask("get", "policies").json()["policies"], lambda all: len(all) == 12)
    xml = "<policy><general><name>Install {}</name><enabled>true</enabled><frequency>Ongoing</frequency><category><name>Applications</name></category></general><scope><computer_groups><computer_group><name>Pilot ring</name></computer_group></computer_groups></scope></policy>"
    made = call("post", lambda: int(re.search(r"<id>(\d+)</id>", ask("post", "policies/id/0", data=xml.format("R&amp;D tools")).text)[1]))
    call("get", lambda: ask("get", f"policies/id/{made}").json()["policy"], lambda one: one["general"]["name"] == "Install R&D tools" and one["scope"]["computer_groups"][0]["name"] == "Pilot ring")
    call("by name, in XML", lambda: ask("get", "policies/name/Install R%26D tools", override_headers={"Accept": "application/xml"}).text, lambda text: text.startswith("<?xml") and "R&amp;D" in text)
    call("put", lambda: ask("put", f"policies/id/{made}", data="<policy><general><enabled>false</enabled></general></policy>"))
    call("the rest stays", lambda: ask("get", f"policies/id/{made}").json()["policy"], lambda one: not one["general"]["enabled"] and one["general"]["frequency"] == "Ongoing" and one["scope"]["computer_groups"])
    call("delete", lambda: ask("delete", f"policies/id/{made}"))
    call("deleted", lambda: ask("get", "policies").json()["policies"], lambda all: all == listed)
    call("profiles", lambda: ask("get", "osxconfigurationprofiles").json()["os_x_configuration_profiles"], lambda all: len(all) == 5)
    call("profiles of mobile devices", lambda: ask("get", "mobiledeviceconfigurationprofiles/id/2").json()["configuration_profile"]["general"]["payloads"], lambda text: text.startswith("<?xml"))


def webhooks(call):
    hook = f"<webhook><name>Groups</name><enabled>true</enabled><url>https://receiver.example/hooks</url><content_type>application/json</content_type><event>SmartGroupComputerMembershipChange</event></webhook>"
    made = call("register", lambda: manager.classic_api_request("post", "webhooks/id/0", data=hook).text, lambda text: "<id>" in text)
    call("another", lambda: manager.classic_api_request("post", "webhooks/id/0", data=hook.replace("Groups", "New").replace("SmartGroupComputerMembershipChange", "ComputerAdded")))
    call("listed", lambda: manager.classic_api_request("get", "webhooks").json()["webhooks"], lambda all: len(all) == 2)
    call("a computer leaves Bergen", lambda: manager.classic_api_request("put", "computers/id/1", data="<computer><general><site><name>Gdansk</name></site></general></computer>"))
    call("a computer is added", lambda: manager.classic_api_request("post", "computers/id/0", data="<computer><general><name>BGO-L0999</name><serial_number>ZZ00112233</serial_number><udid>0A1B2C3D-0000-4000-8000-000000000001</udid></general></computer>"))


def error_classes(call):
    status = lambda wanted: lambda error: error.response.status_code == wanted
    said = lambda wanted, code: lambda error: error.response.status_code == wanted and error.response.json()["errors"][0]["code"] == code
    call.fails("no such computer", requests.HTTPError, lambda: pro.get_computer_inventory_detail_v3(9999), said(404, "INVALID_ID"))
    call.fails("no such field", requests.HTTPError, lambda: manager.pro_api_request("get", "v1/computers-inventory", query_params={"filter": "general.nmae==x"}), said(400, "INVALID_FIELD"))
    call.fails("a broken filter", requests.HTTPError, lambda: manager.pro_api_request("get", "v1/computers-inventory", query_params={"filter": "general.name==(("}), said(400, "INVALID_FIELD"))
    call.fails("no such sort", requests.HTTPError, lambda: manager.pro_api_request("get", "v1/computers-inventory", query_params={"sort": "x:asc"}), said(400, "INVALID_FIELD"))
    call.fails("a wrong reference", requests.HTTPError, lambda: pro.update_computer_v3(3, {"userAndLocation": {"buildingId": "77"}}), said(400, "INVALID_ID"))
    call.fails("a wrong command", requests.HTTPError, lambda: manager.pro_api_request("post", "v2/mdm/commands", data={"clientData": [], "commandData": {"commandType": "DANCE"}}), said(400, "INVALID_FIELD"))
    call.fails("no such group", requests.HTTPError, lambda: classic.get_computer_group_by_id(999), lambda error: error.response.status_code == 404 and "<title>Status page</title>" in error.response.text)
    call.fails("a name that is taken", requests.HTTPError, lambda: classic.create_category(ClassicCategory(name="Security", priority=1)), lambda error: error.response.status_code == 409 and "Duplicate name" in error.response.text)
    call.fails("no XML", requests.HTTPError, lambda: manager.classic_api_request("put", "policies/id/1", data="<policy>"), status(400))
    call.fails("an entity", requests.HTTPError, lambda: manager.classic_api_request("put", "policies/id/1", data='<!DOCTYPE a [<!ENTITY b "c">]><policy><general><name>&b;</name></general></policy>'), status(400))
    answered = requests.put(f"{url}/JSSResource/policies/id/1", data="name=x", headers={"authorization": f"Bearer {token}", "content-type": "application/x-www-form-urlencoded"})
    call("another type of body", lambda: answered.status_code, lambda code: code == 415)


print()
tell([tokens, computers, filters_and_sorting, mobile_devices, commands, groups, older_api, policies_and_profiles, webhooks, error_classes])
