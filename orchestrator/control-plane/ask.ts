/** Sends one request to the control plane, with a deadline, since an answer after the deadline would be of no use. */
import { AppError } from '#domain/error.ts';
import type { Client } from '#wire/client.ts';
import type { Answer, ClientInput, OperationShape } from '#wire/operation.ts';

/** Sends an operation and returns the answer. Throws `timeout` when none arrives within this many milliseconds. */
export const ask = async <Shape extends OperationShape>(
  client: Client,
  shape: Shape,
  input: ClientInput<Shape>,
  timeoutMs: number,
): Promise<Answer<Shape>> => {
  const deadline = AbortSignal.timeout(timeoutMs);
  const signal = input.signal === undefined ? deadline : AbortSignal.any([input.signal, deadline]);
  try {
    return await client.send(shape, { ...input, signal });
  } catch (cause) {
    if (!deadline.aborted) throw cause;
    throw new AppError('timeout', `${shape.id}: no answer within ${timeoutMs} ms`, { cause });
  }
};
