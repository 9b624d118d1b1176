"""Reads all pull requests that were closed, and answers with the mean time of those that were merged."""

from datetime import datetime

from svc_env.testing import world


def solve() -> None:
    hours = []
    page = 1
    while True:
        params = {"state": "closed", "per_page": 100, "page": page}
        listed = world.api.get("/repos/northquay/berth/pulls", params=params).json()
        hours += [between(pull) for pull in listed if pull["merged_at"] is not None]
        if len(listed) < 100:
            break
        page += 1
    world.answer(round(sum(hours) / len(hours), 1))


def between(pull: dict) -> float:
    opened = datetime.fromisoformat(pull["created_at"])
    merged = datetime.fromisoformat(pull["merged_at"])
    return (merged - opened).total_seconds() / 3600
