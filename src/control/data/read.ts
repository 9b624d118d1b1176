/** Rows of a version as clients ask for them: of one entity, and of the entities of linked worlds that stand for it. */
import type { QueryOutcome, QueryPlan, Target } from '#data/query/plan.ts';
import { clip } from '#domain/cut.ts';
import { AppError } from '#domain/error.ts';
import { isObject } from '#domain/json.ts';
import { limits } from '#domain/limits.ts';
import type { Row } from '#language/contract.ts';
import type { RowsQuery } from '#wire/public-api/data-read.ts';
import type { Version } from '../memory/versions.ts';
import type { Parts } from '../parts.ts';
import type { QueryJob } from '../query/job.ts';
import { findLinkedEntities, type LinkedEntity, type SkippedLink } from './linked-entities.ts';
import { type RowPlace, readCursor } from './row-cursor.ts';

const rowsDefault = 100;

/** Of a name that was sent, in what is said of it. */
const longestShown = 200;

const noObject = 'must be a JSON object of field to value, such as {"id": 7}';

/** A linked world as it is asked: which version of it, and for what. */
export type AskedLink = { link: LinkedEntity; version: Version };

export type ReadRows = {
  outcome: Extract<QueryOutcome, { kind: 'answered' }>;
  where: Row;
  limit: number;
  offset: number;
  links: AskedLink[];
  skipped: SkippedLink[];
};

const refuse = (name: string, message: string): AppError =>
  new AppError('invalid', `${name}: ${message}`, { fields: [{ path: [name], message }] });

/** Where the page begins: as `cursor` says, or `offset`. */
const placeOf = ({ cursor, offset = 0 }: RowsQuery): RowPlace => {
  if (cursor === undefined) return { offset };
  const place = readCursor(cursor);
  if (place === undefined) throw refuse('cursor', 'is none that a page of rows had as nextCursor');
  return place;
};

const isScalar = (value: unknown): boolean => typeof value !== 'object' || value === null;

/** Throws `invalid` for a value that no field can have, or that a process could not even be told. */
const checkValues = (where: Row): void => {
  for (const [field, value] of Object.entries(where)) {
    if (isScalar(value) || (Array.isArray(value) && value.every(isScalar))) continue;
    const message = 'is matched with a text, number, boolean or null, or with a list of them';
    const name = clip(field, longestShown);
    const fields = [{ path: ['where', name], message }];
    throw new AppError('invalid', `where: "${name}" ${message}`, { fields });
  }
};

/** `where` of a query; throws `invalid` for what is no JSON object of values that can be looked for. */
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

/** Parameters that say something of an entity's rows. */
const ofRows = ['where', 'limit', 'offset', 'cursor', 'resolve', 'across', 'compare'] as const;

/** Throws `invalid` for parameters that go with others that are not there. */
export const checkTogether = (query: RowsQuery): void => {
  const alone = ofRows.find((name) => query[name] !== undefined);
  if (query.entity === undefined && alone !== undefined) {
    throw refuse(alone, 'goes with "entity", which says whose rows are asked for');
  }
  if (query.compare === true && query.across !== true) {
    throw refuse('compare', 'goes with "across": what is compared are rows of linked worlds');
  }
  const against = (['offset', 'across'] as const).find((name) => query[name] !== undefined);
  if (query.cursor !== undefined && against !== undefined && query[against] !== false) {
    throw refuse('cursor', `does not go with "${against}"`);
  }
};

/** What is wrong with the query of the first world, for its client. */
const refusalOf = (
  { detail, at, field }: Extract<QueryOutcome, { kind: 'refused' }>,
  where: Row,
): AppError => {
  if (at === 'entity') return refuse('entity', detail);
  const key = Object.keys(where).find((path) => path.split(/[./]/).includes(field ?? ''));
  const path = key === undefined ? ['where'] : ['where', clip(key, longestShown)];
  return new AppError('invalid', `where: ${detail}`, { fields: [{ path, message: detail }] });
};

type Asked = { version: Version; entity: string; where: Row };

/** Holds the file of each world while the query is answered. */
const holdFiles = async ({ snapshots, blobs }: Parts, versions: readonly Version[]) => {
  const held = new Map<string, { path: string; release(): Promise<void> }>();
  const release = async (): Promise<void> => {
    await Promise.all([...held.values()].map((file) => file.release()));
  };
  try {
    for (const { snapshot } of versions) {
      if (held.has(snapshot)) continue;
      held.set(snapshot, await snapshots.hold(snapshot, () => blobs.read(snapshot)));
    }
  } catch (error) {
    await release();
    throw error;
  }
  return { pathOf: ({ snapshot }: Version) => held.get(snapshot)?.path ?? '', release };
};

const findVersions = async (
  { versions }: Parts,
  version: Version,
  entities: readonly LinkedEntity[],
): Promise<AskedLink[]> => {
  const found = await Promise.all(
    entities.map(async (link) => {
      const id = version.links.find(({ alias }) => alias === link.alias)?.versionId;
      const linked = id === undefined ? undefined : await versions.get(id);
      // A link is to a world of the same project, which is not taken on trust here.
      return linked?.projectId === version.projectId ? [{ link, version: linked }] : [];
    }),
  );
  return found.flat();
};

/**
 * Reads rows of an entity. Throws `invalid` for what is wrong with the query, `timeout` when it takes too long.
 */
export const readRows = async (
  parts: Parts,
  version: Version,
  entity: string,
  query: RowsQuery,
  asker: { project: string; signal: AbortSignal },
): Promise<ReadRows> => {
  const { limit = rowsDefault, resolve = false, across = false, compare = false } = query;
  const where = parseWhere(query.where);
  const { offset, after } = placeOf(query);
  const { entities, skipped } = across
    ? findLinkedEntities(version.contract.dependencies, entity, where)
    : { entities: [], skipped: [] };
  const links = await findVersions(parts, version, entities);
  const asked = [version, ...links.map((link) => link.version)];
  let files: Awaited<ReturnType<typeof holdFiles>> | undefined;
  const targetOf = ({ version: { bundle, snapshot, entityCounts }, ...target }: Asked): Target => ({
    ...target,
    file: '',
    snapshot,
    contract: bundle,
    rowCount: entityCounts[target.entity] ?? 0,
  });
  const plan: QueryPlan = {
    root: targetOf({ version, entity, where }),
    links: links.map(({ link, version: of }) => ({
      ...targetOf({ version: of, entity: link.entity, where: link.where }),
      pairs: link.pairs,
    })),
    ...{ limit, offset, after, resolve, compare },
    mostBytes: limits.pageBytes,
  };
  /** A file is asked for when it is the query's turn: it may have to be unpacked, and takes room until then. */
  const complete = async (): Promise<QueryJob> => {
    files = await holdFiles(parts, asked);
    const { pathOf } = files;
    return {
      kind: 'query',
      plan: {
        ...plan,
        root: { ...plan.root, file: pathOf(version) },
        links: plan.links.map((link, at) => ({ ...link, file: pathOf(asked[at + 1] ?? version) })),
      },
    };
  };
  const supply = async () =>
    Object.fromEntries(
      asked.map(({ bundle, contract: { entities: own, definitions, redact } }) => [
        bundle,
        { entities: own, definitions, redact },
      ]),
    );
  try {
    const outcome = await parts.queries.run(
      { kind: 'query', plan },
      { ...asker, complete, supply },
    );
    if (outcome.kind === 'refused') throw refusalOf(outcome, where);
    return { outcome, where, limit, offset, links, skipped };
  } finally {
    await files?.release();
  }
};
