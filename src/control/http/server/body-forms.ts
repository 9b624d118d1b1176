/**
 * Forms of request bodies: JSON, and protobuf for operations that accept it. A request in protobuf is answered in
 * protobuf, even with an error, as OTLP requires.
 */
import {
  encodeAnswer,
  encodeStatus,
  type PartialSuccess,
} from '#observability/otlp/protobuf-answers.ts';
import type { ErrorBody } from '#wire/errors.ts';
import type { OperationShape } from '#wire/operation.ts';
import type { BodyForm } from '../../base/bodies/keep.ts';

export const protobufType = 'application/x-protobuf';

/** Returns the body form that a `Content-Type` names; every type other than protobuf counts as JSON. */
export const formOf = (contentType: unknown): BodyForm =>
  typeof contentType === 'string' &&
  contentType.split(';', 1)[0]?.trim().toLowerCase() === protobufType
    ? 'protobuf'
    : 'json';

/** Throws an error with status 415 if the operation does not accept the form. */
export const checkForm = (form: BodyForm, { protobuf }: Pick<OperationShape, 'protobuf'>): void => {
  if (form === 'json' || protobuf === true) return;
  throw Object.assign(
    new Error(`this route accepts a body as application/json, not as ${protobufType}`),
    {
      statusCode: 415,
    },
  );
};

/** Encodes the body of an OTLP operation's answer as protobuf. */
export const writeAnswer = (body: unknown): Uint8Array =>
  encodeAnswer((body as { partialSuccess?: PartialSuccess }).partialSuccess);

/** Encodes an error answer as a protobuf status. Its message is the `message` of the error's JSON body. */
export const writeRefusal = (status: number, { message }: ErrorBody): Uint8Array =>
  encodeStatus(status, message);
