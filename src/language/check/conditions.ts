/**
 * Conditions on the rows of an entity, or on the request ledger, as tasks give them beside a compiled
 * world: each must be one that some row can meet. The same is asked of a tree's own tasks, with places
 * in its files, by `check/tasks.ts`.
 */
import { ledgerEntity } from '#domain/ledger.ts';
import { readCondition } from '../comparison.ts';
import type { Contract, Row } from '../contract.ts';
import { suggestName } from '../read/suggest.ts';
import { createAnalysis } from '../schema/analysis.ts';
import { ledgerEntityContract } from '../sql/ledger-entity.ts';
import { lookUpField } from './model.ts';
import { comparisonFaults, createFieldValues } from './values.ts';

/** What is wrong; `key` is that of the condition at fault, absent where there is no such entity. */
type ConditionProblem = { key?: string; message: string };

export type CheckConditions = (entity: string, where: Row) => ConditionProblem[];

const sentence = (message: string, hint: string | undefined): string =>
  hint === undefined ? message : `${message}; ${hint}`;

/** A check of conditions on all that a contract has rows of. */
export const createConditionCheck = ({
  definitions,
  entities,
}: Pick<Contract, 'definitions' | 'entities'>): CheckConditions => {
  const analysis = createAnalysis(definitions);
  const byName = new Map(entities.map((entity) => [entity.name, entity]));
  const values = createFieldValues({ definitions, entities: byName, types: analysis.types });
  return (name, where) => {
    const entity = name === ledgerEntity ? ledgerEntityContract : byName.get(name);
    if (entity === undefined) {
      const hint = suggestName(name, [...byName.keys(), ledgerEntity]);
      return [{ message: sentence(`the world has no entity "${name}"`, hint) }];
    }
    return Object.entries(where).flatMap(([key, wanted]): ConditionProblem[] => {
      const found = lookUpField(key, entity, analysis);
      if ('fault' in found) {
        return [{ key, message: sentence(found.fault.message, found.fault.hint) }];
      }
      const read = readCondition(wanted);
      if ('fault' in read) return [{ key, message: `${name}.${key}: ${read.fault}` }];
      return comparisonFaults(values, entity, found.field, read).map((message) => ({
        key,
        message,
      }));
    });
  };
};
