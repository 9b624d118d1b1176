/**
 * `connector.toml`: the vendor a world stands for: its credential, its routes, its errors, and what of
 * its rows must not be kept. This file says which keys there are; routes are checked against the data
 * model in `check/routes.ts`, redaction in `check/redact.ts`.
 */
import {
  anything,
  distinct,
  filledText,
  flag,
  integer,
  type Kind,
  listOf,
  mapOf,
  oneOf,
  type Placed,
  placed,
  text,
  textThat,
} from '../read/kinds.ts';
import type { Place } from '../read/place.ts';
import {
  defaulted,
  defaultedTable,
  optional,
  readTable,
  required,
  requiredTable,
  type TableOf,
  tableDefaults,
  tableOf,
  unsupported,
} from '../read/table.ts';
import type { Tree } from '../read/tree.ts';

export const connectorFile = 'connector.toml';

const isBaseUrl = (written: string): boolean => {
  const url = URL.parse(written);
  if (url === null || !/^https?:\/\//i.test(written) || /[?#\s]/.test(written)) return false;
  return url.username === '' && url.password === '';
};

const connectorKeys = {
  slug: required(
    textThat('lower-case letters, digits and hyphens', (slug) => /^[a-z0-9-]{1,128}$/.test(slug)),
    '',
  ),
  base_url: required(textThat('an http or https URL without query and fragment', isBaseUrl), ''),
};

const variableName = textThat('the name of an environment variable', (name) =>
  /^[A-Za-z_][A-Za-z0-9_]*$/.test(name),
);

export const authSchemes = ['header', 'bearer', 'basic', 'query', 'oauth2', 'none'] as const;
export type AuthScheme = (typeof authSchemes)[number];

const authKeys = {
  scheme: required<AuthScheme>(oneOf(authSchemes), 'none'),
  name: optional(textThat('a name without spaces', (name) => /^[^\s]{1,200}$/.test(name))),
  secret_env: optional(variableName),
  headers: defaulted<Map<string, string>>(mapOf(variableName), new Map()),
  token_url: optional(
    textThat('a path or an absolute URL', (url) => url.startsWith('/') || URL.canParse(url)),
  ),
  client_id_env: optional(variableName),
  scope: optional(filledText()),
};
export type AuthTable = TableOf<typeof authKeys>;

const names = distinct(listOf(filledText()));

const redactKeys = {
  hash: defaulted(names, []),
  drop: defaulted(names, []),
  preserve: defaulted(names, []),
  round: defaulted<Map<string, number>>(mapOf(integer(0, 10)), new Map()),
};
export type RedactTable = TableOf<typeof redactKeys>;

const errorStatus = integer(400, 599);
const okStatus = integer(200, 299);

/** Keys of `[operations.api]` and of `[api]` that are about paging, which routes do not do yet. */
const pagingKeys = { page: unsupported(), cursor_absent_when_done: unsupported() };

export const routeActions = ['read', 'create', 'update', 'delete', 'handler'] as const;

const operationApiKeys = {
  action: defaulted<(typeof routeActions)[number]>(oneOf(routeActions), 'read'),
  filter: defaulted<Map<string, string>>(mapOf(text), new Map()),
  match: defaulted<Map<string, 'equals' | 'contains' | 'prefix'>>(
    mapOf(oneOf(['equals', 'contains', 'prefix'])),
    new Map(),
  ),
  handler: optional(filledText()),
  status: optional(okStatus),
  envelope: optional(text),
  single: optional(flag),
  body: defaulted<Map<string, string>>(mapOf(text), new Map()),
  defaults: defaulted<Map<string, unknown>>(mapOf(anything), new Map()),
  generate: defaulted<Map<string, 'uuid' | 'int' | 'now'>>(
    mapOf(oneOf(['uuid', 'int', 'now'])),
    new Map(),
  ),
  not_found: optional(text),
  not_found_status: optional(errorStatus),
  sample: unsupported(),
  ...pagingKeys,
};
export type OperationApiTable = TableOf<typeof operationApiKeys>;

/** How an operation is served that has no table `[operations.api]`. */
export const plainOperationApi = tableDefaults(operationApiKeys);

const parameter = textThat('a query parameter, followed by [] when the vendor repeats it', (name) =>
  /^[^\s&=#?]{1,200}$/.test(name.replace(/\[\]$/, '')),
);

const operationKeys = {
  name: required(
    textThat('a name in snake_case', (name) => /^[a-z][a-z0-9_]*$/.test(name)),
    '',
  ),
  method: defaulted<'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'>(
    oneOf(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']),
    'GET',
  ),
  path: required(text, ''),
  params: defaulted(distinct(listOf(parameter)), []),
  entity: optional(text),
  api: optional<OperationApiTable>(tableOf(operationApiKeys)),
  results: unsupported(),
  ingest: unsupported(),
};
export type OperationTable = TableOf<typeof operationKeys>;

/** A path of a file of the tree, as other rules of the tree want paths. */
const pythonOrTypeScript = textThat(
  'the path of a .py or .ts file in the world',
  (path) => /^[^/\\].*\.(py|ts)$/.test(path) && !path.split('/').includes('..'),
);

const jsonError = (name: string): string => JSON.stringify({ error: name });

const apiKeys = {
  envelope: defaulted(text, ''),
  unauthorized: defaulted(text, jsonError('unauthorized')),
  unauthorized_status: defaulted(errorStatus, 401),
  not_found: defaulted(text, jsonError('not_found')),
  not_found_status: defaulted(errorStatus, 404),
  invalid: defaulted(text, jsonError('invalid')),
  invalid_status: defaulted(errorStatus, 400),
  error_content_type: defaulted(
    textThat('a media type', (type) => /^[\w.+-]+\/[\w.+-]+(\s*;[\x20-\x7e]*)?$/.test(type)),
    'application/json',
  ),
  handlers: defaulted(pythonOrTypeScript, 'api/handlers.py'),
  before: unsupported(),
  token_path: unsupported(),
  hits_key: unsupported(),
  cursor_key: unsupported(),
  previous_key: unsupported(),
  page_headers: unsupported(),
  page_links: unsupported(),
  page_size: unsupported(),
  limit_param: unsupported(),
  offset_param: unsupported(),
  cursor_param: unsupported(),
  ...pagingKeys,
};
export type ApiTable = TableOf<typeof apiKeys>;

const optionalPlaced = <Value>(kind: Kind<Value>) => optional<Placed<Value>>(placed(kind));

const fileKeys = {
  connector: requiredTable(connectorKeys),
  auth: optionalPlaced(tableOf(authKeys)),
  redact: optionalPlaced(tableOf(redactKeys)),
  operations: defaulted<Placed<OperationTable>[]>(listOf(placed(tableOf(operationKeys))), []),
  api: defaultedTable(apiKeys),
  capture: unsupported(),
  ui: unsupported(),
  webhooks: unsupported(),
};
export type Connector = TableOf<typeof fileKeys> & { place: Place };

/** Reads the connector; undefined when the world has none, or when it is broken, which is noted. */
export const readConnector = (tree: Tree): Connector | undefined => {
  const document = tree.toml(connectorFile);
  if (document === undefined) return undefined;
  return { ...readTable(document.place, document.value, fileKeys), place: document.place };
};
