/**
 * Addresses of the vendor's API in what a session says and hears. The vendor's `base_url` stands in rows,
 * in the author's code and in the ledger; outside, the same place is the origin at which the session is
 * called. So answers and deliveries have the one put in place of the other, and requests back again: rows
 * are the same wherever their session is served, and clients that follow an address arrive.
 *
 * An occurrence counts wherever it stands, in the middle of a comment, too, as long as the host and path
 * end there: `https://api.example.org` is no part of `https://api.example.org.uk`.
 */
import type { Contract } from '#language/contract.ts';
import type { ApiAnswer } from './answer.ts';

export type Addresses = {
  /** Text for clients: with addresses that they reach. */
  serve(text: string): string;
  /** A value of a client's, with the vendor's addresses in all of its texts. */
  takeBack(value: unknown): unknown;
};

/** What cannot stand after an address that ends there. */
const goesOn = '(?![\\p{L}\\p{N}_~%@-]|[.:][\\p{L}\\p{N}_])';

const escapePattern = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&');

const replacer = (from: readonly string[], to: string): ((text: string) => string) => {
  // The longest first: one may begin like another.
  const sorted = [...new Set(from)].sort((a, b) => b.length - a.length);
  let pattern: RegExp | undefined; // most texts hold no address
  return (text) => {
    if (!sorted.some((address) => text.includes(address))) return text;
    pattern ??= new RegExp(`(?:${sorted.map(escapePattern).join('|')})${goesOn}`, 'gu');
    return text.replace(pattern, () => to);
  };
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
 * `served`: the address that clients are told; `also`: others at which the session is called. Undefined
 * for a world without a vendor.
 */
export const createAddresses = (
  { vendor }: Pick<Contract, 'vendor'>,
  served: string,
  also: readonly string[] = [],
): Addresses | undefined => {
  if (vendor === null) return undefined;
  const back = replacer([served, ...also], vendor.baseUrl);
  return {
    serve: replacer([vendor.baseUrl], served),
    takeBack: (value) => mapTexts(value, back),
  };
};

/** Bodies of other types, such as files and patches, are bytes that nobody may change. */
const isNotation = (contentType: string): boolean => /\b(?:json|xml|html)\b/i.test(contentType);

const contentTypeOf = ({ contentType, headers }: ApiAnswer): string =>
  Object.entries(headers).find(([name]) => name.toLowerCase() === 'content-type')?.[1] ??
  contentType;

/** The answer as its client is sent it. */
export const serveAnswer = (addresses: Addresses, answer: ApiAnswer): ApiAnswer => {
  const { body, headers } = answer;
  const served = Object.entries(headers).map(([name, text]) => [name, addresses.serve(text)]);
  return {
    ...answer,
    headers: Object.fromEntries(served),
    body: body !== null && isNotation(contentTypeOf(answer)) ? addresses.serve(body) : body,
  };
};
