/**
 * Tests the names that a world may use. Each name that the language accepts can be stored, looked up, filtered, ordered
 * and paged by, even if SQLite gives the name a meaning. Any other name is refused with its place.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Row } from '#language/contract.ts';
import { fuzzRuns } from '#test/support/random/fuzz.ts';
import { openStore } from '#test/support/worlds/sample-store.ts';
import { compileChanged } from '#test/support/worlds/small-world.ts';
import { StoreRefusal } from './refusal.ts';
import { buildSnapshot } from './snapshot.ts';
import type { WorldStore } from './world-store.ts';

/** Words with a meaning for SQLite, for the store's own statements, or for JavaScript. */
const words =
  `abort action add after all alter always analyze and as asc attach autoincrement before begin between by
  cascade case cast check collate column commit conflict constraint create cross current current_date
  current_time current_timestamp database default deferrable deferred delete desc detach distinct do drop
  each else end escape except exclude exclusive exists explain fail filter first following for foreign from
  full generated glob group groups having if ignore immediate in index indexed initially inner insert
  instead intersect into is isnull join key last left like limit match materialized natural no not nothing
  notnull null nulls of offset on or order others outer over partition plan pragma preceding primary query
  raise range recursive references regexp reindex release rename replace restrict returning right rollback
  row rows savepoint select set table temp temporary then ties to transaction trigger unbounded union
  unique update using vacuum values view virtual when where window with without true false
  rowid _rowid_ oid ROWID RowId _ROWID_ OID rank hidden docid json_each JSON_Each json_tree json_extract
  pragma_table_info dbstat bytecode tables_used generate_series main excluded new old wanted item value
  count lower instr max n sum work base task stored strict payload Payload _key _KEY _position _position_
  svc_store sqlite_master sqlite_sequence benchmark_x __proto__ constructor toString hasOwnProperty
  id Id name NAME _ __ a A`
    .split(/\s+/)
    .concat('x'.repeat(128), 'x'.repeat(129));

const word = fc.constantFrom(...words);
/** Keys of objects inside rows, which may be any text. */
const innerWord = fc.oneof(
  fc.constantFrom(
    '0',
    '12',
    '007',
    '-1',
    '',
    ' ',
    "it's",
    'a.b',
    'a b',
    '$',
    '[0]',
    '#',
    '*',
    '"',
    '\\',
  ),
  fc.constantFrom(
    '\u0000',
    'a\u0000b',
    '\n',
    '\u2028',
    'é',
    'e\u0301',
    '😀',
    '--',
    '/*',
    ';',
    '?',
    '?1',
  ),
  fc.string({ unit: 'binary', maxLength: 4 }),
  word,
);

type Model = { entity: string; child: string; fields: string[]; inner: string[] };

const model: fc.Arbitrary<Model> = fc
  .record({
    entity: word,
    child: word,
    fields: fc.oneof(
      { weight: 3, arbitrary: fc.uniqueArray(word, { minLength: 1, maxLength: 8 }) },
      fc.constant<string[]>(['rowid', '_rowid_', 'oid']),
      fc.constant<string[]>(['RowId', 'OID', '_rowid_', '_position']),
    ),
    inner: fc.uniqueArray(innerWord, { maxLength: 3 }),
  })
  .filter(({ entity, child }) => entity !== child);

const objectSchema = (properties: Record<string, unknown>, required: string[]) => ({
  type: 'object',
  additionalProperties: false,
  required,
  properties,
});

/** Returns the JSON pointer of a value inside the row. */
const pointerTo = (key: string) => `/inside/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;

const inOrder = <Value>(names: readonly string[], value: (name: string) => Value) =>
  Object.fromEntries(names.map((name) => [name, value(name)]));

const environment = `[schema]
language = "svc-world/1"
[environment]
name = "names"
kind = "mock-tools"
db = "sqlite"
connector = "custom"
[db]
engine = "sqlite"
[tools]
serve = []
`;

/** Compiles a world with an entity whose first field is its key, and a second entity that refers to the first. */
const compileModel = ({ entity, child, fields, inner }: Model) =>
  compileChanged((world) => {
    const [key = ''] = fields;
    const text = { type: 'string' };
    const inside = objectSchema(
      inOrder(inner, () => text),
      [],
    );
    const properties = { ...inOrder(fields, () => text), inside };
    const document = world.json['schema/world.json'];
    world.json = { 'schema/world.json': document };
    world.text = { 'svc-env.toml': environment };
    document.$defs = {};
    document['x-svc'].tools = {};
    document['x-svc'].entities = {
      [entity]: {
        schema: objectSchema(properties, [key]),
        primary_key: [key],
        unique: [
          ...fields.slice(1).map((field) => [field]),
          ...inner.map((name) => [pointerTo(name)]),
        ],
      },
      [child]: {
        schema: objectSchema({ [key]: text, parent: text }, [key, 'parent']),
        primary_key: [key],
        relationships: [{ fields: ['parent'], target: entity, on_delete: 'restrict' }],
      },
    };
  });

/** Codes of the problems with which a name, or text that uses it, is refused. */
const refusals = [
  'bad_name',
  'reserved_name',
  'name_collision',
  'bad_unique',
  'bad_value',
  'unknown_field',
  'unknown_entity',
];

const parse = (texts: readonly string[]): unknown[] => texts.map((text) => JSON.parse(text));

const rowOf = ({ fields, inner }: Model, index: number): Row => ({
  ...inOrder(fields, (name) => `${name} ${index}`),
  inside: inOrder(inner, (name) => `${name} ${index}`),
});

/** Expects that each kind of query by a field finds its row and no other row. */
const expectFound = (store: WorldStore, entity: string, path: string[], row: Row): void => {
  const value = path.reduce<unknown>((held, step) => (held as Row)[step], row);
  for (const match of ['equals', 'contains', 'prefix'] as const) {
    const where = [{ path, match, value }];
    expect(parse(store.query(entity, { where }))).toEqual([row]);
    expect(store.count(entity, [{ path, match, value: [value, 'another'] }])).toBe(1);
  }
  const descending = store.query(entity, { orderBy: [{ path, descending: true }] });
  expect(parse(descending)).toHaveLength(3);
};

const use = async (given: Model, compiled: ReturnType<typeof compileModel>): Promise<void> => {
  if (!compiled.ok) throw new Error('does not compile');
  const { contract } = compiled;
  const { entity, child, fields, inner } = given;
  const [key = ''] = fields;
  const [first, second, third] = [1, 2, 3].map((index) => rowOf(given, index)) as [Row, Row, Row];
  const built = buildSnapshot(contract, { [entity]: [second, first] });
  const store = openStore({ contract, snapshot: built.bytes });
  store.mark('base');
  store.mark('task');
  await store.atomically(() => {
    store.insert(entity, third);
    store.insert(child, { [key]: 'c', parent: third[key] });
  });
  const paths = [...fields.map((name) => [name]), ...inner.map((name) => ['inside', name])];
  for (const path of paths) expectFound(store, entity, path, first);
  for (const path of paths.slice(1)) {
    const twin = structuredClone(first);
    twin[key] = 'twin';
    for (const [at, name = ''] of paths.slice(1)) {
      if (at === path[0] && name === (path[1] ?? '')) continue;
      if (name === '') delete twin[at ?? ''];
      else delete (twin.inside as Row)[name];
    }
    await expect(store.atomically(() => store.insert(entity, twin))).rejects.toMatchObject({
      kind: 'duplicate',
    });
  }
  const page = store.list(entity, { limit: 2 });
  expect(parse(page.rows)).toEqual([second, first]);
  expect(parse(store.list(entity, { after: page.last, limit: 2 }).rows)).toEqual([third]);
  await expect(store.atomically(() => store.remove(entity, third))).rejects.toMatchObject({
    kind: 'referenced',
  });
  await store.atomically(() => store.remove(entity, first));
  expect(store.scanDigest()).toBe(store.digest());
  store.rollBackTo('base');
  expect(store.digest()).toBe(built.digest);
  store.close();
};

describe('names', () => {
  it('that the language accepts work everywhere, and all other names are refused with a message that quotes them', async () => {
    let used = 0;
    await fc.assert(
      fc.asyncProperty(model, async (given) => {
        const compiled = compileModel(given);
        if (compiled.ok) {
          used += 1;
          await use(given, compiled);
          return;
        }
        for (const { code, file, pointer } of compiled.problems) {
          expect(refusals).toContain(code);
          expect([file, pointer]).toEqual(['schema/world.json', expect.stringMatching(/^\/x-svc/)]);
        }
      }),
      fuzzRuns(250),
    );
    expect(used).toBeGreaterThan(50);
  });

  it.each(['a\0b', '\ud800', '"', '\\'])(
    "that cannot be written in SQLite's paths are refused: %j",
    (name) => {
      const compiled = compileModel({ entity: 'a', child: 'b', fields: ['id'], inner: [] });
      if (!compiled.ok) throw new Error('does not compile');
      const [entity] = compiled.contract.entities;
      if (entity === undefined) throw new Error('there is no entity');
      const schema = { ...entity.schema, properties: { id: { type: 'string' }, inside: {} } };
      const contract = { ...compiled.contract, entities: [{ ...entity, schema }] };
      const store = openStore({ contract });
      const path = ['inside', name];
      for (const match of ['equals', 'contains', 'prefix'] as const) {
        expect(() => store.query('a', { where: [{ path, match, value: 'x' }] })).toThrow(
          StoreRefusal,
        );
      }
      expect(() => store.query('a', { orderBy: [{ path }] })).toThrow(StoreRefusal);
    },
  );
});
