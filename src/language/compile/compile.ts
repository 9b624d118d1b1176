/**
 * Compiles a world tree: reads its hand-written files, checks them against one another, and returns the contract for
 * hosts and stores, or all problems.
 *
 * Compiling is pure and synchronous and runs no user code. A caller that compiles trees of clients must set a time
 * limit, because validating many rows against deep schemas has no bound of its own.
 */
import { limits } from '#domain/limits.ts';
import type { TreeFile } from '#domain/world.ts';
import { artifactCollisions, generateArtifacts } from '../artifacts/generate.ts';
import { checkApi } from '../check/api.ts';
import { checkCode } from '../check/code.ts';
import { checkDependencies } from '../check/dependencies.ts';
import { buildModel, hasProblems } from '../check/entities.ts';
import { checkIntegrity } from '../check/integrity.ts';
import type { Model } from '../check/model.ts';
import { checkRedact } from '../check/redact.ts';
import { readOperations } from '../check/route-draft.ts';
import { type KnownRowFiles, readRowFiles } from '../check/row-files.ts';
import type { WorldRedaction } from '../check/seed-redaction.ts';
import { checkScenarios, refuseTaskTwins } from '../check/tasks.ts';
import { checkTools } from '../check/tools.ts';
import { checkUi } from '../check/ui.ts';
import { createFieldValues, type FieldValues } from '../check/values.ts';
import { checkVendor } from '../check/vendor.ts';
import { checkVerifierTasks, type VerifierSources } from '../check/verifiers.ts';
import { checkWebhooks } from '../check/webhooks.ts';
import type { Contract, Row } from '../contract.ts';
import { type Connector, readConnector } from '../files/connector-toml.ts';
import { readEnvironment } from '../files/svc-env-toml.ts';
import { readWorldJson, type WorldDeclaration } from '../files/world-json.ts';
import { type Problem, sortProblems } from '../problem.ts';
import type { Placed } from '../read/kinds.ts';
import { createProblems } from '../read/place.ts';
import { openTree, type Tree } from '../read/tree.ts';
import { createFileRowChecker, type FileRowChecker } from '../schema/checkers.ts';
import type { Task } from '../task.ts';

/** A compiled world, or the problems of its tree. */
export type CompileResult =
  | {
      ok: true;
      contract: Contract;
      /** Base rows of the world, from `data/<entity>.json`. An entity without such a file is left out. */
      baseRows: Record<string, Row[]>;
      /** Generated files, which are to be stored with the tree's own files; they replace files at the same paths. */
      generated: TreeFile[];
      /** Files of redacted seeds, which are to be stored in place of the tree's own files. */
      rewritten: TreeFile[];
    }
  | { ok: false; problems: Problem[] };

type Compiled = { contract: Contract; baseRows: Record<string, Row[]>; rewritten: TreeFile[] };

/** Creates the validators of rows and values. If the data model itself has problems, they accept everything. */
const createCheckers = (
  model: Model,
  isSound: boolean,
): { rows: FileRowChecker; values: FieldValues } => {
  if (!isSound)
    return {
      rows: { check: () => [] },
      values: { faults: () => [], kinds: () => new Set(), check: () => undefined },
    };
  const { definitions, entities } = model;
  const rows = createFileRowChecker({ definitions, entities: [...entities.values()] });
  return { rows, values: createFieldValues(model) };
};

type Checkers = ReturnType<typeof createCheckers>;

/** Returns the parts of the contract that come from `connector.toml`; all are null if there is no such file. */
const checkConnector = (
  tree: Tree,
  connector: Connector | undefined,
  model: Model,
  { values }: Checkers,
): Pick<Contract, 'api' | 'vendor' | 'redact' | 'webhooks' | 'ui'> => {
  if (connector === undefined) {
    return { api: null, vendor: null, redact: null, webhooks: null, ui: null };
  }
  const operations = readOperations(connector, model);
  return {
    api: checkApi(connector, { tree, model, values, operations }),
    vendor: checkVendor(connector, operations, model),
    redact: checkRedact(connector, model),
    webhooks: checkWebhooks(connector.webhooks, connector.connector.slug, model),
    ui: checkUi(tree, connector.ui),
  };
};

/** Checks the rows and the tasks of a world. */
const checkData = (
  tree: Tree,
  model: Model,
  { isSound, tools, dependencies }: Pick<VerifierSources, 'isSound' | 'tools' | 'dependencies'>,
  checkers: Checkers,
  {
    redaction,
    verifierTasks,
    known,
  }: { redaction: WorldRedaction; verifierTasks: readonly Placed<Task>[]; known?: KnownRowFiles },
): { baseRows: Record<string, Row[]>; tasks: Task[]; rewritten: TreeFile[] } => {
  const files = readRowFiles('data/', { tree, model, rows: checkers.rows, known });
  const worldRows = { ...files, isSound: isSound && files.isSound };
  if (worldRows.isSound) checkIntegrity(worldRows.sets, model);
  const sources = { tree, model, tools, dependencies, ...checkers, worldRows, redaction };
  const { tasks: scenarios, rewritten } = checkScenarios(sources);
  const tasks = [...scenarios, ...verifierTasks];
  refuseTaskTwins(tasks);
  const baseRows = [...worldRows.sets].map(([name, { value }]): [string, Row[]] => [name, value]);
  return {
    baseRows: Object.fromEntries(baseRows),
    tasks: tasks.map(({ value }) => value),
    rewritten,
  };
};

/** Checks the world on the basis of its data model. */
const checkWorld = (tree: Tree, world: WorldDeclaration, known?: KnownRowFiles): Compiled => {
  const { model, toolSchemas } = buildModel(world, tree);
  const isSound = !hasProblems(tree);
  const checkers = createCheckers(model, isSound);
  const environment = readEnvironment(tree);
  const connector = readConnector(tree);
  const code = checkCode(tree, {
    handlers: connector?.api.handlers,
    entities: isSound ? new Set(model.entities.keys()) : undefined,
  });
  const surfaces = checkConnector(tree, connector, model, checkers);
  const routes = surfaces.api?.routes ?? [];
  const tools = checkTools(world, environment, {
    ...{ tree, model, code, connector, schemas: toolSchemas, routes },
  });
  const toolNames = new Set(world.tools.keys());
  const dependencies = checkDependencies(environment, model);
  const { values } = checkers;
  const verifierSources = { tree, model, isSound, tools: toolNames, dependencies, values };
  const verifierTasks = checkVerifierTasks(environment?.tasks ?? [], verifierSources);
  const { baseRows, tasks, rewritten } = checkData(tree, model, verifierSources, checkers, {
    redaction: surfaces,
    verifierTasks,
    ...(known === undefined ? {} : { known }),
  });
  const contract: Contract = {
    language: 'svc-world/1',
    name: environment?.name ?? '',
    package: world.package,
    domainVersion: world.domain_version,
    definitions: model.definitions,
    entities: [...model.entities.values()],
    tools,
    ...surfaces,
    dependencies,
    onPush: environment?.onPush.includes('tests') ? ['tests'] : [],
    ...(environment?.gate.includes('tests')
      ? { gate: ['tests'] as const satisfies ['tests'] }
      : {}),
    tasks,
  };
  return { contract, baseRows, rewritten };
};

/** Returns problems for generated files that are larger than a tree allows. */
const oversized = (generated: readonly TreeFile[]): Problem[] =>
  generated
    .filter(({ content }) => content.byteLength > limits.treeFileBytes)
    .map(({ path, content }) => ({
      file: path,
      pointer: '',
      code: 'file_too_large',
      message: `${path} would be generated with ${content.byteLength} bytes, more than ${limits.treeFileBytes}`,
      hint: "reduce the world's schemas, routes or rows of tasks",
    }));

/** Returns a tree with some of its files replaced. */
export const replaceFiles = (
  files: readonly TreeFile[],
  by: readonly TreeFile[],
): readonly TreeFile[] => {
  if (by.length === 0) return files;
  const replaced = new Map(by.map((file) => [file.path, file]));
  return files.map((file) => replaced.get(file.path) ?? file);
};

/**
 * Compiles the files of a tree, which may be in any order. Reports all problems together and never throws. `known` is a
 * cache for callers that compile a tree repeatedly, empty at first: unchanged rows are not validated again.
 */
export const compileTree = (
  files: readonly TreeFile[],
  { known }: { known?: KnownRowFiles } = {},
): CompileResult => {
  const problems = createProblems();
  const tree = openTree(files, problems);
  if (tree === undefined) return { ok: false, problems: problems.list() };
  const world = readWorldJson(tree);
  if (world === undefined) {
    readEnvironment(tree);
    readConnector(tree);
    return { ok: false, problems: problems.list() };
  }
  const compiled = checkWorld(tree, world, known);
  if (problems.count() > 0) return { ok: false, problems: problems.list() };
  const { contract, rewritten } = compiled;
  const generated = generateArtifacts({ contract, files: replaceFiles(files, rewritten) });
  const misfits = [...artifactCollisions({ files, generated }), ...oversized(generated)];
  if (misfits.length > 0) return { ok: false, problems: sortProblems(misfits) };
  return { ok: true, ...compiled, generated };
};
