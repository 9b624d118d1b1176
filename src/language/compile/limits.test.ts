/**
 * Checks that every limit of a tree has an error of its own, and that a tree within the limits is usable: no accepted
 * schema or value exhausts the stack.
 */
import { describe, expect, it } from 'vitest';
import { limits } from '#domain/limits.ts';
import { takeSchema } from '#test/support/worlds/schemas.ts';
import { type SmallWorld, smallWorld, textFile, toTree } from '#test/support/worlds/small-world.ts';
import { languageLimits } from '../limits.ts';
import { compileTree } from './compile.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests reach into the document to break it
type Loose = any;
type Change = (world: SmallWorld) => void;

const many = <Value>(count: number, make: (index: number) => Value): Value[] =>
  Array.from({ length: count }, (_, index) => make(index));
const named = <Value>(count: number, prefix: string, make: (index: number) => Value) =>
  Object.fromEntries(many(count, (index) => [`${prefix}${index}`, make(index)]));

const inWorld =
  (change: (document: Loose) => void): Change =>
  ({ json }) =>
    change(json['schema/world.json']);
const define = (definitions: Record<string, unknown>): Change =>
  inWorld((document) => Object.assign(document.$defs, definitions));
const nested = (levels: number): Loose => (levels === 0 ? 1 : [nested(levels - 1)]);

/** Fills a table with copies of one of its members until the table has `size` members. */
const fill = (table: Record<string, unknown>, size: number, member: string): void => {
  const missing = size - Object.keys(table).length;
  Object.assign(
    table,
    named(missing, `${member}_`, () => table[member]),
  );
};

/** Each limit, with a change that exceeds it, and the code and words of the error. */
const refusals: [limit: string, change: Change, code: string, words: string][] = [
  [
    'files',
    ({ text }) =>
      Object.assign(
        text,
        named(limits.treeFiles, 'notes/', () => ''),
      ),
    'too_many_files',
    'files, more than 2000',
  ],
  [
    'bytes of a file',
    ({ text }) => Object.assign(text, { 'notes.txt': 'x'.repeat(limits.treeFileBytes + 1) }),
    'file_too_large',
    'more than 8388608',
  ],
  [
    'bytes of a tree',
    ({ text }) =>
      Object.assign(
        text,
        named(5, 'notes/', () => 'x'.repeat(limits.treeFileBytes)),
      ),
    'tree_too_large',
    'more than 33554432',
  ],
  [
    'bytes of a hand-written file',
    inWorld((document) => {
      document.$comment = 'x'.repeat(languageLimits.authoredFileBytes);
    }),
    'file_too_large',
    'more than 2097152',
  ],
  [
    'depth of a JSON file',
    ({ json }) => json['data/cards.json'].push(nested(languageLimits.depth)),
    'too_deep',
    'deeper than 64 levels',
  ],
  [
    'entities',
    inWorld((document) => fill(document['x-svc'].entities, languageLimits.entities + 1, 'lists')),
    'too_many',
    'there are 501 entities, more than 500',
  ],
  [
    'fields of an entity',
    inWorld((document) => {
      const { properties } = document['x-svc'].entities.lists.schema;
      fill(properties, languageLimits.fieldsPerEntity + 1, 'name');
    }),
    'too_many',
    'there are 501 fields, more than 500',
  ],
  [
    'tools',
    inWorld((document) => fill(document['x-svc'].tools, languageLimits.tools + 1, 'list_cards')),
    'too_many',
    'there are 1001 tools, more than 1000',
  ],
  [
    'definitions',
    define(named(languageLimits.definitions, 'D', () => true)),
    'too_many',
    'definitions, more than 2000',
  ],
  [
    'references of a tree',
    define(
      named(200, 'Many', () => ({ properties: named(101, 'p', () => ({ $ref: '#/$defs/Id' })) })),
    ),
    'too_many',
    'references, more than 20000',
  ],
  [
    'relationships of an entity',
    inWorld((document) => {
      const { cards } = document['x-svc'].entities;
      cards.relationships = many(languageLimits.relationshipsPerEntity + 1, () => ({
        fields: ['list_id'],
        target: 'lists',
        on_delete: 'restrict',
      }));
    }),
    'too_many',
    'there are 101 in "relationships", more than 100',
  ],
  [
    'unique lists of an entity',
    inWorld((document) => {
      const { cards } = document['x-svc'].entities;
      cards.unique = many(languageLimits.uniquePerEntity + 1, () => ['title']);
    }),
    'too_many',
    'there are 101 in "unique", more than 100',
  ],
  [
    'length of a pattern',
    define({ Long: { pattern: 'a'.repeat(languageLimits.patternLength + 1) } }),
    'bad_pattern',
    'longer than 1000 characters',
  ],
  [
    'size of a pattern',
    define({ Large: { pattern: '(?:ab{3}){1000}' } }),
    'bad_pattern',
    'with repetitions counted',
  ],
  [
    'size of all patterns',
    define(named(75, 'Large', (index) => ({ pattern: `^${index}a{900}b{900}c{900}$` }))),
    'schema_too_complex',
    'all patterns of the world together are larger than 200000 characters',
  ],
  [
    'schemas inside one another',
    define(
      named(languageLimits.schemaNesting, 'D', (index) => ({
        items: { $ref: `#/$defs/${index === 0 ? 'Id' : `D${index - 1}`}` },
      })),
    ),
    'schema_too_complex',
    'schemas nest',
  ],
  [
    'schemas for one value',
    define(
      named(11, 'D', (index) => {
        const next = { $ref: index === 0 ? '#/$defs/Id' : `#/$defs/D${index - 1}` };
        return { allOf: [next, next] };
      }),
    ),
    'schema_too_complex',
    'schemas apply to one value, more than 5000',
  ],
  [
    'keywords and subschemas beside one another',
    define({ Wide: { properties: named(languageLimits.schemaSpan, 'p', () => true) } }),
    'schema_too_complex',
    'keywords and subschemas, more than 800',
  ],
  [
    'references that lead to one another',
    define(
      named(languageLimits.referenceChain + 1, 'D', (index) => ({
        $ref: index === 0 ? '#/$defs/Id' : `#/$defs/D${index - 1}`,
      })),
    ),
    'schema_too_complex',
    'references applies to one value, more than 16',
  ],
  [
    'operations',
    ({ text }) => {
      const operation = (index: number) =>
        `\n[[operations]]\nname = "o${index}"\npath = "/o${index}"`;
      text['connector.toml'] += many(languageLimits.operations, operation).join('');
    },
    'too_many',
    'operations, more than 2000',
  ],
  [
    'depth of a TOML file',
    ({ text }) => {
      text['connector.toml'] += `\n[${many(languageLimits.depth + 1, () => 'a').join('.')}]\n`;
    },
    'too_deep',
    'deeper than 64 levels',
  ],
];

const problemsAfter = (change: Change) => {
  const world = smallWorld();
  change(world);
  const result = compileTree(toTree(world));
  return result.ok ? [] : result.problems;
};

describe('each limit has its own error', () => {
  it.each(refusals)('%s', (_limit, change, code, words) => {
    const found = problemsAfter(change).filter((problem) => problem.code === code);
    expect(found.map(({ message }) => message)).toEqual([expect.stringContaining(words)]);
  });

  it('also the number of scenarios', () => {
    const world = smallWorld();
    const files = named(languageLimits.scenarios + 1, 'scenarios/s', () => '');
    for (const folder of Object.keys(files)) world.text[`${folder}/scenario.toml`] = '';
    const result = compileTree(toTree(world));
    expect(result.ok ? [] : result.problems.map(({ code }) => code)).toContain('too_many');
  });
});

describe('problems', () => {
  it('are listed up to a limit, and counted beyond it', () => {
    const change = define({
      Many: { required: many(languageLimits.problems + 500, () => 1) },
    });
    const problems = problemsAfter(change);
    expect(problems).toHaveLength(languageLimits.problems + 1);
    expect(problems.at(-1)?.code).toBe('more_problems');
  });

  it('of unknown keys are listed up to a limit for each table and schema', () => {
    const odd = named(languageLimits.unknownKeys + 100, 'odd', () => 1);
    for (const change of [
      define({ Odd: odd }),
      inWorld((document) => Object.assign(document, odd)),
    ]) {
      expect(problemsAfter(change)).toHaveLength(languageLimits.unknownKeys);
    }
  });

  it('of rows are listed up to a limit for each file', () => {
    const problems = problemsAfter(({ json }) => {
      json['data/cards.json'] = many(1_000, (index) => ({ id: index }));
    });
    expect(problems).toHaveLength(languageLimits.problemsPerRowFile + 1);
    expect(problems.map(({ code }) => code)).toContain('more_problems');
  });
});

describe('a tree within the limits', () => {
  const takes = (schema: unknown, definitions: Record<string, unknown> = {}) => {
    const { fits, refused } = takeSchema(schema, definitions);
    if (fits === undefined) throw new Error(`refused: ${refused}`);
    return fits;
  };
  const wide = 390;

  it.each([
    ['properties', { properties: named(wide, 'p', () => ({ type: 'string' })) }, { p1: 1 }],
    ['anyOf', { anyOf: many(wide, (index) => ({ const: index })) }, 'x'],
    ['oneOf', { oneOf: many(wide, (index) => ({ const: index })) }, 'x'],
    ['allOf', { allOf: many(wide, (index) => ({ maxLength: index })) }, 'x'],
    ['prefixItems', { prefixItems: many(wide, () => ({ type: 'string' })) }, [1]],
    ['patternProperties', { patternProperties: named(wide, '^p', () => false) }, { p1: 1 }],
    ['dependentSchemas', { dependentSchemas: named(wide, 'p', () => false) }, { p1: 1 }],
  ])('compiles at the limit of width: %s', (_keyword, schema, value) => {
    expect(takes(schema)(value)).toBe(false);
  });

  it('is validated completely at the limit of depth', () => {
    const chain = named(languageLimits.referenceChain - 1, 'D', (index) => ({
      anyOf: [{ $ref: index === 0 ? '#/$defs/Tree' : `#/$defs/D${index - 1}` }],
      unevaluatedProperties: false,
    }));
    const root = { $ref: `#/$defs/D${languageLimits.referenceChain - 2}` };
    const tree = { properties: { child: root }, maxProperties: 1 };
    const fits = takes(root, { ...chain, Tree: tree });
    const nest = (inner: unknown): unknown =>
      many(languageLimits.depth - 1, () => 'child').reduce<unknown>(
        (value, key) => ({ [key]: value }),
        inner,
      );
    expect(fits(nest({}))).toBe(true);
    expect(fits(nest({ other: 1 }))).toBe(false);
  });

  it('compiles at the limit of entities', () => {
    const world = smallWorld();
    fill(world.json['schema/world.json']['x-svc'].entities, languageLimits.entities, 'lists');
    const result = compileTree(toTree(world));
    expect(result.ok ? [] : result.problems.slice(0, 3)).toEqual([]);
  });
});

describe('hostile input', () => {
  it('is matched in linear time by a pattern that backtracks in other engines', () => {
    const world = smallWorld();
    const text = `${'a'.repeat(30_000)}!`;
    world.json['schema/world.json'].$defs.Card.properties.title.pattern = '^(a+)+$';
    world.json['data/cards.json'][0].title = text;
    world.json['data/cards.json'][1].title = 'aaaa';
    world.json['scenarios/finish/seed/cards.json'][0].title = 'aa';
    const result = compileTree(toTree(world));
    expect(result.ok ? [] : result.problems).toMatchObject([
      { code: 'bad_row', file: 'data/cards.json', pointer: '/0/title' },
    ]);
  });

  it('gets no suggestion for an unknown key of a million characters', () => {
    const text = JSON.stringify({ ['k'.repeat(1_000_000)]: 1 });
    const result = compileTree([textFile('schema/world.json', text)]);
    expect(result.ok).toBe(false);
  });
});
