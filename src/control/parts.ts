/** The parts that the program wires together once. Each function takes only those it needs. */
import type { Log } from '#runtime/log.ts';
import type { Tracer } from '#runtime/tracing.ts';
import type { SnapshotFiles } from '#store/files/snapshot-files.ts';
import type { Blobs } from './blobs/blobs.ts';
import type { SignedAddresses } from './blobs/signed.ts';
import type { SmallBlobs } from './blobs/small.ts';
import type { BodyReader } from './compile/body-reader.ts';
import type { RowCarrier } from './compile/carry.ts';
import type { Compiler } from './compile/compiler.ts';
import type { GradeReader } from './compile/grade-reader.ts';
import type { ControlConfig } from './config.ts';
import type { DashboardProcesses } from './dashboard-code/lanes.ts';
import type { Database } from './db/database.ts';
import type { CallWrites } from './db/grouped-calls.ts';
import type { TraceStore } from './ingestion/store.ts';
import type { Admission } from './lifecycle/admission.ts';
import type { BrowserPlacer } from './lifecycle/browser-placer.ts';
import type { Placer } from './lifecycle/placer.ts';
import type { CallRate } from './memory/call-rate.ts';
import type { LastWorlds } from './memory/last-worlds.ts';
import type { McpTools } from './memory/mcp-tools.ts';
import type { Seats } from './memory/seats.ts';
import type { SessionFacts } from './memory/session-facts.ts';
import type { UsualTiers } from './memory/usual-tiers.ts';
import type { Versions } from './memory/versions.ts';
import type { Metrics } from './metrics/counters.ts';
import type { Notices } from './news/notices.ts';
import type { FieldIndexes } from './query/field-indexes.ts';
import type { Queries } from './query/queries.ts';
import type { Holds } from './shares/holds.ts';
import type { SecretsInUse } from './tokens/secrets-in-use.ts';

export type Parts = {
  config: ControlConfig;
  /** Base address under which clients reach this control plane; known once it listens. */
  publicUrl: () => string;
  db: Database;
  /** What agents did, by connections of its own. */
  traces: TraceStore;
  callWrites: CallWrites;
  blobs: Blobs;
  smallBlobs: SmallBlobs;
  addresses: SignedAddresses;
  notices: Notices;
  admission: Admission;
  placer: Placer;
  browserPlacer: BrowserPlacer;
  metrics: Metrics;
  versions: Versions;
  lastWorlds: LastWorlds;
  usualTiers: UsualTiers;
  secrets: SecretsInUse;
  facts: SessionFacts;
  seats: Seats;
  callRate: CallRate;
  /** Unpacked snapshots, which all programs of this machine share that use the folder. */
  snapshots: SnapshotFiles;
  /** Queries of the rows of worlds, in processes. */
  queries: Queries;
  /** Indexes of fields that such queries ask by. */
  fieldIndexes: FieldIndexes;
  compiler: Compiler;
  /** Code of dashboards, built and run in processes. */
  dashboards: DashboardProcesses;
  /** Puts the rows that a push keeps beside those of its tree. */
  rowCarrier: RowCarrier;
  readBody: BodyReader;
  /** Reads what grades answered, for their scores. */
  readGrade: GradeReader;
  /** Requests that hold their answer, by project. */
  holds: Holds;
  /** The tools of versions as MCP shows them. */
  mcpTools: McpTools;
  tracer: Tracer;
  log: Log;
};
