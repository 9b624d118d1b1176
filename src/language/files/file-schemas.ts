/**
 * Builds JSON Schemas of hand-written files, with which editors complete keys and mark mistakes in JSON and TOML. The
 * schemas are made from the tables that also read the files. A schema defines each key on its own; only compiling
 * checks keys against one another.
 */
import type { JsonSchema } from '../contract.ts';
import { tableSchema } from '../read/table.ts';
import { connectorFile, connectorFileKeys } from './connector-toml.ts';
import { scenarioFileKeys } from './scenario-toml.ts';
import { environmentFile, environmentFileKeys } from './svc-env-toml.ts';
import { tasksFile, tasksFileKeys, verifierTasks } from './verifier-tasks.ts';
import { dialect, worldFile, worldFileKeys } from './world-json.ts';

/** Files that have a schema, by their names in a tree. */
export const schemaFiles = [
  worldFile,
  environmentFile,
  connectorFile,
  'scenario.toml',
  tasksFile,
] as const;
export type SchemaFile = (typeof schemaFiles)[number];

/** Returns the schema of the manifest; one of the two names of its main table is required. */
const environmentSchema = (): JsonSchema => ({
  ...tableSchema(environmentFileKeys),
  oneOf: [{ required: ['environment'] }, { required: ['env'] }],
});

/** Returns the schema of `tasks.json`, which is a list, or an object that has the list. */
const tasksSchema = (): JsonSchema => ({
  oneOf: [verifierTasks.schema ?? {}, tableSchema(tasksFileKeys)],
});

const schemaOf: Record<SchemaFile, () => JsonSchema> = {
  [worldFile]: () => tableSchema(worldFileKeys),
  [environmentFile]: environmentSchema,
  [connectorFile]: () => tableSchema(connectorFileKeys),
  'scenario.toml': () => tableSchema(scenarioFileKeys),
  [tasksFile]: tasksSchema,
};

const titles: Record<SchemaFile, string> = {
  [worldFile]: 'Data model and tools of a world',
  [environmentFile]: 'Manifest of a world',
  [connectorFile]: 'The vendor that a world simulates',
  'scenario.toml': 'A scenario: a task of a world',
  [tasksFile]: 'Verifier tasks of a world',
};

/** Returns the JSON Schema (2020-12) of a hand-written file. */
export const fileSchema = (file: SchemaFile): JsonSchema => ({
  $schema: dialect,
  $id: `urn:svc:svc-world/1:${file}`,
  title: `${titles[file]} (${file}, svc-world/1)`,
  ...schemaOf[file](),
});
