/** Builds the lines that answer requests of a worker's code: requests for store operations, and requests of tests. */
import { describeSize } from '../boundary/exit.ts';
import {
  type HostMessage,
  type Refusal,
  tooDeep,
  type WorkerMessage,
} from '../boundary/protocol.ts';
import { refusalOf, runOperation } from '../rows/operations.ts';
import type { RunRequest, StoreAccess } from '../run.ts';

export type Ask = Extract<WorkerMessage, { type: 'ask' }>;

/** Encodes a message as a line; returns undefined if it exceeds the maximum size. */
export const encode = (message: HostMessage, maxBytes: number): string | undefined => {
  const line = JSON.stringify(message);
  return Buffer.byteLength(line) <= maxBytes ? line : undefined;
};

const tooLarge = (entity: string, detail: string): Refusal => ({
  ...{ entity, kind: 'too_large', detail },
  ...{ field: null, pointer: null },
});

const argumentTooDeep = `the argument ${tooDeep}`;

const tooManyRows = (maxBytes: number): string =>
  `more than ${describeSize(maxBytes)} of rows: ask for fewer with limit and offset`;

/** Builds the line that refuses a request. */
const refusalLine = ({ nonce, id }: Ask, refusal: Refusal): string =>
  JSON.stringify({ type: 'reply', nonce, id, refusal } satisfies HostMessage);

/** Builds the line that answers one store operation. Throws only if the host is at fault. */
export const replyTo = (ask: Ask, access: StoreAccess, maxBytes: number): string => {
  const { nonce, id } = ask;
  const { entity } = ask.arguments;
  const named = typeof entity === 'string' ? entity : '';
  if (ask.isTooDeep) return refusalLine(ask, tooLarge(named, argumentTooDeep));
  try {
    const value = runOperation(access, ask.operation, ask.arguments);
    // The nonce needs no escaping, because the host made it.
    const line = `{"type":"reply","nonce":"${nonce}","id":${id},"value":${value}}`;
    const isShort = Buffer.byteLength(line) <= maxBytes;
    return isShort ? line : refusalLine(ask, tooLarge(named, tooManyRows(maxBytes)));
  } catch (error) {
    const refusal = refusalOf(error, ask.arguments);
    if (refusal === undefined) throw error;
    return refusalLine(ask, refusal);
  }
};

/** Builds the line that answers a request of tests, once its answer is known. Rejects only if the host is at fault. */
export const replyLater = async (
  ask: Ask,
  answer: NonNullable<RunRequest['answer']>,
  maxBytes: number,
): Promise<string> => {
  const { nonce, id, operation } = ask;
  if (ask.isTooDeep) return refusalLine(ask, tooLarge(operation, argumentTooDeep));
  try {
    const value = (await answer(operation, ask.arguments)) ?? null;
    const detail = `the answer is over ${describeSize(maxBytes)}`;
    return (
      encode({ type: 'reply', nonce, id, value }, maxBytes) ??
      refusalLine(ask, tooLarge(operation, detail))
    );
  } catch (error) {
    const refusal = refusalOf(error, ask.arguments);
    if (refusal === undefined) throw error;
    return refusalLine(ask, refusal);
  }
};
