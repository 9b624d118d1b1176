/**
 * The compiled contract of a world: everything a runtime needs to know, checked and with all
 * defaults filled in. It is plain JSON (`schema/runtime.json` of a version's bundle) and the only
 * thing that the store and the host read; neither ever looks at the hand-written files.
 */

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

export type RouteAction = 'read' | 'create' | 'update' | 'delete' | 'handler';
export type FilterMatch = 'equals' | 'contains' | 'prefix';

export type RouteContract = {
  operation: string;
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** As written, for example `/repos/{owner}/{repo}/issues`. */
  path: string;
  /** Path segments: a literal text, or the name of a path argument. */
  segments: ({ literal: string } | { argument: string })[];
  params: { name: string; repeated: boolean }[];
  entity: string | null;
  action: RouteAction;
  filter: { argument: string; path: FieldPath; match: FilterMatch }[];
  /** Function in the handlers module, for action `handler`. */
  handler: string | null;
  status: number;
  /** Key the rows are returned under; '' answers them bare. */
  envelope: string;
  single: boolean;
  /** For create and update: which field of the row is taken from where in the request body. */
  body: { field: FieldPath; from: FieldPath }[];
  defaults: Row;
  generate: { field: string; with: 'uuid' | 'int' | 'now' }[];
  notFound: VendorError;
};

export type ApiContract = {
  /** The vendor's credential scheme, `[auth] scheme`. */
  auth: {
    scheme: 'header' | 'bearer' | 'basic' | 'query' | 'oauth2' | 'none';
    name: string | null;
  };
  routes: RouteContract[];
  unauthorized: VendorError;
  notFound: VendorError;
  invalid: VendorError;
  errorContentType: string;
  /** The handlers module, when a route uses one. */
  handlers: string | null;
};

export type RedactPolicy = {
  slug: string;
  hash: string[];
  drop: string[];
  preserve: string[];
  round: Record<string, number>;
};

/** One assertion of a grader. Each field of `where` must equal the value, or one of a list. */
export type Check = {
  name: string;
  entity: string;
  where: Row;
  /** Exactly so many rows must match; null: at least one must. */
  count: number | null;
};

export type Grader = { kind: 'assertions'; checks: Check[] } | { kind: 'python'; source: string };

/** What a session is opened on: an instruction, rows on top of the world's, and a grader. */
export type Task = {
  name: string;
  instruction: string | null;
  seed: { mode: 'append' | 'replace'; rows: Record<string, Row[]> };
  grader: Grader | null;
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
  redact: RedactPolicy | null;
  /** Bundled tasks. */
  tasks: Task[];
};
