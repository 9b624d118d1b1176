import { describe, expect, it } from 'vitest';
import type { TreeFile } from '#domain/world.ts';
import { capture, connectorText, shop, worldText } from '#test/support/worlds/shop-world.ts';
import { compileTree } from '../../compile/compile.ts';
import type { Row } from '../../contract.ts';
import { replaceFiles, textAt, textFile } from '../tree-text.ts';
import { reconcile } from './reconcile.ts';

const item = (more: Row = {}): Row => ({ id: 1, name: 'cup', state: 'new', ...more });

const reconciled = (files: TreeFile[]) => {
  const result = reconcile(files);
  if (!result.ok) throw new Error(JSON.stringify(result.problems, null, 2));
  return { ...result, tree: replaceFiles(files, result.files) };
};

const withItems = (...items: unknown[]) => reconciled(shop(capture('1', items)));

const refused = (files: TreeFile[]) => {
  const result = reconcile(files);
  return result.ok ? [] : result.problems;
};

/** Returns an object schema with a constant that distinguishes it from other object schemas. */
const shape = (kind: string, more: object = {}) => ({
  type: 'object',
  additionalProperties: false,
  required: ['kind', ...Object.keys(more)],
  properties: { kind: { const: kind }, ...more },
});

const at = '/x-svc/entities/items/schema';

describe('reconcile', () => {
  it('changes nothing if all rows fit', () => {
    const { files, changes, notes } = withItems(item());
    expect({ files, changes }).toEqual({ files: [], changes: [] });
    expect(notes).toEqual([
      'there are no captured rows of shops',
      'items: price, code, owner not seen in the one captured row; left as declared',
    ]);
  });

  it('adds fields, which are required if every row has them, and leaves the rest of the text unchanged', () => {
    const { tree, changes } = withItems(
      item({ size: { w: 1, unit: 'cm' }, made_at: '2025-01-01T00:00:00Z' }),
      item({ id: 2, size: { w: 2.5 } }),
    );
    const expected = worldText
      .replace('["id", "name", "state"]', '["id", "name", "state", "size"]')
      .replace(
        '"shop_id": { "$ref": "#/$defs/Id" }\n',
        `"shop_id": { "$ref": "#/$defs/Id" },
            "size": {
              "type": "object",
              "additionalProperties": false,
              "required": ["w"],
              "properties": { "w": { "type": "number" }, "unit": { "type": "string" } }
            },
            "made_at": { "type": "string", "format": "date-time" }
`,
      );
    expect(textAt(tree, 'schema/world.json')).toBe(expected);
    expect(changes).toMatchObject([
      { pointer: `${at}/properties/size`, kind: 'added', after: { type: 'object' } },
      {
        pointer: `${at}/required`,
        kind: 'changed',
        before: ['id', 'name', 'state'],
        after: ['id', 'name', 'state', 'size'],
      },
      {
        pointer: `${at}/properties/made_at`,
        kind: 'added',
        reason: 'in 1 of 2 captured values, first in captures/list_items/1.json',
      },
    ]);
  });

  it.each<[string, Row, string, unknown]>([
    ['a value of a wider type', { price: 1.5 }, `${at}/properties/price/type`, 'number'],
    ['null', { price: null }, `${at}/properties/price/type`, ['integer', 'null']],
    [
      'values of several types',
      { price: 'x' },
      `${at}/properties/price/type`,
      ['string', 'integer'],
    ],
    [
      'a value that the enum lacks',
      { state: 'lost' },
      `${at}/properties/state/enum`,
      ['new', 'sold', 'lost'],
    ],
    [
      'a text that does not match the pattern',
      { code: 'a1' },
      `${at}/properties/code/pattern`,
      undefined,
    ],
    ['a number below the minimum', { shop_id: 7, id: 0 }, '/$defs/Id/minimum', 0],
    ['a text longer than the maximum', { name: 'a saucer' }, '/$defs/Name/maxLength', undefined],
    [
      'null where the schema is a shared definition',
      { name: null },
      `${at}/properties/name`,
      { anyOf: [{ $ref: '#/$defs/Name' }, { type: 'null' }] },
    ],
  ])('makes the schema accept %s', (_what, row, pointer, after) => {
    const { changes, tree } = withItems(item(row));
    expect(changes.map((change) => [change.pointer, change.after])).toEqual([[pointer, after]]);
    expect(reconciled(tree).changes).toEqual([]);
  });

  it.each<[string, unknown, unknown, unknown[]]>([
    [
      'a choice with a further branch, for a type that no branch has',
      { anyOf: [{ type: 'integer' }, { type: 'boolean' }] },
      { anyOf: [{ type: 'integer' }, { type: 'boolean' }, { type: ['string', 'null'] }] },
      ['x', null, 1],
    ],
    [
      'a choice in which the branch that fits a value best is relaxed',
      { anyOf: [shape('a'), shape('b')] },
      { anyOf: [shape('a'), shape('b', { n: { type: 'integer' } })] },
      [{ kind: 'b', n: 1 }, { kind: 'a' }],
    ],
    [
      'anyOf in place of oneOf, if a value fits several branches',
      { oneOf: [{ type: 'integer' }, { type: 'number' }] },
      { anyOf: [{ type: 'integer' }, { type: 'number' }] },
      [1],
    ],
    ['an enum in place of a constant', { const: 'a' }, { enum: ['a', 'b'] }, ['b', 'a']],
    [
      'a choice between composed schemas and null',
      { title: 'T', allOf: [{ type: 'string' }] },
      { title: 'T', anyOf: [{ allOf: [{ type: 'string' }] }, { type: 'null' }] },
      [null],
    ],
    [
      'a schema without the condition that a value violates',
      { if: { maximum: 1 }, else: false, type: 'integer' },
      { type: 'integer' },
      [2],
    ],
    [
      'a list that allows further items',
      { type: 'array', prefixItems: [{ type: 'string' }], items: false },
      { type: 'array', prefixItems: [{ type: 'string' }], items: { type: 'integer' } },
      [['a', 1]],
    ],
    [
      'a map that declares a wider type for its values',
      { type: 'object', additionalProperties: { type: 'integer' } },
      { type: 'object', additionalProperties: { type: 'number' } },
      [{ a: 1, b: 1.5 }],
    ],
    [
      'any text, in place of an enum that would be too long',
      { enum: ['a'] },
      { type: 'string' },
      Array.from({ length: 101 }, (_, index) => `v${index}`),
    ],
  ])('changes a schema to %s', (_what, before, after, values) => {
    const world = JSON.parse(worldText);
    world['x-svc'].entities.items.schema.properties.price = before;
    const { tree } = reconciled(
      shop(
        textFile('schema/world.json', JSON.stringify(world, null, 2)),
        capture(
          '1',
          values.map((price, index) => item({ id: index + 1, price })),
        ),
      ),
    );
    const { properties } = JSON.parse(textAt(tree, 'schema/world.json'))['x-svc'].entities.items
      .schema;
    expect(properties.price).toEqual(after);
  });

  it('allows an object with the captured fields in place of a scalar', () => {
    const { changes } = withItems(item({ price: { amount: 1 } }));
    expect(changes.map(({ pointer, after }) => [pointer, after])).toEqual([
      [`${at}/properties/price/type`, ['integer', 'object']],
      [`${at}/properties/price/additionalProperties`, false],
      [`${at}/properties/price/required`, ['amount']],
      [`${at}/properties/price/properties`, { amount: { type: 'integer' } }],
    ]);
  });

  it('makes fields optional that rows lack', () => {
    const { changes } = withItems({ id: 1, state: 'new' }, item({ id: 2 }));
    expect(changes).toEqual([
      {
        file: 'schema/world.json',
        pointer: `${at}/required`,
        kind: 'changed',
        before: ['id', 'name', 'state'],
        after: ['id', 'state'],
        reason: '"name" is absent in 1 of 2 captured values, first in captures/list_items/1.json',
      },
    ]);
  });

  it('changes shared schemas where they are defined, also in sibling files, and reports that they are shared', () => {
    const owner = { login: 'ada', boss: { login: 'bob', mail: 'b@x.example' } };
    const { changes, files } = withItems(item({ owner }));
    expect(files.map(({ path }) => path)).toEqual(['schema/people.json']);
    expect(changes).toMatchObject([
      {
        file: 'schema/people.json',
        pointer: '/$defs/Person/properties/mail',
        kind: 'added',
        after: { type: 'string', format: 'email' },
        reason: expect.stringContaining('(Person of schema/people.json is shared: 2 places'),
      },
    ]);
  });

  it('changes the type of a key if all values have the other type', () => {
    const files = shop(
      capture('1', [item({ id: 'a' })], { arguments: { shop: 'b' } }),
      textFile('connector.toml', connectorText.replace('"int"', '"uuid"')),
    );
    expect(reconciled(files).changes).toMatchObject([
      { pointer: '/$defs/Id/type', before: 'integer', after: 'string' },
    ]);
  });

  it.each<[string, unknown[], string]>([
    ['lacks its key', [item(), { name: 'x', state: 'new' }], 'row 1 of this capture lacks it'],
    ['has null for a key', [item({ id: null })], 'row 0 of this capture has null'],
    ['has a fraction for a key', [item({ id: 1.5 })], 'row 0 of this capture has number 1.5'],
    [
      'has a field whose name is not allowed',
      [item({ 'a-b': 1 })],
      '"a-b" is not a name of a field',
    ],
    [
      'has a reserved field',
      [item({ _key: 1 })],
      'the name "_key" is reserved for a column of the store',
    ],
    [
      'has a field that differs from another only by case',
      [item({ Name: 'x' })],
      'it differs from "name" only by case',
    ],
  ])('refuses captures in which a row %s', (_what, items, message) => {
    expect(refused(shop(capture('1', items)))).toMatchObject([
      {
        file: 'captures/list_items/1.json',
        code: 'unusable_capture',
        message: expect.stringContaining(message),
      },
    ]);
  });

  it('refuses keys that are texts in some rows and numbers in others', () => {
    const files = shop(capture('1', [item(), item({ id: 'a' })]));
    expect(refused(files)).toMatchObject([
      { file: 'schema/world.json', pointer: '/$defs/Id', code: 'unusable_capture' },
    ]);
  });

  it('requires no field that rows of the tree lack', () => {
    const files = shop(
      capture('1', [item({ size: 1 })]),
      textFile('data/items.json', JSON.stringify([item({ id: 5 })])),
    );
    const { tree, changes } = reconciled(files);
    expect(changes.map(({ pointer }) => pointer)).toEqual([`${at}/properties/size`]);
    expect(compileTree(tree).ok).toBe(true);
  });

  it('names the operations that create rows without a field that is now required', () => {
    expect(withItems(item({ size: 1 })).notes).toContain(
      'the operation "add_item" creates rows of items without size',
    );
  });

  it('accepts routes that name fields which it adds', () => {
    const connector = connectorText.replace('name = "name" }', 'name = "name", size = "size" }');
    const files = shop(capture('1', [item({ size: 1 })]), textFile('connector.toml', connector));
    expect(compileTree(reconciled(files).tree).ok).toBe(true);
  });

  it('accepts a tree whose rows do not fit yet', () => {
    const files = shop(
      capture('1', [item({ size: 1 })]),
      textFile('data/items.json', JSON.stringify([item({ size: 2 })])),
    );
    const { tree, changes } = reconciled(files);
    expect(changes).toHaveLength(2);
    expect(compileTree(tree).ok).toBe(true);
  });

  it('reports answers that have no rows', () => {
    const files = shop(
      capture('1', [], { status: 404 }),
      capture('2', [], { body: {} }),
      capture('3', [item(), 5]),
    );
    expect(reconciled(files).notes).toEqual(
      expect.arrayContaining([
        'captures/list_items/1.json: the request failed, so the capture has no rows',
        'captures/list_items/2.json: body/items is missing',
        'captures/list_items/3.json: body/items/1 must be an object, is a number',
      ]),
    );
  });

  it('changes nothing if there are no captures', () => {
    expect(reconciled(shop())).toMatchObject({
      changes: [],
      notes: ['captures/ has no captures'],
    });
  });

  it.each<[string, TreeFile[], string]>([
    ['a schema with problems', [textFile('schema/people.json', '{')], 'syntax'],
    ['a connector with problems', [textFile('connector.toml', 'x = 1')], 'missing_key'],
    ['a capture without keys', [textFile('captures/list_items/1.json', '{}')], 'missing_key'],
    ['a capture that lacks a key', [textFile('captures/odd/1.json', '{}')], 'missing_key'],
  ])('refuses %s', (_what, files, code) => {
    expect(refused(shop(...files))).toContainEqual(expect.objectContaining({ code }));
  });

  it('refuses a tree without a connector', () => {
    const files = shop(capture('1', [])).filter(({ path }) => path !== 'connector.toml');
    expect(refused(files)).toMatchObject([{ code: 'missing_file', file: 'connector.toml' }]);
  });
});

describe('schemas of tools that repeat a row shape', () => {
  type World = {
    $defs: Record<string, unknown>;
    'x-svc': { entities: Record<string, { schema: Row }>; tools: Record<string, unknown> };
  };
  const worldOf = (tree: readonly TreeFile[]): World =>
    JSON.parse(textAt(tree, 'schema/world.json') ?? '') as World;
  const tool = (output: unknown, input: unknown = { type: 'object' }) => ({
    description: 'Of a test.',
    input,
    output,
  });
  /** Returns the tree of the shop with the given tools and definitions, and with one captured item. */
  const shopWith = (
    tools: Record<string, unknown>,
    more: { defs?: Record<string, unknown>; captured?: Row; entities?: object } = {},
  ): TreeFile[] => {
    const world = JSON.parse(worldText) as World;
    Object.assign(world.$defs, more.defs ?? {});
    Object.assign(world['x-svc'].entities, more.entities ?? {});
    world['x-svc'].tools = tools;
    const names = JSON.stringify(Object.keys(tools));
    const files = shop(capture('1', [more.captured ?? item({ size: 4, price: 'dear' })]));
    const settings = textAt(files, 'svc-env.toml') ?? '';
    return replaceFiles(files, [
      textFile('schema/world.json', `${JSON.stringify(world, null, 2)}\n`),
      textFile('svc-env.toml', settings.replace('serve = []', `serve = ${names}`)),
      ...Object.keys(tools).map((name) =>
        textFile(`tools/${name}.py`, 'def run(context, input):\n    return []\n'),
      ),
    ]);
  };
  const { schema } = (JSON.parse(worldText) as World)['x-svc'].entities.items as { schema: Row };
  const fields = schema.properties as Row;

  it('change with the row schema, and keep their annotations', () => {
    const described = {
      ...fields,
      name: { ...(fields.name as Row), description: 'As the tool says it.' },
    };
    const copy = { ...schema, title: 'An item', properties: described };
    const { tree, changes } = reconciled(shopWith({ find: tool({ type: 'array', items: copy }) }));
    const world = worldOf(tree);
    const rows = world['x-svc'].entities.items?.schema;
    const { items } = (world['x-svc'].tools.find as { output: { items: Row } }).output;
    expect(rows?.properties).toMatchObject({
      size: { type: 'integer' },
      price: { type: ['string', 'integer'] },
    });
    expect(items).toEqual({
      ...rows,
      title: 'An item',
      properties: { ...(rows?.properties as Row), name: described.name },
    });
    expect(changes.filter(({ pointer }) => pointer.startsWith('/x-svc/tools'))).toMatchObject([
      { pointer: '/x-svc/tools/find/output/items/required', kind: 'changed' },
      {
        pointer: '/x-svc/tools/find/output/items/properties/price',
        reason: 'the schema repeats the row shape of items',
      },
      { pointer: '/x-svc/tools/find/output/items/properties/size', kind: 'added' },
    ]);
    expect(reconciled(tree).changes).toEqual([]);
  });

  it('keep their own list of required fields, but require no field that rows lack', () => {
    const loose = { type: 'object', properties: fields };
    const strict = { type: 'object', properties: fields, required: ['id', 'state', 'price'] };
    const captured: Row = { id: 1, name: 'cup' };
    const { tree } = reconciled(shopWith({ a: tool(loose), b: tool(strict) }, { captured }));
    const { a, b } = worldOf(tree)['x-svc'].tools as Record<string, { output: Row }>;
    expect([a?.output.required, a?.output.additionalProperties]).toEqual([undefined, undefined]);
    expect(b?.output.required).toEqual(['id', 'price']);
  });

  it('change with the row schema in definitions that only tools use, and in inputs of tools', () => {
    const refers = tool(
      { $ref: '#/$defs/Answer' },
      { type: 'object', properties: { row: schema } },
    );
    const { tree } = reconciled(shopWith({ find: refers }, { defs: { Answer: schema } }));
    const world = worldOf(tree);
    const rows = world['x-svc'].entities.items?.schema;
    expect(world.$defs.Answer).toEqual(rows);
    expect(
      (world['x-svc'].tools.find as { input: { properties: Row } }).input.properties.row,
    ).toEqual(rows);
  });

  it('do not change if they differ from the row schema, or are equal to those of several entities', () => {
    const { state: _, ...fewer } = fields;
    const other = tool({ type: 'object', properties: fewer });
    const same = tool(schema);
    const entities = { copies: { schema, primary_key: ['id'] } };
    const one = reconciled(shopWith({ other }));
    expect(worldOf(one.tree)['x-svc'].tools.other).toEqual(other);
    const two = reconciled(shopWith({ same }, { entities }));
    expect(worldOf(two.tree)['x-svc'].tools.same).toEqual(same);
    expect(two.notes).toContain(
      'schema/world.json: x-svc/tools/same/output repeats the row shape of items or copies, and is not changed',
    );
  });
});
