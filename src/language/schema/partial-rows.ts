/**
 * Validates rows that are merged into existing rows by their primary key: each has the key and the fields that it
 * changes. Only the merged row shows which members are missing, so a missing member is no problem here.
 */
import { isObject } from '#domain/json.ts';
import type { EntityContract } from '../contract.ts';
import type { RowProblem } from './checkers.ts';

/** Keywords by which a field's validity may depend on fields that only the merged row has. */
const conditions = ['$ref', 'allOf', 'anyOf', 'dependentSchemas', 'if', 'not', 'oneOf'];

const isConditional = ({ schema }: EntityContract): boolean =>
  isObject(schema) && conditions.some((keyword) => Object.hasOwn(schema, keyword));

type Check<More extends readonly unknown[]> = (
  entity: string,
  row: unknown,
  ...more: More
) => RowProblem[];

/** Turns a check of whole rows into a check of rows that are merged into existing ones. */
export const partially = <More extends readonly unknown[]>(
  check: Check<More>,
  entities: readonly EntityContract[],
): Check<More> => {
  const byName = new Map(entities.map((entity) => [entity.name, entity]));
  return (name, row, ...more) => {
    const entity = byName.get(name);
    if (entity === undefined || !isObject(row)) return check(name, row, ...more);
    const problems = isConditional(entity)
      ? []
      : check(name, row, ...more).filter(({ field }) => Object.hasOwn(row, field));
    const lacking = entity.primaryKey.find((field) => (row[field] ?? null) === null);
    if (problems.length > 0 || lacking === undefined) return problems;
    const key = entity.primaryKey.join(', ');
    return [
      { field: '', pointer: '', detail: `the primary key is (${key}) and "${lacking}" is missing` },
    ];
  };
};
