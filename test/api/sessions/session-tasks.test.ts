/**
 * Tests sessions that are opened on two kinds of tasks: those with a tool list of their own, and those graded by a
 * query.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  createWorld,
  enqueueCall,
  getSession,
  listSessions,
  openSession,
} from '#wire/public-api/operations.ts';
import type { OpenSessionBody, SessionView } from '#wire/public-api/sessions/session.ts';
import { startTestControl } from '../../support/control/control.ts';
import { clearPool, type PlayedHost, warmHost } from '../../support/control/host.ts';
import { type OwnControl, startNotesControl } from '../../support/control/own-control.ts';
import { toTree, unlinkedWorld } from '../../support/worlds/small-world.ts';
import { encodeTree } from '../../support/worlds/worlds.ts';

let control: OwnControl;

beforeAll(async () => {
  control = await startNotesControl();
});

afterAll(() => control.stop());

afterEach(() => clearPool(control));

const open = async (body: OpenSessionBody = {}): Promise<SessionView> =>
  (await control.send(openSession, { body: { slug: 'notes', ...body } })).body;

const read = async (sessionId: string): Promise<SessionView> =>
  (await control.send(getSession, { params: { sessionId } })).body;

/** Opens a session on a host of its own and loads it. */
const openReady = async (body: OpenSessionBody = {}): Promise<[SessionView, PlayedHost]> => {
  const host = await warmHost(control);
  const session = await open(body);
  await host.poll();
  await host.ready();
  return [session, host];
};

describe('a task with a tool list of its own', () => {
  const ask = (sessionId: string, name: string) =>
    control.send(enqueueCall, { params: { sessionId }, body: { kind: 'tool', name } });
  const toolsIn = ({ tools }: Pick<SessionView, 'tools'>) => tools.map(({ name }) => name);

  it('offers only these tools: other tools are hidden, and calling one is refused with the names of the offered tools', async () => {
    const inline = { tools: ['create_notes', 'list_notes'] };
    const [session, host] = await openReady({ task: inline });
    expect(toolsIn(session)).toEqual(['list_notes', 'create_notes']);
    expect(toolsIn(await read(session.id))).toEqual(toolsIn(session));
    expect(host.assignment?.task).toEqual(inline);
    const { body } = await control.send(listSessions, { query: { fields: 'tools' } });
    const listed = body.data.find(({ id }) => id === session.id);
    expect(listed?.tools).toEqual(session.tools);
    await expect(ask(session.id, 'count_slowly')).rejects.toMatchObject({
      code: 'forbidden',
      message:
        'the task does not offer the tool "count_slowly"; it offers these tools: create_notes, list_notes',
      detail: { tools: inline.tools },
    });
    await expect(ask(session.id, 'count_slow')).rejects.toMatchObject({
      code: 'invalid',
      message: expect.stringContaining('known: create_notes, list_notes'),
    });
    expect((await ask(session.id, 'list_notes')).status).toBe(202);
  });

  it('may offer no tools at all, and cannot offer a tool that the world does not have', async () => {
    expect((await open({ task: { tools: [] } })).tools).toEqual([]);
    await expect(open({ task: { tools: ['list_notes', 'list_note'] } })).rejects.toMatchObject({
      fields: [{ path: ['task', 'tools', '1'], message: expect.stringContaining('"list_notes"') }],
    });
  });
});

describe('a task that is graded by a query', () => {
  it('reaches the host with its query and offers its own tools, whether bundled or inline', async () => {
    const from = encodeTree(toTree(unlinkedWorld()));
    await control.send(createWorld, { body: { slug: 'board', from } });
    const [bundled, host] = await openReady({ slug: 'board', task: 'queried' });
    expect(bundled.task).toMatchObject({ form: 'bundled', name: 'queried' });
    expect(bundled.tools.map(({ name }) => name)).toEqual(['list_cards']);
    const withheld = { kind: 'tool', name: 'summarize' } as const;
    await expect(
      control.send(enqueueCall, { params: { sessionId: bundled.id }, body: withheld }),
    ).rejects.toMatchObject({ code: 'forbidden', detail: { tools: ['list_cards'] } });
    expect(host.assignment?.task?.grader).toEqual({
      kind: 'sql',
      source: expect.stringContaining('passed'),
    });
    const source = "select count(*) > 0 as passed from svc_requests where via = 'tool'";
    const grader = { kind: 'sql' as const, source };
    const [, other] = await openReady({ task: { grader } });
    expect(other.assignment?.task).toEqual({ grader });
  });

  it('is refused when the query cannot be checked in time', async () => {
    const views = Array.from(
      { length: 20 },
      (_, n) => `v${n + 1} as (select a.x from v${n} a, v${n} b)`,
    );
    const source = `with v0 as (select 1 as x), ${views.join(', ')} select x as passed from v20`;
    // The first replica has compiled the world already: on a busy machine that takes longer than this time limit.
    const { config } = control;
    const hasty = await startTestControl({
      databaseUrl: config.databaseUrl.reveal(),
      replicaOf: { config: { ...config, compile: { ...config.compile, timeLimitMs: 2_000 } } },
    });
    try {
      const body = { slug: 'notes', task: { grader: { kind: 'sql' as const, source } } };
      await expect(hasty.send(openSession, { body })).rejects.toMatchObject({
        fields: [
          {
            path: ['task', 'grader', 'source'],
            message: expect.stringContaining('cannot be checked within the limits'),
          },
        ],
      });
    } finally {
      await hasty.stop();
    }
  });
});
