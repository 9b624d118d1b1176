/**
 * Tests every field of every body: absent, null, of another type, too large and hostile. Each value is accepted if the
 * schema allows it, or refused with an error that names the field. A refusal changes nothing. New routes are covered,
 * too; they need a body in `good-bodies.ts`.
 */
import { tmpdir } from 'node:os';
import { Ajv } from 'ajv';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '#runtime/pause.ts';
import { basicAuthorization } from '#wire/client.ts';
import type { OperationShape } from '#wire/operation.ts';
import * as api from '#wire/public-api/operations.ts';
import type { RawAnswer } from '../../support/control/control.ts';
import { makeEverything } from '../../support/control/everything.ts';
import { type OwnControl, startNotesControl } from '../../support/control/own-control.ts';
import { projectIdOf } from '../../support/control/settings.ts';
import { type FieldCase, fieldCasesOf } from '../../support/random/field-cases.ts';
import { goodBodies } from '../../support/random/good-bodies.ts';

const ofProjects = new Set<string>(['read', 'inspect', 'send', 'write', 'session']);

/**
 * Operations that this test leaves out: those of JSON-RPC have errors of their own, and the organization must not be
 * deleted.
 */
const others = new Set(['callService', 'callSessionServer', 'deleteOrganization']);

/** These operations run last, because they remove things that the other operations need. */
const ending = ['moveFile', 'renameWorld', 'archiveWorld', 'closeSession'];

const operations = (Object.values(api) as OperationShape[])
  .filter(({ id, body }) => body !== undefined && !others.has(id))
  .sort((a, b) => ending.indexOf(a.id) - ending.indexOf(b.id));

/** Fields of a body that its schema does not list but accepts, by the id of the operation. */
const free: Record<string, string[]> = {
  createScore: [
    ...['id', 'name', 'value', 'dataType', 'traceId', 'sessionId', 'datasetRunId', 'comment'],
    ...['observationId', 'metadata', 'configId', 'queueId', 'source', 'environment', 'timestamp'],
  ],
  createScoreConfig: ['name', 'dataType', 'minValue', 'maxValue', 'categories', 'description'],
  createTrace: [
    ...['id', 'timestamp', 'name', 'input', 'output', 'sessionId', 'userId', 'environment'],
    ...['metadata', 'release', 'version', 'public', 'tags'],
  ],
  updateScoreConfig: ['isArchived', 'name', 'minValue', 'maxValue', 'categories', 'description'],
};

let control: OwnControl;
let ids: Record<string, string>;
let bodies: Record<string, object>;
let number = 0;

beforeAll(async () => {
  control = await startNotesControl({ files: { folder: tmpdir(), endpoints: [] } });
  ids = { ...(await makeEverything(control)), projectId: await projectIdOf(control) };
  bodies = goodBodies(ids);
});
afterAll(() => control.stop());

const send = (operation: OperationShape, text: string): Promise<RawAnswer> => {
  const path = operation.path.replace(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? 'none');
  number += 1;
  return control.raw({
    method: operation.method,
    path: `/api/public${path}`,
    headers: {
      authorization: ofProjects.has(operation.access)
        ? basicAuthorization(control.publicKey, control.secretKey)
        : control.accountAuthorization,
      'content-type': 'application/json',
    },
    body: text.replaceAll('%n', String(number)),
  });
};

/** Tables that change on their own as time passes. */
const restless = [
  ...['hosts', 'host_orders', 'sessions', 'calls', 'world_runs', 'requests', 'ledgers'],
  ...['trace_dues', 'request_rates', 'credential_uses', 'configured_keys', 'gateways', 'keys'],
  // The control plane removes bytes that came before a refusal once nothing refers to them.
  ...['uploads', 'day_marks', 'day_cells', 'day_hours', 'dataset_plays', 'dataset_rollouts'],
  'open_lanes',
];

/** Returns a digest of every table that does not change on its own. */
const digest = async (): Promise<Record<string, string>> => {
  await until(async () => (await control.sql('select from trace_dues limit 1')).length === 0, {
    timeoutMs: 20_000,
    what: 'sessions are reported in their traces',
  });
  const tables = await control.sql<{ name: string }>(
    `select table_name as name from information_schema.tables
      where table_schema = 'public' and table_type = 'BASE TABLE' and table_name <> all($1)`,
    [restless],
  );
  const each = tables.map(
    ({ name }) =>
      `select '${name}' as name, count(*) || ':' || coalesce(sum(hashtextextended(t::text, 0)), 0) as rows from "${name}" t`,
  );
  const rows = await control.sql<{ name: string; rows: string }>(each.join(' union all '));
  return Object.fromEntries(rows.map(({ name, rows: text }) => [name, text]));
};

const ajv = new Ajv({ strict: false, validateFormats: false });

const isJson = (text: string): unknown => {
  const read: unknown = JSON.parse(text, (_, value) =>
    typeof value === 'number' && !Number.isFinite(value) ? Symbol('infinite') : value,
  );
  return read;
};

/** Expected error messages for values that are refused in every field. */
const wordsOf: Record<string, RegExp> = {
  'too deep': /deeper than/,
  'a prototype': /__proto__/,
  'a constructor': /constructor\.prototype/,
  // A body with one field is empty without it.
  absent: /fewer than 1 properties|nothing to change/,
  null: /fewer than 1 properties|nothing to change/,
};

/**
 * Returns the path of the file that a field belongs to. An error about the file's content names this path, which is
 * more exact than the field.
 */
const fileOf = ({ id }: OperationShape, [name = '']: string[]): string[] => {
  const files = (bodies[id] as Record<string, unknown> | undefined)?.[name];
  const [first] = Array.isArray(files) ? (files as { path?: unknown }[]) : [];
  return typeof first?.path === 'string' ? [first.path] : [];
};

type Wrong = { case: string; status: number; body: unknown };

const judge = (
  operation: OperationShape,
  { path, oddity, text }: FieldCase,
  { status, body }: RawAnswer,
  isGood: boolean,
): Wrong | undefined => {
  const wrong = (why: string): Wrong => ({
    case: `${operation.id} ${path.join('.')} ${oddity}: ${why}`,
    status,
    body: JSON.stringify(body).slice(0, 400),
  });
  if (status >= 500) return wrong('fails');
  if (status < 300) {
    const isTaken = ajv.validate(operation.body as object, isJson(text));
    const mayBeNull = oddity === 'null' || oddity === 'a list with null';
    return isTaken || mayBeNull
      ? undefined
      : wrong('is taken, which its schema does not let through');
  }
  const { message } = (body ?? {}) as { message?: unknown };
  if (typeof message !== 'string' || message === '') return wrong('is refused without a message');
  const words = wordsOf[oddity];
  if (words?.test(message)) return undefined;
  if (status !== 400 || !isGood) return undefined;
  const said = JSON.stringify(body).toLowerCase();
  const names = [...path, ...fileOf(operation, path)].map((name) => name.toLowerCase());
  return names.some((name) => said.includes(name)) ? undefined : wrong('does not name the field');
};

/** Returns true for a case that waits until a host acts. The tests have no hosts. */
const isLong = ({ path, oddity }: FieldCase): boolean =>
  path[0] === 'wait' && ['absent', 'null', 'true'].includes(oddity);

/** Returns true for a body that its schema refuses. Null is allowed, because it means that no value is given. */
const isMisfit = (operation: OperationShape, { oddity, text }: FieldCase): boolean => {
  if (oddity === 'null' || oddity === 'a list with null') return false;
  return !ajv.validate(operation.body as object, isJson(text));
};

/** Maximum number of concurrent requests. */
const atOnce = 8;

const sendAll = async (
  operation: OperationShape,
  cases: readonly FieldCase[],
): Promise<(readonly [FieldCase, RawAnswer])[]> => {
  const answers: (readonly [FieldCase, RawAnswer])[] = [];
  const waiting = cases.values();
  const sendNext = async (): Promise<void> => {
    for (const one of waiting) answers.push([one, await send(operation, one.text)]);
  };
  await Promise.all(Array.from({ length: atOnce }, sendNext));
  return answers;
};

/** Returns the tables that change while the action runs. */
const changedBy = async (act: () => Promise<unknown>): Promise<string[]> => {
  const before = await digest();
  await act();
  const after = await digest();
  return Object.keys(before).filter((name) => before[name] !== after[name]);
};

const tryOperation = async (operation: OperationShape): Promise<Wrong[]> => {
  const base = bodies[operation.id] ?? {};
  const { status: good } = await send(operation, JSON.stringify(base));
  const cases = fieldCasesOf(operation, base, free[operation.id]).filter((one) => !isLong(one));
  const [misfits, others] = [true, false].map((wanted) =>
    cases.filter((one) => isMisfit(operation, one) === wanted),
  ) as [FieldCase[], FieldCase[]];
  const answers: (readonly [FieldCase, RawAnswer])[] = [];
  const changed = await changedBy(async () => {
    answers.push(...(await sendAll(operation, misfits)));
  });
  // Accepted values change the tables. The values that were refused are therefore sent once more, between two digests.
  const rest: (readonly [FieldCase, RawAnswer])[] = [];
  for (const one of others) rest.push([one, await send(operation, one.text)]);
  const refused = rest.filter(([, { status }]) => status >= 400).map(([one]) => one);
  if (refused.length > 0) {
    changed.push(...(await changedBy(() => sendAll(operation, refused))));
  }
  const found = [...answers, ...rest].flatMap(
    ([one, answer]) => judge(operation, one, answer, good < 300) ?? [],
  );
  if (changed.length > 0) {
    found.push({
      case: `${operation.id}: refusals change ${[...new Set(changed)].join()}`,
      status: good,
      body: '',
    });
  }
  return found;
};

describe('a field of a request body', () => {
  it('belongs to an operation whose example body is valid', async () => {
    const missing = operations.filter(({ id }) => bodies[id] === undefined).map(({ id }) => id);
    expect(missing).toEqual(['closeSession']);
  });

  it.each(operations.map((operation) => [operation.id, operation] as const))(
    'is accepted, or refused with its name: %s',
    async (_, operation) => {
      expect(await tryOperation(operation)).toEqual([]);
    },
  );

  it('does not pollute the prototype of objects', () => {
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });
});
