/**
 * The compiled contract of a world: everything a runtime needs to know, checked and with all
 * defaults filled in. It is plain JSON (`schema/runtime.json` of a version's bundle) and the only
 * thing that the store and the host read; neither ever looks at the hand-written files.
 */
import type { Task } from './task.ts';

export type JsonSchema = { [keyword: string]: unknown };
/** A row as JSON. */
export type Row = { [field: string]: unknown };
/** A path into a row or a request body: its segments; a whole number indexes a list. */
export type FieldPath = string[];

export type ColumnType = 'TEXT' | 'INTEGER' | 'REAL';

export type EntityContract = {
  name: string;
  /** The row shape. It may refer to `#/$defs/<name>` of `Contract.definitions`. */
  schema: JsonSchema;
  /** Top-level fields, in order. */
  primaryKey: string[];
  /** Further unique constraints, each a list of paths. */
  unique: FieldPath[][];
  relationships: { fields: string[]; target: string }[];
  /** Scalar top-level fields, each a generated column of the store. */
  columns: { name: string; type: ColumnType }[];
};

/** Who answers a tool: a function in a user-code file, a route, or a convention over an entity. */
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

/** An error answer of the vendor: the body is replayed as given; '' means no body. */
export type VendorError = { status: number; body: string };

/** Causes for which a vendor may word a rejection apart: a key that is taken, a row that is not there or in use, a shape. */
export const invalidCauses = ['duplicate', 'reference', 'shape'] as const;
export type InvalidCause = (typeof invalidCauses)[number];

export type RouteAction = 'read' | 'create' | 'update' | 'delete' | 'handler';
export type FilterMatch = 'equals' | 'contains' | 'prefix';
export type PageKind = 'none' | 'offset' | 'cursor';

/** A text of a path, or an argument in its place. */
export type PathPart = { literal: string } | { argument: string };

/**
 * A segment of a path: one part, several of them side by side (`{id}.json`), or an argument that takes
 * one segment or more, with the slashes between them.
 */
export type PathSegment = PathPart | { argument: string; rest: true } | { parts: PathPart[] };

export type RouteContract = {
  operation: string;
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** As written, for example `/repos/{owner}/{repo}/issues`. */
  path: string;
  segments: PathSegment[];
  params: { name: string; repeated: boolean }[];
  entity: string | null;
  action: RouteAction;
  filter: { argument: string; path: FieldPath; match: FilterMatch }[];
  /** Function in the handlers module, for action `handler`. */
  handler: string | null;
  /** For a handler, the schema that bodies are held to, and that of its answers. Absent: anything. */
  request?: JsonSchema;
  response?: JsonSchema;
  status: number;
  /** Key the rows are returned under; '' answers them bare. */
  envelope: string;
  single: boolean;
  /** For create and update: which field of the row is taken from where in the request body. */
  body: { field: FieldPath; from: FieldPath }[];
  defaults: Row;
  generate: { field: string; with: 'uuid' | 'int' | 'now' }[];
  /** Accepted values of arguments, with which the route can be tried out. */
  sample: Record<string, unknown>;
  /** How a list is cut into pages; `none` for a single object too. */
  page: PageKind;
  /** On the last page leave the cursor's key out instead of sending it empty. */
  cursorAbsentWhenDone: boolean;
  notFound: VendorError;
  /** Media types that it answers in beside those of all routes. Absent: none. */
  mediaTypes?: string[];
  /** For a handler, the media types of bodies that it takes and no others. Absent: JSON and forms. */
  bodyTypes?: string[];
  /** For a handler: it is given the bytes of the body in this encoding. Absent: values and text. */
  bodyEncoding?: 'base64';
  /** Where a good answer to GET says when it was last changed. Absent: nowhere. */
  lastModified?: FieldPath;
  /** What the handler answers follows from request and rows alone, so hosts may keep it. Absent: they may not. */
  keepsAnswer?: true;
};

/** Names under which a world's routes speak of pages. */
export type Paging = {
  pageSize: number;
  limitParam: string;
  offsetParam: string;
  cursorParam: string;
  /** Key of the count of all rows; '' leaves it out. */
  hitsKey: string;
  cursorKey: string;
  previousKey: string | null;
  /** Header names. */
  headers: { cursor?: string; total?: string; previous?: string };
  /** Next and previous as absolute URLs of the served host. */
  links: boolean;
};

/** Paging as a connector has it that does not speak of it. */
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
 * The names in a list of OAuth scopes, each once, in its order. Connectors and clients write such lists
 * as their vendor does: with spaces, as the standard has it, or with commas.
 */
export const scopesOf = (text: string | null): string[] => [
  ...new Set((text ?? '').split(/[\s,]+/).filter((name) => name !== '')),
];

/** What a header says about a limit on requests; `reset` and `reset_after` in seconds. */
export type RateLimitFact =
  | 'name'
  | 'limit'
  | 'used'
  | 'remaining'
  | 'reset'
  | 'reset_after'
  | 'seconds';

/** A limit on requests that answers tell of, and that nobody runs into. */
export type RateLimit = {
  name: string;
  /** Requests in each window of so many seconds. */
  limit: number;
  seconds: number;
  /** Paths of the routes that fall under it, with `*` at the end for anything. Absent: all. */
  paths?: string[];
  /** Of the routes that use nothing of it. */
  uncounted: string[];
  /** By the name of the header, in lower case. */
  headers: Record<string, RateLimitFact>;
};

/** An error answer that a fault gives in place of the vendor's own. */
export type FaultAnswer = { status: number; body: string; headers: Record<string, string> };

/** What a fault does to a request beside holding its answer back. */
export type FaultEffect =
  | ({ kind: 'status' } & FaultAnswer)
  /** The connection ends without an answer, before the request is carried out or after. */
  | { kind: 'drop'; at: 'before' | 'after' }
  /** Requests beyond a limit of `rateLimits` are refused; `most` and `seconds` are in force in place of its own. */
  | ({
      kind: 'rate_limit';
      limit: string;
      most: number;
      seconds: number;
      retryAfter: boolean;
    } & FaultAnswer);

/** A rule by which something goes wrong with requests, on purpose. */
export type Fault = {
  name: string;
  /** Names of operations, and paths of them with `*` at the end for anything. Absent: all. */
  routes?: string[];
  /** Which of their requests it meets: some in a row, counted from 1, or by chance. Absent: all. */
  when?: { nth: number; times: number } | { chance: number };
  /** For how long the answer is held back. */
  latencyMs?: number;
  effect?: FaultEffect;
};

/** What goes wrong with requests; `tools`: with calls of tools as well. */
export type Faults = { tools: boolean; rules: Fault[] };

export type ApiContract = {
  /** The vendor's credential scheme, `[auth] scheme`. */
  auth: {
    scheme: AuthScheme;
    /** Header or query parameter, for `header` and `query`. */
    name: string | null;
    /** Path on which the world mints bearers, for `oauth2`. */
    tokenPath: string | null;
    /** Scope of those bearers, for `oauth2`. */
    scope: string | null;
  };
  routes: RouteContract[];
  /**
   * Media types that all routes answer in beside JSON, in lower case, with one `*` at most, and the status
   * for clients that accept none of a route's. Absent: JSON, whatever is accepted.
   */
  mediaTypes?: string[];
  notAcceptableStatus?: number;
  /** Under which all routes answer as well: `/api/v3`. Absent: none. */
  prefixes?: string[];
  /** Beginnings of paths that stand for others, the longest first: `/rest/api/2` for `/rest/api/3`. Absent: none. */
  aliases?: { from: string; to: string }[];
  unauthorized: VendorError;
  notFound: VendorError;
  /** Its body may have placeholders for what is wrong: `{param}`, `{field}`, `{message}`. */
  invalid: VendorError;
  /** Answers that replace `invalid`, by cause. Absent: none. */
  invalidBy?: Partial<Record<InvalidCause, VendorError>>;
  errorContentType: string;
  /** The handlers module, when `before` or a route uses it. */
  handlers: string | null;
  /** Handlers look at bodies themselves, whatever `request` of their routes says. Absent: they need not. */
  uncheckedRequests?: true;
  /** Function of the handlers module that runs before every route. */
  before: string | null;
  /** Limits that answers tell of, in the order in which a header is theirs to tell. Absent: none. */
  rateLimits?: RateLimit[];
  /** What goes wrong in a session unless it says otherwise. Absent: nothing. */
  faults?: Faults;
  paging: Paging;
};

/** Turns the items of a list inside a captured row into rows of another entity. */
export type Explode = {
  /** Where the list lies in the captured row; it is taken out there. */
  field: FieldPath;
  entity: string;
  /** Which field of the item's row is taken from where in the captured row. */
  carry: { field: string; from: FieldPath }[];
  /** Which field is taken from where in the item, `[]` being the item itself; null: all of it. */
  take: { field: string; from: FieldPath }[] | null;
};

/** What becomes of a captured row on its way to its entity. */
export type Ingest = {
  drop: string[];
  carryArgs: { field: string; argument: string }[];
  explode: Explode[];
};

/** An operation as the vendor answers it, whether or not the world serves it. */
export type VendorOperation = Pick<RouteContract, 'method' | 'path' | 'segments' | 'params'> & {
  name: string;
  /** Entity that captured rows land in. */
  entity: string | null;
  /** Where the rows lie in the answer's body; `[]`: the body itself is the row, or the rows. */
  results: FieldPath;
  ingest: Ingest;
};

/** The vendor behind a world: how to reach it, and how its answers become rows. */
export type VendorContract = {
  /** `[connector] slug`, the salt of redaction. */
  slug: string;
  /** Without a slash at the end. */
  baseUrl: string;
  /** Names of environment variables, never credentials. */
  auth: {
    scheme: AuthScheme;
    name: string | null;
    secretEnv: string | null;
    /** Environment variable by header name. */
    headers: Record<string, string>;
    /** Absolute. */
    tokenUrl: string | null;
    clientIdEnv: string | null;
    scope: string | null;
  };
  capture: {
    requestsPerMinute: number;
    timeoutSeconds: number;
    maxPages: number;
    /** Request parameter that carries the next cursor, and where an answer holds it. */
    cursor: { param: string; from: { field: FieldPath } | { header: string } } | null;
  };
  operations: VendorOperation[];
};

/** How deliveries are signed: four vendors' ways, a plain HMAC, or not at all. */
export const signingSchemes = [
  'standard-webhooks',
  'github',
  'linear',
  'stripe',
  'hmac-sha256',
  'none',
] as const;
export type SigningScheme = (typeof signingSchemes)[number];

/** Where subscriptions to webhooks are kept, and how deliveries are signed. */
export type WebhooksContract = {
  /** Entity that the vendor's own registration routes write subscriptions into. */
  subscriptions: string;
  url: FieldPath;
  /** Field of the event types wanted; null, absent or empty: every event. */
  events: FieldPath | null;
  secret: FieldPath | null;
  enabled: FieldPath | null;
  /** Field that says `form` where the body is wanted as a form; absent in contracts of a release before this one. */
  contentType?: FieldPath | null;
  /** List fields that an event's scopes are looked up in. */
  scope: { name: string; path: FieldPath }[];
  signing: SigningScheme;
  /** Subscriptions without a secret are sent their deliveries unsigned. Absent: they are passed over. */
  unsigned?: true;
  /** Names of the headers of a delivery, in lower case; which there are depends on the scheme. */
  headers: { id?: string; event?: string; timestamp?: string; signature?: string };
};

/** The directory that a world's `ui` surface serves. */
export type UiContract = {
  /** Path in the tree, without a slash at the end. */
  static: string;
  entry: string;
  /** Same-origin prefix that the page calls the API at. */
  apiPath: string;
  /** Whether compiling writes the directory; null: only when it holds no page. */
  generated: boolean | null;
};

/** Another world that this one is linked to. */
export type Dependency = {
  alias: string;
  slug: string;
  /** Version or reference of the other world. */
  ref: string;
  task: string | null;
  /** Tools of the other world that are offered beside this world's own; null: all. */
  tools: string[] | null;
  /** Which field of this world stands for which field of the other. */
  entities: { entity: string; field: string; targetEntity: string; targetField: string }[];
};

/** What a tool of a linked world is called in the world that links to it. */
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
  /** In the file's order. */
  entities: EntityContract[];
  tools: ToolContract[];
  /** Null for a world without `connector.toml`. */
  api: ApiContract | null;
  vendor: VendorContract | null;
  redact: RedactPolicy | null;
  webhooks: WebhooksContract | null;
  ui: UiContract | null;
  dependencies: Dependency[];
  /** What runs on every push. */
  onPush: 'tests'[];
  /** Checks that a pushed version must pass before it becomes the head; absent: none. */
  gate?: 'tests'[];
  /** Bundled tasks. */
  tasks: Task[];
};
