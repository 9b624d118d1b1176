/** Tests `svc datasets` and `svc queues` against a control plane. */
import { chmodSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createScoreConfig } from '#wire/public-api/operations.ts';
import { createDesk, type Desk } from '../../support/cli/commands-on-control.ts';
import { type Answering, answerCalls } from '../../support/control/answering-host.ts';
import { warmHost } from '../../support/control/host.ts';
import { type OwnControl, startNotesControl } from '../../support/control/own-control.ts';
import { changed } from '../../support/control/pushes.ts';

let control: OwnControl;
let desk: Desk;

beforeAll(async () => {
  control = await startNotesControl();
  desk = createDesk(control);
});
afterAll(async () => {
  desk.clear();
  await control.stop();
});

/** Runs a command and returns its output; fails the test if the command fails. */
const svc = async (words: string): Promise<string> => {
  const { status, out, err } = await desk.svc(words);
  expect(status, err).toBe(0);
  return out;
};

const write = (name: string, text: string): void => desk.write('.', changed([], { [name]: text }));

it('svc datasets creates a dataset, adds items, and lists current and earlier versions', async () => {
  write('schema.json', '{"type": "object", "required": ["q"]}');
  const made = await svc('datasets create folder/one --description d --input-schema @schema.json');
  expect(made).toMatch(/dataset +folder\/one/);
  expect(await svc('datasets list')).toContain('folder/one');
  write('items.jsonl', '{"id": "a", "input": {"q": 1}}\n\n{"id": "b", "input": {"q": 2}}\n');
  expect(await svc('datasets items add folder/one --file items.jsonl')).toMatch(/^2 items/);
  const before = JSON.parse(await svc('datasets items show a --json')) as { updatedAt: string };
  await svc('datasets items add folder/one --id a --input {"q":3}');
  const inputs = async (words: string) => {
    const { data } = JSON.parse(await svc(`datasets items list folder/one --json${words}`)) as {
      data: { input: { q: number } }[];
    };
    return data.map(({ input }) => input.q);
  };
  expect((await inputs('')).sort()).toEqual([2, 3]);
  expect(await inputs(` --at ${before.updatedAt} --limit 1`)).toHaveLength(1);
  const wrong = await desk.svc('datasets items add folder/one --input 5');
  expect([wrong.status === 0, wrong.err]).toEqual([
    false,
    expect.stringContaining('Dataset item validation failed'),
  ]);
  write('bad.jsonl', '{"input": {"q": 1}}\n[]\n');
  const bad = await desk.svc('datasets items add folder/one --file bad.jsonl');
  expect(bad.err).toContain('line 2 of bad.jsonl');
  expect(await svc('datasets items delete a')).toContain('deleted');
  expect(await inputs('')).toEqual([2]);
});

it('svc datasets run runs an agent on each item, grades it, and resumes a run by its name', async () => {
  await svc('datasets create tasks');
  write('tasks.jsonl', '{"id": "t1", "input": "finish"}\n{"id": "t2", "input": "no such task"}\n');
  await svc('datasets items add tasks --file tasks.jsonl');
  const host = await warmHost(control);
  let answering: Answering | undefined;
  const serve = (async () => {
    await host.poll(20);
    await host.ready();
    answering = answerCalls(host, () => ({
      output: { verdict: 'pass', passed: true, score: 1, checks: [] },
    }));
  })();
  const run = 'datasets run tasks --world notes --name nightly --concurrency 1';
  const ran = await desk.svc(`${run} --agent env --wait 60`);
  await serve;
  await answering?.stop();
  expect(ran.status, ran.err).toBe(1);
  expect(ran.out).toMatch(/t1 +pass +1\.00 +ses-/);
  expect(ran.out).toMatch(/t2 +not graded .*the world has no task/);
  expect(ran.out).toContain('run "nightly": 1 of 2 graded, 1 passed, 1 not graded');
  const session = /ses-\w+/.exec(ran.out)?.[0] ?? '';
  const trace = /SVC_TRACE_ID=(\S+)/.exec(ran.err)?.[1] ?? '';
  expect(ran.err).toContain(`SVC_SESSION_ID=${session}`);
  expect(ran.err).toContain('SVC_DATASET_ITEM=t1');
  expect(await svc('datasets runs list tasks')).toContain('nightly');
  expect(await svc('datasets runs show tasks nightly')).toMatch(new RegExp(`t1 +${trace}`));
  await svc('datasets items add tasks --id t2 --input "finish"');
  expect(await svc(`${run} --detach`)).toContain('1 of 2 graded');
  expect(await svc('datasets runs sessions tasks nightly')).toMatch(/t1 +pass/);
  expect(await svc('datasets runs stop tasks nightly')).toContain('is stopped');
  expect((await desk.svc('datasets run tasks --world other')).err).toContain('"other"');
  expect(await svc('datasets runs delete tasks nightly')).toContain('deleted');
});

it('svc datasets run distinguishes a failed agent from a failed task, also by its exit status', async () => {
  await svc('datasets create crashes');
  const items = ['missing', 'crash', 'slow', 'gave-up'].map((id) => ({ id, input: 'finish' }));
  write('crashes.jsonl', items.map((item) => JSON.stringify(item)).join('\n'));
  await svc('datasets items add crashes --file crashes.jsonl');
  write(
    'agent.sh',
    [
      '#!/bin/sh',
      'case $SVC_DATASET_ITEM in',
      'missing) exec no-such-agent ;;',
      'crash) echo started; echo \'No module named "openai"\' >&2; exit 3 ;;',
      'slow) sleep 600 ;;',
      'gave-up) echo acted > acted; exit 4 ;;',
      'esac',
    ].join('\n'),
  );
  chmodSync(join(desk.folder, 'agent.sh'), 0o700);
  const page = (rows: object[]) => ({ output: { rows, total: rows.length } });
  const graded = { output: { verdict: 'fail', passed: false, score: 0, checks: [] } };
  const answerings: Answering[] = [];
  const serve = async (): Promise<void> => {
    for (const _ of items) {
      const host = await warmHost(control);
      while ((await host.poll(20)) === undefined);
      await host.ready();
      const hasActed = () => existsSync(join(desk.folder, 'acted'));
      const answer = (kind: string) => (kind === 'state' ? page(hasActed() ? [{}] : []) : graded);
      answerings.push(answerCalls(host, ({ kind }) => answer(kind)));
    }
  };
  const serving = serve();
  const ran = await desk.svc(
    'datasets run crashes --world notes --name first --concurrency 1 --agent-timeout 2 --wait 60 --agent ./agent.sh',
  );
  await serving;
  for (const answering of answerings) await answering.stop();
  expect(ran.status, ran.err).toBe(3);
  expect(ran.out).toMatch(/missing +not graded .*not found or cannot be run \(exit status 127\)/);
  expect(ran.out).toMatch(/slow +not graded .*reached its time limit/);
  expect(ran.out).toMatch(/gave-up +fail +0\.00/);
  expect(ran.out).toContain('1 of 4 graded, 0 passed, 3 not graded (the agent of 3 failed)');
  expect(ran.out).toContain(
    'crash: the agent ended with exit status 3 before it used the session\n    No module named "openai"\n',
  );
  expect(ran.err).toContain('gave-up: the agent ended with exit status 4\ngave-up: fail\n');
  const session = /crash +not graded +- +(ses-\w+)/.exec(ran.out)?.[1] ?? '';
  const shown = await svc(`worlds session agent ${session}`);
  expect(shown).toMatch(/outcome +failed\nexit +3\n/);
  expect(shown).toMatch(/\n\nstarted\nNo module named "openai"\n$/);
  const again = await desk.svc(
    'datasets run crashes --world notes --agent-timeout 5 --name another',
  );
  expect(again).toMatchObject({ status: 1, err: expect.stringContaining('--agent') });
});

it('svc queues creates a queue, adds items, completes and reopens them', async () => {
  const config = await control.send(createScoreConfig, {
    body: { name: 'quality', dataType: 'NUMERIC' },
  });
  const made = await svc(`queues create odd --score-config ${config.body.id}`);
  const queue = /anq-\w+/.exec(made)?.[0] ?? '';
  expect(await svc('queues list')).toContain(queue);
  expect(await svc(`queues show ${queue}`)).toContain('odd');
  const item = /ani-\w+/.exec(await svc(`queues add ${queue} trace-1`))?.[0] ?? '';
  expect(await svc(`queues complete ${queue} ${item}`)).toMatch(/status +completed/);
  expect(await svc(`queues items ${queue} --status PENDING`)).toMatch(/^this queue has no items/);
  expect(await svc(`queues reopen ${queue} ${item}`)).toMatch(/status +pending/);
  expect(await svc(`queues items ${queue}`)).toMatch(/pending +trace +trace-1/);
  expect((await desk.svc(`queues assign ${queue} usr-none`)).status).not.toBe(0);
  expect(await svc(`queues remove ${queue} ${item}`)).toContain('removed');
});
