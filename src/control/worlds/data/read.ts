/**
 * Reads rows of a version for clients: rows of one entity, and of the entities in linked worlds that are mapped to it.
 */
import { createHash } from 'node:crypto';
import type { QueryOutcome, QueryPlan, Target } from '#data/query/plan.ts';
import type { IndexFile } from '#data/query/store-file.ts';
import { clip } from '#domain/cut.ts';
import { AppError } from '#domain/error.ts';
import { isObject, own } from '#domain/json.ts';
import { limits } from '#domain/limits.ts';
import type { Row } from '#language/contract.ts';
import type { HeldFile } from '#store/files/snapshot-files.ts';
import type { RowsQuery } from '#wire/public-api/worlds/data-read.ts';
import type { Version } from '../caches/versions.ts';
import type { WorldParts } from '../parts.ts';
import type { QueryJob } from '../query/job.ts';
import { findLinkedEntities, type LinkedEntity, type SkippedLink } from './linked-entities.ts';
import { fieldsToIndex, mappedFields } from './mapped-fields.ts';
import { type RowPlace, readCursor } from './row-cursor.ts';

const rowsDefault = 100;

/** Maximum number of characters that a message quotes from a name of the client. */
const longestShown = 200;

const noObject = 'must be a JSON object of field to value, such as {"id": 7}';

/** Query of a linked world: the version to read, and the query to run on it. */
export type LinkQuery = { link: LinkedEntity; version: Version };

export type ReadRows = {
  outcome: Extract<QueryOutcome, { kind: 'answered' }>;
  where: Row;
  limit: number;
  offset: number;
  links: LinkQuery[];
  skipped: SkippedLink[];
};

const refuse = (name: string, message: string): AppError =>
  new AppError('invalid', `${name}: ${message}`, { fields: [{ path: [name], message }] });

/** Returns the start of the page, which `cursor` or `offset` determines. */
const placeOf = ({ cursor, offset = 0 }: RowsQuery): RowPlace => {
  if (cursor === undefined) return { offset };
  const place = readCursor(cursor);
  if (place === undefined)
    throw refuse('cursor', 'is not the nextCursor of an earlier page of rows');
  return place;
};

const isScalar = (value: unknown): boolean => typeof value !== 'object' || value === null;

/** Throws `invalid` if `where` has a value that no field can have or that cannot be sent to a process. */
const checkValues = (where: Row): void => {
  for (const [field, value] of Object.entries(where)) {
    if (isScalar(value) || (Array.isArray(value) && value.every(isScalar))) continue;
    const message = 'is matched with a text, number, boolean or null, or with a list of them';
    const name = clip(field, longestShown);
    const fields = [{ path: ['where', name], message }];
    throw new AppError('invalid', `where: "${name}" ${message}`, { fields });
  }
};

/** Parses the parameter `where` of a query. Throws `invalid` unless it is a JSON object of values to match. */
const parseWhere = (text: string | undefined): Row => {
  if (text === undefined) return {};
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw refuse('where', noObject);
  }
  if (!isObject(value)) throw refuse('where', noObject);
  checkValues(value);
  return value;
};

/** Parameters that are allowed only together with `entity`. */
const ofRows = ['where', 'limit', 'offset', 'cursor', 'resolve', 'across', 'compare'] as const;

/**
 * Throws `invalid` if a parameter is given without another parameter that it requires, or together with one that
 * excludes it.
 */
export const checkTogether = (query: RowsQuery): void => {
  const alone = ofRows.find((name) => query[name] !== undefined);
  if (query.entity === undefined && alone !== undefined) {
    throw refuse(alone, 'needs "entity", which names the entity whose rows are read');
  }
  if (query.compare === true && query.across !== true) {
    throw refuse('compare', 'needs "across": rows of linked worlds are compared');
  }
  const against = (['offset', 'across'] as const).find((name) => query[name] !== undefined);
  if (query.cursor !== undefined && against !== undefined && query[against] !== false) {
    throw refuse('cursor', `cannot be combined with "${against}"`);
  }
};

/** Converts the refusal of a query on the requested world, not on a linked one, to the error that the client gets. */
const refusalOf = (
  { detail, at, field }: Extract<QueryOutcome, { kind: 'refused' }>,
  where: Row,
): AppError => {
  if (at === 'entity') return refuse('entity', detail);
  const key = Object.keys(where).find((path) => path.split(/[./]/).includes(field ?? ''));
  const path = key === undefined ? ['where'] : ['where', clip(key, longestShown)];
  return new AppError('invalid', `where: ${detail}`, { fields: [{ path, message: detail }] });
};

/** Query of one version, in the order of the targets of the plan. */
type Asked = { version: Version; entity: string; where: Row; mapped: string[] };

const rowCountOf = ({ version: { entityCounts }, entity }: Asked): number =>
  own(entityCounts, entity) ?? 0;

/**
 * Ignores an error if an index cannot be built. Without disk space, the field is scanned without an index; a missing
 * field is reported by the query itself.
 */
const withoutIndex = (error: unknown): undefined => {
  if (error instanceof AppError && (error.code === 'exhausted' || error.code === 'invalid')) return;
  throw error;
};

/** Acquires the files of a query. They stay available until `release` is called. */
const createHeldFiles = ({ snapshots, blobs, fieldIndexes }: WorldParts, project: string) => {
  const held = new Map<string, HeldFile>();
  const hold = async (name: string, take: () => Promise<HeldFile>): Promise<string> => {
    const file = held.get(name) ?? (await take());
    held.set(name, file);
    return file.path;
  };
  return {
    /**
     * Returns the store file of a version, and indexes for the fields that the query filters by and that have no index
     * in the store.
     */
    async holdFor(asked: Asked): Promise<Pick<Target, 'file' | 'indexes'>> {
      const { version, entity, where, mapped } = asked;
      const { contract, snapshot } = version;
      const file = await hold(snapshot, () => snapshots.hold(snapshot, () => blobs.read(snapshot)));
      const read = { entities: contract.entities, definitions: contract.definitions, redact: null };
      const wanted = { contract, entity, rowCount: rowCountOf(asked), where, mapped };
      const indexes: IndexFile[] = [];
      for (const field of fieldsToIndex(wanted)) {
        const name = createHash('sha256')
          .update(JSON.stringify([entity, field]))
          .digest('hex');
        const write = (path: string) =>
          fieldIndexes.write({ file, contract: read, entity, field, path }, project);
        const made = hold(`${snapshot} ${name}`, () => snapshots.holdMade(snapshot, name, write));
        const path = await made.catch(withoutIndex);
        if (path !== undefined) indexes.push({ field, file: path });
      }
      return { file, indexes };
    },
    release: () => Promise.all([...held.values()].map((file) => file.release())),
  };
};

const findVersions = async (
  { versions }: WorldParts,
  version: Version,
  entities: readonly LinkedEntity[],
): Promise<LinkQuery[]> => {
  const found = await Promise.all(
    entities.map(async (link) => {
      const id = version.links.find(({ alias }) => alias === link.alias)?.versionId;
      const linked = id === undefined ? undefined : await versions.get(id);
      // Links lead to worlds of the same project; this is verified here all the same.
      return linked?.projectId === version.projectId ? [{ link, version: linked }] : [];
    }),
  );
  return found.flat();
};

/** Reads rows of an entity. Throws `invalid` for mistakes in the query, and `timeout` if the query takes too long. */
export const readRows = async (
  parts: WorldParts,
  version: Version,
  entity: string,
  query: RowsQuery,
  context: { project: string; signal: AbortSignal },
): Promise<ReadRows> => {
  const { limit = rowsDefault, resolve = false, across = false, compare = false } = query;
  const where = parseWhere(query.where);
  const { offset, after } = placeOf(query);
  const { entities, skipped } = across
    ? findLinkedEntities(version.contract.dependencies, entity, where)
    : { entities: [], skipped: [] };
  const links = await findVersions(parts, version, entities);
  const asked: Asked[] = [
    { version, entity, where, mapped: mappedFields(version.contract, entity) },
    ...links.map(({ link, version: linked }) => ({
      version: linked,
      entity: link.entity,
      where: link.where,
      mapped: link.pairs.map(({ targetField }) => targetField),
    })),
  ];
  const files = createHeldFiles(parts, context.project);
  const targets = asked.map(
    (one): Target => ({
      file: '',
      indexes: [],
      snapshot: one.version.snapshot,
      contract: one.version.bundle,
      rowCount: rowCountOf(one),
      entity: one.entity,
      where: one.where,
    }),
  );
  const planOf = ([root, ...others]: readonly Target[]): QueryPlan => ({
    root: root as Target,
    links: others.map((target, at) => ({ ...target, pairs: links[at]?.link.pairs ?? [] })),
    ...{ limit, offset, after, resolve, compare },
    mostBytes: limits.pageBytes,
  });
  /**
   * Acquires the files when the query's turn has come, and not earlier: they may have to be written first, and take
   * disk space until the query ends.
   */
  const complete = async (): Promise<QueryJob> => {
    const whole: Target[] = [];
    for (const [at, target] of targets.entries()) {
      whole.push({ ...target, ...(await files.holdFor(asked[at] as Asked)) });
    }
    return { kind: 'query', plan: planOf(whole) };
  };
  const supply = async () =>
    Object.fromEntries(
      asked.map(({ version: { bundle, contract } }) => {
        const { entities: own, definitions, redact } = contract;
        return [bundle, { entities: own, definitions, redact }];
      }),
    );
  try {
    const outcome = await parts.queries.run(
      { kind: 'query', plan: planOf(targets) },
      { ...context, complete, supply },
    );
    if (outcome.kind === 'refused') throw refusalOf(outcome, where);
    return { outcome, where, limit, offset, links, skipped };
  } finally {
    await files.release();
  }
};
