/** Dependencies of the session code: those of the world code, the assigners of hosts, and the writer of calls. */

import type { OpenPriority } from '../base/fairness/open-priority.ts';
import type { CallWrites } from '../db/sessions/batched-calls.ts';
import type { WorldParts } from '../worlds/parts.ts';
import type { SessionFacts } from './caches/session-facts.ts';
import type { Admission } from './scheduling/admission.ts';
import type { BrowserAssigner } from './scheduling/browser-assigner.ts';
import type { HostAssigner } from './scheduling/host-assigner.ts';
import type { WaitingHosts } from './scheduling/waiting-hosts.ts';

export type SessionParts = WorldParts & {
  callWrites: CallWrites;
  admission: Admission;
  hostAssigner: HostAssigner;
  browserAssigner: BrowserAssigner;
  facts: SessionFacts;
  waitingHosts: WaitingHosts;
  /** Gives session opens priority over telemetry writes. */
  openPriority: OpenPriority;
};
