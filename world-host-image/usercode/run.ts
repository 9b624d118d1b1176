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

/** Store from which rows are cached. */
export type RowSource = {
  store: CopyReader & { versions: RowVersions };
  /** Entities that may be cached. */
  entities: readonly Pick<EntityContract, 'name' | 'primaryKey' | 'columns'>[];
  /** Called at the end of a run, once for each entity that it read from cached rows. */
  onRead?(entity: string): void;
};

/** Request to the world's API, as a handler sees it. */
export type HandlerRequest = {
  method: string;
  path: string;
  /** Path of the route as in the connector, for example `/repos/{owner}/issues`. */
  route: string;
  /** Path arguments and query parameters. */
  args: Row;
  /** Body as a value; its unparsed text if it has another media type that the route accepts. */
  body: unknown;
  headers: Record<string, string>;
  /** The route's media type that the client accepts. */
  mediaType: string;
  /** Media type of the body, in lower case and without parameters; '' if the body has none, or there is no body. */
  contentType: string;
};

/** Event that user code sends to the world's webhooks. */
export type WorldEvent = {
  type: string;
  body: unknown;
  /** Subject of the event, by the names of `[webhooks] scope`: a value or a list of them. */
  scope: Row | null;
  /** Id of all its deliveries; null if each delivery gets its own. */
  id: string | null;
};

/**
 * World as user code sees it during one run: synchronous, and inside the caller's transaction. A thrown `StoreRefusal`
 * or `AppError` reaches user code as `Refused`. Any other error is a fault of the host: it ends the run and is thrown
 * by `UserCode.run`. Rows are passed as the JSON that the store has, because they go to the worker unparsed.
 */
export type StoreAccess = {
  /** Returns the row of a primary key, or null. */
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
   * Returns one more than the largest number that rows have or have had; `within` names fields that those rows share.
   */
  nextInteger(entity: string, field: string, within?: Row): number;
  /** Returns the world's time, ISO 8601. */
  now(): string;
  /**
   * Returns the world's time and the machine time until which it is valid, in milliseconds since 1970; null means as
   * long as the run lasts. A worker that gets it requests the time only after that. Without this method, the worker
   * requests the time on every use.
   */
  time?(): { iso: string; untilMs: number | null };
  uuid(): string;
  /** Sends an event to the subscribed webhooks, if the call or request succeeds. */
  deliver(event: WorldEvent): void;
  /** Mints a new bearer token for the API, if the world does so; returns it and its expiry. */
  mintToken(): { token: string; expires: string };
  /** Revokes the minted token that the request carried, if any. */
  revokeToken(): void;
  /** Rows that a worker may cache, so that reading them needs no request; without it every read is requested. */
  rows?: RowSource;
};

/** Observer of a run, called at its end: reports what the result depends on besides its input and its requests. */
export type RunWatch = {
  /** Called with the request headers that the code read, present or not; `all` if it may have read any. */
  onHeaders(names: readonly string[] | 'all'): void;
  /** Called if the run left something behind, for which its worker was replaced. */
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
  /** Answers the code's requests, in place of `access`; its errors have the same effect as those of `access`. */
  answer?: ((operation: string, given: Row) => Promise<unknown>) | undefined;
  /** Time limit for the function itself, and for importing its file on the file's first use. */
  timeoutMs: number;
  /** Signal whose abort also ends the run's time. */
  timeOver?: AbortSignal | undefined;
};

/**
 * Handler of the same file that runs next with the same input, if `before` returned without an answer or error. A
 * worker may leave it to its host to run the handler. The handler's result is then the run's result.
 */
export type NextRun = {
  function: string;
  /** Called with the result of `before` when the handler begins. */
  onBegin(before: RunResult): void;
};

/**
 * Request of a run. `before` runs the code before every route: it answers only by `ctx.respond`, and then its result
 * has a `status`. `verify` runs a grader: its input is not used, and its access should be read-only. `tests` runs the
 * tests of a world: its file and function are only labels, and its input selects the tests.
 */
export type RunRequest =
  | RunOf<'tool', Row>
  | RunOf<'handler', HandlerRequest>
  | (RunOf<'before', HandlerRequest> & { next?: NextRun | undefined })
  | RunOf<'verify', Row | null>
  | RunOf<'tests', Row>;

/** Answer in the vendor's own words, from `ctx.fail`. */
export type VendorAnswer = { status: number; body: unknown; headers?: Record<string, string> };

/**
 * Result of a run. `status` is set if a handler called `ctx.respond`. `headers` is set if it set any, even if it failed
 * after that. `isFile` is set if the value is bytes as text. The value of a `verify` run is `VerifyReport`.
 *
 * Error codes: `raised` (the code threw; details `{exception, trace}`), `refused` (an uncaught refusal of the store;
 * details `{entity, kind, field, detail, trace}`), `failed` or a code of the author's (`fail`; `vendor` when it was
 * `ctx.fail`), `timeout`, `crashed` (its process ended or broke the protocol), `not_found` (no such function),
 * `load_failed` (its file cannot be imported), `too_large` (input or result beyond the limit of a message),
 * `out_of_memory`, `too_many_threads`, `too_much_output` (beyond the worker's limits), `left_running` (a thread of the
 * run is still active after it).
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

/** Frame of an author's code; the innermost comes last. `file` is relative to the code directory. */
export type TraceFrame = { file: string; line: number; function: string; source?: string };

export type UserCodeLimits = {
  /** Memory of each worker, on top of what its language needs for itself. */
  memoryMb: number;
  /** Maximum number of threads in each worker, including those of its language. */
  threads: number;
  /** Maximum size of one message to or from a worker: an input, a result, a row, the rows of a query. */
  messageBytes: number;
  /** Maximum output of a worker in the log per second; the rest is dropped. */
  outputBytes: number;
  /** Maximum output of a run; beyond it the run is stopped. */
  runOutputBytes: number;
  /** Time in which a process must be up. */
  startMs: number;
  /** Time in which `tools` and `api/handlers` must be imported; a slower import is left to their first run. */
  loadMs: number;
  /** Idle time after which a worker is ended; the next run starts another. */
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
