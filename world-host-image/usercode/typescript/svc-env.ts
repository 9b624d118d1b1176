/**
 * The world, for the code of its author in TypeScript: `import { get, insert } from 'svc_env'`. Every
 * use of the store is asynchronous. All that one call writes is written when it succeeds, and nothing
 * of it when it fails.
 *
 * It stands on its own (no imports but the run under way), because Node runs it as it is in the worker.
 */
import { Answered, currentRun, Failed, type Run } from './current-run.ts';

export { Refused } from './current-run.ts';

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

const readOf = (run: () => Run) => ({
  /** The row with this primary key, or null. */
  get: async <R extends Row = Row>(entity: string, key: Row): Promise<R | null> =>
    (await run().ask('get', { entity, key })) as R | null,
  /** The rows that match, in the order they were inserted unless `orderBy` says otherwise. */
  query: async <R extends Row = Row>(entity: string, options: QueryOptions = {}): Promise<R[]> =>
    (await run().ask('query', { entity, ...options })) as R[],
  /** How many rows match, without reading them; `where` as in `query`. */
  count: async (entity: string, where: Row = {}): Promise<number> =>
    (await run().ask('count', { entity, where })) as number,
});

const writeOf = (run: () => Run) => ({
  /** Adds a row and returns it. Throws `Refused` when the contract, a key or a reference forbids it. */
  insert: async <R extends Row = Row>(entity: string, row: Row): Promise<R> =>
    (await run().ask('insert', { entity, row })) as R,
  /** Replaces the named top-level fields of a row and returns the new row. */
  update: async <R extends Row = Row>(entity: string, key: Row, patch: Row): Promise<R> =>
    (await run().ask('update', { entity, key, patch })) as R,
  /** Removes a row. Throws `Refused` when there is none. Rows that refer to it are looked for when the call ends. */
  remove: async (entity: string, key: Row): Promise<void> => {
    await run().ask('remove', { entity, key });
  },
});

const clockOf = (run: () => Run) => ({
  /** The time in the world, ISO 8601 in UTC. */
  now: async (): Promise<string> => (await run().now()) as string,
});

const idsOf = (run: () => Run) => ({
  /** A new UUID. */
  uuid: async (): Promise<string> => (await run().ask('uuid', {})) as string,
  /**
   * One more than the largest number that rows hold or have held in a field; inserting a row takes it.
   * Rows with the fields of `within` are counted apart, where a key or unique list has both.
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
  /** Sends an event to every subscription that wants it, once the call has succeeded. `id` is of its deliveries. */
  deliver: deliverOf(currentRun),
};

/**
 * Ends the call as failed, with an error that its caller can act on; nothing is written.
 *
 * @example fail('issue 7 is locked', 'locked', { number: 7 })
 */
export function fail(message: string, code = 'failed', details: Row = {}): never {
  throw new Failed(message, code, details);
}

/** A request to the world's API, as it reaches a handler. */
export type HandlerRequest = {
  method: string;
  path: string;
  /** The path of its route as the connector has it, for example `/repos/{owner}/issues`. */
  route: string;
  /** Path arguments and query parameters. */
  args: Row;
  /** The body: JSON or a form as a value, one of the route's other `body_types` as text, bytes as `body_encoding` says; null for none. */
  body: unknown;
  /** Header names in lower case. */
  headers: Record<string, string>;
  /** The one of the route's `media_types` that the client wants; JSON's where none are declared. */
  mediaType: string;
  /** The media type of the body, in lower case and without parameters; '' for one without, or no body. */
  contentType: string;
};

export type HandlerAnswer = {
  value: unknown;
  status: number;
  headers: Record<string, string>;
  /** Whether it was given as bytes. */
  isFile: boolean;
};

/** Throws for bytes that are no text. */
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

/** What a handler is called with. `run` and `request` are the worker's; authors only take the type. */
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
      /** Sends an event to every webhook that wants it, once the request has succeeded. `id` is of its deliveries. */
      deliver: deliverOf(ours),
      /** A new bearer for the API, where `[auth]` has scheme "oauth2". */
      mintToken: async (): Promise<{ token: string; expires: string }> =>
        (await run.ask('mint_token', {})) as { token: string; expires: string },
      /** Ends the minted bearer that the request came with; the session's own token stays good. */
      revokeToken: async (): Promise<void> => void (await run.ask('revoke_token', {})),
      /** Adds a header to the answer, whatever it will be; set by `before`, to every answer. */
      setHeader(name: string, value: string | number): void {
        run.headers[name.toLowerCase()] = String(value);
      },
      /**
       * Sets the answer; what the handler returns is then not used. The body is a JSON value, a text of the
       * content type that `headers` name, or a file's content as bytes of UTF-8, which goes out as it is.
       */
      respond(status: number, body: unknown = null, headers: Record<string, string> = {}): void {
        checkStatus(status, 200);
        const isFile = ArrayBuffer.isView(body);
        answer.given = { value: textOf(body), status, headers, isFile };
      },
      /** Ends the request with an error answer of the vendor's; nothing is written. */
      fail(status: number, body: unknown = null, headers: Record<string, string> = {}): never {
        checkStatus(status, 400);
        throw new Answered(status, body, { ...run.headers, ...headers });
      },
    },
  };
};

/** One request to the world's API. What the handler returns is the JSON body. */
export type HandlerContext = ReturnType<typeof handlerContext>['context'];

export type CheckRecord = { name: string; passed: boolean; detail: string | null };

/** What a grader is called with; made by the worker. */
export const verifyContext = (run: Run) => {
  const checks: CheckRecord[] = [];
  return {
    checks,
    context: {
      ...readOf(() => run),
      /** Records one check and returns whether it passed. A grade passes when all checks do. */
      check(name: string, passed: unknown, detail?: unknown): boolean {
        const text = detail === undefined || detail === null ? null : String(detail);
        checks.push({ name: String(name), passed: Boolean(passed), detail: text });
        return Boolean(passed);
      },
    },
  };
};

/** The state that the agent left, to read and to judge. */
export type VerifyContext = ReturnType<typeof verifyContext>['context'];
