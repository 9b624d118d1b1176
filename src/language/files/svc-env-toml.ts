/** `svc-env.toml`: the name of a world, and which tools it serves. */
import {
  distinct,
  exactly,
  filledText,
  type Kind,
  listOf,
  oneOf,
  type Placed,
  placed,
  text,
} from '../read/kinds.ts';
import type { Place } from '../read/place.ts';
import {
  defaulted,
  defaultedTable,
  optional,
  readTable,
  required,
  requiredTable,
  ruledOut,
  type TableOf,
  tableOf,
  unsupported,
} from '../read/table.ts';
import type { Tree } from '../read/tree.ts';

export const environmentFile = 'svc-env.toml';

/** There is one engine, so `[environment] db` and `[db] engine` cannot differ once both are valid. */
const engine = oneOf(['sqlite']);

const environmentKeys = {
  name: required(filledText(200), ''),
  kind: required(exactly('mock-tools'), 'mock-tools'),
  db: defaulted(engine, 'sqlite'),
  connector: optional(text),
};
type EnvironmentTable = TableOf<typeof environmentKeys>;

const generatedPath = 'the paths of generated files are fixed';

/** `tests` on push is part of the language; nothing runs a world's tests yet. */
const pushActions: Kind<string[]> = (place, value) => {
  const actions = distinct(listOf(oneOf(['tests'])))(place, value);
  for (const [index, action] of (actions ?? []).entries()) {
    place.at(index).refuse('unsupported_key', `on_push = "${action}" is not supported yet`);
  }
  return actions;
};

const environmentTable = optional<Placed<EnvironmentTable>>(placed(tableOf(environmentKeys)));

const fileKeys = {
  schema: requiredTable({ language: required(exactly('svc-world/1'), 'svc-world/1') }),
  environment: environmentTable,
  /** The older spelling of `environment`. */
  env: environmentTable,
  db: defaultedTable({
    engine: defaulted(engine, 'sqlite'),
    schema: ruledOut(generatedPath),
    seed: ruledOut(generatedPath),
    path: ruledOut(generatedPath),
  }),
  tools: requiredTable({
    serve: required<string[] | undefined>(distinct(listOf(text)), undefined),
  }),
  actions: defaultedTable({ on_push: defaulted(pushActions, []) }),
  dependencies: unsupported(),
  tasks: unsupported(),
};

export type Environment = {
  name: string;
  /** Names of the tools served; undefined when the file does not say. */
  serve: string[] | undefined;
  /** Where `serve` stands. */
  servePlace: Place;
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

/** Reads the manifest; undefined when it is missing or broken, which is noted. */
export const readEnvironment = (tree: Tree): Environment | undefined => {
  if (!tree.has(environmentFile)) {
    tree.place(environmentFile).refuse('missing_file', `a world needs the file ${environmentFile}`);
    return undefined;
  }
  const document = tree.toml(environmentFile);
  if (document === undefined) return undefined;
  const { environment, env, tools } = readTable(document.place, document.value, fileKeys);
  refuseAmbiguity(document.place, { environment, env });
  return {
    name: (environment ?? env)?.value.name ?? '',
    serve: tools.serve,
    servePlace: document.place.at('tools', 'serve'),
  };
};
