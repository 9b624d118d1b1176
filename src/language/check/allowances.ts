/**
 * What `changes.allow` of a grader names, held to a world: its entities, their fields, and conditions that some row can
 * meet. Trees' own tasks and those given beside a compiled world are judged by the same rules.
 */
import { type Contract, linkedTool } from '../contract.ts';
import { suggestName } from '../read/suggest.ts';
import { createAnalysis } from '../schema/analysis.ts';
import type { Allowance } from '../task.ts';
import { type ConditionSources, conditionFaults, type Fault } from './conditions.ts';
import { lookUpField } from './model.ts';
import { createFieldValues } from './values.ts';

type Sources = ConditionSources & {
  /** Of the worlds that this one is linked to. */
  aliases: readonly string[];
};

/** What is wrong with one allowance. */
export const allowanceFaults = (
  { entity: name, fields = [], where = {} }: Allowance,
  sources: Sources,
): Fault[] => {
  const { aliases, entities, analysis } = sources;
  // Rows of a linked world are named as its tools are; what it has is known when the link is resolved.
  if (aliases.some((alias) => name.startsWith(linkedTool(alias, '')))) return [];
  const entity = entities.get(name);
  if (entity === undefined) {
    const message = `the world has no entity "${name}"`;
    const hint = suggestName(name, [...entities.keys()]);
    return [{ path: ['entity'], code: 'unknown_entity', message, hint }];
  }
  const ofFields = fields.flatMap((written, at): Fault[] => {
    const found = lookUpField(written, entity, analysis);
    return 'fault' in found ? [{ path: ['fields', at], ...found.fault }] : [];
  });
  const ofConditions = conditionFaults(entity, where, sources).map(
    (fault): Fault => ({ ...fault, path: ['where', ...fault.path] }),
  );
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
  return (allow: readonly Allowance[]): Fault[] =>
    allow.flatMap((allowance, index) =>
      allowanceFaults(allowance, { aliases, entities: byName, analysis, values }).map((fault) => ({
        ...fault,
        path: [index, ...fault.path],
      })),
    );
};
