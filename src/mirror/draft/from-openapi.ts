/** Reads an API from an OpenAPI document of version 3.x. Version 2.0 is read as far as it is similar. */
import { isObject } from '#domain/json.ts';
import type { JsonSchema } from '#language/contract.ts';
import {
  type Api,
  type ApiAuth,
  type ApiParam,
  type ApiRoute,
  type Mark,
  snakeCase,
} from './api.ts';
import { plainSchema, resolvePart } from './plain-schema.ts';

type Part = Record<string, unknown>;

const methods = ['get', 'post', 'put', 'patch', 'delete'] as const;
const entriesOf = (value: unknown): [string, unknown][] =>
  isObject(value) ? Object.entries(value) : [];

const nowhere = 'https://api.example.invalid';

const readBase = (document: Part, marks: Mark[]): string => {
  const [server] = Array.isArray(document.servers) ? document.servers : [];
  let text = isObject(server) ? String(server.url ?? '') : '';
  for (const [name, variable] of entriesOf(isObject(server) ? server.variables : {})) {
    text = text.replaceAll(`{${name}}`, String((variable as Part)?.default ?? name));
  }
  if (typeof document.host === 'string') {
    const [scheme = 'https'] = Array.isArray(document.schemes) ? document.schemes : [];
    text = `${scheme}://${document.host}${document.basePath ?? ''}`;
  }
  const url = /^https?:\/\/[^/?#\s{}]+[^?#\s{}]*$/.test(text)
    ? text.replace(/\/+$/, '')
    : undefined;
  if (url !== undefined) return url;
  const message = `the document does not name the address of the API${text === '' ? '' : ` ("${text.slice(0, 100)}")`}`;
  marks.push({ place: '[connector] base_url', message });
  return nowhere + (text.startsWith('/') ? text.replace(/\/+$/, '') : '');
};

const readAuth = (document: Part, marks: Mark[]): ApiAuth => {
  const components = resolvePart(document, document.components);
  const schemes = entriesOf(components.securitySchemes ?? document.securityDefinitions);
  const found = schemes.map(([, written]) => resolvePart(document, written));
  if (found.length > 1) {
    marks.push({
      place: '[auth]',
      message: `the document has several schemes (${schemes.map(([name]) => name).join(', ')}); the first that is supported was chosen`,
    });
  }
  for (const scheme of found) {
    const flows = resolvePart(document, scheme.flows);
    const client = resolvePart(document, flows.clientCredentials);
    const tokenUrl =
      client.tokenUrl ?? (scheme.flow === 'application' ? scheme.tokenUrl : undefined);
    if (typeof tokenUrl === 'string') return { scheme: 'oauth2', tokenUrl };
    const way = String(scheme.scheme ?? scheme.type).toLowerCase();
    if (way === 'bearer' || way === 'basic') return { scheme: way };
    const isHere = scheme.in === 'header' || scheme.in === 'query';
    if (scheme.type === 'apiKey' && isHere && typeof scheme.name === 'string') {
      return { scheme: scheme.in as 'header' | 'query', name: scheme.name };
    }
  }
  if (found.length === 0) return { scheme: 'none' };
  marks.push({
    place: '[auth]',
    message: 'a bearer token is assumed: the document names no scheme that is supported',
  });
  return { scheme: 'bearer' };
};

const exampleOf = (part: Part, schema: JsonSchema): unknown => {
  const [named] = entriesOf(part.examples).map(([, one]) => (isObject(one) ? one.value : one));
  const [listed] = Array.isArray(schema.enum) ? schema.enum : [];
  return part.example ?? named ?? schema.example ?? schema.default ?? listed;
};

const readParam = (document: Part, written: unknown): (ApiParam & { in: string }) | undefined => {
  const part = resolvePart(document, written);
  if (typeof part.name !== 'string') return undefined;
  const schema = plainSchema(document, part.schema ?? { type: part.type, enum: part.enum });
  const isList = schema.type === 'array';
  const isJoined = part.explode === false || part.collectionFormat === 'csv';
  const item = isList ? ((schema.items ?? {}) as JsonSchema) : schema;
  return {
    name: part.name.replace(/\[\]$/, ''),
    in: String(part.in),
    repeated: isList && !isJoined,
    schema: item,
    sample: exampleOf(part, schema),
  };
};

const jsonOf = (document: Part, content: unknown): Part | undefined => {
  const found = entriesOf(content).find(([type]) => /[/+]json\b/i.test(type) || type === '*/*');
  return found === undefined ? undefined : resolvePart(document, found[1]);
};

const readAnswer = (document: Part, responses: unknown) => {
  const [code, written] =
    entriesOf(responses)
      .filter(([status]) => /^2\d\d$|^2XX$/i.test(status))
      .sort(([a], [b]) => (a < b ? -1 : 1))[0] ??
    entriesOf(responses).find(([status]) => status === 'default') ??
    [];
  const response = resolvePart(document, written);
  const media =
    jsonOf(document, response.content) ?? (response.schema === undefined ? undefined : response);
  const answer = media?.schema === undefined ? null : plainSchema(document, media.schema);
  const examples = [
    ...(media?.example === undefined ? [] : [media.example]),
    ...entriesOf(media?.examples).flatMap(([, one]) => {
      const example = resolvePart(document, one);
      return example.value === undefined ? [] : [example.value];
    }),
    ...(answer?.example === undefined ? [] : [answer.example]),
  ];
  return { status: /^2\d\d$/.test(code ?? '') ? Number(code) : 200, answer, examples };
};

const readRequest = (
  document: Part,
  operation: Part,
  params: readonly unknown[],
): JsonSchema | null => {
  const body = resolvePart(document, operation.requestBody);
  const media = jsonOf(document, body.content);
  if (media?.schema !== undefined) return plainSchema(document, media.schema);
  const inBody = params.map((one) => resolvePart(document, one)).find((one) => one.in === 'body');
  return inBody === undefined ? null : plainSchema(document, inBody.schema);
};

/** Returns a name for an operation that no other operation has. */
const nameRoute = (operation: Part, method: string, path: string, taken: Set<string>): string => {
  const words = path.replace(/\{[^}]*\}/g, (argument) => `by ${argument.slice(1, -1)}`);
  const id = typeof operation.operationId === 'string' ? operation.operationId : '';
  const wanted = snakeCase(id === '' ? `${method} ${words}` : id);
  let name = wanted;
  for (let number = 2; taken.has(name); number += 1) name = `${wanted}_${number}`;
  taken.add(name);
  return name;
};

/** Renames arguments so that the language allows them, in the path as well. */
const plainPath = (path: string): { path: string; names: Map<string, string> } => {
  const names = new Map<string, string>();
  const plain = path.replace(/\{([^}]*)\}/g, (_, written: string) => {
    const name = /^[A-Za-z_][A-Za-z0-9_]*$/.test(written) ? written : snakeCase(written);
    names.set(written, name);
    return `{${name}}`;
  });
  return { path: plain.replace(/(.)\/+$/, '$1'), names };
};

/**
 * Creates a check for operations that a document lists again, under the same path with another query or fragment. A
 * request to the path fits all of these operations alike. The first of them is therefore drafted; the others are marked
 * and left out.
 */
const createRouteCheck = (marks: Mark[]) => {
  const known = new Map<string, string>();
  return (method: string, written: string, path: string): boolean => {
    const route = `${method} ${path.replace(/\{[^}]*\}/g, '{}')}`;
    const other = known.get(route);
    const place = `path ${written}`;
    if (other === undefined) {
      known.set(route, written);
      if (/[?#]/.test(written)) {
        marks.push({
          place,
          message: `a fragment is never sent in requests: ${method} is drafted at ${path}`,
        });
      }
      return true;
    }
    if (/[?#]/.test(written)) {
      const message = `${method} differs from ${other} by its query or fragment alone, and was left out`;
      marks.push({ place, message });
      return false;
    }
    return true;
  };
};

/** Sorts paths without a query or fragment first, because the other paths may repeat them. */
const plainFirst = (paths: [string, unknown][]): [string, unknown][] =>
  paths.toSorted(([a], [b]) => Number(/[?#]/.test(a)) - Number(/[?#]/.test(b)));

/** Reads the API that a bundled document describes. A bundled document contains the files that it refers to. */
export const apiFromOpenApi = (document: Part): { api: Api; marks: Mark[] } => {
  const marks: Mark[] = [];
  const taken = new Set<string>();
  const isNew = createRouteCheck(marks);
  const routes = plainFirst(entriesOf(document.paths)).flatMap(([written, item]): ApiRoute[] => {
    const pathItem = resolvePart(document, item);
    const { path, names } = plainPath(written.replace(/[?#].*$/s, ''));
    return methods.flatMap((method): ApiRoute[] => {
      const operation = resolvePart(document, pathItem[method]);
      if (Object.keys(operation).length === 0) return [];
      if (!isNew(method.toUpperCase(), written, path)) return [];
      const shared = Array.isArray(pathItem.parameters) ? pathItem.parameters : [];
      const own = Array.isArray(operation.parameters) ? operation.parameters : [];
      const all = [...shared, ...own].flatMap((one) => readParam(document, one) ?? []);
      const params = new Map(all.map((param) => [`${param.in} ${param.name}`, param]));
      const pathParams = [...names].map(([given, name]): ApiParam => {
        const known = params.get(`path ${given}`);
        return known === undefined
          ? { name, repeated: false, schema: { type: 'string' }, sample: undefined }
          : { ...known, name };
      });
      return [
        {
          name: nameRoute(operation, method, path, taken),
          method: method.toUpperCase() as ApiRoute['method'],
          path,
          pathParams,
          params: [...params.values()].filter((param) => param.in === 'query'),
          ...readAnswer(document, operation.responses),
          request: readRequest(document, operation, own),
        },
      ];
    });
  });
  const info = resolvePart(document, document.info);
  const title =
    typeof info.title === 'string' && info.title.trim() !== '' ? info.title.trim() : 'API';
  return {
    api: { title, baseUrl: readBase(document, marks), auth: readAuth(document, marks), routes },
    marks,
  };
};
