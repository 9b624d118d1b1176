/**
 * Dependencies of the world code: those of the project code, and the services that compile worlds and read their rows.
 */
import type { SnapshotFiles } from '#store/files/snapshot-files.ts';
import type { ProjectParts } from '../projects/parts.ts';
import type { McpTools } from './caches/mcp-tools.ts';
import type { Versions } from './caches/versions.ts';
import type { WorldLookup } from './caches/world-lookup.ts';
import type { BodyReader } from './compile/body-reader.ts';
import type { RowCarrier } from './compile/carry.ts';
import type { Compiler } from './compile/compiler.ts';
import type { FieldIndexes } from './query/field-indexes.ts';
import type { Queries } from './query/queries.ts';

export type WorldParts = ProjectParts & {
  versions: Versions;
  worldLookup: WorldLookup;
  /** Cache of the tools of versions in MCP's form. */
  mcpTools: McpTools;
  /** Unpacked snapshots, shared by all programs of this machine that use the folder. */
  snapshots: SnapshotFiles;
  /** Runs queries on the rows of worlds, in separate processes. */
  queries: Queries;
  /** Indexes of fields that queries of worlds filter by. */
  fieldIndexes: FieldIndexes;
  compiler: Compiler;
  /** Combines the kept rows and the tree's rows of a push. */
  rowCarrier: RowCarrier;
  readBody: BodyReader;
};
