/**
 * Limits on the number of elements in one export, because a small compressed body can expand to very many. They are
 * checked before the body is parsed.
 */

export const exportBounds = {
  resources: 1_000,
  scopes: 10_000,
  spans: 50_000,
  /** Attributes of resources, scopes, spans and events, plus the events and links themselves. */
  attributes: 200_000,
  /** Fields of all protobuf messages together. */
  fields: 2_000_000,
};

export type ExportCount = keyof typeof exportBounds;

/** Thrown when a body holds more elements of a kind than its limit; the server answers with the status 413. */
export class HoldsTooMany extends Error {
  readonly statusCode = 413;
  constructor(what: string, most: number) {
    super(`the body holds more than ${most} ${what}: send it in several`);
  }
}
