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
    'a media type in lower case, without parameters; one * stands for anything',
    /^(?=[^*]*\*?[^*]*$)[a-z0-9][a-z0-9!#$&^_.+-]{0,126}\/[a-z0-9*][a-z0-9!#$&^_.+*-]{0,126}$/,
  ),
  { most: 100 },
);

/** Key for the field of an answer that has the time of the last change. */
export const lastModified = described(
  'Field of an answered object that says when it was last changed, for Last-Modified: a.b.c or /a/b/c.',
  optional(filledText()),
);

/** Keys that a route may set for itself; without them, the defaults of all routes apply. */
export const pageKey = described('Paging of lists.', optional<PageKind>(oneOf(pageKinds)));

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
    'Path of the nested list in the captured row. It is taken out of that row.',
    required(filledText(), ''),
  ),
  entity: described('Entity that the items become rows of.', required(text, '')),
  carry: described(
    'Fields of the new row that come from the captured row: field to path.',
    defaulted<Map<string, string>>(textMap, noTexts()),
  ),
  take: described(
    'Fields of the new row that come from the item: a list of names, or field to path; the path "" is the item itself. Absent: all of the item.',
    optional<Map<string, string>>(nameMap),
  ),
};
export type ExplodeTable = TableOf<typeof explodeKeys>;

const ingestKeys = {
  drop: described(
    'Fields of the vendor that the entity does not carry.',
    defaulted(distinct(listOf(filledText())), []),
  ),
  carry_args: described(
    'Fields written from an argument of the request: field to argument.',
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
  action: described('What the route does.', defaulted<RouteAction>(oneOf(routeActions), 'read')),
  filter: described(
    'Rows of the route, by argument: argument to field. Needed for update and delete.',
    defaulted<Map<string, string>>(textMap, noTexts()),
  ),
  match: described(
    'Comparison for an argument of the filter. Default: "equals".',
    defaulted<Map<string, FilterMatch>>(mapOf(oneOf(matches)), new Map()),
  ),
  handler: described(
    'Function of the handlers module, for action "handler".',
    optional(filledText()),
  ),
  request: described(
    'Schema of the body that a handler accepts: a definition of schema/world.json, or "<sibling>.json:<name>". Other bodies are refused.',
    optional(filledText()),
  ),
  response: described(
    'What a handler answers, in the same form; "[]" after it means a list of such. Shown in openapi.json.',
    optional(filledText()),
  ),
  status: described(
    'Status of the answer. Default: 200, for create 201, for delete 204.',
    optional(okStatus),
  ),
  envelope: described('Key the rows are answered under, if not that of [api].', optional(text)),
  single: described(
    'Answer the object instead of a list. Default: true for create and update.',
    optional(flag),
  ),
  body: described(
    "Fields taken from the request's body: field to path. For create and update.",
    defaulted<Map<string, string>>(textMap, noTexts()),
  ),
  defaults: described(
    'Constants written. For create and update.',
    defaulted<Map<string, unknown>>(mapOf(anything), new Map()),
  ),
  generate: described(
    'Fields whose values are generated. For create and update.',
    defaulted<Map<string, 'uuid' | 'int' | 'now'>>(mapOf(oneOf(['uuid', 'int', 'now'])), new Map()),
  ),
  sample: described(
    'Accepted values of arguments, so that "connector conform" can call the route.',
    defaulted<Map<string, unknown>>(mapOf(anything), new Map()),
  ),
  page: pageKey,
  not_found: described(
    'Body of the answer when there is no such row, as JSON text; "" for none.',
    optional(text),
  ),
  not_found_status: described('Its status.', optional(errorStatus)),
  media_types: described(
    'Media types that the route answers in, beside those of [api].',
    optional<string[]>(distinct(mediaTypes)),
  ),
  body_types: described(
    'Media types of bodies that a handler takes; others are refused with 415. JSON and forms are read, all else is given to it as text. Default: JSON and forms, whatever their type says.',
    optional<string[]>(distinct(mediaTypes)),
  ),
  body_encoding: described(
    '"base64": the body is given to the handler as base64 of its bytes, whatever they are, as clients send files. Without "body_types" every type is taken. Default: as "body_types" says.',
    optional(oneOf(['base64'])),
  ),
  last_modified: lastModified,
  keep_answers: described(
    'Whether what a handler answers to GET follows from request and rows alone, if not as [api] says.',
    optional(flag),
  ),
  cursor_absent_when_done: described(
    'Leave the cursor out on the last page, if not as [api] says.',
    optional(flag),
  ),
};
export type OperationApiTable = TableOf<typeof operationApiKeys>;

/** Values for an operation that has no table `[operations.api]`. */
export const plainOperationApi = tableDefaults(operationApiKeys);

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

const parameter = textMatching(
  'a query parameter, followed by [] when the vendor repeats it',
  /^(?!\[\]$)[^\s&=#?]{1,200}$/,
);

const operationKeys = {
  name: described(
    'Name of the operation, in snake_case, unique in the file.',
    required(textMatching('a name in snake_case', /^[a-z][a-z0-9_]{0,127}$/), ''),
  ),
  method: described('HTTP method.', defaulted<(typeof methods)[number]>(oneOf(methods), 'GET')),
  path: described(
    'Path below base_url. {name} marks an argument, {name...} one that may hold slashes.',
    required(text, ''),
  ),
  params: described(
    'Names of query parameters; the suffix [] marks one that is repeated.',
    defaulted(distinct(listOf(parameter)), []),
  ),
  entity: described(
    'Entity that captured rows land in, and that the route is about.',
    optional(text),
  ),
  results: described(
    'Path to the list of rows in an answer\'s body, a.b.c or /a/b/c; "": the body itself is the row.',
    defaulted(text, ''),
  ),
  ingest: described(
    'How a captured row becomes a row of the entity.',
    optional<Placed<IngestTable>>(placed(tableOf(ingestKeys))),
  ),
  api: described(
    'How the route is served.',
    optional<OperationApiTable>(tableOf(operationApiKeys)),
  ),
};
export type OperationTable = TableOf<typeof operationKeys>;

export const operationsKey = described(
  "The vendor's routes.",
  defaulted<Placed<OperationTable>[]>(listOf(placed(tableOf(operationKeys))), []),
);
