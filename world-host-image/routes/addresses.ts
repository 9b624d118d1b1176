/**
 * Translates between the vendor's addresses and those of the session. Rows, the author's code and the ledger's requests
 * and answers contain the vendor's `base_url`. Clients reach the same API at the origin of the session. In answers and
 * deliveries, the `base_url` is therefore replaced by the session's origin, and in requests the origin is replaced by
 * the `base_url`. Rows are thus the same wherever a session is served, and clients can follow addresses. The ledger
 * records a delivery as sent, since its signature is valid only for the bytes that were sent.
 *
 * An address is translated wherever it occurs, even in the middle of a comment, provided that its host and path end
 * there: `https://api.example.org` does not match in `https://api.example.org.uk`.
 */
import type { Contract } from '#language/contract.ts';

export type Addresses = {
  /** Origin and prefix at which clients reach the vendor's API. */
  at: string;
  /** Returns text for clients: the vendor's addresses are replaced by addresses that clients can reach. */
  serve(text: string): string;
  /**
   * Returns a client's value with the vendor's addresses in all of its strings. Undefined if the value would grow by
   * more than `growthBytes` bytes of UTF-8.
   */
  restore(value: unknown, growthBytes: number): unknown;
  /** Returns false if bytes of JSON or a form certainly contain no address to translate, not even in escapes. */
  mayOccurIn(bytes: Buffer): boolean;
};

/** Lookahead that rejects characters that would continue the host or path of an address. */
const goesOn = '(?![\\p{L}\\p{N}_~%@-]|[.:][\\p{L}\\p{N}_])';

const escapePattern = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&');

type Replace = (text: string, onReplaced?: (address: string) => void) => string;

const replacer = (from: readonly string[], to: string): Replace => {
  // Longest first, because one address may be a prefix of another.
  const sorted = [...new Set(from)].sort((a, b) => b.length - a.length);
  const plainly = to.replaceAll('$', '$$$$');
  let pattern: RegExp | undefined; // compiled at first use: most texts contain no address
  return (text, onReplaced) => {
    if (!sorted.some((address) => text.includes(address))) return text;
    pattern ??= new RegExp(`(?:${sorted.map(escapePattern).join('|')})${goesOn}`, 'gu');
    if (onReplaced === undefined) return text.replace(pattern, plainly);
    return text.replace(pattern, (address) => {
      onReplaced(address);
      return to;
    });
  };
};

class TooMuchGrowth extends Error {}

/**
 * Limits the growth of a value, because a short origin may occur 100,000 times in a body and be replaced by a longer
 * address.
 */
const restoreWith =
  (replace: Replace, to: string): Addresses['restore'] =>
  (value, growthBytes) => {
    const length = Buffer.byteLength(to);
    let left = growthBytes;
    const count = (address: string): void => {
      left -= length - Buffer.byteLength(address);
      if (left < 0) throw new TooMuchGrowth();
    };
    try {
      return mapTexts(value, (text) => replace(text, count));
    } catch (error) {
      if (error instanceof TooMuchGrowth) return undefined;
      throw error;
    }
  };

/**
 * Returns the value with its strings changed, or the same object if no string changes. Names of members are not
 * changed.
 */
const mapTexts = (value: unknown, change: (text: string) => string): unknown => {
  if (typeof value === 'string') return change(value);
  if (typeof value !== 'object' || value === null) return value;
  let isChanged = false;
  const inner = (member: unknown): unknown => {
    const changed = mapTexts(member, change);
    isChanged ||= changed !== member;
    return changed;
  };
  if (Array.isArray(value)) {
    const items = value.map(inner);
    return isChanged ? items : value;
  }
  const members = Object.entries(value).map(([name, member]) => [name, inner(member)] as const);
  if (!isChanged) return value;
  // Arguments have no prototype, because they may have any name.
  const copy: object = Object.getPrototypeOf(value) === null ? Object.create(null) : {};
  for (const [name, member] of members) {
    const shape = { configurable: true, enumerable: true, writable: true };
    Object.defineProperty(copy, name, { ...shape, value: member });
  }
  return copy;
};

/**
 * Creates the translation. `origin` is where clients reach the API, below `prefix`; `also` lists other origins of the
 * session. In a request, addresses may have any of the API's prefixes, not only the prefix that the request itself
 * used. Returns undefined for a world without a vendor.
 */
export const createAddresses = (
  { vendor, api }: Pick<Contract, 'vendor' | 'api'>,
  origin: string,
  { prefix = '', also = [] }: { prefix?: string; also?: readonly string[] } = {},
): Addresses | undefined => {
  if (vendor === null) return undefined;
  const prefixes = ['', ...(api?.prefixes ?? [])];
  const origins = [origin, ...also];
  const known = origins.flatMap((one) => prefixes.map((below) => `${one}${below}`));
  const at = `${origin}${prefix}`;
  const serve = replacer([vendor.baseUrl], at);
  return {
    at,
    serve: (text) => serve(text),
    restore: restoreWith(replacer(known, vendor.baseUrl), vendor.baseUrl),
    mayOccurIn: (bytes) => [...origins, '\\', '%'].some((text) => bytes.includes(text)),
  };
};
