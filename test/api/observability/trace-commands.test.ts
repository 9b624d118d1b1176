/**
 * Tests `svc traces`, `observations`, `scores`, `metrics`, `models`, `users` and `comments` against a control plane.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ingest } from '#wire/public-api/operations.ts';
import { createDesk, type Desk } from '../../support/cli/commands-on-control.ts';
import type { TestControl } from '../../support/control/control.ts';
import { shareControl } from '../../support/control/shared-control.ts';

let control: TestControl;
let desk: Desk;

beforeAll(async () => {
  control = await shareControl();
  desk = createDesk(control);
  const timestamp = new Date(Date.now() - 3_600_000).toISOString();
  let sent = 0;
  const event = (type: string, body: object) => {
    sent += 1;
    return { id: `e${sent}`, type, timestamp, body };
  };
  const batch = [
    event('trace-create', {
      ...{ id: 'trace-1', name: 'support', userId: 'ada', sessionId: 'chat', tags: ['paid'] },
      ...{ timestamp, input: { q: 'why' } },
    }),
    event('span-create', { id: 'outer', traceId: 'trace-1', name: 'plan', startTime: timestamp }),
    event('generation-create', {
      ...{ id: 'inner', traceId: 'trace-1', parentObservationId: 'outer', name: 'ask' },
      ...{ startTime: timestamp, model: 'gpt-4o', usageDetails: { input: 1_000, output: 100 } },
      ...{ level: 'ERROR', endTime: new Date(Date.now() - 3_598_500).toISOString() },
    }),
  ];
  await control.send(ingest, { body: { batch } });
});
afterAll(async () => {
  desk.clear();
});

/** Runs a command and returns its output; fails the test if the command fails. */
const svc = async (words: string): Promise<string> => {
  const { status, out, err } = await desk.svc(words);
  expect(status, err).toBe(0);
  return out;
};

const json = async (words: string) => JSON.parse(await svc(`${words} --json`));

it('svc traces and svc observations show traces as a tree with their observations, and list trace sessions', async () => {
  expect(await svc('traces list --user ada --tag paid --last 2h')).toMatch(/trace-1 +support +ada/);
  expect(await svc('traces list --user missing')).toContain('no traces');
  const trace = await svc('traces show trace-1');
  expect(trace).toMatch(/^plan +span/m);
  expect(trace).toMatch(/^ {2}ask +generation +gpt-4o +1\.5 s +\$0\.0035 +error/m);
  expect(await svc('traces sessions list')).toContain('chat');
  expect(await svc('traces sessions show chat')).toContain('trace-1');
  expect(await svc('observations list --type GENERATION --level ERROR')).toContain('inner');
  expect((await json('observations list --trace trace-1 --limit 1')).meta.totalItems).toBe(2);
  expect(await svc('observations show inner')).toMatch(/priced by +builtin-gpt-4o, Standard/);
  const wrong = await desk.svc('traces list --last soon');
  expect([wrong.status === 0, wrong.err]).toEqual([false, expect.stringContaining('7d')]);
});

it('svc scores adds scores and shows the limits of their configs', async () => {
  const config = await json('scores configs create helpful --type NUMERIC --min 0 --max 1');
  await svc(`scores add helpful 0.8 --trace trace-1 --config ${config.id} --id s1`);
  await svc('scores add kind good --session chat');
  expect(await svc('scores list --name helpful')).toMatch(/s1 +helpful +0\.8 +trace trace-1/);
  expect(await svc('scores show s1')).toMatch(/type +numeric/);
  const high = await desk.svc(`scores add helpful 2 --trace trace-1 --config ${config.id}`);
  expect(high.status).not.toBe(0);
  expect((await desk.svc('scores add helpful 1')).err).toContain('--trace, --session');
  await svc(`scores configs archive ${config.id}`);
  expect(await svc('scores configs list')).toMatch(/helpful +numeric +0 to 1 +archived/);
  expect(await svc('scores delete s1')).toContain('deleted');
  expect((await json('scores list')).data.map((one: { name: string }) => one.name)).toEqual([
    'kind',
  ]);
});

it('svc metrics shows metrics as a table, with bars over time, and day by day', async () => {
  const rows = await json('metrics query observations sum:totalCost count --by providedModelName');
  expect(rows.data).toEqual([
    { providedModelName: 'gpt-4o', sum_totalCost: 0.0035, count_count: 1 },
    { providedModelName: null, sum_totalCost: 0, count_count: 1 },
  ]);
  const where = '--where name=ask --where name=plan --every day --last 1d';
  expect(await svc(`metrics query observations count ${where}`)).toMatch(/ 2 +█+/);
  expect(await svc('metrics query traces count')).toMatch(/count_count\n1/);
  expect(await svc('metrics daily --last 2d --user ada')).toMatch(/\$0\.0035 +gpt-4o/);
  expect((await desk.svc('metrics query observations total')).err).toContain('sum:totalCost');
  expect((await desk.svc('metrics query observations sum:none')).err).toContain('totalCost');
});

it('svc models lists, creates and deletes models', async () => {
  expect(await svc('models show builtin-gpt-4o')).toMatch(/Standard +input +\$2\.5/);
  const made = await json('models create ours --match ^ours$ --input-price 1e-6');
  expect(made.inputPrice).toBe(1e-6);
  expect(await svc('models list --limit 100 --page 2')).toContain(made.id);
  expect((await desk.svc('models create ours --match ^ours$')).err).toContain('another model');
  expect(await svc(`models delete ${made.id}`)).toContain('deleted');
});

it('svc users stores users with their events, and svc comments stores comments', async () => {
  await svc('users set ada --display-name Ada --attributes {"plan":"pro"}');
  await svc('users event ada hours_saved --value 1.5 --trace trace-1');
  await svc('users event ada hours_saved --value 2');
  expect(await svc('users show ada')).toMatch(/hours_saved +2 +3\.5/);
  expect((await json('users events --user ada --limit 1')).meta.totalItems).toBe(2);
  expect((await desk.svc('users show missing')).err).toContain('not found');
  const { id } = await json('comments add trace-1 why');
  expect(await svc('comments list --type TRACE --on trace-1')).toMatch(/trace trace-1 +why/);
  expect(await svc(`comments show ${id}`)).toContain('why');
});

it('svc traces delete deletes traces', async () => {
  expect(await svc('traces delete trace-1')).toContain('the trace is deleted');
  expect((await desk.svc('traces show trace-1')).status).not.toBe(0);
});
