/**
 * Checks scenarios: each folder of `scenarios/` is a bundled task with its instruction, its rows and its grader. They
 * are checked against the data model and the rows of the world.
 */
import type { TreeFile } from '#domain/world.ts';
import { wholeChecks } from '../checks.ts';
import { type Dependency, linkedTool, type Row } from '../contract.ts';
import { hasFaultyConnector } from '../files/connector-toml.ts';
import type { GraderTable } from '../files/grader-toml.ts';
import { readScenario, type Scenario } from '../files/scenario-toml.ts';
import { languageLimits } from '../limits.ts';
import type { Placed } from '../read/kinds.ts';
import type { Place } from '../read/place.ts';
import { suggestName } from '../read/suggest.ts';
import type { Tree } from '../read/tree.ts';
import { partially } from '../schema/partial-rows.ts';
import type { Grader, Task } from '../task.ts';
import { readChanges } from './changes.ts';
import { checkFaults } from './grader-checks.ts';
import { checkIntegrity, checkReplacement, indexRows, type TupleIndex } from './integrity.ts';
import { type RowFiles, type RowSets, type RowSources, readRowFiles } from './row-files.ts';
import { openSeedRedaction, type WorldRedaction } from './seed-redaction.ts';
import { readSolutions, scriptsOf } from './solutions.ts';
import type { FieldValues } from './values.ts';

const scenarioRoot = 'scenarios/';

type TaskSources = RowSources & {
  values: FieldValues;
  worldRows: RowFiles;
  redaction: WorldRedaction;
  /** Names of the world's tools, without those of linked worlds. */
  tools: ReadonlySet<string>;
  dependencies: readonly Dependency[];
};

/**
 * Returns true if a tool with this name may belong to a linked world, whose tools are known only when the link is
 * resolved.
 */
const mayBeLinked = (dependencies: readonly Dependency[], name: string): boolean =>
  dependencies.some(({ alias, tools }) =>
    tools === null
      ? name.startsWith(linkedTool(alias, ''))
      : tools.some((tool) => linkedTool(alias, tool) === name),
  );

/** Refuses tools of a task that neither the world nor a linked world has. */
export const checkTaskTools = (
  place: Place,
  given: readonly string[] | undefined,
  { tools, dependencies }: Pick<TaskSources, 'tools' | 'dependencies'>,
): void => {
  for (const [index, name] of (given ?? []).entries()) {
    if (tools.has(name) || mayBeLinked(dependencies, name)) continue;
    const message = `the world has no tool "${name}"`;
    place.at(index).refuse('unknown_tool', message, suggestName(name, tools));
  }
};

const readAssertions = (grader: Placed<GraderTable>, sources: TaskSources): Grader => {
  const { model, values } = sources;
  const { checks: given } = grader.value;
  if (given === undefined) grader.place.refuse('missing_key', 'the key "checks" is missing');
  const read = given ?? [];
  const checks = read.map(({ check }) => check);
  const names = new Set<string>();
  for (const { check, placeOf } of read) {
    const { name } = check;
    if (names.has(name)) {
      placeOf(['name']).refuse('duplicate', `there are two checks named "${name}"`);
    }
    names.add(name);
  }
  const { entities, analysis } = model;
  for (const { path, code, message, hint, isKey } of checkFaults(checks, {
    entities,
    analysis,
    values,
  })) {
    const [at, ...inside] = path;
    const place = read[at as number]?.placeOf(inside);
    (isKey === true ? place?.ofKey() : place)?.refuse(code, message, hint);
  }
  return {
    kind: 'assertions',
    checks: wholeChecks(checks),
    ...readChanges(grader.value.changes, sources),
  };
};

const readGrader = (
  folder: string,
  { grader, place }: Scenario,
  sources: TaskSources,
): Grader | null => {
  const file = `${folder}checks/verify.py`;
  const source = sources.tree.text(file);
  if (source === undefined) return grader === undefined ? null : readAssertions(grader, sources);
  if (grader === undefined) return { kind: 'python', source };
  if (grader.value.checks !== undefined) {
    const message = `the task has both [grader] and ${file}`;
    const hint = 'remove one of them; a task with this file may have only changes in [grader]';
    place.at('grader').refuse('ambiguous_grader', message, hint);
  }
  return { kind: 'python', source, ...readChanges(grader.value.changes, sources) };
};

const refuseStrayFiles = (folder: string, tree: Tree, scripts: readonly string[]): void => {
  const expected = ['scenario.toml', 'instruction.md', 'checks/verify.py', ...scripts];
  for (const file of tree.paths(folder)) {
    const inside = file.slice(folder.length);
    if (expected.includes(inside) || inside.startsWith('seed/') || inside.endsWith('.md')) continue;
    const message = `the files of a scenario are ${expected.join(', ')} and seed/<entity>.json, but not ${inside}`;
    const hint = /^[^/]+\.(?:py|ts)$/.test(inside)
      ? `a script that solves the task must be named in scenario.toml: [solution] script = "${inside}"`
      : undefined;
    tree.place(file).refuse('unsupported_file', message, hint);
  }
};

const toRows = (sets: RowSets): Record<string, Row[]> =>
  Object.fromEntries([...sets].map(([entity, { value }]) => [entity, value]));

/**
 * Returns the rows of each entity after the seed's rows are merged into the world's. The seed's rows come first, as in
 * the seed's files.
 */
const mergedSets = (sets: RowSets, worldSets: RowSets, model: TaskSources['model']): RowSets =>
  new Map(
    [...sets].map(([name, { place, value }]) => {
      const key = model.entities.get(name)?.primaryKey ?? [];
      const keyOf = (row: Row): string => JSON.stringify(key.map((field) => row[field]));
      const left = new Map((worldSets.get(name)?.value ?? []).map((row) => [keyOf(row), row]));
      const merged = value.map((row) => {
        const before = left.get(keyOf(row)) ?? {};
        left.delete(keyOf(row));
        return { ...before, ...row };
      });
      return [name, { place, value: [...merged, ...left.values()] }];
    }),
  );

const checkSeed = (
  { seed: { mode }, place }: Scenario,
  sets: RowSets,
  { model, worldRows }: TaskSources,
  world: TupleIndex,
): void => {
  if (mode === 'append') checkIntegrity(sets, model, { world, reachable: world });
  else {
    const stands = mode === 'merge' ? mergedSets(sets, worldRows.sets, model) : sets;
    checkReplacement(place.at('seed', 'mode'), stands, worldRows.sets, model);
  }
};

/** A task, and those of its files that are to be stored in a rewritten form. */
type ReadTask = { task: Placed<Task>; rewritten: TreeFile[] };

const readTask = (
  folder: string,
  sources: TaskSources,
  world: TupleIndex,
): ReadTask | undefined => {
  const { tree } = sources;
  const scenario = readScenario(tree, `${folder}scenario.toml`);
  refuseStrayFiles(folder, tree, scenario === undefined ? [] : scriptsOf(scenario));
  const redaction = scenario && openSeedRedaction(scenario, `${folder}scenario.toml`, sources);
  const whole = redaction?.rows ?? sources.rows;
  const { entities } = sources.model;
  const rows =
    scenario?.seed.mode === 'merge'
      ? { check: partially(whole.check, [...entities.values()]) }
      : whole;
  const seed = readRowFiles(`${folder}seed/`, { ...sources, rows }, redaction?.hold);
  if (scenario === undefined) return undefined;
  checkTaskTools(scenario.place.at('tools'), scenario.tools, sources);
  if (seed.isSound && sources.worldRows.isSound) checkSeed(scenario, seed.sets, sources, world);
  const { mode } = scenario.seed;
  const mayCall = (tool: string) =>
    sources.tools.has(tool) || mayBeLinked(sources.dependencies, tool);
  const value: Task = {
    name: scenario.name ?? folder.slice(scenarioRoot.length, -1),
    description: scenario.description ?? null,
    tools: scenario.tools ?? null,
    instruction: tree.text(`${folder}instruction.md`) ?? null,
    seed: { mode, rows: toRows(seed.sets) },
    grader: readGrader(folder, scenario, sources),
    ...readSolutions(
      scenario,
      { path: folder, tree },
      {
        api: hasFaultyConnector(tree) ? undefined : sources.redaction.api,
        mayCall,
        tools: sources.tools,
      },
    ),
  };
  return { task: { place: scenario.place, value }, rewritten: redaction?.rewritten() ?? [] };
};

const foldersOf = (tree: Tree): string[] => {
  const folders = new Set<string>();
  for (const file of tree.paths(scenarioRoot)) {
    const [name, ...inside] = file.slice(scenarioRoot.length).split('/');
    if (inside.length > 0) folders.add(`${scenarioRoot}${name}/`);
    else if (!file.endsWith('.md')) {
      const message = `${scenarioRoot} must contain only folders, one for each scenario`;
      tree.place(file).refuse('unsupported_file', message);
    }
  }
  return [...folders];
};

/** Returns the scenarios, sorted by folder. */
export const checkScenarios = (
  sources: TaskSources,
): { tasks: Placed<Task>[]; rewritten: TreeFile[] } => {
  const folders = foldersOf(sources.tree);
  if (folders.length > languageLimits.scenarios) {
    const message = `there are ${folders.length} scenarios, more than ${languageLimits.scenarios}`;
    sources.tree.place(scenarioRoot).refuse('too_many', message);
    return { tasks: [], rewritten: [] };
  }
  const world = indexRows(sources.worldRows.sets);
  const read = folders.flatMap((folder) => readTask(folder, sources, world) ?? []);
  return {
    tasks: read.map(({ task }) => task),
    rewritten: read.flatMap(({ rewritten }) => rewritten),
  };
};

/** Refuses two tasks with the same name, because clients open a session on a task by its name. */
export const refuseTaskTwins = (tasks: readonly Placed<Task>[]): void => {
  const names = new Set<string>();
  for (const { place, value } of tasks) {
    if (names.has(value.name)) {
      place.at('name').refuse('duplicate', `there are two tasks named "${value.name}"`);
    }
    names.add(value.name);
  }
};
