/**
 * What `changes.allow` of a grader names, held to a world: its entities, their fields, and conditions that some row can
 * meet. Trees' own tasks and those given beside a compiled world are judged by the same rules.
 */
import { readCondition } from '../comparison.ts';
import { type Allowance, type Contract, type EntityContract, linkedTool } from '../contract.ts';
import type { ProblemCode } from '../read/codes.ts';
import { suggestName } from '../read/suggest.ts';
import { type Analysis, createAnalysis } from '../schema/analysis.ts';
import { lookUpField } from './model.ts';
import { comparisonFaults, createFieldValues, type FieldValues } from './values.ts';

type Sources = {
  /** Of the worlds that this one is linked to. */
  aliases: readonly string[];
  entities: ReadonlyMap<string, EntityContract>;
  analysis: Analysis;
  values: FieldValues;
};

/** What is wrong at a place within an allowance. */
export type AllowanceFault = {
  path: (string | number)[];
  code: ProblemCode;
  message: string;
  hint?: string | undefined;
};

/** What is wrong with one allowance. */
export const allowanceFaults = (
  { entity: name, fields = [], where = {} }: Allowance,
  { aliases, entities, analysis, values }: Sources,
): AllowanceFault[] => {
  // Rows of a linked world are named as its tools are; what it has is known when the link is resolved.
  if (aliases.some((alias) => name.startsWith(linkedTool(alias, '')))) return [];
  const entity = entities.get(name);
  if (entity === undefined) {
    const message = `the world has no entity "${name}"`;
    const hint = suggestName(name, [...entities.keys()]);
    return [{ path: ['entity'], code: 'unknown_entity', message, hint }];
  }
  const ofFields = fields.flatMap((written, at): AllowanceFault[] => {
    const found = lookUpField(written, entity, analysis);
    return 'fault' in found ? [{ path: ['fields', at], ...found.fault }] : [];
  });
  const ofConditions = Object.entries(where).flatMap(([key, wanted]): AllowanceFault[] => {
    const path = ['where', key];
    const found = lookUpField(key, entity, analysis);
    if ('fault' in found) return [{ path, ...found.fault }];
    const read = readCondition(wanted);
    const faults =
      'fault' in read
        ? [`${name}.${key}: ${read.fault}`]
        : comparisonFaults(values, entity, found.field, read);
    return faults.map((message) => ({ path, code: 'type_mismatch', message }));
  });
  return [...ofFields, ...ofConditions];
};

/** The same beside a compiled world, of all allowances of a grader; the first of each path is the allowance's position. */
export const createAllowanceCheck = ({
  definitions,
  entities,
  dependencies,
}: Pick<Contract, 'definitions' | 'entities' | 'dependencies'>) => {
  const aliases = dependencies.map(({ alias }) => alias);
  const analysis = createAnalysis(definitions);
  const byName = new Map(entities.map((entity) => [entity.name, entity]));
  const values = createFieldValues({ definitions, entities: byName, types: analysis.types });
  return (allow: readonly Allowance[]): AllowanceFault[] =>
    allow.flatMap((allowance, index) =>
      allowanceFaults(allowance, { aliases, entities: byName, analysis, values }).map((fault) => ({
        ...fault,
        path: [index, ...fault.path],
      })),
    );
};
