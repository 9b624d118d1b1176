/**
 * Checks the checks of a grader against a world. Each check must name existing entities and fields, and some state must
 * be able to meet it. The same rules apply to the tree's own tasks and to tasks sent for a compiled world.
 */
import { ledgerEntity } from '#domain/ledger.ts';
import {
  type AnswerCheck,
  type CheckCount,
  type GivenCheck,
  isAnswerCheck,
  namesOfChecks,
  type RelatedRows,
  type RowsCheck,
  relatedKinds,
} from '../checks.ts';
import type { Contract, EntityContract } from '../contract.ts';
import { findRelation } from '../relations.ts';
import { createAnalysis } from '../schema/analysis.ts';
import { type ConditionSources, conditionFaults, type Fault, lookUpEntity } from './conditions.ts';
import { lookUpField } from './model.ts';
import { orderFaults } from './order.ts';
import { createFieldValues } from './values.ts';

type GivenRows = Omit<RowsCheck, 'name' | 'count'> & { count?: CheckCount | null };

const below = (faults: readonly Fault[], ...path: (string | number)[]): Fault[] =>
  faults.map((fault) => ({ ...fault, path: [...path, ...fault.path] }));

const bad = (path: (string | number)[], message: string): Fault => ({
  path,
  code: 'bad_value',
  message,
});

const countFaults = (count: CheckCount | null | undefined): Fault[] => {
  if (count === undefined || count === null || typeof count === 'number') return [];
  const { min, max } = count;
  if (min === undefined && max === undefined) {
    return [bad(['count'], 'count: requires min, max or both')];
  }
  if (min === undefined || max === undefined || min <= max) return [];
  const message = `count: min ${min} is greater than max ${max}`;
  return [bad(['count'], message)];
};

const relatedFaults = (
  from: EntityContract,
  { entity: name, where, by }: RelatedRows,
  sources: ConditionSources,
): Fault[] => {
  const found = lookUpEntity(name, sources);
  if ('fault' in found) return [found.fault];
  const { entity } = found;
  if (from.name === ledgerEntity || name === ledgerEntity) {
    return [bad(['entity'], 'svc_requests, the request ledger, has no relationships')];
  }
  const related = findRelation(from, entity, by);
  const faults = below(conditionFaults(entity, where, sources), 'where');
  return 'fault' in related ? [bad(['by'], related.fault), ...faults] : faults;
};

/** Returns the faults of top-level fields whose values a check compares with the initial state. */
const changeFaults = (
  entity: EntityContract,
  { changed = [], unchanged = [], increased_by = {} }: GivenRows,
  { analysis, values }: ConditionSources,
): Fault[] => {
  const named = [
    ...changed.map((field, at) => ({ field, path: ['changed', at] })),
    ...unchanged.map((field, at) => ({ field, path: ['unchanged', at] })),
    ...Object.keys(increased_by).map((field) => ({ field, path: ['increased_by', field] })),
  ];
  const [first] = named;
  if (first !== undefined && entity.name === ledgerEntity) {
    return [bad(first.path, 'entries of svc_requests, the request ledger, never change')];
  }
  return named.flatMap(({ field: written, path }): Fault[] => {
    const found = lookUpField(written, entity, analysis);
    if ('fault' in found) return [{ path, ...found.fault }];
    if (found.field.path.length > 1) {
      return [bad(path, `"${written}" is a value inside a field; name the top-level field`)];
    }
    const kinds = values.kinds(found.field);
    if (path[0] !== 'increased_by' || kinds.size === 0) return [];
    if (kinds.has('number') || kinds.has('integer')) return [];
    return [
      bad(
        path,
        `${entity.name}.${written} is ${[...kinds].join(' or ')}, so it cannot increase by a number`,
      ),
    ];
  });
};

const rowsFaults = (check: GivenRows, sources: ConditionSources): Fault[] => {
  const found = lookUpEntity(check.entity, sources);
  if ('fault' in found) return [found.fault, ...countFaults(check.count)];
  const { entity } = found;
  return [
    ...countFaults(check.count),
    ...below(conditionFaults(entity, check.where, sources), 'where'),
    ...relatedKinds.flatMap((kind) => {
      const related = check[kind];
      return related === undefined ? [] : below(relatedFaults(entity, related, sources), kind);
    }),
    ...changeFaults(entity, check, sources),
  ];
};

const answerFaults = ({ as, equals, tolerance }: Omit<AnswerCheck, 'name'>): Fault[] => {
  if (as === 'set' && !Array.isArray(equals)) {
    return [bad(['equals'], 'equals: must be a list, because the answer is compared as a set')];
  }
  if (tolerance === undefined || typeof equals === 'number') return [];
  return [bad(['tolerance'], 'tolerance: is allowed only if equals is a number')];
};

/** Returns the faults of a grader's checks. The first segment of a fault's path is the index of the check. */
export const checkFaults = (checks: readonly GivenCheck[], sources: ConditionSources): Fault[] => [
  ...checks.flatMap((check, index) =>
    below(isAnswerCheck(check) ? answerFaults(check) : rowsFaults(check, sources), index),
  ),
  ...orderFaults(checks, namesOfChecks(checks)),
];

export type CheckChecks = (checks: readonly GivenCheck[]) => Fault[];

/** Creates, for a compiled world, a function that returns the faults of a grader's checks. */
export const createCheckChecks = ({
  definitions,
  entities,
}: Pick<Contract, 'definitions' | 'entities'>): CheckChecks => {
  const analysis = createAnalysis(definitions);
  const byName = new Map(entities.map((entity) => [entity.name, entity]));
  const values = createFieldValues({ definitions, entities: byName, types: analysis.types });
  return (checks) => checkFaults(checks, { entities: byName, analysis, values });
};
