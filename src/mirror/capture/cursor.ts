/** Finds the next page in an answer: from a field of the body or a header, in the form that the vendor uses. */
import { own } from '#domain/json.ts';
import type { VendorContract } from '#language/contract.ts';
import { valueAtPath } from '#language/field-path.ts';

type CursorRule = NonNullable<VendorContract['capture']['cursor']>;

/** Parts of an answer that may contain a cursor. */
export type Page = { headers: Readonly<Record<string, string>>; body: unknown };

/**
 * Cursor found in an answer. `next` is the value of the cursor's parameter; null means that there is no further page.
 */
export type Cursor = { next: string | null } | { problem: string };

/** Returns the address of `rel="next"` in a `Link` header; null without one. */
const linkToNext = (header: string): string | null => {
  for (const part of header.split(/,\s*(?=<)/)) {
    const [, url = '', rest = ''] = /^\s*<([^>]*)>(.*)$/s.exec(part) ?? [];
    const [, quoted, plain = ''] = /;\s*rel\s*=\s*(?:"([^"]*)"|([^\s;,"]+))/i.exec(rest) ?? [];
    if ((quoted ?? plain).toLowerCase().split(/\s+/).includes('next')) return url;
  }
  return null;
};

/** Reads a cursor from a text. If the text is a URL, the cursor is the value of the parameter in it. */
const fromText = (text: string, param: string): Cursor => {
  if (text === '') return { next: null };
  const isAddress = /^https?:\/\//i.test(text) || /^[/?][^?]*\?|^\?/.test(text);
  if (!isAddress) return { next: text };
  const url = URL.parse(text, 'http://vendor.invalid');
  const value = url?.searchParams.get(param) ?? null;
  return value === null || value === ''
    ? { problem: `the address of the next page has no parameter "${param}"` }
    : { next: value };
};

/** Returns the cursor of the page after this one. */
export const nextCursor = ({ param, from }: CursorRule, { headers, body }: Page): Cursor => {
  if ('header' in from) {
    const name = from.header.toLowerCase();
    const header = (own(headers, name) ?? '').trim();
    if (name !== 'link') return fromText(header, param);
    return fromText(linkToNext(header) ?? '', param);
  }
  const value = valueAtPath(body, from.field);
  if (value === undefined || value === null || value === false) return { next: null };
  if (typeof value === 'number') return { next: String(value) };
  if (typeof value === 'string') return fromText(value, param);
  return { problem: `the cursor is ${Array.isArray(value) ? 'a list' : `a ${typeof value}`}` };
};
