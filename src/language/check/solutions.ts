/** `solution` and `alternatives` of a task: their steps name tools that it gives, and answers of earlier steps. */
import { givesTool, withheldTool } from '#domain/task-tools.ts';
import type { Task } from '../contract.ts';
import type { Scenario } from '../files/scenario-toml.ts';
import type { Place } from '../read/place.ts';
import { type Solution, type Solvable, solutionFaults } from '../solution.ts';

type World = {
  hasApi: boolean;
  /** Whether it has a tool of this name, or may have it of a world that it is linked to. */
  mayCall(tool: string): boolean;
};

/** What a solution of a task may use. `given` are the tools of the task; null: all. */
export const solvableWith = (
  given: readonly string[] | null,
  { hasApi, mayCall }: World,
): Solvable => ({
  hasApi,
  toolFault(name) {
    if (!mayCall(name)) return `the world has no tool "${name.slice(0, 100)}"`;
    return givesTool(given, name) ? undefined : withheldTool(name, given ?? []);
  },
});

const refuseFaults = (place: Place, solution: Solution, of: Solvable): void => {
  for (const { path, message } of solutionFaults(solution, of)) {
    place.at(...path).refuse('bad_value', message);
  }
};

/** The solutions of a scenario, checked. */
export const checkSolutions = (
  { alternatives, place, solution, tools }: Scenario,
  world: World,
): Pick<Task, 'solution' | 'alternatives'> => {
  const of = solvableWith(tools ?? null, world);
  if (solution !== undefined) refuseFaults(place.at('solution'), solution, of);
  for (const [index, other] of (alternatives ?? []).entries()) {
    refuseFaults(place.at('alternatives', index), other, of);
  }
  return {
    ...(solution === undefined ? {} : { solution }),
    ...(alternatives === undefined ? {} : { alternatives }),
  };
};
