/** Answers a query: the page of the first world, that of each linked one, and the comparisons between them. */
import { StoreRefusal } from '#store/refusal.ts';
import type { Side } from './ordered.ts';
import { findPage } from './page.ts';
import { compareSides } from './parity.ts';
import type { FoundRows, LinkTarget, NotFound, QueryOutcome, QueryPlan, Target } from './plan.ts';
import type { StoreFile } from './store-file.ts';
import { readWhere } from './where.ts';

/** Returns the opened store file of a target. */
export type FileOf = (target: Target) => StoreFile;

const sideOf = (file: StoreFile, { entity, where, indexes }: Target, resolve: boolean): Side => {
  for (const index of indexes) file.addIndex(entity, index);
  const how = { entity: file.catalog.entity(entity), policy: file.policy, resolve };
  return { file, entity, where: readWhere(where, how) };
};

const findRows = (
  { file, where }: Side,
  { entity, rowCount }: Target,
  page: Pick<QueryPlan, 'limit' | 'offset' | 'after' | 'mostBytes'>,
): FoundRows => {
  const { limit, offset, after, mostBytes } = page;
  const asked = { entity, where, limit, offset, after, mostBytes };
  const { rows, ...found } = findPage(file, asked, rowCount);
  return { kind: 'found', rowsJson: `[${rows.join(',')}]`, ...found };
};

const refusalOf = (error: unknown): StoreRefusal => {
  if (error instanceof StoreRefusal) return error;
  throw error;
};

const refuse = (error: unknown): QueryOutcome => {
  const { kind, detail, field } = refusalOf(error);
  return kind === 'unknown_entity'
    ? { kind: 'refused', detail, at: 'entity' }
    : { kind: 'refused', detail, at: 'where', field };
};

/**
 * Answers a plan. A fault of the query is an outcome and not an exception. A fault that concerns one linked world
 * refuses only that world's part.
 */
export const runQuery = (plan: QueryPlan, fileOf: FileOf): QueryOutcome => {
  const share = Math.floor(plan.mostBytes / (1 + plan.links.length));
  const page = { ...plan, mostBytes: share };
  let root: { side: Side; found: FoundRows };
  try {
    const side = sideOf(fileOf(plan.root), plan.root, plan.resolve);
    root = { side, found: findRows(side, plan.root, page) };
  } catch (error) {
    return refuse(error);
  }
  const asked = new Set(Object.keys(plan.root.where));
  const ask = (link: LinkTarget) => {
    try {
      const side = sideOf(fileOf(link), link, plan.resolve);
      const found = findRows(side, link, { ...page, after: undefined });
      const parity = plan.compare
        ? compareSides(root.side, side, { pairs: link.pairs, asked })
        : null;
      return { found, parity };
    } catch (error) {
      const found: NotFound = { kind: 'refused', detail: refusalOf(error).detail };
      return { found, parity: null };
    }
  };
  const answers = plan.links.map(ask);
  return {
    kind: 'answered',
    root: root.found,
    links: answers.map(({ found }) => found),
    parities: answers.map(({ parity }) => parity),
  };
};
