/** The parts that the program wires together once. Each function takes only those it needs. */
import type { Log } from '#runtime/log.ts';
import type { Tracer } from '#runtime/tracing.ts';
import type { Blobs } from './blobs/blobs.ts';
import type { SmallBlobs } from './blobs/small.ts';
import type { BodyReader } from './bodies/reader.ts';
import type { CallRate } from './calls/rate.ts';
import type { Seats } from './calls/seats.ts';
import type { ControlConfig } from './config.ts';
import type { Placer } from './db/placement.ts';
import type { Database } from './db/pool.ts';
import type { Metrics } from './metrics.ts';
import type { Notices } from './notify.ts';
import type { SecretsInUse } from './secrets-in-use.ts';
import type { SessionFacts } from './sessions/facts.ts';
import type { Compiler } from './worlds/compiler.ts';
import type { Versions } from './worlds/versions.ts';

export type Parts = {
  config: ControlConfig;
  /** Base address under which clients reach this control plane; known once it listens. */
  publicUrl: () => string;
  db: Database;
  blobs: Blobs;
  smallBlobs: SmallBlobs;
  notices: Notices;
  placer: Placer;
  metrics: Metrics;
  versions: Versions;
  secrets: SecretsInUse;
  facts: SessionFacts;
  seats: Seats;
  callRate: CallRate;
  compiler: Compiler;
  readBody: BodyReader;
  tracer: Tracer;
  log: Log;
};
