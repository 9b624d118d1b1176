/**
 * Module `svc_env` for an author's code in TypeScript: `import { get, insert } from 'svc_env'`. Every use of the store
 * is asynchronous. Writes of a call are committed if the call succeeds, and undone if it fails.
 *
 * The module imports nothing but the current run, because Node runs this file unbundled in the worker.
 */
import { Answered, currentRun, Failed, type Run } from './current-run.ts';

export { Refused } from './current-run.ts';

/** A row, a key or any JSON object. */
export type Row = { [field: string]: unknown };

export type QueryOptions = {
  /**
   * Conditions by field or by path (`owner.login` or `/owner/login`). A row must meet all of them. A list of values
   * matches any of them.
   */
  where?: Row;
  limit?: number;
  offset?: number;
  /** Order: `created_at` for ascending, `-created_at` for descending, or a list of such texts. */
  orderBy?: string | string[];
};

const readOf = (run: () => Run) => ({
  /** Returns the row with this primary key; null if there is none. */
  get: async <R extends Row = Row>(entity: string, key: Row): Promise<R | null> =>
    (await run().ask('get', { entity, key })) as R | null,
  /** Returns the matching rows, in insertion order unless `orderBy` is given. */
  query: async <R extends Row = Row>(entity: string, options: QueryOptions = {}): Promise<R[]> =>
    (await run().ask('query', { entity, ...options })) as R[],
  /** Counts the matching rows without reading them. `where` is the same as in `query`. */
  count: async (entity: string, where: Row = {}): Promise<number> =>
    (await run().ask('count', { entity, where })) as number,
});

const writeOf = (run: () => Run) => ({
  /** Adds a row and returns it. Throws `Refused` if the contract, a key or a reference forbids it. */
  insert: async <R extends Row = Row>(entity: string, row: Row): Promise<R> =>
    (await run().ask('insert', { entity, row })) as R,
  /** Replaces the named top-level fields of a row and returns the new row. */
  update: async <R extends Row = Row>(entity: string, key: Row, patch: Row): Promise<R> =>
    (await run().ask('update', { entity, key, patch })) as R,
  /** Removes a row. Throws `Refused` if there is none. Rows that refer to it are checked when the call ends. */
  remove: async (entity: string, key: Row): Promise<void> => {
    await run().ask('remove', { entity, key });
  },
});

const clockOf = (run: () => Run) => ({
  /** Returns the world's time, in ISO 8601 and UTC. */
  now: async (): Promise<string> => (await run().now()) as string,
});

const idsOf = (run: () => Run) => ({
  /** Returns a new UUID. */
  uuid: async (): Promise<string> => (await run().ask('uuid', {})) as string,
  /**
   * Returns one more than the largest number that the field has, or ever had, in a row. Inserting a row with the number
   * uses it up. With `within`, only rows with these field values count; a primary key or unique list must contain all
   * these fields.
   */
  next: async (entity: string, field: string, within: Row | null = null): Promise<number> =>
    (await run().ask('next', { entity, field, within })) as number,
});

const deliverOf =
  (run: () => Run) =>
  async (
    type: string,
    body: unknown,
    scope: Row | null = null,
    id: string | null = null,
  ): Promise<void> => {
    await run().ask('deliver', { type, body, scope, id });
  };

export const { get, query, count } = readOf(currentRun);
export const { insert, update, remove } = writeOf(currentRun);
export const clock = clockOf(currentRun);
export const ids = idsOf(currentRun);
/** The world's webhooks. */
export const webhooks = {
  /**
   * Sends an event to every subscription that matches it, once the call has succeeded. `id` is the id of the event's
   * deliveries.
   */
  deliver: deliverOf(currentRun),
};

/**
 * Fails the call with an error that its caller can act on; nothing is written.
 *
 * @example fail('issue 7 is locked', 'locked', { number: 7 })
 */
export function fail(message: string, code = 'failed', details: Row = {}): never {
  throw new Failed(message, code, details);
}

/** Request to the world's API, as a handler gets it. */
export type HandlerRequest = {
  method: string;
  path: string;
  /** Path of the route as the connector declares it, for example `/repos/{owner}/issues`. */
  route: string;
  /** Path arguments and query parameters. */
  args: Row;
  /**
   * Body of the request. JSON or a form is a value; a body of any other type in the route's `body_types` is text; with
   * `body_encoding`, the body is bytes in that encoding. Null if there is no body.
   */
  body: unknown;
  /** Headers, with names in lower case. */
  headers: Record<string, string>;
  /**
   * Media type of the answer: the type that the client accepts among the route's types; JSON if the route declares
   * none.
   */
  mediaType: string;
  /**
   * Media type of the body, in lower case and without parameters; '' if the request has no body, or the body has no
   * type.
   */
  contentType: string;
};

export type HandlerAnswer = {
  value: unknown;
  status: number;
  headers: Record<string, string>;
  /** True if the code gave the value as bytes. */
  isFile: boolean;
};

/** Returns bytes as text. Throws if they are not UTF-8. */
const textOf = (body: unknown): unknown => {
  if (!ArrayBuffer.isView(body)) return body;
  const bytes = new Uint8Array(body.buffer, body.byteOffset, body.byteLength);
  return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes.slice());
};

const checkStatus = (status: number, least: number): void => {
  if (!Number.isInteger(status) || status < least || status > 599) {
    throw new RangeError(`${status} is no HTTP status from ${least} to 599`);
  }
};

/** Builds the context of a handler. The worker calls it; authors use only its type. */
export const handlerContext = (run: Run, request: HandlerRequest) => {
  const answer: { given: HandlerAnswer | undefined } = { given: undefined };
  const ours = (): Run => run;
  return {
    answer,
    context: {
      ...request,
      ...readOf(ours),
      ...writeOf(ours),
      clock: clockOf(ours),
      ids: idsOf(ours),
      /**
       * Sends an event to every subscribed webhook once the request has succeeded. `id` is the id of its deliveries.
       */
      deliver: deliverOf(ours),
      /** Mints a bearer token for the API, if `[auth]` has scheme "oauth2". */
      mintToken: async (): Promise<{ token: string; expires: string }> =>
        (await run.ask('mint_token', {})) as { token: string; expires: string },
      /** Revokes the minted token of the request; the session's own token stays valid. */
      revokeToken: async (): Promise<void> => void (await run.ask('revoke_token', {})),
      /** Adds a header to the answer, whatever it is. A header that `before` adds is in every answer. */
      setHeader(name: string, value: string | number): void {
        run.headers[name.toLowerCase()] = String(value);
      },
      /**
       * Sets the answer; the handler's return value is then not used. The body is a JSON value, a text of the content
       * type in `headers`, or the content of a file as bytes of UTF-8, which is sent unchanged.
       */
      respond(status: number, body: unknown = null, headers: Record<string, string> = {}): void {
        checkStatus(status, 200);
        const isFile = ArrayBuffer.isView(body);
        answer.given = { value: textOf(body), status, headers, isFile };
      },
      /** Ends the request with an error answer in the vendor's form; nothing is written. */
      fail(status: number, body: unknown = null, headers: Record<string, string> = {}): never {
        checkStatus(status, 400);
        throw new Answered(status, body, { ...run.headers, ...headers });
      },
    },
  };
};

/** Context of a request to the world's API. The handler returns the JSON body. */
export type HandlerContext = ReturnType<typeof handlerContext>['context'];

export type CheckRecord = { name: string; passed: boolean; detail: string | null };

/** Builds the context of a grader; the worker calls it. */
export const verifyContext = (run: Run) => {
  const checks: CheckRecord[] = [];
  return {
    checks,
    context: {
      ...readOf(() => run),
      /** Records one check and returns true if the check passed. A grade passes if all its checks pass. */
      check(name: string, passed: unknown, detail?: unknown): boolean {
        const text = detail === undefined || detail === null ? null : String(detail);
        checks.push({ name: String(name), passed: Boolean(passed), detail: text });
        return Boolean(passed);
      },
    },
  };
};

/** Context of a grader: read access to the state that the agent left, and the recording of checks. */
export type VerifyContext = ReturnType<typeof verifyContext>['context'];
