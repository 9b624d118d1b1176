/**
 * Compiled contract of a world: everything that a runtime needs, checked and with all defaults filled in. It is plain
 * JSON (`schema/runtime.json` of a version's bundle). The store and the host read only the contract and never the
 * hand-written files.
 */
import type { Task } from './task.ts';

export type JsonSchema = { [keyword: string]: unknown };
/** A row as JSON. */
export type Row = { [field: string]: unknown };
/** Path into a row or a request body: its segments; a whole number indexes a list. */
export type FieldPath = string[];

export type ColumnType = 'TEXT' | 'INTEGER' | 'REAL';

export type EntityContract = {
  name: string;
  /** Schema of a row. It may refer to `#/$defs/<name>` of `Contract.definitions`. */
  schema: JsonSchema;
  /** Top-level fields, in order. */
  primaryKey: string[];
  /** Further unique constraints, each a list of paths. */
  unique: FieldPath[][];
  relationships: { fields: string[]; target: string }[];
  /** Scalar top-level fields, each a generated column of the store. */
  columns: { name: string; type: ColumnType }[];
};

/** Implementation of a tool: a function in a user-code file, a route, or a convention over an entity. */
export type ToolBinding =
  | { kind: 'python' | 'typescript'; file: string; function: string }
  | { kind: 'operation'; operation: string }
  | {
      kind: 'convention';
      verb: 'list' | 'get' | 'create' | 'update' | 'delete';
      entity: string;
    };

export type ToolContract = {
  name: string;
  description?: string;
  input: JsonSchema;
  output: JsonSchema;
  binding: ToolBinding;
};

/** Error answer of the vendor. Its body is replayed unchanged; '' means no body. */
export type VendorError = { status: number; body: string };

/**
 * Causes of a rejection for which a vendor may have an error of its own: a key that is taken, a row that is missing or
 * in use, a malformed body.
 */
export const invalidCauses = ['duplicate', 'reference', 'shape'] as const;
export type InvalidCause = (typeof invalidCauses)[number];

export type RouteAction = 'read' | 'create' | 'update' | 'delete' | 'handler';
export type FilterMatch = 'equals' | 'contains' | 'prefix';
export type PageKind = 'none' | 'offset' | 'cursor';

/** Literal text of a path, or an argument. */
export type PathPart = { literal: string } | { argument: string };

/**
 * Segment of a path: one part, several adjacent parts (`{id}.json`), or an argument that spans one segment or more,
 * including the slashes.
 */
export type PathSegment = PathPart | { argument: string; rest: true } | { parts: PathPart[] };

export type RouteContract = {
  operation: string;
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path as written, for example `/repos/{owner}/{repo}/issues`. */
  path: string;
  segments: PathSegment[];
  params: { name: string; repeated: boolean }[];
  entity: string | null;
  action: RouteAction;
  filter: { argument: string; path: FieldPath; match: FilterMatch }[];
  /** Function in the handlers module, for action `handler`. */
  handler: string | null;
  /** Schemas that validate a handler's request bodies and its answers. Absent: no validation. */
  request?: JsonSchema;
  response?: JsonSchema;
  status: number;
  /** Key of the answer that holds the rows; '' returns them bare. */
  envelope: string;
  single: boolean;
  /** Mapping of request body members to fields of the row, for create and update. */
  body: { field: FieldPath; from: FieldPath }[];
  defaults: Row;
  generate: { field: string; with: 'uuid' | 'int' | 'now' }[];
  /** Valid values of arguments with which the route can be tried out. */
  sample: Record<string, unknown>;
  /** Pagination of a list; `none` also for a single object. */
  page: PageKind;
  /** True if the last page leaves out the cursor's key instead of sending it empty. */
  cursorAbsentWhenDone: boolean;
  notFound: VendorError;
  /** Media types of answers beside those of all routes. Absent: none. */
  mediaTypes?: string[];
  /** Media types of bodies that a handler accepts, exclusively. Absent: JSON and forms. */
  bodyTypes?: string[];
  /** Encoding in which a handler gets the bytes of the body. Absent: it gets parsed values and text. */
  bodyEncoding?: 'base64';
  /** Field in which an answer to GET has its time of last change. Absent: none. */
  lastModified?: FieldPath;
  /**
   * True if the handler's answer depends only on the request and the rows, so that hosts may cache it. Absent: they
   * may not.
   */
  keepsAnswer?: true;
};

/** Names of a world's pagination parameters and keys. */
export type Paging = {
  pageSize: number;
  limitParam: string;
  offsetParam: string;
  cursorParam: string;
  /** Key of the total number of rows; '' leaves it out. */
  hitsKey: string;
  cursorKey: string;
  previousKey: string | null;
  /** Header names. */
  headers: { cursor?: string; total?: string; previous?: string };
  /** True if next and previous are absolute URLs of the served host. */
  links: boolean;
};

/** Pagination of a connector that does not configure it. */
export const plainPaging: Paging = {
  pageSize: 100,
  limitParam: 'limit',
  offsetParam: 'offset',
  cursorParam: 'cursor',
  hitsKey: 'hits',
  cursorKey: 'cursor',
  previousKey: null,
  headers: {},
  links: false,
};

export const authSchemes = ['header', 'bearer', 'basic', 'query', 'oauth2', 'none'] as const;
export type AuthScheme = (typeof authSchemes)[number];

/**
 * Splits a list of OAuth scopes into its unique names, in order. Vendors separate them by spaces, as the standard
 * does, or by commas.
 */
export const scopesOf = (text: string | null): string[] => [
  ...new Set((text ?? '').split(/[\s,]+/).filter((name) => name !== '')),
];

/** Fact about a rate limit that a header reports; `reset` and `reset_after` are in seconds. */
export type RateLimitFact =
  | 'name'
  | 'limit'
  | 'used'
  | 'remaining'
  | 'reset'
  | 'reset_after'
  | 'seconds';

/** Rate limit that response headers report. Only a fault with the effect `rate_limit` enforces it. */
export type RateLimit = {
  name: string;
  /** Requests allowed in a window, and the window's length. */
  limit: number;
  seconds: number;
  /** Paths of the routes that count against it; a final `*` stands for anything. Absent: all. */
  paths?: string[];
  /** Routes that do not count against it. */
  uncounted: string[];
  /** Facts by header name, in lower case. */
  headers: Record<string, RateLimitFact>;
};

/** Error answer that a fault returns instead of the vendor's own. */
export type FaultAnswer = { status: number; body: string; headers: Record<string, string> };

/** Effect of a fault on a request, beside its latency. */
export type FaultEffect =
  | ({ kind: 'status' } & FaultAnswer)
  /** The connection ends without an answer, before or after the request is executed. */
  | { kind: 'drop'; at: 'before' | 'after' }
  /** Requests beyond a limit of `rateLimits` are refused; `most` and `seconds` replace the limit's own values. */
  | ({
      kind: 'rate_limit';
      limit: string;
      most: number;
      seconds: number;
      retryAfter: boolean;
    } & FaultAnswer);

/** Rule for an injected fault. */
export type Fault = {
  name: string;
  /** Names of operations, or their paths with a final `*` for anything. Absent: all. */
  routes?: string[];
  /** Requests that the fault affects: some in a row, counted from 1, or random ones. Absent: all. */
  when?: { nth: number; times: number } | { chance: number };
  /** Latency that is added to the answer. */
  latencyMs?: number;
  effect?: FaultEffect;
};

/** Injected faults. If `tools` is true, they also affect tool calls. */
export type Faults = { tools: boolean; rules: Fault[] };

export type ApiContract = {
  /** Credential scheme of the vendor, `[auth] scheme`. */
  auth: {
    scheme: AuthScheme;
    /** Header or query parameter, for `header` and `query`. */
    name: string | null;
    /** Path on which the world mints bearer tokens, for `oauth2`. */
    tokenPath: string | null;
    /** Scope of those tokens, for `oauth2`. */
    scope: string | null;
  };
  routes: RouteContract[];
  /**
   * Media types of answers of all routes beside JSON, in lower case, with at most one `*`. The status is for clients
   * that accept none of them. Absent: JSON, whatever the client accepts.
   */
  mediaTypes?: string[];
  notAcceptableStatus?: number;
  /** Path prefixes under which all routes answer as well: `/api/v3`. Absent: none. */
  prefixes?: string[];
  /** Path prefixes that are aliases of others, the longest first: `/rest/api/2` for `/rest/api/3`. Absent: none. */
  aliases?: { from: string; to: string }[];
  unauthorized: VendorError;
  notFound: VendorError;
  /** Error for a malformed request. Its body may have the placeholders `{param}`, `{field}` and `{message}`. */
  invalid: VendorError;
  /** Errors that replace `invalid`, by cause. Absent: none. */
  invalidBy?: Partial<Record<InvalidCause, VendorError>>;
  errorContentType: string;
  /** Path of the handlers module, if `before` or a route uses it. */
  handlers: string | null;
  /** True if handlers validate bodies themselves, so that `request` of their routes is not enforced. */
  uncheckedRequests?: true;
  /** Function of the handlers module that runs before every route. */
  before: string | null;
  /** Rate limits that answers report. If several have the same header, the first one applies. Absent: none. */
  rateLimits?: RateLimit[];
  /** Default faults of a session. Absent: none. */
  faults?: Faults;
  paging: Paging;
};

/** Turns the items of a list inside a captured row into rows of another entity. */
export type Explode = {
  /** Path of the list in the captured row, from which the list is removed. */
  field: FieldPath;
  entity: string;
  /** Mapping of fields of the captured row to fields of the item's row. */
  carry: { field: string; from: FieldPath }[];
  /** Mapping of fields of the item, `[]` being the item itself; null takes the whole item. */
  take: { field: string; from: FieldPath }[] | null;
};

/** Treatment of a captured row before it is stored as a row of its entity. */
export type Ingest = {
  drop: string[];
  carryArgs: { field: string; argument: string }[];
  explode: Explode[];
};

/** Operation of the vendor's API, whether or not the world serves it. */
export type VendorOperation = Pick<RouteContract, 'method' | 'path' | 'segments' | 'params'> & {
  name: string;
  /** Entity of the captured rows. */
  entity: string | null;
  /** Path of the rows in the answer's body; `[]`: the body itself is the row, or the list of rows. */
  results: FieldPath;
  ingest: Ingest;
};

/** Vendor behind a world: its address and credentials, and the conversion of its answers into rows. */
export type VendorContract = {
  /** `[connector] slug`, the salt of redaction. */
  slug: string;
  /** Base URL without a trailing slash. */
  baseUrl: string;
  /** Names of environment variables, never credentials. */
  auth: {
    scheme: AuthScheme;
    name: string | null;
    secretEnv: string | null;
    /** Environment variable by header name. */
    headers: Record<string, string>;
    /** Absolute URL. */
    tokenUrl: string | null;
    clientIdEnv: string | null;
    scope: string | null;
  };
  capture: {
    requestsPerMinute: number;
    timeoutSeconds: number;
    maxPages: number;
    /** Request parameter of the next cursor, and the cursor's place in an answer. */
    cursor: { param: string; from: { field: FieldPath } | { header: string } } | null;
  };
  operations: VendorOperation[];
};

/** Signature schemes of webhook deliveries: those of four vendors, a plain HMAC, or none. */
export const signingSchemes = [
  'standard-webhooks',
  'github',
  'linear',
  'stripe',
  'hmac-sha256',
  'none',
] as const;
export type SigningScheme = (typeof signingSchemes)[number];

/** Storage of webhook subscriptions, and the signing of deliveries. */
export type WebhooksContract = {
  /** Entity into which the vendor's own registration routes write subscriptions. */
  subscriptions: string;
  url: FieldPath;
  /** Field of the wanted event types; null, absent or empty: every event. */
  events: FieldPath | null;
  secret: FieldPath | null;
  enabled: FieldPath | null;
  /** Field that is `form` if the body is sent as a form; absent in contracts of the previous release. */
  contentType?: FieldPath | null;
  /** List fields in which an event's scopes are looked up. */
  scope: { name: string; path: FieldPath }[];
  signing: SigningScheme;
  /** True if subscriptions without a secret get unsigned deliveries. Absent: they get none. */
  unsigned?: true;
  /** Names of a delivery's headers, in lower case; which exist depends on the scheme. */
  headers: { id?: string; event?: string; timestamp?: string; signature?: string };
};

/** Directory that a world's `ui` surface serves. */
export type UiContract = {
  /** Path in the tree, without a trailing slash. */
  static: string;
  entry: string;
  /** Same-origin prefix of the page's API requests. */
  apiPath: string;
  /** True if compiling writes the directory; null: only if it holds no page. */
  generated: boolean | null;
};

/** Another world to which this one is linked. */
export type Dependency = {
  alias: string;
  slug: string;
  /** Version of the other world, or a reference to one. */
  ref: string;
  task: string | null;
  /** Tools of the other world that are offered beside this world's own; null: all. */
  tools: string[] | null;
  /** Mapping of fields of this world to the same fields of the other. */
  entities: { entity: string; field: string; targetEntity: string; targetField: string }[];
};

/** Returns the name of a linked world's tool in the world that links to it. */
export const linkedTool = (alias: string, tool: string): string => `${alias}.${tool}`;

export type RedactPolicy = {
  slug: string;
  hash: string[];
  drop: string[];
  preserve: string[];
  round: Record<string, number>;
};

export type Contract = {
  language: 'svc-world/1';
  name: string;
  package: { id: string; version: string };
  domainVersion: string;
  /** `$defs` of `schema/world.json`. */
  definitions: Record<string, JsonSchema>;
  /** Entities in the file's order. */
  entities: EntityContract[];
  tools: ToolContract[];
  /** Null for a world without `connector.toml`. */
  api: ApiContract | null;
  vendor: VendorContract | null;
  redact: RedactPolicy | null;
  webhooks: WebhooksContract | null;
  ui: UiContract | null;
  dependencies: Dependency[];
  /** Actions that run on every push. */
  onPush: 'tests'[];
  /** Checks that a pushed version must pass before it becomes the head; absent: none. */
  gate?: 'tests'[];
  /** Bundled tasks. */
  tasks: Task[];
};
