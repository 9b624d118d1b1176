"""The older API: one function of each kind for all its resources, which the path distinguishes.

A resource says which entity it is about, how a row becomes a body and a body a row. Bodies come as XML; answers are
XML unless the client accepts JSON alone.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from svc_env import HandlerContext, Refused, Row
from svc_env.finding import by_id, whole_number

from .events import tell_operation
from .reading import all_rows
from .refusals import refuse_page
from .xml_text import XmlError, read_xml, write_xml

XML = "application/xml;charset=UTF-8"


@dataclass(frozen=True)
class Resource:
    """One kind of object of the older API."""

    entity: str
    #: What lists, and one object, are wrapped in.
    many: str
    one: str
    #: What webhooks call it.
    what: str
    #: A row as a list has it, and as its own address has it.
    short: Callable[[HandlerContext, Row], Row]
    whole: Callable[[HandlerContext, Row], Row]
    #: Fields of a row that a body gives; `old` is the row that is changed.
    read: Callable[[HandlerContext, Row, Row | None], Row] | None = None
    #: The field that names a row, which may lie within.
    name: str = "name"
    #: Called in place of the plain deletion.
    remove: Callable[[HandlerContext, Row], None] | None = None
    #: Called after a row was written, with the body and the row before.
    after: Callable[[HandlerContext, Row, Row, Row | None], None] | None = None
    #: Further ways to an object: segment of the path to field.
    by: tuple[tuple[str, str], ...] = ()


RESOURCES: dict[str, Resource] = {}


def wants_json(ctx: HandlerContext) -> bool:
    """The older API speaks XML to clients that do not ask for JSON."""
    accept = ctx.headers.get("accept", "")
    json, xml = accept.find("json"), accept.find("xml")
    return json >= 0 and (xml < 0 or json < xml)


def say(ctx: HandlerContext, name: str, value: Any, status: int = 200) -> None:
    """Answers in the notation that the client wants."""
    if wants_json(ctx):
        ctx.respond(status, {name: value})
    else:
        ctx.respond(status, write_xml(name, value), {"content-type": XML})


def read_body(ctx: HandlerContext, root: str) -> Row:
    """Returns the members of the body below its root. Accepts JSON as well."""
    if ctx.body is None:
        refuse_page(ctx, 400)
    if not isinstance(ctx.body, str):
        value = ctx.body.get(root, ctx.body) if isinstance(ctx.body, dict) else None
        if not isinstance(value, dict):
            refuse_page(ctx, 400)
        return value
    try:
        name, value = read_xml(ctx.body)
    except XmlError:
        refuse_page(ctx, 400)
    if name != root:
        refuse_page(ctx, 409, f"Unexpected root element {name[:100]}")
    return value if isinstance(value, dict) else {}


def _resource(ctx: HandlerContext) -> Resource:
    return RESOURCES[ctx.route.split("/")[2]]


def named(resource: Resource, row: Row) -> str:
    value: Any = row
    for part in resource.name.split("."):
        value = value[part]
    return value


def find(ctx: HandlerContext, resource: Resource) -> Row:
    """The object that the path names, by its id or in another way."""
    how = ctx.route.split("/")[3]
    rows: list[Row] = []
    if how == "id":
        row = by_id(ctx, resource.entity, ctx.args["id"])
        rows = [row] if row else []
    elif how == "name":
        wanted = ctx.args["name"].lower()
        rows = [row for row in all_rows(ctx.query, resource.entity, "id") if named(resource, row).lower() == wanted]
    else:
        field = dict(resource.by)[how]
        rows = ctx.query(resource.entity, {field: ctx.args[how]}, order_by="id", limit=1)
    if not rows:
        refuse_page(ctx, 404)
    return rows[0]


def list_objects(ctx: HandlerContext) -> None:
    resource = _resource(ctx)
    rows = all_rows(ctx.query, resource.entity, "id")
    say(ctx, resource.many, [resource.short(ctx, row) for row in rows])


def get_object(ctx: HandlerContext) -> None:
    resource = _resource(ctx)
    say(ctx, resource.one, resource.whole(ctx, find(ctx, resource)))


def create_object(ctx: HandlerContext) -> None:
    """Makes an object. The id of the path does not count; clients write 0, or -1."""
    resource = _resource(ctx)
    body = read_body(ctx, resource.one)
    row = {"id": ctx.ids.next(resource.entity, "id"), **_read(ctx, resource, body, None)}
    _write(ctx, lambda: ctx.insert(resource.entity, row))
    if resource.after:
        resource.after(ctx, row, body, None)
    tell_operation(ctx, "POST", resource.what, row["id"], named(resource, row))
    _say_id(ctx, resource, row["id"], 201)


def update_object(ctx: HandlerContext) -> None:
    """Changes what a body gives, and leaves the rest."""
    resource = _resource(ctx)
    old = find(ctx, resource)
    body = read_body(ctx, resource.one)
    patch = _read(ctx, resource, body, old)
    row = _write(ctx, lambda: ctx.update(resource.entity, {"id": old["id"]}, patch))
    if resource.after:
        resource.after(ctx, row, body, old)
    tell_operation(ctx, "PUT", resource.what, row["id"], named(resource, row))
    _say_id(ctx, resource, row["id"], 201)


def delete_object(ctx: HandlerContext) -> None:
    resource = _resource(ctx)
    row = find(ctx, resource)
    if resource.remove:
        resource.remove(ctx, row)
    else:
        ctx.delete(resource.entity, {"id": row["id"]})
        tell_operation(ctx, "DELETE", resource.what, row["id"], named(resource, row))
    _say_id(ctx, resource, row["id"], 200)


def _say_id(ctx: HandlerContext, resource: Resource, id: int, status: int) -> None:
    """Answers a write with the id, always in XML."""
    ctx.respond(status, write_xml(resource.one, {"id": id}), {"content-type": XML})


def _read(ctx: HandlerContext, resource: Resource, body: Row, old: Row | None) -> Row:
    if resource.read is None:
        refuse_page(ctx, 400)
    fields = resource.read(ctx, body, old)
    row = {**(old or {}), **fields}
    name = named(resource, row)
    if not isinstance(name, str) or not name.strip():
        refuse_page(ctx, 409, "Name is required")
    if old is None or named(resource, old) != name:
        for other in all_rows(ctx.query, resource.entity):
            if named(resource, other).lower() == name.lower() and (old is None or other["id"] != old["id"]):
                refuse_page(ctx, 409, "Duplicate name")
    return fields


def _write(ctx: HandlerContext, act: Callable[[], Row]) -> Row:
    try:
        return act()
    except Refused as refused:
        refuse_page(ctx, 409, f"{refused.field or 'The data'}: {refused.detail or 'not valid'}"[:300])


# What bodies hold, read member by member.


def text_in(ctx: HandlerContext, body: Row, name: str, usual: str, most: int = 255) -> str:
    """A text; what is left out stays as it is."""
    value = body.get(name)
    if value is None:
        return usual
    if isinstance(value, bool):
        value = str(value).lower()
    if isinstance(value, (dict, list)) or len(str(value)) > most:
        refuse_page(ctx, 409, f"{name} must be a text of at most {most} characters")
    return str(value)


def flag_in(ctx: HandlerContext, body: Row, name: str, usual: bool) -> bool:
    value = body.get(name)
    if value is None or value == "":
        return usual
    if isinstance(value, bool):
        return value
    if str(value).lower() not in ("true", "false", "yes", "no", "1", "0"):
        refuse_page(ctx, 409, f"{name} must be true or false")
    return str(value).lower() in ("true", "yes", "1")


def number_in(ctx: HandlerContext, body: Row, name: str, usual: int) -> int:
    value = body.get(name)
    if value is None or value == "":
        return usual
    number = whole_number(value)
    if number is None:
        refuse_page(ctx, 409, f"{name} must be a number")
    return number


def object_in(ctx: HandlerContext, body: Row, name: str) -> Row:
    """An object; an empty element is one without members."""
    value = body.get(name)
    if value is None or value == "" or value == []:
        return {}
    if not isinstance(value, dict):
        refuse_page(ctx, 409, f"{name} must be an object")
    return value


def list_in(ctx: HandlerContext, body: Row, name: str) -> list[Any]:
    value = body.get(name)
    if value is None or value == "":
        return []
    if isinstance(value, dict):  # one item, as some clients write it
        inner = [member for key, member in value.items() if key != "size"]
        value = inner[0] if len(inner) == 1 and isinstance(inner[0], list) else inner
    if not isinstance(value, list) or len(value) > 1000:
        refuse_page(ctx, 409, f"{name} must be a list of at most 1000")
    return value


def reference_in(ctx: HandlerContext, body: Row, name: str, entity: str, usual: int | None) -> int | None:
    """Returns the id that a reference names by id or name: `<site><id>2</id></site>`, `<category>Apps</category>`."""
    value = body.get(name)
    if value is None:
        return usual
    if isinstance(value, dict):
        return referred(ctx, entity, value)
    return referred(ctx, entity, {"name": value})


def referred(ctx: HandlerContext, entity: str, given: Any) -> int | None:
    """The id of the row that an id or a name tells; None for no row at all, which is -1 or an empty name."""
    value = given if isinstance(given, dict) else {"id": given}
    id = whole_number(value.get("id"))
    if id is None and str(value.get("id", "")) in ("-1",):
        return None
    if id is not None:
        if ctx.get(entity, {"id": id}) is None:
            refuse_page(ctx, 409, f"Problem with {entity}: there is none with the id {id}")
        return id
    name = value.get("name")
    if name in (None, "", "None", "No category assigned", "Unknown"):
        return None
    for row in all_rows(ctx.query, entity, "id"):
        known = row.get("name") or row.get("packageName") or (row.get("general") or {}).get("name") \
            or (row.get("general") or {}).get("displayName")  # fmt: skip
        if str(known).lower() == str(name).lower():
            return row["id"]
    refuse_page(ctx, 409, f"Problem with {entity}: there is none with the name {str(name)[:100]}")


def brief(ctx: HandlerContext, entity: str, id: int | None, none: str = "None") -> Row:
    """A row as others refer to it."""
    row = None if id is None else ctx.get(entity, {"id": id})
    return {"id": id, "name": row["name"]} if row else {"id": -1, "name": none}
