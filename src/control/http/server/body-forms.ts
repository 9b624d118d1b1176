/**
 * Forms of request bodies: JSON, and protobuf for operations that take it. A request in protobuf is answered in
 * protobuf, refusals included, as OTLP requires.
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

/** Returns the body form that a `Content-Type` names; anything but protobuf counts as JSON. */
export const formOf = (contentType: unknown): BodyForm =>
  typeof contentType === 'string' &&
  contentType.split(';', 1)[0]?.trim().toLowerCase() === protobufType
    ? 'protobuf'
    : 'json';

/** Throws an error with status 415 if the operation does not take the form. */
export const checkForm = (form: BodyForm, { protobuf }: Pick<OperationShape, 'protobuf'>): void => {
  if (form === 'json' || protobuf === true) return;
  throw Object.assign(new Error(`a body is taken as application/json, not as ${protobufType}`), {
    statusCode: 415,
  });
};

/** Encodes the body of an OTLP operation's answer as protobuf. */
export const writeAnswer = (body: unknown): Uint8Array =>
  encodeAnswer((body as { partialSuccess?: PartialSuccess }).partialSuccess);

/** Encodes a refusal as a protobuf status whose message is the `message` of the JSON form. */
export const writeRefusal = (status: number, { message }: ErrorBody): Uint8Array =>
  encodeStatus(status, message);
