/**
 * Tests values that JSON cannot represent. Each is refused with an error that names its place, and is never replaced by
 * another value.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Bench, createMemoryStore, startBench } from '#test/support/host/user-code.ts';

/** Expressions of each language, with the message that refuses their value. The tests put the value at `/rows/0/at`. */
const values = {
  python: [
    ['datetime.datetime(2026, 1, 2)', 'of type datetime: give its isoformat()'],
    ['decimal.Decimal("1.5")', 'of type Decimal: give float() or str() of it'],
    ['float("nan")', 'nan'],
    ['-1e400', '-inf'],
    ['b"text"', 'of type bytes: decode it'],
    ['{1, 2}', 'of type set: give a sorted list of it'],
    ['{(1, 2): 3}', 'an object with a key of type tuple: keys are texts'],
    ['print', 'of type builtin_function_or_method'],
  ],
  typescript: [
    ['new Map([[1, 2]])', 'a Map: give Object.fromEntries(it)'],
    ['new Set([1])', 'a Set: give [...it]'],
    ['10n', 'a BigInt: give Number(it) or String(it)'],
    ['NaN', 'NaN'],
    ['-Infinity', '-Infinity'],
    ['new Date("soon")', 'an invalid Date'],
    ["get('things', { id: 1 })", 'a Promise: await it'],
    ['() => 1', 'a Function'],
    ['Symbol()', 'a Symbol'],
    ['new Error("no")', 'an Error'],
    ['/x/', 'a RegExp'],
  ],
} as const;

const sources = {
  python: (value: string, i: number) => `
def answers_${i}():
    return {"rows": [{"at": ${value}}]}

def writes_${i}():
    insert("things", {"id": 1, "name": "one", "rows": [{"at": ${value}}]})
`,
  typescript: (value: string, i: number) => `
export const answers_${i} = () => ({ rows: [{ at: ${value} }] });
export const writes_${i} = async () => {
  await insert('things', { id: 1, name: 'one', rows: [{ at: ${value} }] });
};
`,
};

const own = {
  python: `
import datetime, decimal
from svc_env import insert

def itself():
    held = {}
    held["a"] = [held]
    return held

def deep():
    held = []
    for _ in range(100_000):
        held = [held]
    return held

def kept():
    return {"list": (1, 2), "none": None, 1: 2}
`,
  typescript: `
import { get, insert } from 'svc_env';
export const itself = () => { const held = {}; held.a = [held]; return held; };
export const deep = () => { let held = []; for (let i = 0; i < 100_000; i += 1) held = [held]; return held; };
class Point { x = 1; #y = 2; }
export const kept = () => ({ list: [1, undefined], gone: undefined, date: new Date(0), point: new Point() });
`,
};

const kept = {
  python: { list: [1, 2], none: null, 1: 2 },
  typescript: { list: [1, null], date: '1970-01-01T00:00:00.000Z', point: { x: 1 } },
};

const sourceOf = (language: keyof typeof values): string =>
  [own[language], ...values[language].map(([value], i) => sources[language](value, i))].join('');

let bench: Bench;
beforeAll(async () => {
  bench = await startBench();
  await bench.load({ 'tools.py': sourceOf('python'), 'tools.ts': sourceOf('typescript') });
});
afterAll(() => bench.close());

describe.each(['python', 'typescript'] as const)('in user code in %s', (language) => {
  it.each(values[language].map((value, i) => [...value, i] as const))(
    'the value %s is refused with an error that calls it %s',
    async (_, what, i) => {
      const answered = await bench.run(language, `answers_${i}`);
      expect(answered).toMatchObject({
        error: {
          code: 'raised',
          message: `the answer of answers_${i} is not JSON: /rows/0/at is ${what}`,
        },
      });
      const { access, things } = createMemoryStore();
      const wrote = await bench.run(language, `writes_${i}`, { access });
      expect(wrote).toMatchObject({
        error: {
          code: 'raised',
          message: expect.stringContaining(`/row/rows/0/at is ${what} (tools.`),
          details: { trace: [{ function: `writes_${i}` }] },
        },
      });
      expect(things.size).toBe(0);
    },
  );

  it.each(['itself', 'deep'])(
    'a value that contains itself or is nested too deep is refused: %s',
    async (name) => {
      expect(await bench.run(language, name)).toMatchObject({
        error: {
          code: 'raised',
          message: expect.stringMatching(/not JSON.*(circular|itself|nest|depth)/i),
        },
      });
    },
  );

  it('values that JSON can represent are returned unchanged', async () => {
    expect(await bench.value(language, 'kept')).toEqual(kept[language]);
  });
});

it('code that calls process.exit gets an error with its line', async () => {
  await bench.load({ 'tools.ts': 'export const leaves = () => {\n  process.exit(3);\n};\n' });
  expect(await bench.run('typescript', 'leaves')).toMatchObject({
    error: {
      code: 'raised',
      message: expect.stringMatching(
        /process\.exit\(3\): code cannot end .* \(tools\.ts:2 in leaves\)$/,
      ),
    },
  });
});
