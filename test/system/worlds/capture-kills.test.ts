/**
 * Tests captures that are killed with SIGKILL at 50 random moments: the next run continues from the files that the
 * killed run left.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, expect, it } from 'vitest';
import { codeCacheEnv } from '#runtime/code-cache.ts';
import { pause } from '#runtime/pause.ts';
import { runSvc } from '#test/support/cli/svc.ts';
import { createChance } from '#test/support/random/chance.ts';
import { boardMirrorTree } from '#test/support/worlds/board-mirror.ts';
import { type StandInVendor, startStandInVendor } from '#test/support/worlds/stand-in-vendor.ts';

const home = mkdtempSync(join(tmpdir(), 'svc-kills-'));
const program = fileURLToPath(new URL('../../support/data/capture-program.ts', import.meta.url));
const mostItems = 20;
const kills = 50;
/** The seed changes daily; `FUZZ_SEED` repeats a run. */
const seed = Number(
  process.env.FUZZ_SEED ?? new Date().toISOString().slice(0, 10).replaceAll('-', ''),
);
const children = new Set<ChildProcess>();
afterEach(() => {
  for (const child of children) child.kill('SIGKILL');
});
afterAll(() => rmSync(home, { recursive: true, force: true }));

const writeWorld = (name: string, url: string): string => {
  const folder = join(home, name);
  for (const { path, content } of boardMirrorTree({ url })) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
  return folder;
};

/**
 * Starts the program early, so that the test does not wait for it; it works once `go` is called.
 */
const prepare = (folder: string) => {
  const child = spawn(process.execPath, [program, folder, String(mostItems)], {
    env: { ...process.env, ...codeCacheEnv() },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  children.add(child);
  const ready = once(child.stdout, 'data');
  const ended = once(child, 'exit').then(() => children.delete(child));
  return {
    ended,
    async go() {
      await ready;
      child.stdin.write('go\n');
    },
    kill: () => child.kill('SIGKILL'),
    status: () => child.exitCode,
  };
};

type Line = { answered?: string; file?: string };

const filesBelow = (folder: string): string[] =>
  readdirSync(join(folder, 'captures'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.json'))
    .map((entry) => join(entry.parentPath, entry.name));

/** Counts how often the manifest records each file as written. */
const answeredIn = (folder: string): Map<string, number> => {
  const counts = new Map<string, number>();
  for (const text of readFileSync(join(folder, 'captures/manifest.jsonl'), 'utf8').split('\n')) {
    try {
      const { file } = JSON.parse(text) as Line;
      if (file !== undefined) counts.set(file, (counts.get(file) ?? 0) + 1);
    } catch {
      // A kill cut off this line.
    }
  }
  return counts;
};

const bodiesOf = (folder: string): string[] =>
  filesBelow(folder)
    .map((file) => {
      const { captured_at: _, ...rest } = JSON.parse(readFileSync(file, 'utf8')) as object & {
        captured_at: string;
      };
      return JSON.stringify(rest);
    })
    .sort();

it(`a capture that is killed at ${kills} moments continues, and repeats only requests that were in flight`, async () => {
  const chance = createChance(seed);
  /**
   * Number of answers before the vendor holds the next one back, and the action after the last
   * answer.
   */
  let left = Number.POSITIVE_INFINITY;
  let onLast = (): void => undefined;
  let onFurther = (): void => undefined;
  const vendor: StandInVendor = await startStandInVendor({
    boards: 32,
    async gate(response) {
      if (left === 0) {
        onFurther();
        return false;
      }
      left -= 1;
      if (left === 0) response.once('finish', () => onLast());
      return true;
    },
  });
  try {
    const whole = writeWorld('whole', vendor.url);
    const first = prepare(whole);
    await first.go();
    await first.ended;
    expect(first.status()).toBe(0);
    const wanted = vendor.asked.map(({ path }) => path).sort();
    expect(new Set(wanted).size).toBe(wanted.length);
    expect(wanted.length).toBeGreaterThan(1.6 * kills);

    const folder = writeWorld('killed', vendor.url);
    vendor.asked.length = 0;
    let next = prepare(folder);
    for (let kill = 1; kill <= kills; kill += 1) {
      const run = next;
      if (kill < kills) next = prepare(folder);
      left = chance.happens(0.2) ? 2 : 1;
      const before = vendor.asked.length;
      const waits = chance.happens(0.25);
      const moment = new Promise<void>((resolve) => {
        // Either while the next request is in flight, or between an answer and that request.
        if (waits) onFurther = resolve;
        else onLast = () => void pause(chance.between(0, 12)).then(resolve);
      });
      await run.go();
      await moment;
      run.kill();
      await run.ended;
      onLast = onFurther = () => undefined;
      const now = vendor.asked.slice(before).map(({ path }) => path);
      expect(new Set(now).size, `of run ${kill}, after seed ${seed}`).toBe(now.length);
    }
    left = Number.POSITIVE_INFINITY;
    const words = ['worlds', 'connector', 'capture', folder, '--max-items', String(mostItems)];
    const done = await runSvc([...words, '--json']);
    expect(done.status, done.err).toBe(0);

    // Each answer was stored once, so no stored answer was requested again.
    const answered = answeredIn(folder);
    expect([...answered.values()].filter((count) => count !== 1)).toEqual([]);
    expect(answered.size).toBe(wanted.length);
    const paths = vendor.asked.map(({ path }) => path);
    expect([...new Set(paths)].sort()).toEqual(wanted);
    // At most one request is in flight at each kill.
    expect(paths.length - wanted.length).toBeLessThanOrEqual(kills);
    expect(bodiesOf(folder)).toEqual(bodiesOf(whole));
  } finally {
    await vendor.stop();
  }
});
