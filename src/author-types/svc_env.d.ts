/**
 * The world, for the code of its author in TypeScript: tools and route handlers.
 *
 * Every use of the store is asynchronous. All that one call writes is written when it succeeds, and
 * nothing of it when it fails.
 */
declare module 'svc_env' {
  /** A row, a key or any JSON object. */
  export type Row = { [field: string]: unknown };

  export type QueryOptions = {
    /** By field or by path (`owner.login` or `/owner/login`): all must be equal. A list matches any of its items. */
    where?: Row;
    limit?: number;
    offset?: number;
    /** `created_at` upwards, `-created_at` downwards, or a list of those. */
    orderBy?: string | string[];
  };

  /** The store said no to a read or a write; nothing of it was done. */
  export class Refused extends Error {
    readonly entity: string;
    /** `shape`, `duplicate`, `missing_reference`, `referenced`, `not_found`, `unknown_entity`, `full`. */
    readonly kind: string;
    /** Top-level field at fault, where there is one. */
    readonly field: string | null;
    /** JSON pointer to the value at fault, where there is one. */
    readonly pointer: string | null;
    readonly detail: string;
    constructor(facts: Pick<Refused, 'entity' | 'kind' | 'field' | 'pointer' | 'detail'>);
  }

  interface Reader {
    /** The row with this primary key, or null. */
    get<R extends Row = Row>(entity: string, key: Row): Promise<R | null>;
    /** The rows that match, in the order they were inserted unless `orderBy` says otherwise. */
    query<R extends Row = Row>(entity: string, options?: QueryOptions): Promise<R[]>;
    /** How many rows match, without reading them; `where` as in `query`. */
    count(entity: string, where?: Row): Promise<number>;
  }

  interface Writer {
    /** Adds a row and returns it. Throws `Refused` when the contract or a key forbids it. */
    insert<R extends Row = Row>(entity: string, row: Row): Promise<R>;
    /** Replaces the named top-level fields of a row and returns the new row. */
    update<R extends Row = Row>(entity: string, key: Row, patch: Row): Promise<R>;
    /** Removes a row. Throws `Refused` when there is none, or other rows refer to it. */
    remove(entity: string, key: Row): Promise<void>;
  }

  interface Clock {
    /** The time in the world, ISO 8601 in UTC. */
    now(): Promise<string>;
  }

  interface Ids {
    /** A new UUID. */
    uuid(): Promise<string>;
    /**
     * One more than the largest number that rows hold or have held in a field. Inserting a row takes it,
     * and deleting that row does not give it back.
     *
     * @param within fields that rows are counted within, where a key or unique list has them beside `field`
     * @example await ids.next('issues', 'number', { owner: 'northquay', repo: 'berth' })
     */
    next(entity: string, field: string, within?: Row | null): Promise<number>;
  }

  /**
   * Sends an event to every subscription that wants it, once the call or request has succeeded.
   *
   * @param type of the event, such as `issues`
   * @param body JSON, at most 256 KiB, fixed as it is now
   * @param scope what it is about, by the names of `[webhooks] scope`: a value or a list of them
   * @param id the one that its deliveries have in their headers; each has its own otherwise
   */
  type Deliver = (
    type: string,
    body: unknown,
    scope?: Row | null,
    id?: string | null,
  ) => Promise<void>;

  export const get: Reader['get'];
  export const query: Reader['query'];
  export const count: Reader['count'];
  export const insert: Writer['insert'];
  export const update: Writer['update'];
  export const remove: Writer['remove'];
  export const clock: Clock;
  export const ids: Ids;
  /** The world's webhooks. */
  export const webhooks: { deliver: Deliver };

  /**
   * Ends the call as failed, with an error that its caller can act on; nothing is written.
   *
   * @example fail('issue 7 is locked', 'locked', { number: 7 })
   */
  export function fail(message: string, code?: string, details?: Row): never;

  /** A request to the world's API, as it reaches a handler. */
  export type HandlerRequest = {
    method: string;
    path: string;
    /** The path of its route as the connector has it, for example `/repos/{owner}/issues`. */
    route: string;
    /** Path arguments and query parameters. */
    args: Row;
    /** The body: JSON or a form as a value, one of the route's other `body_types` as text; null for none. */
    body: unknown;
    /** Header names in lower case. */
    headers: Record<string, string>;
    /** The one of the route's `media_types` that the client wants; JSON's where none are declared. */
    mediaType: string;
    /** The media type of the body, in lower case and without parameters; '' for one without, or no body. */
    contentType: string;
  };

  /** One request to the world's API. What the handler returns is the JSON body. */
  export interface HandlerContext extends HandlerRequest, Reader, Writer {
    clock: Clock;
    ids: Ids;
    deliver: Deliver;
    /** Adds a header to the answer, whatever it will be; set by `before`, to every answer. */
    setHeader(name: string, value: string | number): void;
    /**
     * Sets the answer; what the handler returns is then not used. The body is a JSON value, a text of the
     * content type that `headers` name, or a file's content as bytes of UTF-8, which goes out as it is.
     */
    respond(status: number, body?: unknown, headers?: Record<string, string>): void;
    /** Ends the request with an error answer of the vendor's; nothing is written. */
    fail(status: number, body?: unknown, headers?: Record<string, string>): never;
  }

  /** The state that the agent left, to read and to judge. */
  export interface VerifyContext extends Reader {
    /** Records one check and returns whether it passed. A grade passes when all checks do. */
    check(name: string, passed: unknown, detail?: unknown): boolean;
  }
}

/** The world under test, for `tests/*.test.ts`, run by Node's test runner; and for scripts that solve a task. */
declare module 'svc_env/testing' {
  import type { Row } from 'svc_env';

  /** A tool failed, and has changed nothing. */
  export class ToolError extends Error {
    readonly code: string;
    readonly path: string | undefined;
    readonly details: unknown;
  }

  export type RequestOptions = {
    /** The body. */
    json?: unknown;
    params?: Record<string, string | number | boolean>;
    headers?: Record<string, string>;
    /** Whether it is sent with the session's token; true unless given. */
    auth?: boolean;
  };

  /** An answer of the world's API; names of headers in lower case. */
  export type Response = {
    status: number;
    headers: Record<string, string>;
    text: string;
    json(): unknown;
  };

  type Ask = (path: string, options?: RequestOptions) => Promise<Response>;

  /** Each test begins with the rows of the world, whatever the one before it did. */
  export const world: {
    tools: Record<string, (input?: Row) => Promise<unknown>>;
    api: {
      request(method: string, path: string, options?: RequestOptions): Promise<Response>;
      get: Ask;
      post: Ask;
      put: Ask;
      patch: Ask;
      delete: Ask;
    };
    get: typeof import('svc_env').get;
    query: typeof import('svc_env').query;
    count: typeof import('svc_env').count;
    insert: typeof import('svc_env').insert;
    update: typeof import('svc_env').update;
    remove: typeof import('svc_env').remove;
    /** The time in the world, ISO 8601. */
    now(): Promise<string>;
    /** Gives the answer of the task, in a script that solves one. */
    answer(value: unknown): Promise<void>;
    /** Proves a task of the world by its name, and answers the report; throws with all that is amiss. */
    prove(task: string): Promise<Row>;
    /** Webhooks sent since the test began: `{event, url, headers, body}`. */
    deliveries(): Promise<Row[]>;
  };
}
