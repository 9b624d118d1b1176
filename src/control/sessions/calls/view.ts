/**
 * Converts calls to the form that clients see. Values without a fixed schema stay JSON text. Tokens of the service are
 * redacted, both in data from clients and in data from hosts.
 */
import type { CallListView, CallView } from '#wire/public-api/sessions/call.ts';
import { JsonText, jsonText } from '../../base/json/json-text.ts';
import { shownText } from '../../base/json/shown.ts';
import type { CallField, CallRow, ListedCall } from '../../db/sessions/calls.ts';
import type { KeyLevel } from '../../platform/tokens/tokens.ts';

const timestamp = (date: Date | null): string | null => date?.toISOString() ?? null;

const shown = (json: string): JsonText => new JsonText(shownText(json));

/**
 * Returns the output that the key may see. The output of a proof reveals how the task is solved, so a public key does
 * not see it.
 */
const shownOutput = (call: Pick<CallRow, 'kind' | 'outputJson'>, level: KeyLevel) =>
  call.kind === 'prove' && level === 'public' ? null : jsonText(call.outputJson);

/** Returns the full view of a call. Data from its host was already redacted when it arrived. */
export const viewCall = (call: CallRow, level: KeyLevel): CallView => ({
  id: call.id,
  sessionId: call.sessionId,
  seq: call.seq,
  kind: call.kind,
  name: shownText(call.name),
  input: shown(call.inputJson),
  state: call.state,
  output: shownOutput(call, level),
  error: jsonText(call.errorJson) as unknown as CallView['error'],
  changes: new JsonText(call.changesJson) as unknown as CallView['changes'],
  queuedAt: call.queuedAt.toISOString(),
  claimedAt: timestamp(call.claimedAt),
  answeredAt: timestamp(call.answeredAt),
});

const omittedOf = (fields: readonly CallField[]): string[] => [
  ...fields.filter((field) => field !== 'details'),
  'error',
  'changes',
];

/**
 * Returns a function that builds the view of a call in a list. The view has the requested members as long as the page's
 * size budget suffices.
 */
export const viewListedCall =
  (fields: readonly CallField[], level: KeyLevel) =>
  (call: ListedCall): CallListView => ({
    id: call.id,
    sessionId: call.sessionId,
    seq: call.seq,
    kind: call.kind,
    name: shownText(call.name),
    state: call.state,
    ...(call.inputJson === null ? {} : { input: shown(call.inputJson) }),
    ...(fields.includes('output') && call.isWhole ? { output: shownOutput(call, level) } : {}),
    error: jsonText(call.errorJson) as unknown as CallListView['error'],
    changes: new JsonText(call.changesJson ?? '{}') as unknown as CallListView['changes'],
    ...(call.isWhole ? {} : { omitted: omittedOf(fields) }),
    queuedAt: call.queuedAt.toISOString(),
    claimedAt: timestamp(call.claimedAt),
    answeredAt: timestamp(call.answeredAt),
  });
