/**
 * What a run of user code is: the request, the store it may use, and what comes back. User code is an
 * author's tools (`tools.py`, `tools.ts`), route handlers (`api/handlers.py`) and graders
 * (`checks/verify.py`); `docs/write-worlds/user-code.md` tells the author's side.
 */
import type { CallError } from '#domain/call.ts';
import type { Row } from '#language/contract.ts';
import type { Query } from '#store/read/read.ts';
import type { RowSource } from './held-rows.ts';

export type UserLanguage = 'python' | 'typescript';

/** A request to the world's API, as a handler sees it. */
export type HandlerRequest = {
  method: string;
  path: string;
  /** The path of its route as the connector has it, for example `/repos/{owner}/issues`. */
  route: string;
  /** Path arguments and query parameters. */
  args: Row;
  /** As a value; a text as it came, where it is of another type that the route takes. */
  body: unknown;
  headers: Record<string, string>;
  /** The one of the route's media types that its client wants. */
  mediaType: string;
  /** The media type of the body, in lower case and without parameters; '' for one without, or no body. */
  contentType: string;
};

/** What user code tells the world's webhooks. */
export type WorldEvent = {
  type: string;
  body: unknown;
  /** What it is about, by the names of `[webhooks] scope`: a value or a list of them. */
  scope: Row | null;
  /** The id that its deliveries have; null: each one has its own. */
  id: string | null;
};

/**
 * The world as user code sees it during one run: synchronous, and the caller's transaction. A thrown
 * `StoreRefusal` or `AppError` reaches user code as `Refused`. Anything else that is thrown is a
 * fault of the host: it ends the run and comes out of `UserCode.run`. Rows are told as their JSON, as the store has
 * them: they go to the worker unread.
 */
export type StoreAccess = {
  /** The row of a primary key, or null. */
  get(entity: string, key: Row): string | null;
  query(entity: string, query: Query): string[];
  /** How many rows match. */
  count(entity: string, where: NonNullable<Query['where']>): number;
  /** The row as stored. */
  insert(entity: string, row: Row): string;
  /** Merges the patch into the row's top level; the new row. */
  update(entity: string, key: Row, patch: Row): string;
  remove(entity: string, key: Row): void;
  /** One more than the largest number that rows hold or have held; `within` are fields that they share. */
  nextInteger(entity: string, field: string, within?: Row): number;
  /** The world's time, ISO 8601. */
  now(): string;
  /**
   * The same, and until when of the machine's it holds, in milliseconds since 1970; null: as long as the run lasts.
   * A worker that is given it asks for the time only afterwards. Without it every look at the time is asked.
   */
  time?(): { iso: string; untilMs: number | null };
  uuid(): string;
  /** Sends an event to the webhooks that want it, when the call or request succeeds. */
  deliver(event: WorldEvent): void;
  /** A new bearer for the API, where its world mints any, and when it expires. */
  mintToken(): { token: string; expires: string };
  /** Ends the minted bearer that the request came with, if it came with one. */
  revokeToken(): void;
  /** Rows that a worker may hold, so that reading them needs no ask; without it every read is asked. */
  rows?: RowSource;
};

/** Hears at the end of a run what its result was made of beside its input and what it asked for. */
export type RunWatch = {
  /** Headers of the request that it looked at, whether they were there or not; `all`: it may be any. */
  onHeaders(names: readonly string[] | 'all'): void;
  /** It left something behind, for which its worker was replaced. */
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
  /** Answers what the code asks, in place of `access`; what it throws is as there. */
  answer?: ((operation: string, given: Row) => Promise<unknown>) | undefined;
  /** For the function itself, and for importing its file where this is the file's first use. */
  timeoutMs: number;
  /** Ends it when it aborts, as if that time were over. */
  timeOver?: AbortSignal | undefined;
};

/**
 * The handler of the same file that is run next, with the same input, where `before` came to an end by itself and
 * nothing speaks against it. A worker may leave it to its host to run it. Its result is then the run's.
 */
export type NextRun = {
  function: string;
  /** It begins: hears what `before` came to. */
  onBegin(before: RunResult): void;
};

/**
 * `before` runs what comes before every route: it answers only by `ctx.respond`, and then its result
 * has a `status`. `verify` runs a grader: its input is not used, and its access should be read-only. `tests` runs the tests of a world; its
 * file and function are what it is called, and its input says which.
 */
export type RunRequest =
  | RunOf<'tool', Row>
  | RunOf<'handler', HandlerRequest>
  | (RunOf<'before', HandlerRequest> & { next?: NextRun | undefined })
  | RunOf<'verify', Row | null>
  | RunOf<'tests', Row>;

/** An answer in the vendor's own words, from `ctx.fail`. */
export type VendorAnswer = { status: number; body: unknown; headers?: Record<string, string> };

/**
 * What a run came to. `status` is there when a handler called `ctx.respond`, `headers` when it set
 * any, also when it failed after that, `isFile` when the value is the text of bytes. The value of a `verify` run is `VerifyReport`.
 *
 * Error codes: `raised` (the code threw; details `{exception, trace}`), `refused` (an uncaught refusal
 * of the store; details `{entity, kind, field, detail, trace}`), `failed` or a code of the author's
 * (`fail`; `vendor` when it was `ctx.fail`), `timeout`, `crashed` (its process ended or broke the
 * protocol), `not_found` (no such function), `load_failed` (its file cannot be imported), `too_large`
 * (input or result beyond the limit of a message), `out_of_memory`, `too_many_threads`,
 * `too_much_output` (beyond the worker's limits), `left_running` (a thread of the run goes on after it).
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

/** One frame of an author's code, the innermost last. `file` is relative to the code directory. */
export type TraceFrame = { file: string; line: number; function: string; source?: string };

export type UserCodeLimits = {
  /** For each worker, beside what its language takes for itself. */
  memoryMb: number;
  /** In each worker, those of its language counted in. */
  threads: number;
  /** One message to or from a worker: an input, a result, a row, the rows of a query. */
  messageBytes: number;
  /** What a worker may print into the log within a second. The rest is dropped. */
  outputBytes: number;
  /** What a run may print before it is stopped. */
  runOutputBytes: number;
  /** Until a process must be up. */
  startMs: number;
  /** Until `tools` and `api/handlers` must be imported; later it is left to their first run. */
  loadMs: number;
  /** A worker that has had no run for so long is ended; the next run starts another. */
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
