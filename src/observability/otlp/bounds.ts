/**
 * Limits on the number of elements in one export. A small compressed body can expand to very many elements, so the
 * limits are checked before the body is parsed.
 */

export const exportBounds = {
  resources: 1_000,
  scopes: 10_000,
  spans: 50_000,
  /** Maximum number of attributes of resources, scopes, spans and events, plus the events and links themselves. */
  attributes: 200_000,
  /** Maximum number of fields of all protobuf messages together. */
  fields: 2_000_000,
};

export type ExportCount = keyof typeof exportBounds;

/** Thrown if a body has more elements of a kind than its limit; the server answers with status 413. */
export class HoldsTooMany extends Error {
  readonly statusCode = 413;
  constructor(what: string, most: number) {
    super(`the body holds more than ${most} ${what}: send them in several requests`);
  }
}
