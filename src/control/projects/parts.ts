/** Parts of the program that the code of projects needs, and all code that builds on it. */
import type { Log } from '#runtime/log.ts';
import type { Tracer } from '#runtime/tracing.ts';
import type { Holds } from '../base/fairness/request-holds.ts';
import type { ControlConfig } from '../config.ts';
import type { Database } from '../db/core/database.ts';
import type { Blobs } from '../platform/blobs/blobs.ts';
import type { SignedAddresses } from '../platform/blobs/signed.ts';
import type { SmallBlobs } from '../platform/blobs/small.ts';
import type { CallRate } from '../platform/limits/call-rate.ts';
import type { Notifications } from '../platform/notifications/notifications.ts';
import type { Metrics } from '../platform/telemetry/counters.ts';
import type { SecretsInUse } from '../platform/tokens/secrets-in-use.ts';
import type { DefaultTiers } from './default-tiers.ts';

export type ProjectParts = {
  config: ControlConfig;
  /**
   * Returns the base address at which clients reach this control plane; the address is known once the control plane
   * listens.
   */
  publicUrl: () => string;
  db: Database;
  blobs: Blobs;
  smallBlobs: SmallBlobs;
  addresses: SignedAddresses;
  notifications: Notifications;
  metrics: Metrics;
  secrets: SecretsInUse;
  callRate: CallRate;
  defaultTiers: DefaultTiers;
  /** Held requests (long polls), counted for each project. */
  holds: Holds;
  tracer: Tracer;
  log: Log;
};
