/** What checks are judged by: the state at one moment, what it was, what was asked, and what the agent answered. */
import { ledgerEntity } from '#domain/ledger.ts';
import type { EntityContract } from '#language/contract.ts';
import { ledgerEntityContract } from '#language/sql/ledger-entity.ts';
import { CallFailure } from '../calls/answers/failure.ts';
import type { Pause } from './pauses.ts';
import type { RowSource } from './row-source.ts';
import type { RowsBefore } from './state-before.ts';
import type { Times } from './times.ts';

export type Sources = {
  entities: readonly EntityContract[];
  store: RowSource;
  ledger: RowSource;
  before: RowsBefore;
  times: Times;
  pause: Pause;
  /** What the agent answered last; null where it did not. */
  answer: { value: unknown } | null;
};

/** An entity, or the ledger as one. Fails where the world has none of the name: that is not for the agent to answer for. */
export const findEntity = (
  { entities }: Pick<Sources, 'entities'>,
  name: string,
): EntityContract => {
  if (name === ledgerEntity) return ledgerEntityContract;
  const entity = entities.find((one) => one.name === name);
  if (entity !== undefined) return entity;
  throw new CallFailure({ code: 'bad_grader', message: `the world has no entity "${name}"` });
};

export const sourceOf = (
  { store, ledger }: Pick<Sources, 'store' | 'ledger'>,
  name: string,
): RowSource => (name === ledgerEntity ? ledger : store);
