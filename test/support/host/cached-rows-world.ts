/**
 * Support for tests of rows that workers cache: a store with entities of awkward fields, the access that a session's
 * code has to it, and random reads and writes. Their values are taken from those that are easily confused.
 */
import fc from 'fast-check';
import type { Row } from '#language/contract.ts';
import { openWorldStore, type WorldStore } from '#store/world-store.ts';
import { createIds } from '../../../world-host-image/session/ids.ts';
import type { Session } from '../../../world-host-image/session/session.ts';
import { createStoreAccess } from '../../../world-host-image/session/store-access.ts';
import type { StoreAccess } from '../../../world-host-image/usercode/run.ts';
import { sampleContract, sampleEntity } from '../worlds/sample-contract.ts';

const orNull = (type: string) => ({ type: [type, 'null'] });
const string = { type: 'string' };
const integer = { type: 'integer' };

const notes = sampleEntity('notes', {
  properties: {
    id: integer,
    text: string,
    count: orNull('integer'),
    flag: orNull('boolean'),
    score: orNull('number'),
    list: { type: 'array' },
    some: {},
    constructor: orNull('string'),
    '-minus': orNull('integer'),
    '5': orNull('integer'),
    'a.b': orNull('integer'),
  },
  optional: ['count', 'flag', 'score', 'list', 'some', 'constructor', '-minus', '5', 'a.b'],
});

const pairs = sampleEntity('pairs', {
  primaryKey: ['right', 'left'],
  properties: { left: string, right: integer, flag: { type: 'boolean' } },
  optional: ['flag'],
});

export const heldContract = sampleContract({ entities: [notes, pairs] });

/** Opens the store, marked as at the start of a session. */
export const openHeldStore = (): WorldStore => {
  const store = openWorldStore({ contract: heldContract });
  store.mark('base');
  store.mark('task');
  return store;
};

/**
 * Creates the access that a session's code has to the store. `reads` collects the entities that were read from cached
 * rows.
 */
export const accessOf = (store: WorldStore, reads: string[] = []): StoreAccess => {
  const session = {
    world: { store, contract: heldContract },
    clock: { iso: () => '2026-01-02T03:04:05Z' },
    ids: createIds(0),
  };
  const access = createStoreAccess(session as unknown as Session);
  const rows = {
    store,
    entities: heldContract.entities,
    onRead: (name: string) => reads.push(name),
  };
  return { ...access, rows };
};

const text = fc.constantFrom(
  'a',
  'b',
  'A',
  '',
  'é',
  '🚀',
  '\u0000',
  'a\u0000b',
  '\uffff',
  '1',
  'NaN',
  '__proto__',
);
const whole = fc.constantFrom(0, 1, 2, -1, 9_007_199_254_740_991);
const number = fc.oneof(whole, fc.constantFrom(1.5, 0.1, 1e21, -1e-7));
const flag = fc.boolean();
const id = fc.integer({ min: 0, max: 5 });
const value = fc.oneof(text, number, flag, fc.constant(null));
const nested = fc.oneof(value, fc.array(value, { maxLength: 2 }), fc.constant({ a: [{ b: 1 }] }));
const maybe = <Value>(of: fc.Arbitrary<Value>) => fc.option(of, { nil: null });

const note = fc.record(
  {
    id,
    text,
    count: maybe(whole),
    flag: maybe(flag),
    score: maybe(number),
    list: fc.array(nested, { maxLength: 2 }),
    some: nested,
    constructor: maybe(text),
    '-minus': maybe(whole),
    '5': maybe(whole),
    'a.b': maybe(whole),
  },
  { requiredKeys: ['id', 'text'] },
);

const pair = fc.record({ left: text, right: whole, flag }, { requiredKeys: ['left', 'right'] });

/** Rows that are written without the session's code: by routes, by seeds. */
export const heldRows = fc.record({
  notes: fc.uniqueArray(note, { selector: (row) => row.id, maxLength: 5 }),
  pairs: fc.uniqueArray(pair, { selector: ({ left, right }) => `${right} ${left}`, maxLength: 4 }),
});

/** Wraps a value that only one language has as source text, evaluated in that language. */
export const literal = (code: string) => ({ $literal: code });

const fields = ['id', 'text', 'count', 'flag', 'score', 'left', 'right', 'constructor', '-minus'];
const oddFields = [
  '5',
  'a.b',
  'list',
  'some',
  'list.0',
  '/text',
  'nope',
  'some.a',
  '',
  '__proto__',
];
const field = fc.oneof(
  { weight: 20, arbitrary: fc.constantFrom(...fields) },
  fc.constantFrom(...oddFields),
);

const wantedOf = (literals: readonly string[]) => {
  const odd = fc.constantFrom(...literals).map(literal);
  const one = fc.oneof({ weight: 14, arbitrary: value }, { weight: 4, arbitrary: id }, odd);
  return fc.oneof({ weight: 4, arbitrary: one }, fc.array(one, { maxLength: 4 }));
};

const whereOf = (literals: readonly string[]) =>
  fc.oneof(
    { weight: 16, arbitrary: fc.dictionary(field, wantedOf(literals), { maxKeys: 3 }) },
    fc.constantFrom(...literals).map(literal),
  );

const order = fc.tuple(fc.constantFrom('', '-'), field).map(([sign, name]) => `${sign}${name}`);
const count = fc.oneof(
  { weight: 12, arbitrary: fc.integer({ min: 0, max: 4 }) },
  fc.constantFrom(-1, 1.5, true, 'x', 3_000_000_000),
);

export type HeldStep =
  | { do: 'query'; entity: string; where: unknown; limit: unknown; offset: unknown; order: unknown }
  | { do: 'count'; entity: string; where: unknown }
  | { do: 'get'; entity: string; key: unknown }
  | { do: 'next'; entity: string; field: string }
  | { do: 'insert'; entity: string; row: Row }
  | { do: 'update'; entity: string; key: Row; patch: Row }
  | { do: 'remove'; entity: string; key: Row };

const entity = fc.oneof(
  { weight: 20, arbitrary: fc.constantFrom('notes', 'pairs') },
  fc.constantFrom('nope', '__proto__'),
);

const keyOf = (literals: readonly string[]) =>
  fc.oneof(
    { weight: 3, arbitrary: fc.record({ id }) },
    { weight: 3, arbitrary: fc.record({ left: text, right: whole }) },
    fc.dictionary(field, wantedOf(literals), { maxKeys: 2 }),
  );

/** Returns random reads and writes; `literals` are values that the code's language has and JSON lacks. */
export const heldSteps = (literals: readonly string[]): fc.Arbitrary<HeldStep[]> => {
  const as = <Do extends string>(name: Do) => fc.constant(name);
  const read = fc.record({
    do: as('query'),
    entity,
    where: fc.option(whereOf(literals), { nil: null }),
    limit: fc.option(count, { nil: null }),
    offset: fc.oneof({ weight: 8, arbitrary: fc.constant(0) }, count),
    order: fc.oneof(order, fc.array(order, { maxLength: 3 }), fc.constant(null)),
  });
  const counted = fc.record({
    do: as('count'),
    entity,
    where: fc.option(whereOf(literals), { nil: null }),
  });
  const get = fc.record({ do: as('get'), entity, key: keyOf(literals) });
  const next = fc.record({
    do: as('next'),
    entity,
    field: fc.constantFrom('id', 'right', 'count', 'text', 'nope', '__proto__'),
  });
  const writes = [
    fc.record({ do: as('insert'), entity: fc.constant('notes'), row: note }),
    fc.record({ do: as('insert'), entity: fc.constant('pairs'), row: pair }),
    fc.record({
      do: as('update'),
      entity: fc.constant('notes'),
      key: fc.record({ id }),
      patch: note,
    }),
    fc.record({
      do: as('update'),
      entity: fc.constant('notes'),
      key: fc.record({ id }),
      patch: fc.record({ count: maybe(whole), score: maybe(number) }),
    }),
    fc.record({ do: as('remove'), entity: fc.constant('notes'), key: fc.record({ id }) }),
    fc.record({
      do: as('remove'),
      entity: fc.constant('pairs'),
      key: fc.record({ left: text, right: whole }),
    }),
  ];
  const step = fc.oneof(
    { weight: 8, arbitrary: read },
    { weight: 2, arbitrary: counted },
    { weight: 3, arbitrary: get },
    { weight: 3, arbitrary: next },
    { weight: 6, arbitrary: fc.oneof(...writes) },
  );
  return fc.array(step, { minLength: 5, maxLength: 30 }) as fc.Arbitrary<HeldStep[]>;
};
