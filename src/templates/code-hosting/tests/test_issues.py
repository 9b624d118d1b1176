"""Issues, by the routes and by the tools. `svc worlds test <folder>` runs these."""

from svc_env.testing import world

ISSUES = "/repos/northquay/berth/issues"


def test_a_new_issue_is_read_back():
    answer = world.api.post(ISSUES, json={"title": "The crane is stuck"})
    assert answer.status == 201
    number = answer.json()["number"]
    found = world.api.get(f"{ISSUES}/{number}").json()
    assert found["title"] == "The crane is stuck"
    assert found["state"] == "open"


def test_each_test_begins_with_the_rows_of_the_world():
    titles = [issue["title"] for issue in world.query("issues")]
    assert "The crane is stuck" not in titles


def test_a_closed_issue_is_not_listed_among_the_open_ones():
    number = world.api.post(ISSUES, json={"title": "To be closed"}).json()["number"]
    world.api.patch(f"{ISSUES}/{number}", json={"state": "closed"})
    listed = world.api.get(ISSUES, params={"state": "open", "per_page": 100}).json()
    assert number not in [issue["number"] for issue in listed]


def test_without_a_token_nothing_is_written():
    before = world.count("issues")
    assert world.api.post(ISSUES, json={"title": "no"}, auth=False).status == 401
    assert world.count("issues") == before
