/**
 * Deliveries of webhooks that the service itself posts to their receivers, and why one may fail. Each is sent at
 * most once: what failed is recorded with its reason and not tried again.
 */

/** Why a delivery has no answer. */
export const pushFailures = [
  /** Its URL breaks a rule of push: no https, another port, credentials, a name that is not public. */
  'url',
  /** Its URL, or its name, leads to an address that is not public. */
  'address',
  /** A header that cannot be sent. */
  'header',
  /** The name was not resolved. */
  'dns',
  /** No connection was made. */
  'connect',
  /** A connection was made, but not a secure one with who was meant. */
  'tls',
  /** The receiver had no answer in time. */
  'timeout',
  /** What came was no answer of HTTP. */
  'answer',
  /** The connection ended before the answer. */
  'closed',
  /** More waited for this receiver than may. */
  'full',
  /** It waited for too long. */
  'late',
  /** Push was turned off before it was sent. */
  'push_off',
  /** Who was sending it ended before the answer was known. */
  'sender_ended',
] as const;
export type PushFailure = (typeof pushFailures)[number];

/** A failure, with a sentence of what happened. */
export type PushProblem = { code: PushFailure; message: string };

/** What a receiver has for an answer, from resolving its name to the last byte that is read, in milliseconds. */
export const pushAnswerMs = 10_000;

/** The reason of a delivery that was begun and of which nothing is known. */
export const senderEnded: PushProblem = {
  code: 'sender_ended',
  message: 'sender ended before the answer was known',
};
