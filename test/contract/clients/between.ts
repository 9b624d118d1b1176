/**
 * Recording proxy between a client and the service. It forwards requests and records them; a test
 * can make it answer in the service's place, or cut the connection. The recorded requests are
 * checked against the service's own OpenAPI document.
 */
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';
import { Ajv2020 } from 'ajv/dist/2020.js';

/** Recorded request, with the status of its answer. */
export type Noted = {
  method: string;
  /** Path relative to the API's base address. */
  path: string;
  query: URLSearchParams;
  contentType: string;
  body: Buffer;
  status: number;
};

/** Outcome of a request: forwarded, answered with a status, or its connection cut. */
export type Fate = 'passed' | 'cut' | number;

export type Between = { url: string; noted: Noted[]; stop(): Promise<void> };

const base = '/api/public';

const bodyOf = async (request: IncomingMessage): Promise<Buffer> => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
};

/** Headers that belong to one connection and are not forwarded. */
const ofConnection = ['host', 'connection', 'content-length', 'transfer-encoding', 'expect'];

/**
 * Starts the proxy in front of a service; `fateOf` decides the outcome of each request by the
 * number of earlier ones.
 */
export const startBetween = async (
  service: string,
  fateOf: (before: number) => Fate = () => 'passed',
): Promise<Between> => {
  const noted: Noted[] = [];
  let count = 0;
  const server = createServer(async (request, response) => {
    const body = await bodyOf(request);
    const fate = fateOf(count);
    count += 1;
    const { pathname, searchParams } = new URL(request.url ?? '/', service);
    const note = (status: number) =>
      noted.push({
        method: request.method ?? 'GET',
        path: pathname.slice(base.length),
        query: searchParams,
        contentType: request.headers['content-type']?.split(';', 1)[0] ?? '',
        body: request.headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body,
        status,
      });
    if (fate === 'cut') {
      request.socket.destroy();
      return;
    }
    if (fate !== 'passed') {
      note(fate);
      response.writeHead(fate, { 'content-type': 'application/json', 'retry-after': '1' });
      response.end('{"message": "try again", "error": "unavailable"}');
      return;
    }
    const headers = Object.entries(request.headers).filter(
      ([name]) => !ofConnection.includes(name),
    );
    const passed = await fetch(`${service}${request.url}`, {
      method: request.method ?? 'GET',
      headers: Object.fromEntries(headers) as Record<string, string>,
      ...(body.byteLength === 0 ? {} : { body: new Uint8Array(body) }),
    });
    note(passed.status);
    const type = passed.headers.get('content-type');
    response.writeHead(passed.status, type === null ? {} : { 'content-type': type });
    response.end(Buffer.from(await passed.arrayBuffer()));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    noted,
    stop: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
};

/** Simulates an outage: cuts every connection for this long, counted from the first request. */
export const downFor = (ms: number): (() => Fate) => {
  let firstAt: number | undefined;
  return () => {
    firstAt ??= Date.now();
    return Date.now() - firstAt < ms ? 'cut' : 'passed';
  };
};

type Json = Record<string, unknown>;
type Parameter = { name: string; in: string; required: boolean; schema: Json };
type Operation = { parameters: Parameter[]; requestBody?: { content: Record<string, Json> } };
type Document = { paths: Record<string, Record<string, Operation>> };

const formOf = (template: string): RegExp =>
  new RegExp(`^${template.replace(/[.*+?^$()|[\]\\]/g, '\\$&').replace(/\{\w+\}/g, '[^/]+')}$`);

/** Returns the value of a query parameter; a list if it is repeated. */
const parameterOf = (query: URLSearchParams, name: string): unknown => {
  const values = query.getAll(name);
  return values.length > 1 ? values : values[0];
};

/** Builds a checker that returns how a request differs from the OpenAPI document. */
export const checkerOf = (document: Document): ((noted: Noted) => string[]) => {
  const ajv = new Ajv2020({ strict: false, allErrors: true, coerceTypes: false });
  ajv.addFormat('binary', true);
  for (const format of ['date-time', 'uri', 'email', 'date']) ajv.addFormat(format, true);
  ajv.addSchema({ ...document, $id: 'api' });
  const check = (pointer: string, value: unknown): string[] => {
    const validate = ajv.getSchema(`api#${pointer}`);
    if (validate === undefined) return [`there is no schema at ${pointer}`];
    if (validate(value)) return [];
    return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
  };
  const segmentOf = (text: string) =>
    encodeURIComponent(text.replaceAll('~', '~0').replaceAll('/', '~1'));
  return ({ method, path, query, contentType, body }) => {
    const verb = method.toLowerCase();
    const found = Object.entries(document.paths)
      .filter(([template, verbs]) => verb in verbs && formOf(template).test(path))
      // Prefers the template with fewer arguments when two match.
      .sort(([one], [other]) => one.split('{').length - other.split('{').length)[0];
    if (found === undefined) return [`${method} ${path} is not in the document`];
    const [template, verbs] = found;
    const { parameters, requestBody } = verbs[verb] as Operation;
    const at = `/paths/${segmentOf(template)}/${verb}`;
    const ofQuery = parameters.flatMap(({ name, in: where, required }, index) => {
      if (where !== 'query') return [];
      const value = parameterOf(query, name);
      if (value === undefined) return required ? [`${name} is missing`] : [];
      return check(`${at}/parameters/${index}/schema`, value).map((one) => `${name}${one}`);
    });
    const known = parameters.filter((one) => one.in === 'query').map(({ name }) => name);
    const unknown = [...query.keys()].filter((name) => !known.includes(name));
    const strange = unknown.map((name) => `${name} is no parameter of ${template}`);
    if (requestBody === undefined || body.byteLength === 0) return [...ofQuery, ...strange];
    if (!(contentType in requestBody.content)) return [`${template} takes no ${contentType}`];
    if (contentType !== 'application/json') return [...ofQuery, ...strange];
    const schema = `${at}/requestBody/content/${segmentOf(contentType)}/schema`;
    return [...ofQuery, ...strange, ...check(schema, JSON.parse(body.toString('utf8')))];
  };
};
