/** Tests that the metrics of a control plane count what clients and hosts do, and show failures of its stores. */
import { rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { basicAuthorization } from '#wire/client.ts';
import { reap } from '#wire/pool-api/operations.ts';
import {
  closeSession,
  createWorld,
  enqueueCall,
  listWorlds,
  openSession,
} from '#wire/public-api/operations.ts';
import { startTestControl } from '../../support/control/control.ts';
import { warmHost } from '../../support/control/host.ts';
import { type OwnControl, startNotesControl } from '../../support/control/own-control.ts';
import { encodeTree, notesWorld } from '../../support/worlds/worlds.ts';

let control: OwnControl;

beforeAll(async () => {
  control = await startNotesControl();
});

afterAll(() => control.stop());

const read = async (path: string): Promise<string> =>
  (await fetch(`${control.running.metricsAddresses[0]}${path}`)).text();

/** Returns the value of each metric, by its name with its labels. */
const numbersOf = (metrics: string): Record<string, number> =>
  Object.fromEntries(
    metrics.split('\n').flatMap((line) => {
      const end = line.lastIndexOf(' ');
      return line.startsWith('#') || end < 0
        ? []
        : [[line.slice(0, end), Number(line.slice(end + 1))]];
    }),
  );

describe('the metrics of a control plane', () => {
  it('count opens, calls and session ends', async () => {
    const host = await warmHost(control);
    const open = () => control.send(openSession, { body: { slug: 'notes' } });
    const first = (await open()).body.id;
    const second = (await open()).body.id;
    await expect(control.send(openSession, { body: { slug: 'none' } })).rejects.toThrow();
    const before = numbersOf(await read('/metrics'));
    expect(before).toMatchObject({
      'svc_session_opens_total{outcome="claimed"}': 1,
      'svc_session_opens_total{outcome="waiting"}': 1,
      'svc_session_opens_total{outcome="refused"}': 1,
      'svc_session_claim_seconds_count{start="warm"}': 1,
      svc_sessions_waiting: 1,
      'svc_sessions{state="PROVISIONING"}': 2,
      svc_database_up: 1,
      svc_blobs_up: 1,
    });
    expect(before.svc_sessions_longest_wait_seconds).toBeGreaterThan(0);

    await host.poll();
    await host.ready();
    const params = { sessionId: first };
    const { id } = (await control.send(enqueueCall, { params, body: { kind: 'state' } })).body;
    await host.calls();
    await host.answer(id, { output: {} });
    await control.send(closeSession, { params: { sessionId: second }, body: {} });
    await control.send(enqueueCall, { params, body: { kind: 'state' } });
    await control.pool(reap, {
      body: { idleMs: 1_000_000, maxAgeMs: 1_000_000, provisionMs: 1_000, closingMs: 1_000 },
    });
    expect(numbersOf(await read('/metrics'))).toMatchObject({
      'svc_session_ready_seconds_count{start="warm"}': 1,
      'svc_session_load_seconds_count{start="warm"}': 1,
      'svc_calls_total{kind="state",state="succeeded"}': 1,
      'svc_call_run_seconds_count{kind="state"}': 1,
      svc_calls_queued: 1,
      'svc_session_ends_total{reason="requested"}': 1,
      'svc_http_requests_total{operation="reap",status="200"}': 1,
      'svc_compile_jobs{state="queued"}': 0,
      'svc_imports{state="queued"}': 0,
      'svc_database_connections{state="used"}': expect.any(Number),
    });
  });

  it('show that the blob store cannot be reached', async () => {
    const { blobs } = control.config;
    const folder = blobs.kind === 'folder' ? blobs.folder : '';
    await rename(folder, `${folder}.away`);
    expect(numbersOf(await read('/metrics'))).toMatchObject({
      svc_blobs_up: 0,
      'svc_disk_full{disk="blobs"}': 0,
    });
    for (const [path, status] of [
      ['/ready', 503],
      ['/ready?exclude=room', 503],
      ['/ready?exclude=room&exclude=blobs', 200],
    ] as const) {
      expect(await control.raw({ method: 'GET', path })).toMatchObject({ status });
    }
    await rename(`${folder}.away`, folder);
    expect(numbersOf(await read('/metrics'))).toMatchObject({ svc_blobs_up: 1 });
  });

  it('show a full disk, and so do readiness and errors, with the path', async () => {
    const { blobs } = control.config;
    const folder = blobs.kind === 'folder' ? blobs.folder : '';
    const result = `blobs cannot be written to ${folder} (ENOSPC)`;
    const fill = () => symlink('/dev/full', join(folder, '.room'));
    await fill();
    expect(numbersOf(await read('/metrics'))).toMatchObject({
      svc_blobs_up: 1,
      'svc_disk_full{disk="blobs"}': 1,
      'svc_disk_full{disk="database"}': 0,
    });
    for (const [path, status] of [
      ['/ready', 503],
      ['/ready?exclude=blobs', 503],
      ['/ready?exclude=room', 200],
    ] as const) {
      await fill();
      expect(await control.raw({ method: 'GET', path })).toMatchObject({
        status,
        body: { checks: { blobs: 'ok', room: expect.stringContaining(result) } },
      });
    }
    expect(await control.raw({ method: 'GET', path: '/ready' })).toMatchObject({ status: 200 });
    expect(numbersOf(await read('/metrics'))).toMatchObject({ 'svc_disk_full{disk="blobs"}': 0 });
    await rename(folder, `${folder}.away`);
    await writeFile(folder, '');
    const refused = await control.raw({
      method: 'POST',
      path: '/api/public/worlds',
      headers: {
        authorization: basicAuthorization(control.publicKey, control.secretKey),
        'content-type': 'application/json',
      },
      body: JSON.stringify({ slug: 'full', from: encodeTree(notesWorld()) }),
    });
    await rm(folder);
    await rename(`${folder}.away`, folder);
    expect(refused).toMatchObject({
      status: 503,
      headers: { 'retry-after': '1' },
      body: { error: 'unavailable', message: `blobs cannot be written to ${folder} (ENOTDIR)` },
    });
  });

  it('show a full database disk if blobs are in the database, and so does readiness until a write succeeds', async () => {
    const replica = await startTestControl({
      databaseUrl: control.config.databaseUrl.reveal(),
      keysOf: control,
      blobs: { kind: 'database' },
    });
    const ready = (query = '') => replica.raw({ method: 'GET', path: `/ready${query}` });
    const create = () =>
      replica.send(createWorld, { body: { slug: 'kept', from: encodeTree(notesWorld()) } });
    try {
      await control.sql(
        `create function fill() returns trigger language plpgsql as $$
         begin raise 'could not extend file' using errcode = '53100'; end $$;
         create trigger full_disk before insert on blobs execute function fill()`,
      );
      await expect(create()).rejects.toMatchObject({
        code: 'unavailable',
        message: 'the disk of the database is full',
        detail: { full: 'database' },
      });
      const result = { database: 'ok', room: 'the disk of the database is full' };
      expect(await ready()).toMatchObject({ status: 503, body: { checks: result } });
      // With this exclusion a pod stays ready, so hosts, gateways and orchestrators can still reach it.
      expect(await ready('?exclude=room')).toMatchObject({ status: 200, body: { checks: result } });
      const metrics = await fetch(`${replica.running.metricsAddresses[0]}/metrics`);
      expect(await metrics.text()).toContain('svc_disk_full{disk="database"} 1');
      // Reads are still answered.
      expect((await replica.read(listWorlds, {})).status).toBe(200);
      expect(await ready()).toMatchObject({ status: 503 });
      await control.sql('drop function fill() cascade');
      await create();
      expect(await ready()).toMatchObject({ status: 200 });
    } finally {
      await replica.stop();
    }
  });

  it('have no id in any label', async () => {
    expect(await read('/metrics')).not.toMatch(/\{[^}]*(ses|hst|call|ver)-[^}]*\}/);
  });

  it('are served on the same port as the status of the background loops', async () => {
    const { program, loops } = JSON.parse(await read('/status'));
    expect(program).toBe('control');
    expect(loops.map(({ name }: { name: string }) => name)).toContain('listen');
  });
});
