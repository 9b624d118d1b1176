/**
 * Compiled contract of a world: everything that a runtime needs, checked and with all defaults filled in. It is plain
 * JSON (`schema/runtime.json` of a version's bundle). The store and the host read only the contract and never the
 * hand-written files.
 */
import type { Task } from './task.ts';

export type JsonSchema = { [keyword: string]: unknown };
/** A row as a JSON object. */
export type Row = { [field: string]: unknown };
/**
 * Path into a row or a request body, as a list of segments. A segment that is a whole number is the index of a list
 * item.
 */
export type FieldPath = string[];

export type ColumnType = 'TEXT' | 'INTEGER' | 'REAL';

export type EntityContract = {
  name: string;
  /** Schema of a row. It may refer to `#/$defs/<name>` of `Contract.definitions`. */
  schema: JsonSchema;
  /** Top-level fields of the primary key, in order. */
  primaryKey: string[];
  /** Unique constraints besides the primary key, each a list of paths. */
  unique: FieldPath[][];
  relationships: { fields: string[]; target: string }[];
  /** Scalar top-level fields; the store has a generated column for each. */
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

/** Error answer of the vendor. Its body is sent unchanged; '' means that there is no body. */
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
 * Segment of a path: one part, several adjacent parts (`{id}.json`), or an argument that spans one or more segments,
 * including the slashes between them.
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
  /** Function in the handlers module that answers, for the action `handler`; null for other actions. */
  handler: string | null;
  /** Schemas by which a handler's request bodies and its answers are validated; absent if they are not validated. */
  request?: JsonSchema;
  response?: JsonSchema;
  status: number;
  /** Key of the answer under which the rows are; '' if the answer is the rows themselves. */
  envelope: string;
  single: boolean;
  /** Fields of the row, each with the member of the request body that gives its value; for create and update. */
  body: { field: FieldPath; from: FieldPath }[];
  defaults: Row;
  generate: { field: string; with: 'uuid' | 'int' | 'now' }[];
  /** Valid values of the arguments, with which the route can be tried out. */
  sample: Record<string, unknown>;
  /** Pagination of a list; `none` for a list without pages, and for a single object. */
  page: PageKind;
  /** True if the last page lacks the cursor's key; false if the key is there and empty. */
  cursorAbsentWhenDone: boolean;
  notFound: VendorError;
  /** Media types of this route's answers, besides those of all routes; absent if there are none. */
  mediaTypes?: string[];
  /** Media types of bodies that a handler accepts; it accepts no others. Absent: JSON and forms. */
  bodyTypes?: string[];
  /** Encoding in which a handler gets the bytes of the body; absent if it gets parsed values and text. */
  bodyEncoding?: 'base64';
  /** Field from which an answer to GET takes its time of last change; absent if there is none. */
  lastModified?: FieldPath;
  /**
   * True if the handler's answer depends only on the request and the rows, so that hosts may cache it; absent if they
   * may not.
   */
  keepsAnswer?: true;
};

/** Names of the parameters, keys and headers that a world uses for pagination. */
export type Paging = {
  pageSize: number;
  limitParam: string;
  offsetParam: string;
  cursorParam: string;
  /** Key of the total number of rows; '' if answers do not have the total. */
  hitsKey: string;
  cursorKey: string;
  previousKey: string | null;
  /** Names of headers for the next cursor, the total, and the previous cursor. */
  headers: { cursor?: string; total?: string; previous?: string };
  /** True if the next and previous page are given as absolute URLs of the served host. */
  links: boolean;
};

/** Pagination of a connector that does not configure pagination. */
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
 * Splits a list of OAuth scopes into its unique names, in order. Vendors separate the names by spaces, as the standard
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
  /** Maximum number of requests in a window, and length of the window. */
  limit: number;
  seconds: number;
  /** Paths of the routes whose requests count; a final `*` matches any text. Absent: all routes. */
  paths?: string[];
  /** Routes whose requests do not count. */
  uncounted: string[];
  /** Facts that headers report, by header name in lower case. */
  headers: Record<string, RateLimitFact>;
};

/** Error answer that a fault returns instead of the vendor's own. */
export type FaultAnswer = { status: number; body: string; headers: Record<string, string> };

/** Effect of a fault on a request, besides its latency. */
export type FaultEffect =
  | ({ kind: 'status' } & FaultAnswer)
  /** The connection ends without an answer, before or after the request is executed. */
  | { kind: 'drop'; at: 'before' | 'after' }
  /** Requests beyond a limit of `rateLimits` are refused; `most` and `seconds` replace the values of that limit. */
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
  /**
   * Names of the affected operations, or their paths with a final `*` that matches any text. Absent: all operations.
   */
  routes?: string[];
  /**
   * Requests that the fault affects: `times` successive requests from the `nth` on, counted from 1, or random ones.
   * Absent: all requests.
   */
  when?: { nth: number; times: number } | { chance: number };
  /** Latency that is added to the answer, in milliseconds. */
  latencyMs?: number;
  effect?: FaultEffect;
};

/** Injected faults. If `tools` is true, they also affect tool calls. */
export type Faults = { tools: boolean; rules: Fault[] };

export type ApiContract = {
  /** Credential scheme of the vendor, from `[auth] scheme`. */
  auth: {
    scheme: AuthScheme;
    /** Name of the header or query parameter, for the schemes `header` and `query`; null for others. */
    name: string | null;
    /** Path on which the world mints bearer tokens, for the scheme `oauth2`; null for others. */
    tokenPath: string | null;
    /** Scope of the tokens that the world mints, for the scheme `oauth2`; null for others. */
    scope: string | null;
  };
  routes: RouteContract[];
  /**
   * Media types of the answers of all routes besides JSON, in lower case, with at most one `*`. `notAcceptableStatus`
   * is answered to clients that accept none of them. Absent: all answers are JSON, whatever the client accepts.
   */
  mediaTypes?: string[];
  notAcceptableStatus?: number;
  /** Path prefixes under which all routes also answer, for example `/api/v3`; absent if there are none. */
  prefixes?: string[];
  /**
   * Path prefixes that are aliases of other prefixes, the longest first, for example `/rest/api/2` for `/rest/api/3`;
   * absent if there are none.
   */
  aliases?: { from: string; to: string }[];
  unauthorized: VendorError;
  notFound: VendorError;
  /** Error for a malformed request. Its body may have the placeholders `{param}`, `{field}` and `{message}`. */
  invalid: VendorError;
  /** Errors that are answered in place of `invalid`, by cause; absent if there are none. */
  invalidBy?: Partial<Record<InvalidCause, VendorError>>;
  errorContentType: string;
  /** Path of the handlers module; null if neither `before` nor a route uses it. */
  handlers: string | null;
  /** True if handlers validate bodies themselves, so that the schema `request` of their routes is not enforced. */
  uncheckedRequests?: true;
  /** Function of the handlers module that runs before every route; null if there is none. */
  before: string | null;
  /** Rate limits that answers report. If several report in the same header, the first one applies. Absent: none. */
  rateLimits?: RateLimit[];
  /** Faults that a session has by default; absent if there are none. */
  faults?: Faults;
  paging: Paging;
};

/** Rule that turns the items of a list inside a captured row into rows of another entity. */
export type Explode = {
  /** Path of the list in the captured row. The list is removed from that row. */
  field: FieldPath;
  entity: string;
  /** Fields of the item's row, each with the path in the captured row that gives its value. */
  carry: { field: string; from: FieldPath }[];
  /**
   * Fields of the item's row, each with the path in the item that gives its value; `[]` is the item itself. If `take`
   * is null, the whole item becomes the row.
   */
  take: { field: string; from: FieldPath }[] | null;
};

/** Changes to a captured row before it is stored as a row of its entity. */
export type Ingest = {
  drop: string[];
  carryArgs: { field: string; argument: string }[];
  explode: Explode[];
};

/** Operation of the vendor's API, whether or not the world serves it. */
export type VendorOperation = Pick<RouteContract, 'method' | 'path' | 'segments' | 'params'> & {
  name: string;
  /** Entity of the captured rows; null if captures of the operation give no rows. */
  entity: string | null;
  /** Path of the rows in the answer's body. `[]` means that the body itself is the row, or the list of rows. */
  results: FieldPath;
  ingest: Ingest;
};

/** Vendor behind a world: its address and credentials, and the conversion of its answers into rows. */
export type VendorContract = {
  /** Value of `[connector] slug`; it is the salt of redaction. */
  slug: string;
  /** Base URL without a trailing slash. */
  baseUrl: string;
  /** Names of environment variables with the credentials, never the credentials themselves. */
  auth: {
    scheme: AuthScheme;
    name: string | null;
    secretEnv: string | null;
    /** Name of the environment variable for each header. */
    headers: Record<string, string>;
    /** Absolute URL at which tokens are requested; null if there is none. */
    tokenUrl: string | null;
    clientIdEnv: string | null;
    scope: string | null;
  };
  capture: {
    requestsPerMinute: number;
    timeoutSeconds: number;
    maxPages: number;
    /** Request parameter of the next cursor, and the place of the cursor in an answer; null if there are no cursors. */
    cursor: { param: string; from: { field: FieldPath } | { header: string } } | null;
  };
  operations: VendorOperation[];
};

/** Signature schemes of webhook deliveries: those of four vendors, a plain HMAC, and none. */
export const signingSchemes = [
  'standard-webhooks',
  'github',
  'linear',
  'stripe',
  'hmac-sha256',
  'none',
] as const;
export type SigningScheme = (typeof signingSchemes)[number];

/** Location of webhook subscriptions in a world's rows, and signing of deliveries. */
export type WebhooksContract = {
  /** Entity into which the vendor's own registration routes write their subscriptions. */
  subscriptions: string;
  url: FieldPath;
  /**
   * Path of the field that lists the event types that a subscription wants. If the path is null, or the field is null,
   * absent or empty, it gets all events.
   */
  events: FieldPath | null;
  secret: FieldPath | null;
  enabled: FieldPath | null;
  /**
   * Path of a field; if its value is `form`, the body is sent as a form. Absent in contracts of the previous release.
   */
  contentType?: FieldPath | null;
  /** Fields of lists in which the scopes of an event are looked up. */
  scope: { name: string; path: FieldPath }[];
  signing: SigningScheme;
  /** True if subscriptions without a secret get unsigned deliveries; absent if they get no deliveries. */
  unsigned?: true;
  /** Names of a delivery's headers, in lower case; the scheme decides which of them exist. */
  headers: { id?: string; event?: string; timestamp?: string; signature?: string };
};

/** Directory of the page that a world's `ui` surface serves. */
export type UiContract = {
  /** Path of the directory in the tree, without a trailing slash. */
  static: string;
  entry: string;
  /** Prefix of the page's requests to the API, which go to the page's own origin. */
  apiPath: string;
  /** True if compiling writes the directory; null if compiling writes it only when it has no page. */
  generated: boolean | null;
};

/** Another world to which this one is linked. */
export type Dependency = {
  alias: string;
  slug: string;
  /** Version of the other world, or a reference to one. */
  ref: string;
  task: string | null;
  /** Tools of the other world that are offered in addition to this world's own; null offers all. */
  tools: string[] | null;
  /** Fields of this world, each with the corresponding field of the other world. */
  entities: { entity: string; field: string; targetEntity: string; targetField: string }[];
};

/** Returns the name that a linked world's tool has in the world that links to it. */
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
  /** Definitions from `$defs` of `schema/world.json`. */
  definitions: Record<string, JsonSchema>;
  /** Entities in the order of the file. */
  entities: EntityContract[];
  tools: ToolContract[];
  /** HTTP API; null for a world without `connector.toml`. */
  api: ApiContract | null;
  vendor: VendorContract | null;
  redact: RedactPolicy | null;
  webhooks: WebhooksContract | null;
  ui: UiContract | null;
  dependencies: Dependency[];
  /** Actions that run on every push. */
  onPush: 'tests'[];
  /** Checks that a pushed version must pass before it becomes the head; absent if there are none. */
  gate?: 'tests'[];
  /** Bundled tasks. */
  tasks: Task[];
};
