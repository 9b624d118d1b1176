/**
 * Tests what is specific to Python: how it imports modules, what code may do, and how a run that timed out reports
 * where it spent its time.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AppError } from '#domain/error.ts';
import { type Bench, startBench, writeFiles } from '#test/support/host/user-code.ts';
import type { RunResult } from '../run.ts';
import { findPython, readTimeoutTrace } from './python.ts';

const isLinux = process.platform === 'linux';
if (!isLinux) console.info('the bound on memory is not tested: this is no Linux');

let bench: Bench;
beforeAll(async () => {
  bench = await startBench();
});
afterAll(() => bench.close());

const errorOf = (result: RunResult) => {
  if (result.ok) throw new Error(`it succeeded: ${JSON.stringify(result.value)}`);
  return result.error as typeof result.error & {
    details: { trace: { file: string; line: number; function: string }[]; exception: string };
  };
};

const handler = {
  as: 'handler',
  file: 'api/handlers.py',
  input: {
    method: 'GET',
    path: '/',
    route: '/',
    args: {},
    body: null,
    headers: {},
    mediaType: 'application/json',
    contentType: 'application/json',
  },
} as const;

describe('imports', () => {
  it('find other files in the root, in a folder, and by relative name', async () => {
    await bench.load({
      'tools.py':
        'from labels import color\nimport tools as same\ndef paint(): return color("bug")\n',
      'labels.py': 'def color(name): return name + ":red"\n',
      'api/handlers.py':
        'from labels import color\nfrom .paging import page\nfrom api import paging\n' +
        'def index(ctx): return [color("a"), page(), paging.page()]\n',
      'api/paging.py': 'def page(): return 1\n',
    });
    expect(await bench.value('python', 'paint')).toBe('bug:red');
    expect(await bench.value('python', 'index', handler)).toEqual(['a:red', 1, 1]);
  });

  it('find the functions that handlers of all worlds share', async () => {
    const written = ['10100', 7, ' 7', '-1', '٣', true, null, '1'.repeat(16)];
    await bench.load({
      'tools.py':
        'from svc_env.finding import indexed, same_name, whole_number\n' +
        'def numbers(): return [whole_number(one) for one in ' +
        `${JSON.stringify(written).replace('true', 'True').replace('null', 'None')}]\n` +
        'def names(): return [same_name("Éa", "éA"), indexed([{"id": 1}])[1]]\n',
    });
    expect(await bench.value('python', 'numbers')).toEqual([10100, 7, ...Array(6).fill(null)]);
    expect(await bench.value('python', 'names')).toEqual([true, { id: 1 }]);
  });

  it('that form a cycle fail with the names of the files, relative to the root of the world', async () => {
    await bench.load({
      'tools.py': 'from one import x\ndef paint(): return x\n',
      'one.py': 'from two import y\nx = 1\n',
      'two.py': 'from one import x\ny = 2\n',
    });
    const { message } = errorOf(await bench.run('python', 'paint'));
    expect(message).toMatch(/circular import\) \(one\.py\) \(two\.py:1 in <module>\)$/);
  });

  it('that fail are reported at each run of that file, and at no other run', async () => {
    await bench.load({
      'tools.py': 'import labels\ndef paint(): pass\n',
      'labels.py': 'x = 1\nraise ValueError("no labels today")\n',
      'api/handlers.py': 'def index(ctx): return 1\n',
    });
    for (const _ of [1, 2]) {
      const error = errorOf(await bench.run('python', 'paint'));
      expect(error).toMatchObject({
        code: 'load_failed',
        message:
          'tools.py cannot be imported: ValueError: no labels today (labels.py:2 in <module>)',
        details: { exception: 'ValueError' },
      });
      expect(error.details.trace.map(({ file, line }) => `${file}:${line}`)).toEqual([
        'tools.py:1',
        'labels.py:2',
      ]);
    }
    expect(await bench.value('python', 'index', handler)).toBe(1);
  });

  it('that fail by a syntax error are reported with its place', async () => {
    const where =
      /^tools\.py cannot be imported: SyntaxError: .*\(tools\.py:2 in <module>\), by Python 3\.\d+$/;
    expect(await bench.failures({ 'tools.py': 'x = 1\ndef paint(:\n  pass\n' })).toEqual([
      expect.stringMatching(where),
    ]);
    expect(errorOf(await bench.run('python', 'paint'))).toMatchObject({
      code: 'load_failed',
      message: expect.stringMatching(/SyntaxError: .*\(tools\.py:2 in <module>\)/),
    });
  });

  it('that end their process or hang are reported as a failure of the run', async () => {
    const impatient = await startBench({ loadMs: 300 });
    const files = {
      'tools.py': 'import os\nos._exit(7)\n',
      'api/handlers.py': 'while True:\n    pass\n',
    };
    expect(await impatient.failures(files)).toEqual([
      'importing the python code of the world ended its process, or took more than 0.3 s',
    ]);
    expect(errorOf(await impatient.run('python', 'paint')).code).toBe('crashed');
    const hung = errorOf(await impatient.run('python', 'index', { ...handler, timeoutMs: 200 }));
    expect(hung.code).toBe('timeout');
    expect(hung.details.trace.at(-1)).toMatchObject({ file: 'api/handlers.py' });
    await impatient.load({ 'tools.py': 'def fine(): return 1\n' });
    expect(await impatient.value('python', 'fine')).toBe(1);
    await impatient.close();
  });

  it('of a module that a file of the same name shadows are reported', async () => {
    await bench.load({ 'tools.py': 'def f(): pass\n', 'json.py': 'def f(): pass\n' });
    expect(errorOf(await bench.run('python', 'f', { file: 'json.py' })).message).toMatch(
      /rename it/,
    );
  });

  it('may not use the store', async () => {
    await bench.load({ 'tools.py': 'from svc_env import get\nget("things", {"id": 1})\n' });
    expect(errorOf(await bench.run('python', 'f'))).toMatchObject({
      code: 'load_failed',
      message: expect.stringContaining('only inside a call'),
    });
  });

  it('are repeated for each run of a grader', async () => {
    const directory = await bench.load({
      'checks/verify.py': 'def verify(ctx): ctx.check("old", True)\n',
    });
    const grade = () =>
      bench.value('python', 'verify', { as: 'verify', file: 'checks/verify.py', input: null });
    expect(await grade()).toMatchObject({ checks: [{ name: 'old' }] });
    writeFiles(directory, { 'checks/verify.py': 'def verify(ctx): ctx.check("replaced", True)\n' });
    expect(await grade()).toMatchObject({ checks: [{ name: 'replaced' }] });
  });
});

describe('errors', () => {
  it("contain only frames of the author's files, and include the cause", async () => {
    await bench.load({
      'tools.py': [
        'import json',
        'def parse(text):',
        '    try:',
        '        return json.loads(text)',
        '    except ValueError as error:',
        '        raise LookupError("no JSON") from error',
        'def straight(text):',
        '    return json.loads(text)',
        'def leaves():',
        '    raise SystemExit(3)',
        'def deep(n=0):',
        '    return deep(n + 1)',
      ].join('\n'),
    });
    const input = { text: '{' };
    expect(errorOf(await bench.run('python', 'parse', { input }))).toMatchObject({
      message: 'LookupError: no JSON (tools.py:6 in parse)',
      details: { cause: expect.stringContaining('JSONDecodeError') },
    });
    const straight = errorOf(await bench.run('python', 'straight', { input }));
    expect(straight.details.trace).toMatchObject([{ file: 'tools.py', line: 8 }]);
    expect(errorOf(await bench.run('python', 'leaves'))).toMatchObject({ code: 'raised' });
    const deep = errorOf(await bench.run('python', 'deep'));
    expect(deep.details.exception).toBe('RecursionError');
    expect(deep.details.trace.length).toBe(20);
  });

  it('name the function that was given wrong arguments', async () => {
    await bench.load({ 'tools.py': '\n\ndef triage(owner, repo): pass\n' });
    expect(errorOf(await bench.run('python', 'triage', { input: { owner: 'x' } })).message).toMatch(
      /missing 1 required positional argument: 'repo' \(tools\.py:3 in triage\)/,
    );
  });

  it('are reported even if errors or values are made to break the report', async () => {
    await bench.load({
      'tools.py': [
        'class Bad(Exception):',
        '    def __str__(self): raise TypeError("no")',
        'def bad(): raise Bad()',
        'def circle():',
        '    x = []',
        '    x.append(x)',
        '    return x',
        'def nan(): return float("nan")',
        'def surrogate(): return "\\ud800"',
      ].join('\n'),
    });
    expect(errorOf(await bench.run('python', 'bad')).code).toBe('raised');
    expect(errorOf(await bench.run('python', 'circle')).message).toMatch(/not JSON/);
    expect(errorOf(await bench.run('python', 'nan')).message).toMatch(/not JSON/);
    expect(await bench.value('python', 'surrogate')).toBe('\ud800');
  });

  it('by `fail` are not caught by a broad `except`', async () => {
    await bench.load({
      'tools.py':
        'from svc_env import fail\ndef f():\n    try:\n        fail("stop")\n' +
        '    except Exception:\n        return "went on"\n',
    });
    expect(errorOf(await bench.run('python', 'f'))).toMatchObject({
      code: 'failed',
      message: 'stop',
    });
  });
});

describe('concurrency inside a call', () => {
  it('is possible by async functions that gather and use threads', async () => {
    await bench.load({
      'tools.py': [
        'import asyncio, threading',
        'from svc_env import ids',
        'async def one(): return ids.uuid()',
        'async def f():',
        '    return await asyncio.gather(one(), asyncio.to_thread(ids.uuid), one())',
        'def stray():',
        '    seen = []',
        '    def work():',
        '        try: ids.uuid()',
        '        except RuntimeError as error: seen.append(str(error))',
        '    thread = threading.Thread(target=work)',
        '    thread.start(); thread.join()',
        '    return seen',
      ].join('\n'),
    });
    expect(await bench.value('python', 'f')).toHaveLength(3);
    expect(await bench.value('python', 'stray')).toEqual([
      expect.stringContaining('inside a call'),
    ]);
  });
});

describe('the Python process', () => {
  const attempts: Record<string, string> = {
    'start a process': 'import subprocess; subprocess.run(["true"])',
    'run a shell': 'import os; os.system("true")',
    fork: 'import os; os.fork()',
    'signal the host': 'import os; os.kill(os.getppid(), 9)',
    'read the host': 'import os; open(f"/proc/{os.getppid()}/environ")',
    'read the machine': 'open("/etc/hostname")',
    'write a file': 'open("made-by-user-code.txt", "w")',
    'remove a file': 'import os; os.remove(__file__)',
    connect: 'import socket; socket.create_connection(("127.0.0.1", 9), 1)',
    'load foreign code': 'import ctypes',
  };

  beforeAll(async () => {
    const bodies = Object.values(attempts).map((code, i) => `def attempt_${i}():\n    ${code}\n`);
    await bench.load({
      'tools.py': `${bodies.join('\n')}
def allowed():
    import datetime, hashlib, random, re, uuid, zoneinfo, os, sys
    datetime.datetime.now(zoneinfo.ZoneInfo("UTC"))
    return [open(__file__).read(5), sorted(os.environ), [p for p in sys.path if "site-packages" in p]]
`,
    });
  });

  it.each(Object.keys(attempts).map((name, i) => [name, i] as const))(
    'does not %s',
    async (_, i) => {
      const error = errorOf(await bench.run('python', `attempt_${i}`));
      expect(error.message).toMatch(/user code may (not|read only)/);
    },
  );

  it('can access its own files, a clean environment and no site packages', async () => {
    const [own, names, sites] = (await bench.value('python', 'allowed')) as [string, string[], []];
    expect(own).toBe('def a');
    const expected = ['HOME', 'LANG', 'PYTHONHASHSEED', 'TMPDIR', 'TZ'];
    expect(names.filter((name) => name !== 'LC_CTYPE')).toEqual(expected);
    expect(sites).toEqual([]);
  });

  it('may have a thread that an import started', async () => {
    const start = 'threading.Thread(target=threading.Event().wait, daemon=True).start()';
    await bench.load({ 'tools.py': `import threading\n${start}\ndef f(): return 1\n` });
    expect(await bench.value('python', 'f')).toBe(1);
    expect(await bench.value('python', 'f')).toBe(1);
  });

  it.runIf(isLinux)('has limited memory', async () => {
    await bench.load({ 'tools.py': 'def f(): return len(bytearray(2 * 1024 ** 3))\n' });
    const error = errorOf(await bench.run('python', 'f'));
    expect(error.code).toBe('out_of_memory');
    expect(error.details.exception).toBe('MemoryError');
  });

  it('orders the items of a set in the same way at each start', async () => {
    const load = () =>
      bench.load({ 'tools.py': 'def letters(): return list(set("abcdefghijklmnop"))\n' });
    await load();
    const first = await bench.value('python', 'letters');
    await load();
    expect(await bench.value('python', 'letters')).toEqual(first);
  });
});

describe('the host', () => {
  it('refuses a command that does not start Python 3.11 or later', async () => {
    await expect(findPython('/nowhere/python3')).rejects.toThrow(AppError);
    await expect(findPython('true')).rejects.toThrow(/3\.11/);
  });

  it("reads the author's frames from the output of faulthandler", () => {
    const said = [
      'Timeout (0:00:01)!',
      'Thread 0x1 (most recent call first):',
      '  File "/code/api/paging.py", line 4 in page',
      '  File "/usr/lib/python3.11/json/__init__.py", line 1 in loads',
      '  File "/code/tools.py", line 9 in list issues',
      '  File "/pkg/svc_env/worker.py", line 70 in _call',
    ].join('\n');
    expect(readTimeoutTrace(said, '/code')).toEqual([
      { file: 'tools.py', line: 9, function: 'list issues' },
      { file: 'api/paging.py', line: 4, function: 'page' },
    ]);
    expect(readTimeoutTrace('nothing of it', '/code')).toEqual([]);
  });
});
