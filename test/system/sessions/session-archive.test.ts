/**
 * Tests the archive of a session, over the whole product. The CLI exports the session, and grades the archive without
 * the service, with the same bytes as result; it refuses a changed archive.
 */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { packTar, unpackTar } from 'modern-tar';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createWorld } from '#wire/public-api/operations.ts';
import type { OpenSessionBody } from '#wire/public-api/sessions/session.ts';
import { startSvc } from '../../support/cli/svc.ts';
import { call, close, createNotes, open } from '../../support/control/sessions.ts';
import { type TestDatabase, testDatabase } from '../../support/database/postgres.ts';
import { type Network, startNetwork } from '../../support/programs/network.ts';

let database: TestDatabase;
let network: Network;
let folder: string;

beforeAll(async () => {
  database = await testDatabase();
  network = await startNetwork({ databaseUrl: database.url, poolSize: 2, poolMax: 4 });
  await createNotes(network.client);
  await network.client.send(createWorld, { body: { slug: 'hub', from: 'code-hosting' } });
  folder = await mkdtemp(join(tmpdir(), 'svc-archives-'));
});

afterAll(async () => {
  await network.stop();
  await database.drop();
  await rm(folder, { recursive: true, force: true });
});

const svc = (...words: string[]) =>
  startSvc(['worlds', 'session', ...words], {
    SVC_URL: network.url,
    SVC_PUBLIC_KEY: network.publicKey,
    SVC_SECRET_KEY: network.secretKey,
  }).ended();

const openReady = async (body: OpenSessionBody): Promise<string> => {
  const session = await open(network.client, body);
  expect(session.state, session.error?.message).toBe('READY');
  return session.id;
};

const tool = async (
  sessionId: string,
  name: string,
  input: Record<string, unknown>,
): Promise<void> => {
  const { error } = await call(network.client, sessionId, { kind: 'tool', name, input });
  expect(error).toBeNull();
};

const exportTo = async (sessionId: string, name: string): Promise<string> => {
  const path = join(folder, name);
  const { status, err } = await svc('export', sessionId, path);
  expect(status, err).toBe(0);
  return path;
};

const regrade = async (path: string) => {
  const { status, out, err } = await svc('regrade', path, '--json');
  return { status, err, answer: out === '' ? null : JSON.parse(out) };
};

type Change = (name: string, text: string) => string;

/** Writes a copy of the archive with some of its files changed. */
const changed = async (path: string, name: string, change: Change): Promise<string> => {
  const entries = await unpackTar(gunzipSync(await readFile(path)));
  const tar = await packTar(
    entries.map(({ header, data }) => {
      const body = header.name.startsWith('blobs/')
        ? data
        : Buffer.from(change(header.name, Buffer.from(data ?? []).toString()));
      return { header: { ...header, size: body?.byteLength ?? 0 }, body };
    }),
  );
  const at = join(folder, name);
  await writeFile(at, gzipSync(tar));
  return at;
};

it('a solved task of a world with code grades to the same bytes after its session is gone', async () => {
  const id = await openReady({ slug: 'hub', task: 'close-duplicate' });
  const issue = { owner: 'northquay', repo: 'berth', issue_number: 157 };
  await tool(id, 'add_labels', { ...issue, labels: ['duplicate'] });
  await tool(id, 'create_comment', { ...issue, body: 'Duplicate of #139' });
  await tool(id, 'update_issue', { ...issue, state: 'closed', state_reason: 'not_planned' });
  const graded = await call(network.client, id, { kind: 'grade' });
  expect(graded.output).toMatchObject({ verdict: 'pass' });
  const path = await exportTo(id, 'solved.tar.gz');
  await close(network.client, id);
  const { status, answer, err } = await regrade(path);
  expect(status, err).toBe(0);
  expect(answer).toMatchObject({ same: true });
  expect(JSON.stringify(answer.grade)).toBe(JSON.stringify(graded.output));

  const over = await svc('export', id, join(folder, 'late.tar.gz'));
  expect([over.status, over.err]).toEqual([1, expect.stringContaining('export a session before')]);
});

it('a grader in Python and a query grade by the rows, ledger, answer and time of the export', async () => {
  const python = [
    // Sleeps past the one-second resolution of the world's clock: the grader must still see the
    // time of the export.
    'import time',
    'from svc_env import clock',
    'def verify(ctx):',
    '    time.sleep(1.1)',
    '    ids = [note["id"] for note in ctx.query("notes")]',
    '    ctx.check("at " + clock.now(), ids[-2:] == [98, 99], str(ids))',
    '    ctx.check("two requests", len(ctx.query("svc_requests")) == 2)',
  ].join('\n');
  const sql =
    "select 'two notes more' as name, count(*) = 2 as passed from notes where title = 'late'";
  for (const [name, grader] of [
    ['python', { kind: 'python' as const, source: python }],
    ['sql', { kind: 'sql' as const, source: sql }],
  ] as const) {
    const id = await openReady({ slug: 'notes', task: { grader } });
    for (const note of [98, 99]) {
      await tool(id, 'create_notes', { id: note, folder_id: 1, title: 'late', done: true });
    }
    const path = await exportTo(id, `${name}.tar.gz`);
    const { status, answer, err } = await regrade(path);
    expect(status, err).toBe(0);
    expect(answer.grade, JSON.stringify(answer.grade.error)).toMatchObject({ verdict: 'pass' });

    const other = await changed(path, `${name}-graded.tar.gz`, (file, text) =>
      file === 'grade.json' ? text.replace('"pass"', '"fail"') : text,
    );
    expect(await regrade(other)).toMatchObject({ status: 1, answer: { same: false } });

    const forged = await changed(path, `${name}-forged.tar.gz`, (file, text) =>
      file.startsWith('changes/') ? text.replace('late', 'soon') : text,
    );
    const refused = await regrade(forged);
    expect([refused.status, refused.answer]).toEqual([1, null]);
    expect(refused.err).toContain('do not come to the digest');
    await close(network.client, id);
  }
});

it('a file that is no archive is refused with the reason', async () => {
  const path = join(folder, 'none.tar.gz');
  await writeFile(path, 'not packed at all');
  expect((await regrade(path)).err).toContain('is no archive of a session');
  await writeFile(path, gzipSync(await packTar([])));
  expect((await regrade(path)).err).toContain('it has no session.json');
});
