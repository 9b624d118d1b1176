"""Devices and groups, by the routes and by the tools. `svc worlds test <folder>` runs these."""

from svc_env.testing import world

COMPUTERS = "/api/v1/computers-inventory"


def test_a_filter_and_a_page_narrow_the_list():
    params = {"filter": 'general.name=="BGO*"', "page-size": 5, "sort": "general.name:desc"}
    listed = world.api.get(COMPUTERS, params=params).json()
    assert len(listed["results"]) == 5
    assert listed["totalCount"] > 5
    names = [one["general"]["name"] for one in listed["results"]]
    assert names == sorted(names, reverse=True)


def test_a_smart_group_follows_what_changes():
    criteria = [{"name": "Asset Tag", "search_type": "is", "value": "MOVED"}]
    group = world.tools.call("create_smart_group", {"kind": "computers", "name": "Moved", "criteria": criteria})
    assert group["members"] == 0
    world.api.patch("/api/v1/computers-inventory-detail/3", json={"general": {"assetTag": "moved"}})
    members = world.tools.call("get_group_members", {"kind": "computers", "group_id": group["id"]})
    assert [one["id"] for one in members] == [3]


def test_a_command_is_for_all_devices_or_for_none():
    before = world.count("mdm_commands")
    known = world.query("computers")[0]["management_id"]
    clients = [{"managementId": known}, {"managementId": "unknown"}]
    body = {"clientData": clients, "commandData": {"commandType": "RESTART_DEVICE"}}
    assert world.api.post("/api/v2/mdm/commands", json=body).status == 400
    assert world.count("mdm_commands") == before
