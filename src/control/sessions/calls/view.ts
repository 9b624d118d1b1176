/** A call as clients see it: its free JSON as text, and no token of the service in it, whoever sent it. */
import type { CallListView, CallView } from '#wire/public-api/sessions/call.ts';
import { JsonText, jsonText } from '../../base/json/json-text.ts';
import { shownText } from '../../base/json/shown.ts';
import type { CallField, CallRow, ListedCall } from '../../db/sessions/calls.ts';
import type { KeyLevel } from '../../platform/tokens/tokens.ts';

const timestamp = (date: Date | null): string | null => date?.toISOString() ?? null;

const shown = (json: string): JsonText => new JsonText(shownText(json));

/** What a call answered, as a key may read it: a proof tells of how a task is solved, which public keys do not show. */
const shownOutput = (call: Pick<CallRow, 'kind' | 'outputJson'>, level: KeyLevel) =>
  call.kind === 'prove' && level === 'public' ? null : jsonText(call.outputJson);

/** The record of a call. What its host sent was looked through when it came. */
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

/** A call in a list, with the members that were asked for as far as the page has room. */
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
