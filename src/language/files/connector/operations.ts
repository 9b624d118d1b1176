/**
 * Keys of `[[operations]]`: the vendor's routes. `[operations.ingest]` defines how a captured answer is converted into
 * rows, `[operations.api]` how the world itself answers the route.
 */
import type { FilterMatch, PageKind, RouteAction } from '../../contract.ts';
import {
  anything,
  distinct,
  filledText,
  flag,
  integer,
  kind,
  listOf,
  mapOf,
  oneOf,
  type Placed,
  placed,
  text,
  textMatching,
} from '../../read/kinds.ts';
import {
  defaulted,
  described,
  optional,
  required,
  type TableOf,
  tableDefaults,
  tableOf,
} from '../../read/table.ts';

export const errorStatus = integer(400, 599);
const okStatus = integer(200, 299);

const pageKinds = ['none', 'offset', 'cursor'] as const satisfies readonly PageKind[];

export const mediaTypes = listOf(
  textMatching(
    'a media type in lower case, without parameters; one * matches any text',
    /^(?=[^*]*\*?[^*]*$)[a-z0-9][a-z0-9!#$&^_.+-]{0,126}\/[a-z0-9*][a-z0-9!#$&^_.+*-]{0,126}$/,
  ),
  { most: 100 },
);

/** Key for the field of an answer that has the time of the last change. */
export const lastModified = described(
  'Field of an answered object with the time of its last change, for the header Last-Modified: a.b.c or /a/b/c.',
  optional(filledText()),
);

/** Keys that a route may set for itself; without them, the defaults of all routes apply. */
export const pageKey = described(
  'Kind of pagination of lists.',
  optional<PageKind>(oneOf(pageKinds)),
);

const textMap = mapOf(text);

const noTexts = (): Map<string, string> => new Map();

/** A map of names to names; a list of names maps each name to itself. */
const nameMap = kind<Map<string, string>>(
  { anyOf: [{ type: 'array', items: { type: 'string' } }, textMap.schema ?? {}] },
  (place, value) => {
    if (!Array.isArray(value)) return textMap(place, value);
    const names = distinct(listOf(filledText()))(place, value);
    return names === undefined ? undefined : new Map(names.map((name) => [name, name]));
  },
);

const explodeKeys = {
  field: described(
    'Path of the nested list in the captured row. The list is removed from that row.',
    required(filledText(), ''),
  ),
  entity: described('Entity of the rows that the items become.', required(text, '')),
  carry: described(
    'Fields of the new row that come from the captured row: field to path.',
    defaulted<Map<string, string>>(textMap, noTexts()),
  ),
  take: described(
    'Fields of the new row that come from the item: a list of names, or field to path; the path "" is the item itself. Absent: all fields of the item.',
    optional<Map<string, string>>(nameMap),
  ),
};
export type ExplodeTable = TableOf<typeof explodeKeys>;

const ingestKeys = {
  drop: described(
    "Fields of the vendor's rows that the entity lacks; they are removed.",
    defaulted(distinct(listOf(filledText())), []),
  ),
  carry_args: described(
    'Fields that get their value from an argument of the request: field to argument.',
    defaulted<Map<string, string>>(textMap, noTexts()),
  ),
  explode: described(
    'Nested lists whose items become rows of another entity.',
    defaulted<Placed<ExplodeTable>[]>(listOf(placed(tableOf(explodeKeys))), []),
  ),
};
type IngestTable = TableOf<typeof ingestKeys>;

const routeActions = [
  'read',
  'create',
  'update',
  'delete',
  'handler',
] as const satisfies readonly RouteAction[];
const matches = ['equals', 'contains', 'prefix'] as const satisfies readonly FilterMatch[];

const operationApiKeys = {
  action: described(
    'Action that the route performs.',
    defaulted<RouteAction>(oneOf(routeActions), 'read'),
  ),
  filter: described(
    'Filter that selects the rows of the route: argument to field. Required for update and delete.',
    defaulted<Map<string, string>>(textMap, noTexts()),
  ),
  match: described(
    'How an argument of the filter is compared with its field: argument to "equals", "contains" or "prefix". Default: "equals".',
    defaulted<Map<string, FilterMatch>>(mapOf(oneOf(matches)), new Map()),
  ),
  handler: described(
    'Function of the handlers module that answers, for the action "handler".',
    optional(filledText()),
  ),
  request: described(
    'Schema of the body that a handler accepts: a definition of schema/world.json, or "<sibling>.json:<name>". Other bodies are refused.',
    optional(filledText()),
  ),
  response: described(
    'Schema of the answer of a handler, in the same form as "request"; "[]" after the name means a list of such values. openapi.json shows the schema.',
    optional(filledText()),
  ),
  status: described(
    'Status of the answer. Default: 201 for create, 204 for delete, else 200.',
    optional(okStatus),
  ),
  envelope: described(
    'Key under which the answer has the rows, if it differs from that of [api].',
    optional(text),
  ),
  single: described(
    'Whether the answer is one object instead of a list. Default: true for create and update.',
    optional(flag),
  ),
  body: described(
    "Fields taken from the request's body: field to path. For create and update.",
    defaulted<Map<string, string>>(textMap, noTexts()),
  ),
  defaults: described(
    'Constant values that are written into fields. For create and update.',
    defaulted<Map<string, unknown>>(mapOf(anything), new Map()),
  ),
  generate: described(
    'Fields whose values are generated: field to "uuid", "int" or "now". For create and update.',
    defaulted<Map<string, 'uuid' | 'int' | 'now'>>(mapOf(oneOf(['uuid', 'int', 'now'])), new Map()),
  ),
  sample: described(
    'Valid values of the arguments, with which "connector conform" calls the route.',
    defaulted<Map<string, unknown>>(mapOf(anything), new Map()),
  ),
  page: pageKey,
  not_found: described(
    'Body of the answer when there is no such row, as JSON text; "" for none.',
    optional(text),
  ),
  not_found_status: described(
    'Status of the answer when there is no such row.',
    optional(errorStatus),
  ),
  media_types: described(
    'Media types in which the route answers, besides those of [api].',
    optional<string[]>(distinct(mediaTypes)),
  ),
  body_types: described(
    "Media types of bodies that a handler accepts; others are refused with 415. JSON and forms are parsed, and the handler gets any other body as text. Default: JSON and forms, whatever the request's content type.",
    optional<string[]>(distinct(mediaTypes)),
  ),
  body_encoding: described(
    '"base64": the handler gets the bytes of the body as base64, for example of an uploaded file. Without "body_types", every media type is then accepted. Default: bodies are parsed as described for "body_types".',
    optional(oneOf(['base64'])),
  ),
  last_modified: lastModified,
  keep_answers: described(
    'Whether the answers of the handler to GET depend only on the request and the rows, if this differs from [api].',
    optional(flag),
  ),
  cursor_absent_when_done: described(
    'Whether the last page lacks the cursor, if this differs from [api].',
    optional(flag),
  ),
};
export type OperationApiTable = TableOf<typeof operationApiKeys>;

/** Values for an operation that has no table `[operations.api]`. */
export const plainOperationApi = tableDefaults(operationApiKeys);

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

const parameter = textMatching(
  'a query parameter, followed by [] if it may be repeated',
  /^(?!\[\]$)[^\s&=#?]{1,200}$/,
);

const operationKeys = {
  name: described(
    'Name of the operation, in snake_case, unique in the file.',
    required(textMatching('a name in snake_case', /^[a-z][a-z0-9_]{0,127}$/), ''),
  ),
  method: described('HTTP method.', defaulted<(typeof methods)[number]>(oneOf(methods), 'GET')),
  path: described(
    'Path below base_url. {name} is an argument; {name...} is an argument whose value may contain slashes.',
    required(text, ''),
  ),
  params: described(
    'Names of query parameters; the suffix [] means that the parameter may be repeated.',
    defaulted(distinct(listOf(parameter)), []),
  ),
  entity: described(
    'Entity of the captured rows, and of the rows that the route serves.',
    optional(text),
  ),
  results: described(
    'Path to the list of rows in an answer\'s body, a.b.c or /a/b/c; "": the body itself is the row.',
    defaulted(text, ''),
  ),
  ingest: described(
    'Rules by which a captured row becomes a row of the entity.',
    optional<Placed<IngestTable>>(placed(tableOf(ingestKeys))),
  ),
  api: described(
    'Rules by which the world serves the route.',
    optional<OperationApiTable>(tableOf(operationApiKeys)),
  ),
};
export type OperationTable = TableOf<typeof operationKeys>;

export const operationsKey = described(
  "The vendor's routes.",
  defaulted<Placed<OperationTable>[]>(listOf(placed(tableOf(operationKeys))), []),
);
