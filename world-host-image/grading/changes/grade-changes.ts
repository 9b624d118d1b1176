/**
 * Part of a grade that examines the whole state: what changed since the task began, and which check or allowance of the
 * task explains each change. In a closed world an unexplained change fails the grade.
 */
import { ledgerEntity } from '#domain/ledger.ts';
import type { EntityContract, Row } from '#language/contract.ts';
import { filtersOfConditions } from '#store/read/filter.ts';
import { StoreRefusal } from '#store/refusal.ts';
import type { GradeChanges } from '#wire/public-api/sessions/grade.ts';
import type { GraderChanges } from '#wire/public-api/worlds/grader-changes.ts';
import type { Session } from '../../session/session.ts';
import { claimAllowed } from './allow.ts';
import { type ChangedRow, type ChangeLimits, readChanges, worldsOf } from './changed-rows.ts';
import { createClaims } from './claims.ts';
import {
  type Demand,
  demandsOf,
  type ExplainedState,
  type ExplainingCheck,
  meetDemands,
} from './explain.ts';
import { mostShownRows, type Page, reportChanges } from './report.ts';

export type ChangesQuestion = {
  changes: GraderChanges | undefined;
  /** Checks of an assertion grader; empty for graders of other kinds, which explain no changes. */
  checks: readonly ExplainingCheck[];
  limits?: ChangeLimits | undefined;
};

const firstPage: Page = { offset: 0, limit: mostShownRows };

/** Returns all entities under the names that checks use. */
const entitiesOf = (session: Session): Map<string, EntityContract> =>
  new Map(
    worldsOf(session).flatMap(([{ contract }, nameOf]) =>
      contract.entities.map((entity) => [nameOf(entity.name), entity] as const),
    ),
  );

/** Makes a function that counts rows in the whole world and queries each condition only once. */
const createCounter = (session: Session): ExplainedState['count'] => {
  const stores = new Map(
    worldsOf(session).flatMap(([{ store, contract }, nameOf]) =>
      contract.entities.map(({ name }) => [nameOf(name), { store, name }] as const),
    ),
  );
  const known = new Map<string, number>();
  return (entity, where) => {
    const id = JSON.stringify([entity, where]);
    const found = stores.get(entity);
    if (found === undefined) return 0;
    const counted =
      known.get(id) ??
      found.store.count(
        found.name,
        where.flatMap((conditions: Row) => filtersOfConditions(found.name, conditions)),
      );
    known.set(id, counted);
    return counted;
  };
};

/**
 * Returns the changes that a check could explain. Returns none if the check names something that the world does not
 * have; the check's own verdict reports that.
 */
const demandsUnlessRefused = (state: ExplainedState, check: ExplainingCheck): Demand[] => {
  try {
    return demandsOf(state, check);
  } catch (error) {
    if (error instanceof StoreRefusal) return [];
    throw error;
  }
};

/** Changes with their explanations. They can be read page by page, even after the rows have changed again. */
export type ExplainedChanges = {
  page(page?: Page): GradeChanges;
  /** Approximate size in memory, in bytes. */
  bytes: number;
};

/**
 * Explains the changes. Call it while nothing changes the rows. Throws `StoreRefusal` if an allowance names something
 * that the world does not have.
 */
export const explainChanges = async (
  session: Session,
  { changes, checks, limits }: ChangesQuestion,
): Promise<ExplainedChanges> => {
  const changed = await readChanges(session, limits);
  try {
    const state = { changed, entities: entitiesOf(session), count: createCounter(session) };
    const claims = createClaims();
    const allowed = createClaims();
    claimAllowed(changed, changes?.allow ?? [], allowed);
    const demands = checks
      .filter(({ entity }) => entity !== ledgerEntity)
      .flatMap((check) => demandsUnlessRefused(state, check));
    meetDemands(demands, claims, (row: ChangedRow) => allowed.has(row));
    claimAllowed(changed, changes?.allow ?? [], claims);
    const first = reportChanges(changed, claims, firstPage);
    return {
      page: (page) => (page === undefined ? first : reportChanges(changed, claims, page)),
      bytes: changed.bytes,
    };
  } finally {
    changed.close();
  }
};
