/** Tests what is specific to TypeScript: how Node imports it, promises that are not awaited, and what code may do. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Bench, createMemoryStore, startBench } from '#test/support/host/user-code.ts';
import type { RunResult } from '../run.ts';

let bench: Bench;
beforeAll(async () => {
  bench = await startBench({ memoryMb: 64 });
});
afterAll(() => bench.close());

const errorOf = (result: RunResult) => {
  if (result.ok) throw new Error(`it succeeded: ${JSON.stringify(result.value)}`);
  return result.error as typeof result.error & {
    details: { trace: { file: string; line: number; function: string }[]; exception: string };
  };
};

const load = (text: string) => bench.load({ 'tools.ts': text });

describe('imports', () => {
  it("find other files and Node's harmless modules", async () => {
    await bench.load({
      'tools.ts': `
        import { createHash } from 'node:crypto';
        import { color } from './labels.ts';
        export const paint = () => color(createHash('sha256').update('x').digest('hex').slice(0, 4));
      `,
      'labels.ts': "export const color = (name: string): string => name + ':red';",
    });
    expect(await bench.value('typescript', 'paint')).toBe('2d71:red');
  });

  it.each([
    ['a thrown error', 'const a: number = 1;\nthrow new RangeError("no");', 'tools.ts:2', 'no'],
    ['a syntax error', 'const a = 1;\nlet b = ;', 'tools.ts:2', 'Expression expected'],
    ['syntax that is not erased', 'const a = 1;\nenum B { C }', 'tools.ts:2', 'enum'],
    ['a name that is not exported', 'import { b } from "./b.ts";', 'tools.ts:1', "named 'b'"],
    ['a module that does not exist', 'import "left-pad";', null, 'left-pad'],
    ['a file that does not exist', 'import "./gone.ts";', null, 'gone.ts'],
  ])('that fail are reported at each run: %s', async (_, text, place, part) => {
    await bench.load({ 'tools.ts': text, 'b.ts': 'export const a = 1;' });
    for (const _again of [1, 2]) {
      const { code, message } = errorOf(await bench.run('typescript', 'f'));
      expect(code).toBe('load_failed');
      expect(message).toMatch(/^tools\.ts cannot be imported: /);
      expect(message).toContain(part);
      if (place !== null) expect(message).toContain(`(${place} in `);
      expect(message).not.toContain(bench.folder);
    }
  });

  it('may not use the store', async () => {
    await load("import { get } from 'svc_env';\nawait get('things', { id: 1 });");
    const { code, message } = errorOf(await bench.run('typescript', 'f'));
    expect([code, message]).toEqual(['load_failed', expect.stringContaining('only inside a call')]);
  });
});

describe('promises', () => {
  it('of store operations are awaited even if the function does not await them', async () => {
    await load(`
      import { insert } from 'svc_env';
      export function f() { void insert('things', { id: 1, name: 'late' }); return 'done'; }
      export async function all() {
        const rows = [1, 2, 3].map((id) => insert('things', { id, name: 'n' }));
        return (await Promise.all(rows)).length;
      }
    `);
    const { access, things } = createMemoryStore();
    expect(await bench.value('typescript', 'f', { access })).toBe('done');
    expect(things.size).toBe(1);
    things.clear();
    expect(await bench.value('typescript', 'all', { access })).toBe(3);
  });

  it('fail the run if a refusal or an error was not awaited', async () => {
    await load(`
      import { insert, get } from 'svc_env';
      export function refusal() { void insert('things', { id: 1 }); return 'done'; }
      export async function error() {
        setTimeout(() => { throw new Error('in a timer'); }, 1);
        await new Promise(() => undefined);
      }
      export function later() { setTimeout(() => get('things', { id: 1 }), 1); return 'done'; }
      export const calm = () => 'calm';
    `);
    expect(errorOf(await bench.run('typescript', 'refusal')).code).toBe('refused');
    const error = errorOf(await bench.run('typescript', 'error'));
    expect(error.message).toBe('Error: in a timer (tools.ts:5 in Timeout._onTimeout)');
    expect(await bench.value('typescript', 'later')).toBe('done');
    for (const _ of Array.from({ length: 20 })) {
      expect(await bench.value('typescript', 'calm')).toBe('calm');
    }
  });

  it('fail the run with any thrown value', async () => {
    await load(`
      export const text = () => { throw 'a text'; };
      export const nothing = async () => { throw undefined; };
      export const odd = () => { throw Object.assign(new Error('x'), { stack: 7, name: Symbol('n') }); };
    `);
    for (const name of ['text', 'nothing', 'odd']) {
      expect(errorOf(await bench.run('typescript', name)).code).toBe('raised');
    }
  });
});

describe('the TypeScript process', () => {
  const attempts: Record<string, string> = {
    'import child_process': "await import('node:child_process')",
    'import net': "await import('net')",
    'take a module by another door': "process.getBuiltinModule('node:http').request",
    fetch: "await fetch('http://127.0.0.1:9')",
    'read the machine': "(await import('node:fs')).readFileSync('/etc/hostname')",
    'read the host': "(await import('node:fs')).readFileSync('/proc/' + process.ppid + '/environ')",
    'write a file':
      "(await import('node:fs')).writeFileSync(new URL('./made.txt', import.meta.url), '')",
  };

  beforeAll(async () => {
    const bodies = Object.values(attempts).map(
      (code, i) => `export async function attempt_${i}() { return ${code}; }`,
    );
    await load(`${bodies.join('\n')}\nexport const seen = () => Object.keys(process.env).sort();`);
  });

  it.each(Object.keys(attempts).map((name, i) => [name, i] as const))(
    'does not %s',
    async (_, i) => {
      expect(errorOf(await bench.run('typescript', `attempt_${i}`)).code).toBe('raised');
    },
  );

  it('gets a clean environment', async () => {
    const names = (await bench.value('typescript', 'seen')) as string[];
    expect(names.filter((name) => name !== 'LC_CTYPE')).toEqual(['HOME', 'LANG', 'TMPDIR', 'TZ']);
  });

  it('has limited memory, and reports when it runs out', async () => {
    await load(`
      export function f() { const all = []; for (;;) all.push(new Array(1000).fill(all.length)); }
      export const calm = () => 'calm';
    `);
    expect(errorOf(await bench.run('typescript', 'f', { timeoutMs: 15_000 }))).toMatchObject({
      code: 'out_of_memory',
      message: 'f took more than its 64 MiB of memory',
    });
    expect(await bench.value('typescript', 'calm')).toBe('calm');
  });
});

describe('timers that a call leaves', () => {
  const ticking = `
    export let ticks = 0;
    const tick = () => { ticks += 1; };
    export const look = async () => {
      await new Promise((resolve) => setTimeout(resolve, 20));
      return ticks;
    };
  `;
  const leaving: [string, string][] = [
    [
      'is hidden from the count',
      'process.getActiveResourcesInfo = () => []; setInterval(tick, 1);',
    ],
    ['would not keep a process alive', 'setInterval(tick, 1).unref();'],
    ['is of a signal', "AbortSignal.timeout(5).addEventListener('abort', tick);"],
    ['is of a module', "process.getBuiltinModule('timers').setInterval(tick, 1).unref();"],
  ];

  it.each(leaving)('end with the call, even a timer that %s', async (_, leave) => {
    await load(`${ticking} export const start = () => { ${leave} return 'left'; };`);
    expect(await bench.value('typescript', 'start')).toBe('left');
    expect(await bench.value('typescript', 'look')).toBe(0);
  });

  it('do not cause a new worker if they have fired or were cleared', async () => {
    await load(`${ticking}
      export const calm = async () => {
        setInterval(tick, 1_000).unref()[Symbol.dispose]();
        await new Promise((resolve) => setTimeout(resolve, 1).unref().ref());
        return ++ticks;
      };`);
    expect(await bench.value('typescript', 'calm')).toBe(1);
    expect(await bench.value('typescript', 'calm')).toBe(2);
  });
});
