/**
 * Webhook deliveries that the service itself posts to their receivers, and the reasons why a delivery fails. Each
 * delivery is sent at most once: a failed delivery is recorded with its reason and not retried.
 */

/** Reasons why a delivery has no answer. */
export const pushFailures = [
  /** The URL breaks a rule of push: no https, another port, credentials, a name that is not public. */
  'url',
  /** The URL, or its name, leads to an address that is not public. */
  'address',
  /** A header cannot be sent. */
  'header',
  /** The name was not resolved. */
  'dns',
  /** No connection could be made. */
  'connect',
  /** The TLS handshake failed or the certificate did not match the receiver. */
  'tls',
  /** The receiver did not answer in time. */
  'timeout',
  /** The response is not HTTP. */
  'answer',
  /** The connection ended before the answer did. */
  'closed',
  /** The queue of this receiver was full. */
  'full',
  /** The delivery was queued for too long. */
  'late',
  /** Push was turned off before the delivery was sent. */
  'push_off',
  /** The program that sent the delivery ended before the answer was known. */
  'sender_ended',
] as const;
export type PushFailure = (typeof pushFailures)[number];

/** A failure of a delivery, with a sentence that describes the failure. */
export type PushProblem = { code: PushFailure; message: string };

/**
 * Time limit of a delivery in milliseconds, from the start of name resolution to the last byte of the answer that is
 * read.
 */
export const pushAnswerMs = 10_000;

/** Problem of a delivery that was started and whose result is unknown. */
export const senderEnded: PushProblem = {
  code: 'sender_ended',
  message: 'sender ended before the answer was known',
};
