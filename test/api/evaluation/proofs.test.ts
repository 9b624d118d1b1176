/**
 * Tests proofs of tasks by the service: a proof is requested, runs in a session that is opened on the task, and is
 * stored.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createTask, getProof, proveTask } from '#wire/public-api/operations.ts';
import { clearPool, warmHost } from '../../support/control/host.ts';
import {
  createNotes,
  type OwnControl,
  startOwnControl,
} from '../../support/control/own-control.ts';
import { addNeighbour, type Neighbour } from '../../support/control/second-project.ts';

let control: OwnControl;
let neighbour: Neighbour;
const params = { slug: 'notes' };
const instruction = 'Write a note.';

beforeAll(async () => {
  control = await startOwnControl();
  neighbour = await addNeighbour(control);
  await createNotes(control);
});
afterAll(() => control.stop());
afterEach(() => clearPool(control));

const row = {
  kind: 'solution',
  what: 'the solution',
  expected: 'pass',
  verdict: 'pass',
  ok: true,
  detail: null,
};
const report = {
  passed: true,
  summary: { tried: 1, ok: 1 },
  rows: [row],
  notGraded: [],
  neverBites: [],
};

/** Answers the next run as a host does; returns the task of its session and the request. */
const answerNext = async () => {
  const host = await warmHost(control);
  const assignment = await host.poll();
  const { call } = await host.ready();
  const next = call ?? (await host.calls()).call;
  await host.answer(next?.id ?? '', { output: report });
  return { assignment, kind: next?.kind };
};

describe('a proof', () => {
  it('runs in a session of the task and returns its report', async () => {
    const proving = control.send(proveTask, { params, body: { task: 'finish' } });
    const { kind } = await answerNext();
    expect(kind).toBe('prove');
    const { status, body } = await proving;
    expect(status).toBe(200);
    expect(body).toMatchObject({ slug: 'notes', state: 'finished', outcome: 'passed', report });
    const run = { ...params, runId: body.runId };
    expect((await control.send(getProof, { params: run, query: {} })).body).toEqual(body);
  });

  it('of a stored task uses the version that the task has at the time of the request', async () => {
    const spec = { instruction };
    const { body: stored } = await control.send(createTask, { body: { world: 'notes', spec } });
    const proving = control.send(proveTask, { params, body: { task: { id: stored.id } } });
    await answerNext();
    expect((await proving).body.outcome).toBe('passed');
  });

  it('returns 202 to a client that does not wait', async () => {
    const { status, body } = await control.send(proveTask, {
      params,
      body: { task: 'finish', wait: false },
    });
    expect(status).toBe(202);
    expect(body).toMatchObject({ outcome: null, report: null });
    await answerNext();
    const run = { ...params, runId: body.runId };
    const { body: ended } = await control.send(getProof, { params: run, query: { wait: 20 } });
    expect(ended.outcome).toBe('passed');
  });

  it('of a missing task is refused with the name of the task', async () => {
    await expect(control.send(proveTask, { params, body: { task: 'none' } })).rejects.toMatchObject(
      { code: 'invalid', message: expect.stringContaining('"none"') },
    );
    await expect(
      control.send(proveTask, { params, body: { task: { id: 'tsk-none' } } }),
    ).rejects.toMatchObject({ code: 'not_found' });
  });

  it('can be read only with the secret key of its own project', async () => {
    const { body } = await control.send(proveTask, {
      params,
      body: { task: 'finish', wait: false },
    });
    await answerNext();
    const run = { ...params, runId: body.runId };
    await expect(control.read(getProof, { params: run, query: {} })).rejects.toMatchObject({
      code: 'forbidden',
    });
    const other = await neighbour.ask('GET', `/worlds/notes/proofs/${body.runId}`);
    expect(other.status).toBe(404);
  });
});
