/** Reads rows from the host of the session. */
import { setWorldNow } from '../world/clock.ts';
import type { PageEntity, Row } from '../world/model.ts';
import { ask } from './ask.ts';

export const base = '/__svc/ui/entities';

export type EntityCount = { name: string; rows: number };

/** Filter and order of a list. `where` maps each field to a value or to comparisons. */
export type ListQuery = { where: Row; search: string; sort: string };

/** Names of referenced rows, by the referring field and then by the key of the referenced row as text. */
export type Labels = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** Page of rows. `cut` lists the indexes of rows whose values were shortened. */
export type RowPage = {
  rows: Row[];
  cut: number[];
  labels: Labels;
  total: number;
  cursor: string | null;
};

export type Reference = { fields: string[]; entity: string; row: Row | null };
export type Dependent = RowPage & { entity: string; fields: string[]; where: Row };
export type WholeRow = { row: Row; references: Reference[]; dependents: Dependent[] };

export const pageRows = 100;

export const addressOf = ({ name }: PageEntity, what: string, query: Record<string, string>) =>
  `${base}/${encodeURIComponent(name)}/${what}?${new URLSearchParams(query)}`;

export const readCounts = async (): Promise<EntityCount[]> => {
  const counts = (await ask('GET', base)) as { entities: EntityCount[]; now: string };
  setWorldNow(counts.now);
  return counts.entities;
};

const listTexts = ({ where, search, sort }: ListQuery): Record<string, string> => ({
  ...(Object.keys(where).length === 0 ? {} : { where: JSON.stringify(where) }),
  ...(search === '' ? {} : { search }),
  ...(sort === '' ? {} : { sort }),
});

/** Reads a page of a list's rows, from an offset on. */
export const readRows = async (
  entity: PageEntity,
  query: ListQuery,
  { offset = 0, limit = pageRows }: { offset?: number; limit?: number } = {},
): Promise<RowPage> => {
  const place = { offset: String(offset), limit: String(limit) };
  const address = addressOf(entity, 'rows', { ...listTexts(query), ...place });
  return (await ask('GET', address)) as RowPage;
};

export const readRow = async (entity: PageEntity, key: readonly unknown[]): Promise<WholeRow> =>
  (await ask('GET', addressOf(entity, 'row', { key: JSON.stringify(key) }))) as WholeRow;
