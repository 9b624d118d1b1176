/**
 * Performs one operation for a caller: reads the body, checks the request against the operation's schemas, and runs the
 * handler within the share of the caller's project. `server.ts` has already checked authentication and access.
 */
import { zeroByteIn } from '../../base/bodies/zero-bytes.ts';
import { isZeroByteError } from '../../db/core/errors.ts';
import type { BodyReader } from '../../worlds/compile/body-reader.ts';
import { formOf } from './body-forms.ts';
import type { Caller, Endpoint, RequestParts } from './endpoint.ts';
import type { Share } from './fair-share.ts';
import type { FindFairnessKey } from './fairness-keys.ts';
import type { ReceivedBody } from './inflate.ts';
import { createValidator, throwInvalid, type Validator } from './validate.ts';

/** Services that are needed to perform an operation. */
export type RequestServices = {
  findFairnessKey: FindFairnessKey;
  readBody: BodyReader;
  share: Share;
};

/** Request as it was received, with its body as bytes. */
export type RawRequest = Omit<RequestParts, 'body' | 'headers'> &
  ReceivedBody & { headers: Readonly<Record<string, unknown>> };

export type CallContext = {
  caller: Caller;
  signal: AbortSignal;
  /** Called when the body has been read. */
  onRead?(): void;
};

export type Performer = {
  validate: Validator;
  /**
   * Returns the handler's answer. Throws the handler's errors, and `invalid` for input that the operation does not
   * accept.
   */
  perform(request: RawRequest, context: CallContext): ReturnType<Endpoint['handle']>;
};

/** Rethrows an error. If the database refused a text because of a zero byte, throws an error that names the field. */
const throwNamed = (error: unknown, body: unknown): never => {
  const problem = isZeroByteError(error) ? zeroByteIn(body) : undefined;
  if (problem !== undefined) throwInvalid([problem], error);
  throw error;
};

/** Creates the performer of one endpoint. */
export const createPerformer = (
  { operation, yieldToOpens, handle }: Endpoint,
  { findFairnessKey, readBody, share }: RequestServices,
): Performer => {
  const validate = createValidator(operation);
  return {
    validate,
    async perform({ params, query, headers, bytes, inflatesTo }, { caller, signal, onRead }) {
      const isKeyed = headers['idempotency-key'] !== undefined;
      const fairnessKey = () => findFairnessKey(caller, params);
      const body = { operation: operation.id, fairnessKey, bytes, inflatesTo, signal };
      await yieldToOpens?.();
      const read = await readBody(body, { isKeyed, form: formOf(headers['content-type']) });
      onRead?.();
      const parts = { params, query, headers: { ...headers }, body: read.body };
      validate.whole(parts, read.problems);
      const work = () => handle(parts, { caller, signal });
      return share(caller, query, work).catch((error: unknown) => throwNamed(error, parts.body));
    },
  };
};
