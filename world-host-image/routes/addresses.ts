/**
 * Addresses of the vendor's API in what a session says and hears. The vendor's `base_url` stands in rows,
 * in the author's code and in the ledger's requests and answers; outside, the same place is the origin at
 * which the session is called. So answers and deliveries have the one put in place of the other, and requests
 * back again: rows are the same wherever their session is served, and clients that follow an address arrive.
 * The ledger has a delivery as it is sent, since its signature holds for that alone.
 *
 * An occurrence counts wherever it stands, in the middle of a comment, too, as long as the host and path
 * end there: `https://api.example.org` is no part of `https://api.example.org.uk`.
 */
import type { Contract } from '#language/contract.ts';

export type Addresses = {
  /** Where clients reach what has the vendor's address. */
  at: string;
  /** Text for clients: with addresses that they reach. */
  serve(text: string): string;
  /**
   * A value of a client's, with the vendor's addresses in all of its texts; undefined when they would
   * grow by more than `room` bytes of UTF-8.
   */
  takeBack(value: unknown, room: number): unknown;
  /** False for bytes of JSON or a form with nothing to take back, not even in escapes. */
  mayStandIn(bytes: Buffer): boolean;
};

/** What cannot stand after an address that ends there. */
const goesOn = '(?![\\p{L}\\p{N}_~%@-]|[.:][\\p{L}\\p{N}_])';

const escapePattern = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&');

type Replace = (text: string, onReplaced?: (address: string) => void) => string;

const replacer = (from: readonly string[], to: string): Replace => {
  // The longest first: one may begin like another.
  const sorted = [...new Set(from)].sort((a, b) => b.length - a.length);
  const plainly = to.replaceAll('$', '$$$$');
  let pattern: RegExp | undefined; // most texts hold no address
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

class OutOfRoom extends Error {}

/** A short origin may stand in a body a hundred thousand times, and a long address take its place. */
const takeBackWith =
  (replace: Replace, to: string): Addresses['takeBack'] =>
  (value, room) => {
    const length = Buffer.byteLength(to);
    let left = room;
    const count = (address: string): void => {
      left -= length - Buffer.byteLength(address);
      if (left < 0) throw new OutOfRoom();
    };
    try {
      return mapTexts(value, (text) => replace(text, count));
    } catch (error) {
      if (error instanceof OutOfRoom) return undefined;
      throw error;
    }
  };

/** The value with its texts changed; the same one, where none is. Names of members stay as they are. */
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
  // Arguments inherit nothing, for they may have any name.
  const copy: object = Object.getPrototypeOf(value) === null ? Object.create(null) : {};
  for (const [name, member] of members) {
    const shape = { configurable: true, enumerable: true, writable: true };
    Object.defineProperty(copy, name, { ...shape, value: member });
  }
  return copy;
};

/**
 * `origin`: where clients are told that the API is, below `prefix`; `also`: other origins at which the
 * session is called. What comes in may have any of the API's prefixes, whichever way it comes. Undefined for a
 * world without a vendor.
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
    takeBack: takeBackWith(replacer(known, vendor.baseUrl), vendor.baseUrl),
    mayStandIn: (bytes) => [...origins, '\\', '%'].some((text) => bytes.includes(text)),
  };
};
