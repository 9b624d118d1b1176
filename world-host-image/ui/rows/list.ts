/**
 * Reads data for the page: entities with their row counts, a page of an entity's rows, and one row with its relations
 * in both directions.
 */
import { AppError } from '#domain/error.ts';
import type { Contract, EntityContract, Row } from '#language/contract.ts';
import { filtersOfWhere } from '#store/read/filter.ts';
import type { WorldStore } from '#store/world-store.ts';
import type { WorldClock } from '../../session/clock.ts';
import { labelsOf } from './labels.ts';
import { findEntity, type ListQuestion, type Place, writeCursor } from './question.ts';
import { showRows } from './shown-row.ts';
import { viewsOf } from './views.ts';

/** Body of an answer as JSON text, and the summary of the answer that the ledger records. */
export type ReadAnswer = { json: string; facts: Row };

/** Maximum number of referring rows that a row's own page shows, for each referring entity. */
const relatedRows = 10;

type World = { contract: Contract; store: WorldStore };

/** Returns row counts and the world's time. */
export const readEntities = (
  { contract, store }: World,
  clock: Pick<WorldClock, 'iso'>,
): ReadAnswer => {
  const counts = store.counts();
  const entities = contract.entities.map(({ name }) => ({ name, rows: counts[name] ?? 0 }));
  return {
    json: JSON.stringify({ entities, now: clock.iso() }),
    facts: { entities: entities.length },
  };
};

type Page = { payloads: string[]; total: number; next: Place | undefined };

/** Reads rows in insertion order, directly from the store, without building a view. */
const readInOrder = (store: WorldStore, { view, limit, from }: ListQuestion): Page => {
  const { offset, after } = from;
  const start = after === undefined ? { offset } : { after };
  const { rows, last, more } = store.list(view.entity, { ...start, limit });
  const next = more ? { offset: offset + rows.length, after: last } : undefined;
  return { payloads: rows, total: store.count(view.entity), next };
};

/**
 * Returns the index at which a page begins now. Since its cursor was made, rows before the page may have been inserted
 * or deleted.
 */
const startIn = (positions: Float64Array, { offset, after }: Place): number => {
  if (after === undefined || positions[offset - 1] === after) return offset;
  const found = positions.indexOf(after);
  return found === -1 ? offset : found + 1;
};

const readView = async (store: WorldStore, { view, limit, from }: ListQuestion): Promise<Page> => {
  const { positions } = await viewsOf(store).of(view);
  return store.exclusively(() => {
    const start = startIn(positions, from);
    const end = Math.min(start + limit, positions.length);
    const payloads: string[] = [];
    for (const position of positions.subarray(start, end)) {
      const payload = store.rowAt(view.entity, position);
      if (payload !== undefined) payloads.push(payload);
    }
    const next =
      end < positions.length ? { offset: end, after: positions[end - 1] ?? 0 } : undefined;
    return { payloads, total: positions.length, next };
  });
};

const isPlain = ({ where, words, sort }: ListQuestion['view']): boolean =>
  where.length === 0 && words.length === 0 && sort === undefined;

const readPage = (store: WorldStore, question: ListQuestion): Promise<Page> =>
  isPlain(question.view)
    ? store.exclusively(() => readInOrder(store, question))
    : readView(store, question);

const pageJson = (
  world: World,
  entity: EntityContract,
  { payloads, total, next }: Page,
): string => {
  const { json, cut } = showRows(entity, payloads);
  const cursor = next === undefined ? null : writeCursor(next);
  const rest = { cut, labels: labelsOf(world, entity, payloads), total, cursor };
  return `{"rows":${json},${JSON.stringify(rest).slice(1)}`;
};

/** Reads a page of rows. Throws `AppError` or `StoreRefusal` for an invalid query. */
export const readList = async (world: World, question: ListQuestion): Promise<ReadAnswer> => {
  const { contract, store } = world;
  const entity = findEntity(contract, question.view.entity);
  const page = await readPage(store, question);
  return {
    json: await store.exclusively(() => pageJson(world, entity, page)),
    facts: { rows: page.payloads.length, total: page.total },
  };
};

/** Returns the key of the row to which a row refers; undefined if it refers to none. */
const targetKey = (
  target: EntityContract,
  fields: readonly string[],
  row: Row,
): Row | undefined => {
  const values = fields.map((field) => row[field] ?? null);
  if (values.includes(null)) return undefined;
  return Object.fromEntries(target.primaryKey.map((name, index) => [name, values[index]]));
};

const referenceJson = (
  { contract, store }: World,
  { fields, target: name }: EntityContract['relationships'][number],
  row: Row,
): string => {
  const target = findEntity(contract, name);
  const key = targetKey(target, fields, row);
  const payload = key === undefined ? undefined : store.get(name, key);
  const shown = payload === undefined ? 'null' : showRows(target, [payload]).json.slice(1, -1);
  return `{"fields":${JSON.stringify(fields)},"entity":${JSON.stringify(name)},"row":${shown}}`;
};

const dependentJson = async (
  world: World,
  { dependent, fields }: { dependent: EntityContract; fields: string[] },
  key: readonly unknown[],
): Promise<string> => {
  const where = Object.fromEntries(fields.map((field, index) => [field, key[index]]));
  const view = {
    entity: dependent.name,
    where: filtersOfWhere(where),
    words: [],
    sort: undefined,
  };
  const from = { offset: 0, after: undefined };
  const page = await readPage(world.store, { view, limit: relatedRows, from });
  const head = { entity: dependent.name, fields, where };
  const json = await world.store.exclusively(() => pageJson(world, dependent, page));
  return `${JSON.stringify(head).slice(0, -1)},${json.slice(1)}`;
};

const dependentsOf = (contract: Contract, name: string) =>
  contract.entities.flatMap((dependent) =>
    dependent.relationships
      .filter(({ target }) => target === name)
      .map(({ fields }) => ({ dependent, fields })),
  );

/** Returns a whole row with its relations in both directions. Throws `AppError` if no row has this key. */
export const readRow = async (
  world: World,
  entity: EntityContract,
  key: Row,
): Promise<ReadAnswer> => {
  const { contract, store } = world;
  const found = await store.exclusively(() => {
    const payload = store.get(entity.name, key);
    if (payload === undefined) return undefined;
    const row = JSON.parse(payload) as Row;
    const references = entity.relationships.map((one) => referenceJson(world, one, row));
    return { payload, references };
  });
  if (found === undefined) {
    const named = JSON.stringify(Object.values(key)).slice(1, -1);
    const message = `there is no row ${named} in ${entity.name}; it may have been deleted`;
    throw new AppError('not_found', message);
  }
  const values = entity.primaryKey.map((field) => key[field]);
  const dependents: string[] = [];
  for (const dependent of dependentsOf(contract, entity.name)) {
    dependents.push(await dependentJson(world, dependent, values));
  }
  const { payload, references } = found;
  return {
    json: `{"row":${payload},"references":[${references.join()}],"dependents":[${dependents.join()}]}`,
    facts: { rows: 1 },
  };
};
