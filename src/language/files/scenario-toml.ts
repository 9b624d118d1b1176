/**
 * Reads `scenarios/<name>/scenario.toml`: a bundled task, with the mode of its rows and the checks of the final state.
 * The format is this project's own; see `docs/write-worlds/world-language.md`.
 */

import { distinct, filledText, listOf, oneOf, type Placed, text } from '../read/kinds.ts';
import type { Place } from '../read/place.ts';
import {
  defaulted,
  defaultedTable,
  described,
  optional,
  readTable,
  type TableOf,
} from '../read/table.ts';
import type { Tree } from '../read/tree.ts';
import { type RedactionMode, redactionModes } from '../redaction-modes.ts';
import { type SeedMode, seedModes } from '../task.ts';
import { type GraderTable, graderTable } from './grader-toml.ts';
import { alternatives, solution, type WrittenSolution } from './solution.ts';

export const scenarioFileKeys = {
  name: described("Name of the task. Default: the folder's.", optional(filledText(200))),
  description: described('For people.', optional(text)),
  tools: described(
    'Tools that the agent is offered. Default: all tools of the world.',
    optional<string[]>(distinct(listOf(filledText()))),
  ),
  seed: described(
    'The rows of seed/.',
    defaultedTable({
      mode: described(
        "Mode in which the rows are combined with the world's: added, merged by field into rows with the same primary key, or in place of all rows of their entities.",
        defaulted<SeedMode>(oneOf(seedModes), 'append'),
      ),
      redact: described(
        "Use of the world's [redact] on the rows, before the contract checks them.",
        defaulted<RedactionMode>(oneOf(redactionModes), 'off'),
      ),
    }),
  ),
  grader: described(
    'Grader of the task. If the scenario has checks/verify.py, only changes is allowed.',
    optional<Placed<GraderTable>>(graderTable),
  ),
  solution: described(
    'Solution of the task, for proofs: either steps or a script.',
    optional<WrittenSolution>(solution),
  ),
  alternatives: described(
    'Other solutions that are equally correct, each with either steps or a script.',
    optional<WrittenSolution[]>(alternatives),
  ),
};
export type Scenario = TableOf<typeof scenarioFileKeys> & { place: Place };

/** Reads a scenario's file; undefined if the file is missing or malformed, which is then reported. */
export const readScenario = (tree: Tree, file: string): Scenario | undefined => {
  if (!tree.has(file)) {
    tree.place(file).refuse('missing_file', `a scenario needs the file ${file}`);
    return undefined;
  }
  const document = tree.toml(file);
  if (document === undefined) return undefined;
  return { ...readTable(document.place, document.value, scenarioFileKeys), place: document.place };
};
