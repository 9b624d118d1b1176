/** Tests compilation in separate processes: results, limits, the queue, and stopping. */

import { gunzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import type { TreeFile } from '#domain/world.ts';
import type { CompileLimits } from '../../../src/control/config.ts';
import { digestOf } from '../../../src/control/platform/blobs/blobs.ts';
import { type Compiler, createCompiler } from '../../../src/control/worlds/compile/compiler.ts';
import type { Rows } from '../../../src/control/worlds/compile/kept-rows.ts';
import { redactedWorld } from '../../support/worlds/redacted-world.ts';
import { notesWorld, slowWorld } from '../../support/worlds/worlds.ts';

const limits: CompileLimits = {
  processes: 1,
  queued: 1,
  timeLimitMs: 30_000,
  memoryMb: 512,
  secondsPerMinute: 1_000,
};

const project = 'prj-one';

let compiler: Compiler;
const start = (changed: Partial<CompileLimits> = {}) => {
  compiler = createCompiler({ ...limits, ...changed });
  const { run, stop } = compiler;
  return {
    compile: (files: TreeFile[], signal?: AbortSignal) =>
      run({ kind: 'compile', files }, { project, signal }),
    build: (files: TreeFile[], rows: Rows = {}) =>
      run({ kind: 'build', files, rowsJson: JSON.stringify(rows) }, { project }),
    run,
    stop,
  };
};

afterEach(() => compiler.stop());

describe('the compiler', () => {
  it('returns the compiled form of a tree, and the parts of a version of it', async () => {
    const { compile, build } = start();
    const compiled = await compile(notesWorld());
    expect(compiled).toMatchObject({
      ok: true,
      contract: { name: 'Notes' },
      rowCounts: { folders: 1, notes: 1 },
    });
    const more = { notes: [{ id: 2, folder_id: 1, title: 'second', done: true }] };
    const built = await build(notesWorld(), more);
    expect(built).toMatchObject({
      ok: true,
      rows: { kind: 'built', snapshot: { counts: { folders: 1, notes: 2 } } },
    });
    if (!built.ok) return;
    expect(built.bundle).toBeInstanceOf(Uint8Array);
    expect(built.generated.map(({ path }) => path)).toContain('schema/runtime.json');
  });

  it('sends a process the world that it needs for redaction, if the process does not have it yet', async () => {
    const { build, run } = start();
    const built = await build(redactedWorld());
    if (!built.ok) throw new Error('the world does not compile');
    const world = { digest: digestOf(built.bundle), project };
    const rowsJson = JSON.stringify({ people: [{ id: 1, email: 'ada@mail.example' }] });
    const redaction = { world, mode: 'apply', isMerge: false } as const;
    const supply = async () => built.bundle;
    const packed = await run({ kind: 'pack-rows', rowsJson, redaction }, { project, supply });
    expect(packed).toMatchObject({ ok: true, rows: 1 });
    const chunk = packed.ok ? gunzipSync(packed.chunk).toString() : '';
    expect(chunk).toMatch(/"email":"sha256:[0-9a-f]{64}"/);
  });

  it('returns the problems of a tree, and the row that the store refuses', async () => {
    const { compile, build } = start();
    const broken = notesWorld().filter(({ path }) => path !== 'svc-env.toml');
    expect(await compile(broken)).toMatchObject({
      ok: false,
      problems: [{ file: 'svc-env.toml', code: 'missing_file' }],
    });
    const more = { notes: [{ id: 1, folder_id: 1, title: 'again', done: true }] };
    expect(await build(notesWorld(), more)).toMatchObject({
      ok: false,
      row: { field: { path: ['data', 'rows', 'notes', '0', 'id'] } },
    });
  });

  it('rejects with the error of its job', async () => {
    const { run } = start();
    await expect(
      run({ kind: 'begin', name: '', template: notesWorld() }, { project }),
    ).rejects.toMatchObject({
      code: 'invalid',
      fields: [{ path: ['name'] }],
    });
  });

  it('ends a job that exceeds the time limit, and runs the next one in a new process', async () => {
    const { build, compile } = start({ timeLimitMs: 500 });
    // The next job has no code: in a new process, the first job with code takes longer than the limit of this test.
    const [slow, next] = await Promise.all([build(slowWorld()), compile([])]);
    expect(slow).toEqual({
      ok: false,
      problems: [
        {
          file: '',
          pointer: '',
          code: 'out_of_time',
          message: 'compiling the world took longer than 0.5 s',
          hint: expect.any(String),
        },
      ],
    });
    expect(next.ok ? [] : next.problems.map(({ code }) => code)).toEqual([
      'missing_file',
      'missing_file',
    ]);
  });

  it('ends a job that exceeds the memory limit, and runs the next one', async () => {
    const { compile } = start({ memoryMb: 64 });
    const objects = Buffer.from(`[${'{},'.repeat(2_600_000)}{}]`);
    const hostile = [
      ...notesWorld().filter(({ path }) => path !== 'data/notes.json'),
      ...['a', 'b', 'c'].map((name) => ({ path: `schema/${name}.json`, content: objects })),
      { path: 'data/notes.json', content: objects },
    ];
    expect(await compile(hostile)).toMatchObject({
      ok: false,
      problems: [{ file: '', code: 'out_of_memory' }],
    });
    expect((await compile(notesWorld())).ok).toBe(true);
  });

  it('queues a bounded number of jobs, and drops jobs whose caller has disconnected', async () => {
    const { build, compile } = start();
    const gone = new AbortController();
    const first = build(slowWorld());
    const waiting = compile(notesWorld(), gone.signal);
    await expect(compile(notesWorld())).rejects.toMatchObject({ code: 'exhausted' });
    gone.abort();
    await expect(waiting).rejects.toMatchObject({ code: 'unavailable' });
    const last = compile(notesWorld());
    expect((await first).ok).toBe(true);
    expect((await last).ok).toBe(true);
  });

  it('loads the full input of a job only when the job starts, and never that of a refused job', async () => {
    const { build, run } = start();
    const brought: string[] = [];
    const completed = (name: string) => {
      const job = { kind: 'compile', files: notesWorld() } as const;
      const complete = async () => {
        brought.push(name);
        return job;
      };
      return run({ ...job, files: [] }, { project, complete });
    };
    const first = build(slowWorld());
    const waiting = completed('waiting');
    await expect(completed('refused')).rejects.toMatchObject({ code: 'exhausted' });
    expect(brought).toEqual([]);
    await first;
    expect((await waiting).ok).toBe(true);
    expect(brought).toEqual(['waiting']);
    const complete = async () => {
      throw new Error('the rows are lost');
    };
    const failing = run({ kind: 'compile', files: [] }, { project, complete });
    await expect(failing).rejects.toThrow('the rows are lost');
    expect((await completed('after')).ok).toBe(true);
  });

  it('stops at once, and rejects running and queued jobs', async () => {
    const { build, compile, stop } = start();
    const jobs = Promise.allSettled([build(slowWorld()), compile(notesWorld())]);
    await stop();
    for (const job of await jobs) {
      expect(job).toMatchObject({ status: 'rejected', reason: { code: 'unavailable' } });
    }
    await expect(compile(notesWorld())).rejects.toMatchObject({ code: 'unavailable' });
    await stop();
  });
});
