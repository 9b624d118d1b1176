/**
 * The forms in which bodies come: JSON, and protobuf where an operation takes that. Who sends protobuf is answered in
 * it, refusals too, as OTLP has it.
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

/** The form that a `Content-Type` names. */
export const formOf = (contentType: unknown): BodyForm =>
  typeof contentType === 'string' &&
  contentType.split(';', 1)[0]?.trim().toLowerCase() === protobufType
    ? 'protobuf'
    : 'json';

/** Throws what is answered 415 for a form that the operation does not take. */
export const checkForm = (form: BodyForm, { protobuf }: Pick<OperationShape, 'protobuf'>): void => {
  if (form === 'json' || protobuf === true) return;
  throw Object.assign(new Error(`a body is taken as application/json, not as ${protobufType}`), {
    statusCode: 415,
  });
};

/** The bytes of an answer that an operation gives. */
export const writeAnswer = (body: unknown): Uint8Array =>
  encodeAnswer((body as { partialSuccess?: PartialSuccess }).partialSuccess);

/** The bytes of a refusal: what its JSON form says in `message`. */
export const writeRefusal = (status: number, { message }: ErrorBody): Uint8Array =>
  encodeStatus(status, message);
