/**
 * Data that checks are judged by: the state at one moment, the state before, the request ledger, and the agent's
 * answer.
 */
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
  /** Last answer of the agent; null if there is none. */
  answer: { value: unknown } | null;
};

/**
 * Returns an entity by its name; the ledger counts as an entity. Throws if the world has no such entity, which is a
 * fault of the task and not of the agent.
 */
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
