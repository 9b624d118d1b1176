/**
 * Whatever a tree holds, compiling it ends in a contract or in problems, never in an exception; and
 * what it calls a contract can be used.
 */
import { DatabaseSync } from 'node:sqlite';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type SmallWorld, smallWorld, textFile, toTree } from '#test/support/small-world.ts';
import { compileTree } from './compile.ts';
import { createTablesSql } from './ddl.ts';
import { problemCodes } from './read/codes.ts';
import { createRowChecker } from './rows.ts';
import { createToolChecker } from './tool-values.ts';

/** The places of a JSON document, by their keys. */
const placesIn = (value: unknown, path: string[] = []): string[][] => [
  path,
  ...Object.entries(typeof value === 'object' && value !== null ? value : {}).flatMap(
    ([key, inner]) => placesIn(inner, [...path, key]),
  ),
];

const oddNames = [
  '__proto__',
  'constructor',
  'toString',
  '',
  'a.b',
  '/',
  '$ref',
  'allOf',
  'Ä',
  '\0',
];
const oddValues = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  fc.constantFrom<unknown>(
    { $ref: '#/$defs/Card' },
    { $ref: 'people.json#/$defs/Person' },
    { allOf: [{ $ref: '#/$defs/Card' }] },
    { type: 'object', additionalProperties: false, properties: {} },
    { anyOf: [true, false] },
    { pattern: '(' },
    [['id']],
    ['id', 'id'],
    -1,
    1e308,
    '',
  ),
);

/** Replaces, removes or adds one value somewhere in one of the world's JSON documents. */
const jsonChange = fc
  .record({
    file: fc.constantFrom(...Object.keys(smallWorld().json)),
    place: fc.nat(),
    name: fc.oneof(fc.constantFrom(...oddNames), fc.string({ maxLength: 8 })),
    value: oddValues,
    how: fc.constantFrom('replace', 'remove', 'add'),
  })
  .map(({ file, place, name, value: given, how }) => (world: SmallWorld) => {
    const value = structuredClone(given);
    const places = placesIn(world.json[file]).slice(1);
    const path = places[place % Math.max(places.length, 1)];
    if (path === undefined) return;
    let holder = world.json[file];
    for (const key of path.slice(0, -1)) holder = holder[key];
    const last = path.at(-1) ?? '';
    if (how === 'replace') holder[last] = value;
    else if (how === 'remove') delete holder[last];
    else
      Object.defineProperty(holder, name, {
        value,
        enumerable: true,
        configurable: true,
        writable: true,
      });
  });

/** Replaces a piece of one of the world's text files. */
const textChange = fc
  .record({
    file: fc.constantFrom(...Object.keys(smallWorld().text)),
    at: fc.nat(),
    length: fc.nat({ max: 12 }),
    text: fc.oneof(
      fc.string({ maxLength: 12 }),
      fc.constantFrom(
        '"',
        '[',
        ']',
        '=',
        '\n[x]\n',
        '{',
        '}',
        '"""',
        'true',
        '-1',
        '__proto__ = 1\n',
      ),
    ),
  })
  .map(({ file, at, length, text }) => (world: SmallWorld) => {
    const before = world.text[file] ?? '';
    const start = at % (before.length + 1);
    world.text[file] = before.slice(0, start) + text + before.slice(start + length);
  });

const expectUsable = (files: Parameters<typeof compileTree>[0]): void => {
  const result = compileTree(files);
  if (result.ok) {
    new DatabaseSync(':memory:').exec(createTablesSql(result.contract));
    const rows = createRowChecker(result.contract);
    for (const { name } of result.contract.entities) rows.check(name, {});
    const tools = createToolChecker(result.contract);
    for (const { name } of result.contract.tools) tools.input(name, tools.output(name, null));
    expect(JSON.parse(JSON.stringify(result.contract))).toEqual(result.contract);
    return;
  }
  expect(result.problems.length).toBeGreaterThan(0);
  for (const { code, message } of result.problems) {
    expect(problemCodes).toContain(code);
    expect(message).not.toContain('undefined');
  }
};

const runs = { numRuns: 100 };

describe('compileTree, whatever it is given', () => {
  it('survives changes to JSON documents', () => {
    fc.assert(
      fc.property(fc.array(jsonChange, { minLength: 1, maxLength: 4 }), (changes) => {
        const world = smallWorld();
        for (const change of changes) change(world);
        expectUsable(toTree(world));
      }),
      runs,
    );
  });

  it('survives changes to texts', () => {
    fc.assert(
      fc.property(fc.array(textChange, { minLength: 1, maxLength: 3 }), (changes) => {
        const world = smallWorld();
        for (const change of changes) change(world);
        expectUsable(toTree(world));
      }),
      runs,
    );
  });

  it('survives any files at all', () => {
    const path = fc.oneof(
      fc.string({ maxLength: 20 }),
      fc.constantFrom(...Object.keys(smallWorld().text), 'schema/world.json', 'data/x.json'),
    );
    const file = fc.record({ path, content: fc.uint8Array({ maxLength: 60 }) });
    fc.assert(fc.property(fc.array(file, { maxLength: 8 }), expectUsable), runs);
  });

  it('survives any JSON as the data model', () => {
    fc.assert(
      fc.property(fc.json(), (json) => {
        expectUsable([textFile('schema/world.json', json), textFile('svc-env.toml', '')]);
      }),
      runs,
    );
  });
});
