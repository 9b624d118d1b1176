/** A call as clients see it, and as its host receives it. */
import type { HostCall } from '#wire/host-api/operations.ts';
import type { CallView } from '#wire/public-api/call.ts';
import type { CallRow } from '../db/calls.ts';

/** The record of a call. */
export const viewCall = (call: CallRow): CallView => ({
  id: call.id,
  sessionId: call.sessionId,
  seq: call.seq,
  kind: call.kind,
  name: call.name,
  input: call.input,
  state: call.state,
  output: call.output,
  error: call.error,
  changes: call.changes,
  queuedAt: call.queuedAt.toISOString(),
  claimedAt: call.claimedAt?.toISOString() ?? null,
  answeredAt: call.answeredAt?.toISOString() ?? null,
});

/** What a host needs of a call to run it. */
export const toHostCall = ({ id, seq, kind, name, input }: HostCall): HostCall => ({
  id,
  seq,
  kind,
  name,
  input,
});
