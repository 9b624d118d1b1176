/**
 * Names that every JavaScript object inherits, such as `constructor`, in every place that accepts a
 * client's text: path arguments, query parameters and body fields of every route, including unknown
 * fields. A look-up by such a name without an own-property check finds a function. The request then
 * fails with 500, or acts on an object that does not exist.
 */
import { tmpdir } from 'node:os';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { basicAuthorization } from '#wire/client.ts';
import { type OperationShape, operationsOf } from '#wire/operation.ts';
import * as api from '#wire/public-api/operations.ts';
import { makeEverything } from '../../support/control/everything.ts';
import { type OwnControl, startNotesControl } from '../../support/control/own-control.ts';
import { projectIdOf } from '../../support/control/settings.ts';
import { goodBodies } from '../../support/random/good-bodies.ts';

/**
 * The inherited name that is tried in bodies. Paths and queries are tried with one name of each kind, in `names`:
 * functions, and an accessor (`__proto__`).
 */
const first = 'constructor';
const names = ['constructor', 'toString', 'hasOwnProperty', '__proto__'];

const ofProjects = new Set<string>(['read', 'inspect', 'send', 'write', 'session', 'mcp', 'open']);

const operations = operationsOf(api);

let control: OwnControl;
let ids: Record<string, string>;
let bodies: Record<string, object>;

beforeAll(async () => {
  control = await startNotesControl({ files: { folder: tmpdir(), endpoints: [] } });
  ids = { ...(await makeEverything(control)), projectId: await projectIdOf(control) };
  bodies = goodBodies(ids);
});
afterAll(() => control.stop());

/** Replacements for the path arguments, query and body of a request. */
type Odd = { params?: Record<string, string>; query?: Record<string, string>; body?: unknown };

type Members = Record<string, unknown>;
const isMembers = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * Returns the value once with each of its texts replaced, and once with each of its objects
 * extended by one member.
 */
const oddOf = (value: unknown, name: string): unknown[] => {
  if (typeof value === 'string') return [name];
  if (Array.isArray(value)) {
    return [
      [...value, name],
      ...value.flatMap((item, at) => oddOf(item, name).map((odd) => value.with(at, odd))),
    ];
  }
  if (!isMembers(value)) return [];
  return [
    { ...value, [name]: [{ [name]: name }] },
    ...Object.entries(value).flatMap(([member, inner]) =>
      oddOf(inner, name).map((odd) => ({ ...value, [member]: odd })),
    ),
  ];
};

const propertiesOf = (schema: object | undefined): string[] =>
  Object.keys((schema as { properties?: object } | undefined)?.properties ?? {});

/** Returns variants of the body, including fields that the schema leaves free or makes optional. */
const bodiesOf = ({ id, body }: OperationShape, name: string): unknown[] => {
  if (body === undefined) return [];
  const good = bodies[id] ?? {};
  const more = propertiesOf(body).filter((member) => !Object.hasOwn(good, member));
  return [
    ...oddOf(good, name),
    ...more.flatMap((member) => [
      { ...good, [member]: name },
      { ...good, [member]: { [name]: name } },
    ]),
  ];
};

/** Forms of a query parameter that contains JSON. */
const asJson = (name: string): string[] => [
  JSON.stringify({ [name]: name }),
  JSON.stringify([{ type: name, column: name, operator: name, value: name, key: name }]),
  JSON.stringify([{ type: 'string', column: name, operator: '=', value: name }]),
  ...['traces', name].map((view) =>
    JSON.stringify({
      ...{ view, metrics: [{ measure: name, aggregation: name }], dimensions: [{ field: name }] },
      ...{ fromTimestamp: '2026-01-01T00:00:00Z', toTimestamp: '2026-01-02T00:00:00Z' },
    }),
  ),
];

/** Query parameters that the other parameters of an operation require, by the id of the operation. */
const besides: Record<string, Record<string, string>> = {
  readData: { entity: 'notes' },
};

const casesOf = (operation: OperationShape, name: string): Odd[] => {
  const { id, path, query } = operation;
  const params = [...path.matchAll(/\{(\w+)\}/g)].map(([, param = '']) => ({
    params: { [param]: name },
  }));
  const together = besides[id] ?? {};
  const asked = propertiesOf(query).flatMap((member) =>
    [name, ...asJson(name)].map((text) => ({ query: { ...together, [member]: text } })),
  );
  const all = [...params, ...asked, { query: { ...together, [name]: name } }];
  return operation.method === 'DELETE'
    ? params
    : [...all, ...bodiesOf(operation, name).map((body) => ({ body }))];
};

const send = async (operation: OperationShape, { params = {}, query = {}, body }: Odd) => {
  const { method, path, access, id } = operation;
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(params[name] ?? decodeURIComponent(ids[name] ?? 'none')),
  );
  const asked = new URLSearchParams(query).toString();
  const given = operation.body === undefined ? undefined : (body ?? bodies[id] ?? {});
  const answer = await control.raw({
    method,
    path: `/api/public${filled}${asked === '' ? '' : `?${asked}`}`,
    headers: {
      authorization: ofProjects.has(access)
        ? basicAuthorization(control.publicKey, control.secretKey)
        : control.accountAuthorization,
      ...(given === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(given === undefined ? {} : { body: JSON.stringify(given) }),
  });
  return answer.status < 500 || answer.status === 503 || answer.status === 524
    ? []
    : [
        `${id} ${JSON.stringify({ params, query, body }).slice(0, 300)}: ${answer.status} ${JSON.stringify(answer.body)}`,
      ];
};

/** Operations that are not tried: they would wait for a host, or delete objects that the other operations use. */
const left = new Set(['deleteOrganization', 'archiveWorld', 'renameWorld', 'closeSession']);

const atOnce = 8;

const tryAll = async (operation: OperationShape, cases: readonly Odd[]): Promise<string[]> => {
  const found: string[] = [];
  const waiting = cases.values();
  const next = async (): Promise<void> => {
    for (const odd of waiting) found.push(...(await send(operation, odd)));
  };
  await Promise.all(Array.from({ length: atOnce }, next));
  return found;
};

describe('a name that every object inherits', () => {
  it.each(operations.filter(({ id }) => !left.has(id)).map((each) => [each.id, each] as const))(
    'is treated like any other name in every place: %s',
    async (_, operation) => {
      expect(await tryAll(operation, casesOf(operation, first))).toEqual([]);
    },
  );

  it.each(names)('is treated like any other name in every path and query: %s', async (name) => {
    const found: string[] = [];
    for (const operation of operations.filter(({ method }) => method === 'GET')) {
      found.push(...(await tryAll(operation, casesOf(operation, name))));
    }
    expect(found).toEqual([]);
  });
});
