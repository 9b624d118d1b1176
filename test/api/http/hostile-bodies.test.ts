/**
 * Tests invalid bodies on every route that takes one: absent, null, of another type, too large, too deep and hostile.
 * Each is refused with a message, none makes the service fail, and nothing is written.
 */
import { beforeAll, describe, expect, it } from 'vitest';
import { basicAuthorization } from '#wire/client.ts';
import type { OperationShape } from '#wire/operation.ts';
import * as api from '#wire/public-api/operations.ts';
import type { TestControl } from '../../support/control/control.ts';
import { shareNotesControl } from '../../support/control/shared-control.ts';

const groups =
  /^\/(?:v2\/datasets|datasets|dataset-items|dataset-run-items|annotation-queues|context|v2\/prompts|media|files|agent-builds|agent-runs|environments\/\{containerId\}\/files)/;

const operations = (Object.values(api) as OperationShape[]).filter(
  ({ body, path }) => body !== undefined && groups.test(path),
);

const params: Record<string, string> = {
  containerId: 'notes',
  kind: 'prompts',
  promptVersion: '1',
};

const addressOf = ({ path }: OperationShape): string =>
  path.replace(/\{(\w+)\}/g, (_, name: string) => params[name] ?? 'some');

const deep = `${'{"a":'.repeat(400)}1${'}'.repeat(400)}`;
const bodies: readonly (readonly [what: string, text: string | undefined])[] = [
  ['absent', undefined],
  ['empty', ''],
  ['null', 'null'],
  ['a list', '[]'],
  ['a text', '"text"'],
  ['a number', '1e999'],
  ['no JSON', '{"name": '],
  ['not text', '\ud800"'],
  ['too deep', deep],
  ['too large', `{"name": "${'x'.repeat(6 * 1024 * 1024)}"}`],
  [
    'hostile',
    '{"__proto__": {"name": "x", "path": "x"}, "constructor": {"prototype": {"ok": true}}}',
  ],
];

const tables = [
  ...['datasets', 'dataset_items', 'dataset_runs', 'annotation_queues', 'context_repos'],
  ...['media', 'files', 'awaited_files', 'file_folders', 'file_connectors', 'agent_builds'],
];

let control: TestControl;

beforeAll(async () => {
  control = await shareNotesControl();
});

const counts = async (): Promise<object[]> => {
  const found = await control.sql<{ name: string }>(
    `select table_name as name from information_schema.tables where table_name = any($1) order by 1`,
    [tables],
  );
  const counted = found.map(({ name }) => `select '${name}' as name, count(*)::int from ${name}`);
  return control.sql(counted.join(' union all '));
};

describe('a request body', () => {
  it('is accepted by more than 25 routes', () => {
    expect(operations.length).toBeGreaterThan(25);
  });

  it.each(bodies)(
    'that is %s is refused by every route and changes nothing',
    async (_, body) => {
      const before = await counts();
      const authorization = basicAuthorization(control.publicKey, control.secretKey);
      const wrong: unknown[] = [];
      for (const operation of operations) {
        const { status, body: answer } = await control.raw({
          method: operation.method,
          path: `/api/public${addressOf(operation)}`,
          headers: { authorization, 'content-type': 'application/json' },
          ...(body === undefined ? {} : { body }),
        });
        const { message } = (answer ?? {}) as { message?: unknown };
        const isRefused = [400, 404, 413].includes(status) && typeof message === 'string';
        if (!isRefused) wrong.push({ id: operation.id, status, message });
      }
      expect(wrong).toEqual([]);
      expect(await counts()).toEqual(before);
    },
    120_000,
  );
});
