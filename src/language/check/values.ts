/** Checks single values that a world's files have for a field of an entity. */

import { clip } from '#domain/cut.ts';
import type { Comparison } from '../comparison.ts';
import type { EntityContract } from '../contract.ts';
import type { Place } from '../read/place.ts';
import { isTable } from '../read/values.ts';
import type { JsonType } from '../schema/analysis.ts';
import { judgePattern } from '../schema/patterns.ts';
import { type CheckValue, createShapes } from '../schema/shapes.ts';
import { ledgerEntityContract } from '../sql/ledger-entity.ts';
import type { Field, Model } from './model.ts';

/** Maximum number of characters of a value that a message shows. */
const longestShown = 200;

/** Validator of values against their fields. An object is accepted even if it lacks members. */
export type FieldValues = {
  /** Returns the faults of a value as sentences; empty if the field may have the value. */
  faults(entity: EntityContract, field: Field, value: unknown): string[];
  /** Returns the possible types of a field; empty if they are unknown. */
  kinds(field: Field): ReadonlySet<JsonType>;
  /** Refuses a value that the field cannot have. */
  check(place: Place, entity: EntityContract, field: Field, value: unknown): void;
};

const typesOfValue = (value: unknown): readonly JsonType[] => {
  if (typeof value === 'number') return Number.isInteger(value) ? ['integer'] : ['number'];
  if (typeof value === 'boolean') return ['boolean'];
  if (typeof value === 'string') return ['string'];
  if (value === null) return ['null'];
  return Array.isArray(value) ? ['array'] : ['object'];
};

const createFieldShapes = ({
  definitions,
  entities,
}: Pick<Model, 'definitions' | 'entities'>): ReadonlyMap<string, CheckValue> => {
  const schemas = [...entities.values(), ledgerEntityContract].flatMap(({ name, schema }) =>
    Object.entries(isTable(schema.properties) ? schema.properties : {}).map(
      ([field, part]): [string, Record<string, unknown>] => [
        `${name}.${field}`,
        isTable(part) ? part : {},
      ],
    ),
  );
  return createShapes(definitions, new Map(schemas));
};

/**
 * Creates the validator. Values of top-level fields are validated against the whole schema, values further inside only
 * against their type.
 */
export const createFieldValues = (
  model: Pick<Model, 'definitions' | 'entities' | 'types'>,
): FieldValues => {
  let shapes: ReadonlyMap<string, CheckValue> | undefined;
  const faults: FieldValues['faults'] = (entity, { path, schemas }, value) => {
    const types = model.types(schemas);
    if (types === undefined) return [];
    const name = `${entity.name}.${path.join('.')}`;
    if (!typesOfValue(value).some((type) => types.has(type))) {
      return [
        `${name} is ${[...types].join(' or ')}, never ${clip(JSON.stringify(value), longestShown)}`,
      ];
    }
    if (path.length > 1) return [];
    shapes ??= createFieldShapes(model);
    return (shapes.get(name)?.(value) ?? [])
      .filter(({ detail }) => detail !== 'is missing')
      .map(({ pointer, detail }) => `${name}${pointer} ${detail}`);
  };
  return {
    faults,
    kinds: ({ schemas }) => model.types(schemas) ?? new Set(),
    check(place, entity, field, value) {
      for (const fault of faults(entity, field, value)) place.refuse('type_mismatch', fault);
    },
  };
};

/** Returns the faults of `matches`: an invalid RE2 pattern, or a field that can never hold a text. */
const matchFaults = (
  values: Pick<FieldValues, 'kinds'>,
  { name }: EntityContract,
  field: Field,
  source: string,
): string[] => {
  const at = `${name}.${field.path.join('.')}`;
  const { fault } = judgePattern(source);
  if (fault !== undefined) return [`${at}: "matches" ${JSON.stringify(source)}: ${fault}`];
  const kinds = values.kinds(field);
  if (kinds.size === 0 || kinds.has('string')) return [];
  return [
    `${at} is ${[...kinds].join(' or ')}, so "matches" ${JSON.stringify(source)} is never true`,
  ];
};

/**
 * Returns the faults of comparisons of a field, as sentences. For `eq`, `ne` and `in`, the field must be able to have
 * the value. For `lt`, `lte`, `gt` and `gte`, the value must have a type of the field. Operands of `contains` are not
 * checked.
 */
export const comparisonFaults = (
  values: Pick<FieldValues, 'faults' | 'kinds'>,
  entity: EntityContract,
  field: Field,
  comparisons: readonly Comparison[],
): string[] =>
  comparisons.flatMap(({ operator, operand }) => {
    if (operator === 'contains' || operator === 'exists') return [];
    if (operator === 'matches') return matchFaults(values, entity, field, operand as string);
    if (operator === 'eq' || operator === 'ne' || operator === 'in') {
      return [operand].flat().flatMap((item) => values.faults(entity, field, item));
    }
    const kinds = values.kinds(field);
    const isNumber = typeof operand === 'number';
    const fits = isNumber ? kinds.has('number') || kinds.has('integer') : kinds.has('string');
    if (kinds.size === 0 || fits) return [];
    const name = `${entity.name}.${field.path.join('.')}`;
    const is = [...kinds].join(' or ');
    return [`${name} is ${is}, so "${operator}" ${JSON.stringify(operand)} is never true`];
  });
