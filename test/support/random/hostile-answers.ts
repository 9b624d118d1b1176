/**
 * A service whose answers fit the contracts, with a given text in every place that allows a text. It answers each
 * operation of the public API and of the operators' API.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import * as adminApi from '#wire/admin-api/operations.ts';
import { type OperationShape, operationsOf } from '#wire/operation.ts';
import * as publicApi from '#wire/public-api/operations.ts';
import type { TSchema } from '#wire/type.ts';

type Loose = Readonly<Record<string, unknown>> & {
  properties?: Record<string, Loose>;
  anyOf?: readonly Loose[];
  enum?: readonly unknown[];
  items?: Loose;
};

const time = '2026-01-01T00:00:00.000Z';
const isTime = (name: string): boolean =>
  /(?:At|Time|time|timestamp|Timestamp|date|day|^at|until)$/.test(name);

/** States after which a command stops waiting. */
const settled = ['succeeded', 'finished', 'READY', 'COMPLETED', 'complete', 'applied', 'published'];

const mostDepth = 8;

/** Returns a value of a schema that holds the text wherever the schema allows it. */
const fill = (schema: Loose, text: string, name = '', depth = 0): unknown => {
  if (Object.hasOwn(schema, 'const')) return schema.const;
  if (schema.enum !== undefined) {
    return schema.enum.find((value) => settled.includes(String(value))) ?? schema.enum[0];
  }
  if (schema.anyOf !== undefined) {
    const some = schema.anyOf.filter(({ type }) => type !== 'null');
    const chosen = some.find(({ const: value }) => settled.includes(String(value))) ?? some[0];
    return chosen === undefined ? null : fill(chosen, text, name, depth);
  }
  const kind = [schema.type].flat()[0];
  if (kind === 'string') return isTime(name) ? time : text;
  if (kind === 'integer' || kind === 'number') return 1;
  if (kind === 'boolean') return true;
  if (kind === 'null') return null;
  if (depth > mostDepth) return kind === 'array' ? [] : {};
  const inner = (part: Loose, of: string): unknown => fill(part, text, of, depth + 1);
  if (kind === 'array') return schema.items === undefined ? [text] : [inner(schema.items, name)];
  if (kind === 'object') {
    const known = Object.entries(schema.properties ?? {});
    const others = schema.additionalProperties ?? (known.length === 0 ? {} : false);
    return {
      ...(others === false ? {} : { [text]: inner(others as Loose, '') }),
      ...Object.fromEntries(
        known
          .filter(([key]) => key !== 'nextCursor') // each list is one page
          .map(([key, part]) => [key, inner(part, key)]),
      ),
    };
  }
  return text; // any value
};

const answerOf = ({ answers }: OperationShape, text: string): { status: number; body: unknown } => {
  const [[status, schema] = [200, {}]] = Object.entries(answers) as [string, TSchema][];
  return { status: Number(status), body: fill(schema as Loose, text) };
};

const pattern = (path: string): RegExp =>
  new RegExp(`^${path.replaceAll('.', String.raw`\.`).replace(/\{\w+\}/g, '[^/]+')}$`);

const routes = [
  ...operationsOf(publicApi).map((shape) => ({ base: '/api/public', shape })),
  ...operationsOf(adminApi).map((shape) => ({ base: '/api/admin', shape })),
].map(({ base, shape }) => ({ shape, path: pattern(base + shape.path) }));

/** Starts the service: it answers with contracts filled with the text, or with an error that has it as its message. */
export const startHostileService = async (text: string, how: { failing: boolean }) => {
  const server = createServer((request, response) => {
    request.resume();
    const { pathname } = new URL(request.url ?? '/', 'http://service');
    const found = routes.find(
      ({ path, shape }) => shape.method === request.method && path.test(pathname),
    );
    const problem = { file: text, pointer: text, code: text, message: text, hint: text, line: 1 };
    const { status, body } =
      found === undefined || how.failing
        ? {
            status: 400,
            body: { message: text, error: [{ path: [text], message: text }], problems: [problem] },
          }
        : answerOf(found.shape, text);
    const schema = found?.shape.answers[status] as Loose | undefined;
    const isBytes = schema?.format === 'binary' && !how.failing;
    response.writeHead(status, {
      'content-type': isBytes ? 'application/octet-stream' : 'application/json',
    });
    response.end(isBytes ? text : JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const stop = (): void => {
    server.close();
    server.closeAllConnections();
  };
  return { url: `http://127.0.0.1:${port}`, stop };
};
