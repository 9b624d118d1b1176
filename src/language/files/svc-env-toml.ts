/**
 * Reads `svc-env.toml`, the manifest of a world: its name, its served tools, its links to other worlds, and the actions
 * of a push.
 */
import {
  distinct,
  exactly,
  filledText,
  type Kind,
  kind,
  listOf,
  oneOf,
  type Placed,
  placed,
  refuseValue,
  text,
} from '../read/kinds.ts';
import type { Place } from '../read/place.ts';
import {
  defaulted,
  defaultedTable,
  described,
  optional,
  readTable,
  required,
  requiredTable,
  ruledOut,
  type TableOf,
  tableOf,
} from '../read/table.ts';
import type { Tree } from '../read/tree.ts';
import { type DependencyTable, dependencies } from './dependencies.ts';
import { type VerifierTask, verifierTasks } from './verifier-tasks.ts';

export const environmentFile = 'svc-env.toml';

/** Database engine. There is only one, so `[environment] db` and `[db] engine` cannot differ if both are valid. */
const engine = oneOf(['sqlite']);

/** Name of the world. It must have no control characters, because lists and terminals show it. */
const worldName: Kind<string> = kind(filledText(200).schema ?? {}, (place, value) => {
  const read = filledText(200)(place, value);
  if (read === undefined || !/\p{Cc}/u.test(read)) return read;
  return refuseValue(place, 'must be one line without control characters');
});

const environmentKeys = {
  name: described('Name of the world.', required(worldName, '')),
  kind: described('Kind of world.', required(exactly('mock-tools'), 'mock-tools')),
  db: described('Engine, the same as in [db].', defaulted(engine, 'sqlite')),
  connector: described(
    'Connector from which the world is made; "custom" for a connector of its own.',
    optional(text),
  ),
};
type EnvironmentTable = TableOf<typeof environmentKeys>;

const generatedPath = 'the paths of generated files are fixed';

const environmentTable = optional<Placed<EnvironmentTable>>(placed(tableOf(environmentKeys)));

export const environmentFileKeys = {
  schema: described(
    'Key that marks the directory as a world.',
    requiredTable({
      language: described(
        'Language of the world.',
        required(exactly('svc-world/1'), 'svc-world/1'),
      ),
    }),
  ),
  environment: described('Name and kind of the world.', environmentTable),
  env: described('Another spelling of "environment".', environmentTable),
  db: described(
    'The store.',
    defaultedTable({
      engine: described('Engine of the store.', defaulted(engine, 'sqlite')),
      schema: ruledOut(generatedPath),
      seed: ruledOut(generatedPath),
      path: ruledOut(generatedPath),
    }),
  ),
  tools: described(
    'The tools.',
    requiredTable({
      serve: described(
        'Names of the tools that the world serves: exactly those of schema/world.json.',
        required<string[] | undefined>(distinct(listOf(text)), undefined),
      ),
    }),
  ),
  actions: described(
    'Actions that run automatically.',
    defaultedTable({
      on_push: described(
        'On every push: "tests" runs the suite in tests/.',
        defaulted(distinct(listOf(oneOf(['tests']))), []),
      ),
      gate: described(
        'Checks that a pushed version must pass before it becomes the head: "tests" runs the suite in tests/.',
        defaulted(distinct(listOf(oneOf(['tests']))), []),
      ),
    }),
  ),
  dependencies: described(
    'Links to other worlds: <alias> = "<slug>@<ref>", or a table.',
    defaulted<Map<string, Placed<DependencyTable>>>(dependencies, new Map()),
  ),
  tasks: described(
    'Tasks that a query grades.',
    defaulted<Placed<VerifierTask>[]>(verifierTasks, []),
  ),
};

export type Environment = {
  name: string;
  /** Names of the served tools; undefined if the file does not list them. */
  serve: string[] | undefined;
  /** Place of the list of served tools. */
  servePlace: Place;
  onPush: string[];
  gate: string[];
  dependencies: Map<string, Placed<DependencyTable>>;
  tasks: Placed<VerifierTask>[];
};

/** Refuses a gate that no version could pass: a world without tests fails the gate. */
const refuseClosedGate = (tree: Tree, place: Place, gate: readonly string[]): void => {
  if (!gate.includes('tests') || tree.paths('tests/').length > 0) return;
  place
    .at('actions', 'gate')
    .refuse(
      'missing_file',
      'the gate requires tests, but there is no file in tests/',
      'write a test, such as tests/test_world.py, or leave "gate" out',
    );
};

const refuseAmbiguity = (
  place: Place,
  { environment, env }: { environment: unknown; env: unknown },
): void => {
  if (environment === undefined && env === undefined) {
    place.at('environment').refuse('missing_key', 'the table "environment" is missing');
  }
  if (environment !== undefined && env !== undefined) {
    place.at('env').refuse('duplicate', '[env] and [environment] are the same table');
  }
};

/** Reads the manifest; undefined if it is missing or malformed, which is then reported. */
export const readEnvironment = (tree: Tree): Environment | undefined => {
  if (!tree.has(environmentFile)) {
    tree.place(environmentFile).refuse('missing_file', `a world needs the file ${environmentFile}`);
    return undefined;
  }
  const document = tree.toml(environmentFile);
  if (document === undefined) return undefined;
  const { place } = document;
  const read = readTable(place, document.value, environmentFileKeys);
  refuseAmbiguity(place, read);
  refuseClosedGate(tree, place, read.actions.gate);
  return {
    name: (read.environment ?? read.env)?.value.name ?? '',
    serve: read.tools.serve,
    servePlace: place.at('tools', 'serve'),
    onPush: read.actions.on_push,
    gate: read.actions.gate,
    dependencies: read.dependencies,
    tasks: read.tasks,
  };
};
