/**
 * Checks `changes.allow` of a grader against a world: its entities and fields exist, and some row can meet its
 * conditions. The same rules apply to the tree's own tasks and to tasks sent for a compiled world.
 */
import { type Contract, linkedTool } from '../contract.ts';
import { suggestName } from '../read/suggest.ts';
import { createAnalysis } from '../schema/analysis.ts';
import type { Allowance } from '../task.ts';
import { type ConditionSources, conditionFaults, type Fault } from './conditions.ts';
import { lookUpField } from './model.ts';
import { createFieldValues } from './values.ts';

type Sources = ConditionSources & {
  /** Aliases of the linked worlds. */
  aliases: readonly string[];
};

/** Returns the faults of one allowed change. */
export const allowanceFaults = (
  { entity: name, fields = [], where = {} }: Allowance,
  sources: Sources,
): Fault[] => {
  const { aliases, entities, analysis } = sources;
  // Rows of a linked world have its alias as a prefix, like its tools. Its entities are known only when the link is
  // resolved.
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

/**
 * Creates a function for a compiled world that returns the faults of all changes that a grader allows. The first
 * segment of a fault's path is the index of the allowed change.
 */
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
