/**
 * Checks conditions on the rows of an entity, or on the request ledger. Each condition must be one that some row can
 * meet.
 */
import { ledgerEntity } from '#domain/ledger.ts';
import { readCondition } from '../comparison.ts';
import type { EntityContract, Row } from '../contract.ts';
import type { ProblemCode } from '../read/codes.ts';
import { suggestName } from '../read/suggest.ts';
import type { Analysis } from '../schema/analysis.ts';
import { ledgerEntityContract } from '../sql/ledger-entity.ts';
import { lookUpField } from './model.ts';
import { comparisonFaults, type FieldValues } from './values.ts';

/**
 * A fault at a path within the checked value. `isKey` is true if the key at the path is at fault, and not the key's
 * value.
 */
export type Fault = {
  path: (string | number)[];
  code: ProblemCode;
  message: string;
  hint?: string | undefined;
  isKey?: boolean;
};

/** World against which the conditions are checked. */
export type ConditionSources = {
  entities: ReadonlyMap<string, EntityContract>;
  analysis: Analysis;
  values: FieldValues;
};

/** Returns the entity with a name, or the fault of the name. The name may be that of the request ledger. */
export const lookUpEntity = (
  name: string,
  { entities }: Pick<ConditionSources, 'entities'>,
): { entity: EntityContract } | { fault: Fault } => {
  const entity = name === ledgerEntity ? ledgerEntityContract : entities.get(name);
  if (entity !== undefined) return { entity };
  const hint = suggestName(name, [...entities.keys(), ledgerEntity]);
  const message = `the world has no entity "${name}"`;
  return { fault: { path: ['entity'], code: 'unknown_entity', message, hint } };
};

/** Returns the faults of the conditions in `where`, whose keys name the fields that the conditions apply to. */
export const conditionFaults = (
  entity: EntityContract,
  where: Row,
  { analysis, values }: ConditionSources,
): Fault[] =>
  Object.entries(where).flatMap(([key, wanted]): Fault[] => {
    const path = [key];
    const found = lookUpField(key, entity, analysis);
    if ('fault' in found) return [{ path, ...found.fault, isKey: true }];
    const read = readCondition(wanted);
    if ('fault' in read) {
      return [{ path, code: 'type_mismatch', message: `${entity.name}.${key}: ${read.fault}` }];
    }
    return comparisonFaults(values, entity, found.field, read).map((message) => ({
      path,
      code: 'type_mismatch',
      message,
    }));
  });
