/**
 * Reports of a host to the control plane, and the host's behaviour when the control plane is unavailable or orders it
 * to stop.
 */
import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { limits } from '#domain/limits.ts';
import { assignment, openOn, startBench } from '#test/support/host/host-bench.ts';
import type { StandInControl } from '#test/support/host/stand-in-control.ts';
import { sampleVersion } from '#test/support/worlds/sample-world.ts';

describe('the request ledger', () => {
  type SentEntries = { entries: string[] };
  const entriesOf = (control: StandInControl) =>
    control.received
      .filter(({ operation }) => operation === 'deliverRequests')
      .flatMap(({ body }) => (body as SentEntries).entries)
      .map((text) => JSON.parse(text) as Record<string, unknown>);

  it('is delivered before the session is reported closed', async () => {
    const { control } = await startBench();
    const api = await openOn(control);
    await api('GET', '/users');
    await control.call('reset');
    await control.call('tool', 'close_all', { repo: 'engine' });
    control.close(false, 'exit');
    await control.message('reportClosed');
    const operations = control.received.map(({ operation }) => operation);
    expect(operations.lastIndexOf('deliverRequests')).toBeLessThan(
      operations.indexOf('reportClosed'),
    );
    expect(entriesOf(control)).toMatchObject([
      { id: 1, via: 'api', path: '/users', status: 200, rows: [] },
      { id: 2, via: 'session', operation: 'reset' },
      {
        id: 3,
        via: 'tool',
        operation: 'close_all',
        rows: [
          { entity: 'issues', key: { id: 10 }, kind: 'updated' },
          { entity: 'issues', key: { id: 11 }, kind: 'updated' },
        ],
      },
    ]);
  });

  it('of a host that stays warm is part of the report that its session is closed', async () => {
    const { control } = await startBench();
    control.beOfThisRelease();
    const api = await openOn(control);
    await api('GET', '/users');
    control.close(true, 'recycle');
    const { entries } = (await control.message('reportClosed')).body as SentEntries;
    expect(entries.map((text) => JSON.parse(text))).toMatchObject([{ id: 1, path: '/users' }]);
    await control.message('pollHost');
    expect(entriesOf(control)).toEqual([]);
  });

  it('is delivered before the workers are restarted because they have run code of the world', async () => {
    const { control } = await startBench();
    control.beOfThisRelease();
    await openOn(control);
    await control.call('tool', 'close_all', { repo: 'engine' });
    control.close(true, 'recycle');
    expect((await control.message('reportClosed')).body).not.toHaveProperty('recycled');
    expect((await control.message('reportWarm', 2)).body).toMatchObject({ found: [] });
  });

  it('is delivered separately if the control plane does not accept it within the report of a closed session', async () => {
    const { control } = await startBench();
    const api = await openOn(control);
    await api('GET', '/users');
    control.close(true, 'recycle');
    await control.message('reportWarm', 2);
    expect(entriesOf(control)).toMatchObject([{ id: 1, path: '/users' }]);
  });

  it('is delivered entry by entry if the control plane rejects the report that contains it; the next report is sent without it', async () => {
    const { control } = await startBench();
    control.beOfThisRelease();
    const api = await openOn(control);
    await api('GET', '/users');
    control.fail('reportClosed', 400, 1);
    control.close(true, 'recycle');
    const closed = (await control.message('reportClosed')).body;
    expect(closed).toMatchObject({ generation: 1, recycled: { found: [] } });
    expect(closed).not.toHaveProperty('entries');
    expect(entriesOf(control)).toMatchObject([{ id: 1, path: '/users' }]);
  });

  it('is delivered when the host is asked to stop, and sent again if it was not accepted', async () => {
    const { control, host } = await startBench();
    const api = await openOn(control);
    control.fail('deliverRequests', 503, 2);
    await api('GET', '/users');
    await host.stop();
    expect(entriesOf(control)).toMatchObject([{ id: 1, path: '/users' }]);
  });
});

describe('the lifecycle of a host', () => {
  it('repeats the answer of a call that is dispatched twice, and runs it once', async () => {
    const { control } = await startBench();
    await openOn(control);
    const row = { login: 'new', id: 7 };
    const answer = await control.call('tool', 'create_users', row);
    control.repeat('call-1');
    await control.message('answerCall', 2);
    const [first, second] = control.received.filter(({ operation }) => operation === 'answerCall');
    expect(second?.body.answer).toEqual(first?.body.answer);
    expect(answer.error).toBeUndefined();
    expect((await control.call('state')).output).toMatchObject({ counts: { users: 3 } });
  });

  it('keeps an answer until the control plane accepts it', async () => {
    const { control } = await startBench();
    await openOn(control);
    control.fail('answerCall', 503, 3);
    expect((await control.call('tool', 'count_open', { repo: 'site' })).output).toBe(0);
  });

  it('answers with an error if the control plane rejects an answer, and the session continues', async () => {
    const { control } = await startBench();
    await openOn(control);
    control.fail('answerCall', 400, 1);
    expect((await control.call('state')).error).toEqual({
      code: 'internal',
      message: "the control plane rejected the world host's answer: on purpose",
    });
    expect((await control.call('state')).error).toBeUndefined();
  });

  it('cuts the reason of a failed load to the maximum length of a message', async () => {
    const { control } = await startBench();
    await control.message('reportWarm');
    control.assign(assignment({ task: { seed: { rows: { ['x'.repeat(50_000)]: [{}] } } } }));
    const { message } = (await control.message('reportFailed')).body;
    expect(String(message)).toHaveLength(limits.messageChars);
  });

  it('stops if the control plane refuses its generation', async () => {
    const { control, host, workDir } = await startBench();
    const api = await openOn(control);
    control.fail('pollCalls', 409, 1);
    await host.ended;
    expect((await api('GET', '/users')).status).toBe(410);
    await host.stop();
    expect(existsSync(workDir)).toBe(false);
  });

  it('names the session in every line that the host logs while it serves the session', async () => {
    const { control, logged } = await startBench();
    await openOn(control);
    await control.call('state');
    control.close(false, 'exit');
    const [warm, began, closed] = await Promise.all(
      ['"warm"', 'call begins', '"closed"'].map(logged),
    );
    expect(warm).not.toContain('sessionId');
    expect(JSON.parse(began ?? '')).toMatchObject({ sessionId: 'ses-1', kind: 'state' });
    expect(JSON.parse(closed ?? '')).toMatchObject({ sessionId: 'ses-1', next: 'exit' });
  });

  it('reports a session that cannot be loaded as failed, and stops', async () => {
    const { control, host } = await startBench();
    await control.message('reportWarm');
    control.assign(
      assignment({
        task: { seed: { rows: { repos: [{ owner: 'x', name: 'y', private: true }] } } },
      }),
    );
    expect((await control.message('reportFailed')).body).toMatchObject({
      code: 'seed_refused',
      message: expect.stringContaining('repos[0]/owner'),
    });
    await host.ended;
  });

  it('reports a session whose code cannot be imported as failed, with the file and line, and does not serve it', async () => {
    const faulty = sampleVersion(undefined, undefined, 'RATES = {}\nUSUAL = RATES["eur"]\n');
    const { control, host } = await startBench(faulty);
    await control.message('reportWarm');
    control.assign(assignment({ bundle: faulty.bundle, snapshot: faulty.snapshot }));
    expect((await control.message('reportFailed')).body).toMatchObject({
      code: 'load_failed',
      message: "tools.py cannot be imported: KeyError: 'eur' (tools.py:2 in <module>)",
    });
    await host.ended;
    expect(control.received.map(({ operation }) => operation)).not.toContain('reportReady');
  });

  it('reports which part of a world is missing', async () => {
    const { control, host } = await startBench();
    await control.message('reportWarm');
    const lost = `sha256:${'0'.repeat(64)}` as const;
    control.assign(assignment({ snapshot: lost }));
    expect((await control.message('reportFailed')).body).toMatchObject({
      code: 'load_failed',
      message: expect.stringContaining("the world's snapshot is lost"),
    });
    await host.ended;
  });

  it('ends with a failure if the host cannot continue', async () => {
    const { control, host } = await startBench();
    control.fail('pollHost', 401, 1);
    await expect(host.ended).rejects.toMatchObject({ code: 'unauthenticated' });
  });

  it('finishes the current call when it is asked to stop', async () => {
    const { control, host, logged } = await startBench();
    await openOn(control);
    const answer = control.call('tool', 'take_time', { repo: 'engine' });
    await logged('call begins');
    await host.stop();
    expect((await answer).output).toBe(3);
    const said = control.received.map(({ operation }) => operation);
    expect(said.lastIndexOf('answerCall')).toBeLessThan(said.indexOf('reportLeaving'));
  });

  it('polls for no further call when it is asked to stop', async () => {
    const { control, host, logged } = await startBench();
    await openOn(control);
    const answer = control.call('tool', 'take_time', { repo: 'engine' });
    const next = control.enqueue('tool', 'create_users', { login: 'new', id: 7 });
    await logged('call begins');
    await host.stop();
    expect((await answer).output).toBe(3);
    expect(control.waiting()).toEqual([next]);
  });

  it('runs a call that a poll returns while the host is asked to stop', async () => {
    const { control, host } = await startBench();
    await openOn(control);
    control.mute('pollCalls');
    const answer = control.call('tool', 'create_users', { login: 'first', id: 7 });
    await control.handed('call-1');
    const next = control.enqueue('tool', 'create_users', { login: 'second', id: 8 });
    await host.stop();
    expect((await answer).error).toBeUndefined();
    expect(control.waiting()).toEqual([next]);
  });

  it('runs a call that its ready report returns while the host is asked to stop', async () => {
    const { control, host } = await startBench();
    control.beOfThisRelease();
    control.mute('reportReady');
    await openOn(control);
    const answer = control.call('tool', 'create_users', { login: 'first', id: 7 });
    await control.handed('call-1');
    await host.stop();
    expect((await answer).error).toBeUndefined();
  });

  it('continues with the session that the response to the report of a recycled host assigns', async () => {
    const { control } = await startBench();
    control.beOfThisRelease();
    await openOn(control);
    control.close(true, 'recycle');
    const polls = () => control.received.filter(({ operation }) => operation === 'pollHost').length;
    const before = polls();
    const api = await openOn(control, { sessionId: 'ses-2', generation: 3 }, 2);
    expect((await api('GET', '/users')).status).toBe(200);
    expect(polls()).toBe(before);
  });

  it('runs a call that the response to an answer contains while the host is asked to stop', async () => {
    const { control, host } = await startBench();
    await openOn(control);
    control.mute('answerCall');
    const answers = [
      control.call('tool', 'create_users', { login: 'first', id: 7 }),
      control.call('tool', 'create_users', { login: 'second', id: 8 }),
    ];
    await control.handed('call-2');
    await host.stop();
    for (const { error } of await Promise.all(answers)) expect(error).toBeUndefined();
  });

  it('reports that the host stops only if the machine stops it', async () => {
    const { control, host } = await startBench();
    await control.message('reportWarm');
    control.drain();
    await host.ended;
    await host.stop();
    expect(control.received.map(({ operation }) => operation)).not.toContain('reportLeaving');
  });

  it('stops even if the control plane does not accept its last report', async () => {
    const { control, host, logged } = await startBench();
    await control.message('reportWarm');
    control.fail('reportLeaving', 404, 1);
    await host.stop();
    await logged('the control plane did not accept the report that this host stops');
  });
});
