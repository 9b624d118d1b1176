/** Tests transforms that do forbidden things, in an engine with small limits. */
import { describe, expect, it } from 'vitest';
import { runTransform } from './transform.ts';

const limits = { processorMs: 2_000, memoryMb: 16, outputBytes: 10_000 };

const run = (body: string, dataJson = '{"a":1}', processorMs = limits.processorMs) =>
  runTransform(
    { script: `var svcTransform = { default: (data) => { ${body} } };`, dataJson, nowMs: 5 },
    { ...limits, processorMs },
  );

describe('a transform', () => {
  it('returns JSON, and returns equal output for equal data', async () => {
    const body =
      'return { b: data.a + 1, at: new Date().toISOString(), now: Date.now(), chance: Math.random() };';
    const first = await run(body);
    expect(first).toMatchObject({ ok: true });
    expect(await run(body)).toEqual(first);
    expect(JSON.parse(first.ok ? first.outputJson : '')).toMatchObject({
      ...{ b: 2, at: '1970-01-01T00:00:00.005Z', now: 5 },
    });
  });

  it.each([
    ['a loop without an end', 'for (;;);'],
    ['a loop that catches all errors', 'for (;;) try { for (;;); } catch {}'],
    ['a pattern that never finishes', 'return /(a+)+$/.test("a".repeat(40) + "b");'],
    ['a getter that never returns', 'return { get a() { for (;;); } };'],
    ['a toJSON that never returns', 'return { toJSON() { for (;;); } };'],
  ])('is ended at its time limit when it has %s', async (_, body) => {
    const error = 'took more than 0.06 s of a processor';
    expect(await run(body, '{}', 60)).toEqual({ ok: false, error });
  });

  it.each([
    [
      'lists without an end',
      'const all = []; for (;;) all.push(new Array(10_000).fill({}));',
      'of memory',
    ],
    ['one huge text', 'return "x".repeat(2 ** 28);', 'of memory'],
    ['one huge buffer', 'return new ArrayBuffer(2 ** 30).byteLength;', 'of memory'],
    ['calls without an end', 'const f = () => f() + 1; return f();', 'stack'],
    ['output that is too long', 'return "x".repeat(20_000);', '20002 characters'],
    ['nothing', '', 'undefined, which is no JSON'],
    ['a function', 'return () => 1;', 'function, which is no JSON'],
    ['a symbol', 'return Symbol("x");', 'symbol, which is no JSON'],
    ['a BigInt', 'return 1n;', 'TypeError'],
    ['a circle', 'data.data = data; return data;', 'circular'],
    ['a promise', 'return Promise.resolve(1);', 'promise'],
    ['a module of the machine', 'return import("node:fs");', 'promise'],
    ['an error', 'throw new RangeError("too far");', 'RangeError: too far'],
    [
      'an error that cannot be read',
      'throw { get message() { throw 1; } };',
      'cannot be described',
    ],
  ])('fails with a message when it has or returns %s', async (_, body, words) => {
    expect(await run(body)).toEqual({ ok: false, error: expect.stringContaining(words) });
  });

  it('cannot change its caller by changing prototypes', async () => {
    const tricks = `JSON.stringify = () => '{"evil":1}'; JSON.parse = null; String.prototype.slice = () => { throw 1; };
      Object.prototype.then = 1; Array.prototype.toJSON = undefined; globalThis.Reflect = null;
      globalThis.svcTransform = null; return { right: data.a };`;
    expect(await run(tricks)).toMatchObject({ ok: true, outputJson: '{"right":1}' });
    expect(await run('return 1;')).toMatchObject({ ok: true, outputJson: '1' });
  });

  it('has no access to the globals of its process', async () => {
    const names = [
      'process',
      'require',
      'module',
      'Buffer',
      'fetch',
      'setTimeout',
      'WebAssembly',
      'std',
      'os',
    ];
    const body = `const make = (() => {}).constructor;
      return ${JSON.stringify(names)}.filter((name) => make('return typeof ' + name)() !== 'undefined');`;
    expect(await run(body)).toMatchObject({ ok: true, outputJson: '[]' });
  });
});
