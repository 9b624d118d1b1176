/**
 * Types of a run of user code: the request, the store that it may use, and the result. User code is an author's tools
 * (`tools.py`, `tools.ts`), route handlers (`api/handlers.py`) and graders (`checks/verify.py`).
 * `docs/write-worlds/user-code.md` describes it for authors.
 */
import type { CallError } from '#domain/call.ts';
import type { EntityContract, Row } from '#language/contract.ts';
import type { CopyReader } from '#store/read/copying.ts';
import type { Query } from '#store/read/read.ts';
import type { RowVersions } from '#store/write/change-log.ts';

export type UserLanguage = 'python' | 'typescript';

/** Store whose rows a worker may cache. */
export type RowSource = {
  store: CopyReader & { versions: RowVersions };
  /** Entities that may be cached. */
  entities: readonly Pick<EntityContract, 'name' | 'primaryKey' | 'columns'>[];
  /** Called at the end of a run, once for each entity that it read from cached rows. */
  onRead?(entity: string): void;
};

/** Request to the world's API, as a handler gets it. */
export type HandlerRequest = {
  method: string;
  path: string;
  /** Path of the route as in the connector, for example `/repos/{owner}/issues`. */
  route: string;
  /** Path arguments and query parameters. */
  args: Row;
  /** Parsed body; its text if the body has another media type that the route accepts. */
  body: unknown;
  headers: Record<string, string>;
  /** Media type of the answer: the type that the client accepts among those that the route offers. */
  mediaType: string;
  /**
   * Media type of the body, in lower case and without parameters; '' if the request has no body, or the body has no
   * type.
   */
  contentType: string;
};

/** Event that user code sends to the world's webhooks. */
export type WorldEvent = {
  type: string;
  body: unknown;
  /**
   * Subject of the event, by the names of `[webhooks] scope`; each is a value or a list of values. Null for an event
   * without a subject.
   */
  scope: Row | null;
  /** Id that all deliveries of the event have; null if each delivery gets its own id. */
  id: string | null;
};

/**
 * World as user code accesses it during one run: synchronously, and inside the caller's transaction. If a method throws
 * `StoreRefusal` or `AppError`, user code gets it as `Refused`. Any other error is a fault of the host: it ends the
 * run, and `UserCode.run` throws it. Rows are passed as the store's JSON text, because they go to the worker unparsed.
 */
export type StoreAccess = {
  /** Returns the row with a primary key; null if there is none. */
  get(entity: string, key: Row): string | null;
  query(entity: string, query: Query): string[];
  /** Returns how many rows match. */
  count(entity: string, where: NonNullable<Query['where']>): number;
  /** Inserts a row; returns it as stored. */
  insert(entity: string, row: Row): string;
  /** Merges the patch into the row's top level; returns the new row. */
  update(entity: string, key: Row, patch: Row): string;
  remove(entity: string, key: Row): void;
  /**
   * Returns one more than the largest number that the field has, or ever had, in a row. With `within`, only rows with
   * these field values count.
   */
  nextInteger(entity: string, field: string, within?: Row): number;
  /** Returns the world's time, in ISO 8601. */
  now(): string;
  /**
   * Returns the world's time and the machine time until which it is valid, in milliseconds since 1970; null means that
   * it is valid as long as the run lasts. A worker that gets the time requests it again only after it has become
   * invalid. Without this method, the worker requests the time on every use.
   */
  time?(): { iso: string; untilMs: number | null };
  uuid(): string;
  /** Sends an event to the subscribed webhooks. It is sent only if the call or request succeeds. */
  deliver(event: WorldEvent): void;
  /** Mints a new bearer token for the API, if the world mints tokens. Returns the token and its expiry. */
  mintToken(): { token: string; expires: string };
  /** Revokes the minted token that the request carried. Does nothing if it carried none. */
  revokeToken(): void;
  /** Rows that a worker may cache, so that reading them needs no request. If absent, every read is a request. */
  rows?: RowSource;
};

/** Observer of a run. At the end of the run, it gets what the result depends on besides the input and the requests. */
export type RunWatch = {
  /**
   * Called with the names of the request headers that the code read, whether or not they are present; `all` if it may
   * have read any.
   */
  onHeaders(names: readonly string[] | 'all'): void;
  /** Called if the run left something behind and its worker was therefore replaced. */
  onLeft(): void;
};

type RunOf<As extends string, Input> = {
  language: UserLanguage;
  /** Path in the code directory, for example `api/handlers.py`. */
  file: string;
  function: string;
  as: As;
  input: Input;
  access: StoreAccess;
  watch?: RunWatch | undefined;
  /**
   * Function that answers the code's requests in place of `access`. Errors that it throws have the same effect as
   * errors of `access`.
   */
  answer?: ((operation: string, given: Row) => Promise<unknown>) | undefined;
  /**
   * Time limit in milliseconds for the function. If the file has not been imported yet, the import has a limit of this
   * length, too.
   */
  timeoutMs: number;
  /** Signal whose abort has the same effect as the time limit. */
  timeOver?: AbortSignal | undefined;
};

/**
 * Handler of the same file that runs after `before` with the same input, if `before` returned without an answer or
 * error. A worker may also leave the handler to the host. If the worker runs it, the handler's result is the run's
 * result.
 */
export type NextRun = {
  function: string;
  /** Called with the result of `before` when the handler begins. */
  onBegin(before: RunResult): void;
};

/**
 * Request for a run. `before` runs the code that precedes every route: it answers only by `ctx.respond`, and then its
 * result has a `status`. `verify` runs a grader: its input is not used, and its access should be read-only. `tests`
 * runs the tests of a world: file and function are only labels, and the input selects the tests.
 */
export type RunRequest =
  | RunOf<'tool', Row>
  | RunOf<'handler', HandlerRequest>
  | (RunOf<'before', HandlerRequest> & { next?: NextRun | undefined })
  | RunOf<'verify', Row | null>
  | RunOf<'tests', Row>;

/** Answer in the form of the vendor's own errors, from `ctx.fail`. */
export type VendorAnswer = { status: number; body: unknown; headers?: Record<string, string> };

/**
 * Result of a run. `status` is set if a handler called `ctx.respond`. `headers` is set if the handler set any, even if
 * it failed after that. `isFile` is set if the value is the bytes of a file, given as text. The value of a `verify` run
 * is `VerifyReport`.
 *
 * Error codes: `raised` (the code threw; details `{exception, trace}`), `refused` (the store refused an operation, and
 * the code did not catch the error; details `{entity, kind, field, detail, trace}`), `failed` or a code that the author
 * chose (`fail`; `vendor` for `ctx.fail`), `timeout`, `crashed` (the process ended or violated the protocol),
 * `not_found` (no such function), `load_failed` (the file cannot be imported), `too_large` (input or result exceeds the
 * limit of a message), `out_of_memory`, `too_many_threads`, `too_much_output` (the run exceeds the worker's limits),
 * `left_running` (a thread of the run is still active after the run).
 */
export type RunResult =
  | {
      ok: true;
      value: unknown;
      status?: number;
      headers?: Record<string, string>;
      isFile?: boolean;
    }
  | { ok: false; error: CallError; vendor?: VendorAnswer; headers?: Record<string, string> };

export type VerifyReport = {
  checks: { name: string; passed: boolean; detail: string | null }[];
};

/**
 * Stack frame of an author's code. In a list, the innermost frame comes last. `file` is relative to the code directory.
 */
export type TraceFrame = { file: string; line: number; function: string; source?: string };

export type UserCodeLimits = {
  /** Memory of each worker in MiB, in addition to what the runtime of its language needs. */
  memoryMb: number;
  /** Maximum number of threads in each worker, including those of its language's runtime. */
  threads: number;
  /**
   * Maximum size of one message to or from a worker, in bytes. A message is an input, a result, a row or the rows of a
   * query.
   */
  messageBytes: number;
  /** Maximum output of a worker in the log, in bytes per second; output beyond it is dropped. */
  outputBytes: number;
  /** Maximum output of a run, in bytes; a run that exceeds it is stopped. */
  runOutputBytes: number;
  /** Time in which a process must have started, in milliseconds. */
  startMs: number;
  /**
   * Time in which `tools` and `api/handlers` must be imported, in milliseconds. If an import takes longer, it is done
   * at the first run that needs the file.
   */
  loadMs: number;
  /** Idle time in milliseconds after which a worker is ended; the next run starts another one. */
  idleMs: number;
};

export const defaultLimits: UserCodeLimits = {
  memoryMb: 192,
  threads: 64,
  messageBytes: 4 * 1024 * 1024,
  outputBytes: 64 * 1024,
  runOutputBytes: 4 * 1024 * 1024,
  startMs: 15_000,
  loadMs: 10_000,
  idleMs: 5 * 60_000,
};
