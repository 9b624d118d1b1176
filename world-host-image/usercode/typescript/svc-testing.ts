/**
 * Module `svc_env/testing`: gives tests in TypeScript access to the world under test. Each test begins with the rows of
 * the world, whatever the previous test did. The declarations that authors read are in `src/author-types/`.
 */
import { AssertionError } from 'node:assert';
import { currentRun } from './current-run.ts';
import { count, get, insert, query, remove, update } from './svc-env.ts';

type ProofRow = { what: string; ok: boolean; verdict: string | null; detail: string | null };
type Json = { [field: string]: unknown };

/** Error for a tool call that failed and therefore has changed nothing. */
export class ToolError extends Error {
  readonly code: string;
  readonly path: string | undefined;
  readonly details: unknown;

  constructor(error: { code: string; message: string; path?: string; details?: unknown }) {
    super(`${error.code}: ${error.message}`);
    this.name = 'ToolError';
    this.code = error.code;
    this.path = error.path;
    this.details = error.details;
  }
}

type Answer = { status: number; headers: Record<string, string>; text: string };
type Options = {
  json?: unknown;
  params?: Record<string, string | number | boolean>;
  headers?: Record<string, string>;
  auth?: boolean;
};

const request = async (method: string, path: string, options: Options = {}) => {
  const { json, params = {}, headers = {}, auth = true } = options;
  const pairs = Object.entries(params).map(([name, value]): [string, string] => [
    name,
    String(value),
  ]);
  const query = new URLSearchParams(pairs).toString();
  const answer = (await currentRun().ask('request', {
    method,
    path: query === '' ? path : `${path}?${query}`,
    headers,
    auth,
    body: json === undefined ? null : JSON.stringify(json),
  })) as Answer;
  return { ...answer, json: () => JSON.parse(answer.text) as unknown };
};

const call = async (kind: 'tool' | 'answer', given: Json): Promise<unknown> => {
  const answer = (await currentRun().ask(kind, given)) as
    | { output: unknown }
    | { error: ConstructorParameters<typeof ToolError>[0] };
  if ('error' in answer) throw new ToolError(answer.error);
  return answer.output;
};

const by =
  (method: string) =>
  (path: string, options?: Options): ReturnType<typeof request> =>
    request(method, path, options);

export const world = {
  tools: new Proxy({} as Record<string, (input?: Json) => Promise<unknown>>, {
    get:
      (_, name) =>
      (input: Json = {}) =>
        call('tool', { name: String(name), input }),
  }),
  api: {
    request,
    get: by('GET'),
    post: by('POST'),
    put: by('PUT'),
    patch: by('PATCH'),
    delete: by('DELETE'),
  },
  get,
  query,
  count,
  insert,
  update,
  remove,
  now: () => currentRun().ask('now', {}) as Promise<string>,
  answer: async (value: unknown): Promise<void> => {
    await call('answer', { answer: value });
  },
  prove: async (task: string): Promise<Json> => {
    const proof = (await currentRun().ask('prove', { task })) as { rows: ProofRow[] };
    const amiss = proof.rows.filter(({ ok }) => !ok);
    if (amiss.length === 0) return proof;
    const lines = amiss.map(({ what, detail, verdict }) => `${what}: ${detail ?? verdict}`);
    throw new AssertionError({ message: [`the task ${task} is not proved`, ...lines].join('\n') });
  },
  deliveries: () => currentRun().ask('deliveries', {}) as Promise<Json[]>,
};
