/**
 * Bounds on what one export holds, by count: bytes that are cheap to send may say very much. They are held to before
 * anything is made of the bytes.
 */

export const exportBounds = {
  resources: 1_000,
  scopes: 10_000,
  spans: 50_000,
  /** Attributes of resources, scopes, spans and events, and the events and links themselves. */
  attributes: 200_000,
  /** Fields of protobuf messages, all together. */
  fields: 2_000_000,
};

export type ExportCount = keyof typeof exportBounds;

/** Says that a body holds more of something than it may; the server answers 413 by its status. */
export class HoldsTooMany extends Error {
  readonly statusCode = 413;
  constructor(what: string, most: number) {
    super(`the body holds more than ${most} ${what}: send it in several`);
  }
}
