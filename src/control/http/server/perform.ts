/**
 * Does one operation for a caller: its body is read and its parts are checked as its schemas say, and its handler
 * works within the share of the caller's project. Who calls, and whether they may, was found out before.
 */
import { zeroByteIn } from '../../base/bodies/zero-bytes.ts';
import { isOfZeroByte } from '../../db/core/errors.ts';
import type { BodyReader } from '../../worlds/compile/body-reader.ts';
import { formOf } from './body-forms.ts';
import type { Caller, Endpoint, RequestParts } from './endpoint.ts';
import type { Share } from './fair-share.ts';
import type { FindAsker } from './fairness-keys.ts';
import type { ReceivedBody } from './inflate.ts';
import { createValidator, throwInvalid, type Validator } from './validate.ts';

/** What operations are done with. */
export type Ways = { findAsker: FindAsker; readBody: BodyReader; share: Share };

/** A request as it came, its body in bytes. */
export type RawRequest = Omit<RequestParts, 'body' | 'headers'> &
  ReceivedBody & { headers: Readonly<Record<string, unknown>> };

export type Asking = {
  caller: Caller;
  signal: AbortSignal;
  /** Told when the body has been read. */
  onRead?(): void;
};

export type Performer = {
  validate: Validator;
  /** Throws what the handler throws, and `invalid` for what is not as the operation takes it. */
  perform(request: RawRequest, asking: Asking): ReturnType<Endpoint['handle']>;
};

/** Where the database refused a zero byte, the field that holds it is named. */
const throwNamed = (error: unknown, body: unknown): never => {
  const problem = isOfZeroByte(error) ? zeroByteIn(body) : undefined;
  if (problem !== undefined) throwInvalid([problem], error);
  throw error;
};

/** Makes what does an endpoint's operation. */
export const createPerformer = (
  { operation, giveWay, handle }: Endpoint,
  { findAsker, readBody, share }: Ways,
): Performer => {
  const validate = createValidator(operation);
  return {
    validate,
    async perform({ params, query, headers, bytes, inflatesTo }, { caller, signal, onRead }) {
      const isKeyed = headers['idempotency-key'] !== undefined;
      const asker = () => findAsker(caller, params);
      const body = { operation: operation.id, asker, bytes, inflatesTo, signal };
      await giveWay?.();
      const read = await readBody(body, { isKeyed, form: formOf(headers['content-type']) });
      onRead?.();
      const parts = { params, query, headers: { ...headers }, body: read.body };
      validate.whole(parts, read.problems);
      const work = () => handle(parts, { caller, signal });
      return share(caller, query, work).catch((error: unknown) => throwNamed(error, parts.body));
    },
  };
};
