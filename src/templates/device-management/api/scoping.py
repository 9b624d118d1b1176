"""Scopes of policies and profiles: stored as ids, shown by id and name, read from either."""

from svc_env import HandlerContext, Row

from .classic import flag_in, list_in, object_in, referred

#: What a scope can name of each kind of device, with the entity.
OF_COMPUTERS = {
    "computers": "computers",
    "computer_groups": "computer_groups",
    "buildings": "buildings",
    "departments": "departments",
}
OF_MOBILE_DEVICES = {
    "mobile_devices": "mobile_devices",
    "mobile_device_groups": "mobile_device_groups",
    "buildings": "buildings",
    "departments": "departments",
}


def empty_scope(all_name: str, parts: dict[str, str]) -> Row:
    return {all_name: False, **{part: [] for part in parts}, "exclusions": {part: [] for part in parts}}


def read_scope(ctx: HandlerContext, body: Row, all_name: str, parts: dict[str, str], old: Row | None) -> Row:
    """A scope with what a body gives of it; a list that is given replaces the one before."""
    usual = old or empty_scope(all_name, parts)
    if body.get("scope") is None:
        return usual
    given = object_in(ctx, body, "scope")
    excluded = object_in(ctx, given, "exclusions")
    return {
        all_name: flag_in(ctx, given, all_name, usual[all_name]),
        **_lists(ctx, given, parts, usual),
        "exclusions": _lists(ctx, excluded, parts, usual["exclusions"]),
    }


def _lists(ctx: HandlerContext, given: Row, parts: dict[str, str], usual: Row) -> Row:
    return {
        part: usual[part] if given.get(part) is None else _ids(ctx, given, part, entity)
        for part, entity in parts.items()
    }


def _ids(ctx: HandlerContext, given: Row, part: str, entity: str) -> list[int]:
    found = [referred(ctx, entity, one) for one in list_in(ctx, given, part)]
    return list(dict.fromkeys(id for id in found if id is not None))


def scope_answer(ctx: HandlerContext, scope: Row, all_name: str, parts: dict[str, str]) -> Row:
    """A scope with the names of what it holds; what has been deleted since is left out."""
    return {
        all_name: scope[all_name],
        **{part: _named(ctx, entity, scope[part]) for part, entity in parts.items()},
        "exclusions": {part: _named(ctx, entity, scope["exclusions"][part]) for part, entity in parts.items()},
    }


def _named(ctx: HandlerContext, entity: str, ids: list[int]) -> list[Row]:
    rows = [ctx.get(entity, {"id": id}) for id in ids]
    return [_short(entity, row) for row in rows if row]


def _short(entity: str, row: Row) -> Row:
    if entity == "computers":
        return {"id": row["id"], "name": row["general"]["name"], "udid": row["udid"]}
    if entity == "mobile_devices":
        return {"id": row["id"], "name": row["general"]["displayName"], "udid": row["udid"]}
    return {"id": row["id"], "name": row["name"]}

