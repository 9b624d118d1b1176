/**
 * Checks `solution` and `alternatives` of a task. Steps must name tools that the task offers, and results of earlier
 * steps; scripts must be files in the task's folder.
 */
import { givesTool, withheldTool } from '#domain/task-tools.ts';
import type { ApiContract } from '../contract.ts';
import type { Scenario } from '../files/scenario-toml.ts';
import type { WrittenSolution } from '../files/solution.ts';
import type { Place } from '../read/place.ts';
import { suggestName } from '../read/suggest.ts';
import type { Tree } from '../read/tree.ts';
import {
  type Script,
  type Solution,
  type Solvable,
  scriptLanguage,
  solutionFaults,
  solutionLimits,
} from '../solution.ts';
import type { Task } from '../task.ts';
import { createRouteFault } from './route-match.ts';

type World = {
  /**
   * API of the world; null if the world has none, undefined if the API is unknown because the connector has problems.
   */
  api: ApiContract | null | undefined;
  /** Returns true if the world has a tool with this name, or may get one from a linked world. */
  mayCall(tool: string): boolean;
  /** Names of the world's own tools. */
  tools: ReadonlySet<string>;
};

/**
 * Returns the tools and routes that a solution of a task may use. `given` lists the tools that the task offers; null
 * means all.
 */
export const solvableWith = (
  given: readonly string[] | null,
  { api, mayCall, tools }: World,
): Solvable => ({
  hasApi: api !== null,
  routeFault: api ? createRouteFault(api) : () => undefined,
  toolFault(name) {
    if (!mayCall(name)) {
      const hint = suggestName(name, tools);
      const rest = hint === undefined ? '' : `; ${hint}`;
      return `the world has no tool "${name.slice(0, 100)}"${rest}`;
    }
    return givesTool(given, name) ? undefined : withheldTool(name, given ?? []);
  },
});

/** Folder from which a scenario's scripts are read. */
type Folder = { path: string; tree: Tree };

/** Returns the files of a scenario's folder that are scripts of its solutions. */
export const scriptsOf = ({ solution, alternatives = [] }: Scenario): string[] =>
  [...(solution === undefined ? [] : [solution]), ...alternatives].flatMap((one) =>
    'script' in one ? [one.script] : [],
  );

const readScript = (place: Place, file: string, { path, tree }: Folder): Script => {
  const language = scriptLanguage(file) ?? 'python';
  const source = tree.text(`${path}${file}`);
  if (source === undefined && !tree.has(`${path}${file}`)) {
    place.at('script').refuse('missing_file', `there is no file ${path}${file}`);
  }
  if (source !== undefined && source.length > solutionLimits.scriptChars) {
    const message = `${file} has ${source.length} characters, more than ${solutionLimits.scriptChars}`;
    tree.place(`${path}${file}`).refuse('file_too_large', message);
  }
  return { language, source: source ?? '' };
};

const readSolution = (
  place: Place,
  written: WrittenSolution,
  folder: Folder,
  of: Solvable,
): Solution => {
  if ('script' in written) return { script: readScript(place, written.script, folder) };
  for (const { path, message } of solutionFaults(written, of)) {
    place.at(...path).refuse('bad_value', message);
  }
  return written;
};

/** Returns the checked solutions of a scenario, with the sources of their scripts. */
export const readSolutions = (
  { alternatives, place, solution, tools }: Scenario,
  folder: Folder,
  world: World,
): Pick<Task, 'solution' | 'alternatives'> => {
  const of = solvableWith(tools ?? null, world);
  const read = (at: Place, written: WrittenSolution) => readSolution(at, written, folder, of);
  return {
    ...(solution === undefined ? {} : { solution: read(place.at('solution'), solution) }),
    ...(alternatives === undefined
      ? {}
      : {
          alternatives: alternatives.map((other, index) =>
            read(place.at('alternatives', index), other),
          ),
        }),
  };
};
