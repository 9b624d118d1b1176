/** Checks `changes` of a tree's own tasks, for every kind of grader. */
import type { Dependency } from '../contract.ts';
import type { ChangesTable } from '../files/changes-toml.ts';
import type { Placed } from '../read/kinds.ts';
import type { Allowance, Grader } from '../task.ts';
import { allowanceFaults } from './allowances.ts';
import type { Model } from './model.ts';
import type { FieldValues } from './values.ts';

type ChangeSources = { model: Model; values: FieldValues; dependencies: readonly Dependency[] };

/** Returns the changes that a grader allows, after checking them against the world. */
export const readChanges = (
  changes: Placed<ChangesTable> | undefined,
  { model, values, dependencies }: ChangeSources,
): Pick<Grader, 'changes'> => {
  if (changes === undefined) return {};
  const { closed, allow } = changes.value;
  const aliases = dependencies.map(({ alias }) => alias);
  const sources = { aliases, entities: model.entities, analysis: model.analysis, values };
  const allowed = allow?.map(({ place, value: { entity, fields, where } }) => {
    const allowance: Allowance = {
      entity,
      ...(fields === undefined ? {} : { fields }),
      ...(where === undefined ? {} : { where }),
    };
    for (const { path, code, message, hint } of allowanceFaults(allowance, sources)) {
      place.at(...path).refuse(code, message, hint);
    }
    return allowance;
  });
  return {
    changes: {
      ...(closed === undefined ? {} : { closed }),
      ...(allowed === undefined ? {} : { allow: allowed }),
    },
  };
};
