/** Session of a world with links: the tools of each linked world work on rows of their own. */
import { readdir } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import {
  assignment,
  type Bench,
  openOn,
  startBench,
  task,
  version,
} from '#test/support/host/host-bench.ts';
import type { StandInControl } from '#test/support/host/stand-in-control.ts';
import type { LinkedWorld } from '#wire/host-api/assignment.ts';
import { environmentOf, listOwnProcesses } from '../proof/proc.ts';

/** Links from the sample world to itself, twice. */
const links = ['one', 'two'].map((alias) => ({
  alias,
  worldSlug: 'sample',
  bundle: version.bundle,
  snapshot: version.snapshot,
  blobs: {},
  task: alias === 'two' ? task : null,
  tools: ['close_all', 'update_issues', 'get_issues'],
}));

const open = async (): Promise<StandInControl> => {
  const { control } = await startBench();
  await openOn(control, { links, task });
  return control;
};

const openIssues = async (control: StandInControl, entity: string): Promise<number> => {
  const input = { entity, where: { state: 'open' } };
  return ((await control.call('state', undefined, input)).output as { total: number }).total;
};

it('a session runs tools of linked worlds with the linked worlds’ code and rows, and reports in which world rows changed', async () => {
  const control = await open();
  const before = await openIssues(control, 'issues');
  const { output, changes } = await control.call('tool', 'one.close_all', { repo: 'engine' });
  expect(output).toBe(2);
  expect(changes).toEqual({ 'one.issues': { inserted: 0, updated: 2, deleted: 0 } });
  const left = [];
  for (const entity of ['issues', 'one.issues', 'two.issues']) {
    left.push(await openIssues(control, entity));
  }
  expect(left).toEqual([before, before - 2, before]);
  const { output: ledger } = await control.call('state', undefined, { entity: 'svc_requests' });
  expect((ledger as { rows: unknown[] }).rows).toMatchObject([
    { via: 'tool', operation: 'one.close_all', changes },
  ]);
});

it('a session seeds each linked world by that world’s task, and a reset resets all of them', async () => {
  const control = await open();
  const summary = async () => (await control.call('state')).output as { links: object };
  const first = await summary();
  expect(first).toMatchObject({
    counts: { users: 3 },
    links: { one: { counts: { users: 2 } }, two: { counts: { users: 3 } } },
  });
  await control.call('tool', 'one.close_all', { repo: 'engine' });
  await control.call('tool', 'two.close_all', { repo: 'engine' });
  expect(await summary()).not.toEqual(first);
  await control.call('reset');
  expect(await summary()).toEqual(first);
});

it('a session refuses tools of a linked world that the link does not serve or the task withholds', async () => {
  const { control } = await startBench();
  await openOn(control, { links, task: { tools: ['one.close_all'] } });
  const { error } = await control.call('tool', 'one.delete_issues', {});
  expect(error).toMatchObject({ code: 'forbidden' });
  const { error: withheld } = await control.call('tool', 'two.close_all', { repo: 'engine' });
  expect(withheld).toMatchObject({
    code: 'forbidden',
    message: expect.stringContaining('does not offer the tool "two.close_all"'),
  });
  const { error: unknown } = await control.call('state', undefined, { entity: 'one.people' });
  expect(unknown?.message).toContain('people');
});

/** Returns the processes that use the temporary folder of a linked world's workers. */
const linkedProcesses = (workDir: string) =>
  listOwnProcesses().filter(({ pid }) =>
    environmentOf(pid).some((word) => word.includes(`=${workDir}/code-linked-`)),
  );
const linkedFolders = async (workDir: string): Promise<string[]> =>
  (await readdir(workDir)).filter((name) => name.startsWith('code-linked-'));

describe('a host after a session with linked worlds', () => {
  const second = { sessionId: 'ses-2', generation: 3, sessionToken: 'st-two' };
  /** Serves a session that runs code of both linked worlds, and recycles the host. */
  const serveOnce = async () => {
    const bench = await startBench();
    const { control } = bench;
    await openOn(control, { links, task });
    expect((await control.message('reportReady')).body).not.toHaveProperty('recycles');
    await control.call('tool', 'one.close_all', { repo: 'engine' });
    await control.call('tool', 'two.close_all', { repo: 'engine' });
    return bench;
  };
  const recycle = async ({ control }: Bench, nth = 2) => {
    control.close(true, 'recycle');
    return (await control.message('reportWarm', nth)).body;
  };

  it('has no code, folder or process of the linked worlds left, and is proved clean', async () => {
    const bench = await serveOnce();
    const { workDir } = bench;
    expect(await linkedFolders(workDir)).toHaveLength(2);
    expect(linkedProcesses(workDir).length).toBeGreaterThan(0);
    const { bundle, stateDigest } = version;
    expect(await recycle(bench)).toMatchObject({ found: [], holding: { bundle, stateDigest } });
    expect(await linkedFolders(workDir)).toEqual([]);
    expect(linkedProcesses(workDir)).toEqual([]);
  });

  it('serves the next session with fresh rows, and nothing of the previous session', async () => {
    const bench = await serveOnce();
    const { control } = bench;
    await recycle(bench);
    const ask = await openOn(control, { ...second, links, task }, 2);
    const seen = [];
    for (const entity of ['issues', 'one.issues', 'two.issues']) {
      seen.push(await openIssues(control, entity));
    }
    expect(seen).toEqual([2, 2, 2]);
    const { output: ledger } = await control.call('state', undefined, { entity: 'svc_requests' });
    expect(ledger).toMatchObject({ total: 0 });
    expect((await ask('GET', '/users', undefined, 'st-one')).status).toBe(401);
    expect((await control.call('tool', 'one.close_all', { repo: 'engine' })).output).toBe(2);
    expect(await openIssues(control, 'two.issues')).toBe(2);
    expect(await recycle(bench, 3)).toMatchObject({ found: [] });
  });

  it('serves a session without links like a host that never had linked worlds', async () => {
    const bench = await serveOnce();
    const { control } = bench;
    await recycle(bench);
    await openOn(control, second, 2);
    expect((await control.call('state')).output).not.toHaveProperty('links.one');
    const unknown = await control.call('state', undefined, { entity: 'one.issues' });
    expect(unknown.error?.message).toContain('one.issues');
    expect(await control.call('tool', 'one.close_all', { repo: 'engine' })).toMatchObject({
      error: { code: 'unknown_tool' },
    });
    expect((await control.call('tool', 'close_all', { repo: 'engine' })).output).toBe(2);
    expect(await linkedFolders(bench.workDir)).toEqual([]);
  });
});

it('a session with a linked world that cannot be loaded is not opened, and the reason names the world', async () => {
  const { control } = await startBench();
  await control.message('reportWarm');
  const [link] = links;
  if (link === undefined) throw new Error('there is no link');
  const lost: LinkedWorld = { ...link, bundle: `sha256:${'0'.repeat(64)}` };
  control.assign(assignment({ links: [lost] }));
  const { body } = await control.message('reportFailed');
  expect(body).toMatchObject({
    code: 'load_failed',
    message: expect.stringContaining('the linked world "one"'),
  });
});
