/** Stores observed exchanges as captures: each is assigned to its operation, and redacted like any capture. */
import { hash } from 'node:crypto';
import { renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type {
  Contract,
  PathSegment,
  Row,
  VendorContract,
  VendorOperation,
} from '#language/contract.ts';
import { captureFolder } from '#language/files/capture-json.ts';
import { languageLimits } from '#language/limits.ts';
import { partsOf, pathArguments } from '#language/path-segments.ts';
import { isDeeperThan } from '#language/read/values.ts';
import { makeFoldersSync } from '#runtime/folders.ts';
import { nextCursor } from '../capture/cursor.ts';
import { captureFileOf } from '../capture/keep-capture.ts';
import { requestKey } from '../capture/requests.ts';
import type { SeenExchange } from '../draft/exchange.ts';
import { createAnswerRedaction } from '../redact/redact-answer.ts';
import type { Secrets } from '../redact/secrets.ts';

type Mirrored = Contract & { vendor: VendorContract };

const escapeText = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

const patternOf = (segments: readonly PathSegment[]): RegExp => {
  const parts = segments.map((segment) => {
    if ('rest' in segment) return '(.+)';
    return partsOf(segment)
      .map((part) => ('literal' in part ? escapeText(part.literal) : '([^/]+?)'))
      .join('');
  });
  return new RegExp(`^/${parts.join('/')}/?$`);
};

const decode = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

/** Orders operations with fewer arguments first: `/users/me` before `/users/{id}`. */
const byArguments = (a: VendorOperation, b: VendorOperation): number =>
  pathArguments(a.segments).length - pathArguments(b.segments).length;

/** Returns the operation of an exchange, and its arguments; undefined if none matches. */
export const matchExchange = (
  { vendor }: Mirrored,
  { method, url }: Pick<SeenExchange, 'method' | 'url'>,
): { operation: VendorOperation; given: Row } | undefined => {
  const { pathname, searchParams } = new URL(url);
  const base = new URL(vendor.baseUrl).pathname.replace(/\/+$/, '');
  if (!pathname.startsWith(base)) return undefined;
  const path = pathname.slice(base.length);
  for (const operation of [...vendor.operations].sort(byArguments)) {
    if (operation.method !== method) continue;
    const found = patternOf(operation.segments).exec(path);
    if (found === null) continue;
    const names = pathArguments(operation.segments);
    const given: Row = Object.fromEntries(
      names.map((name, index) => [name, decode(found[index + 1] ?? '')]),
    );
    for (const { name, repeated } of operation.params) {
      const values = [...searchParams.getAll(name), ...searchParams.getAll(`${name}[]`)];
      if (values.length > 0) given[name] = repeated ? values : values[0];
    }
    return { operation, given };
  }
  return undefined;
};

/**
 * Creates a function that stores an exchange as a capture. It returns the file, or the reason why the exchange is not
 * stored.
 */
export const createKeeper = (contract: Mirrored, folder: string, secrets: Secrets) => {
  const { vendor } = contract;
  const rule = vendor.capture.cursor;
  const pages = new Map<string, number>();
  return (exchange: SeenExchange): { file: string } | { reason: string } => {
    const match = matchExchange(contract, exchange);
    if (match === undefined) return { reason: 'no operation matches it' };
    const { operation, given } = match;
    const { body, request, status, headers } = exchange;
    if (body === undefined) return { reason: 'its body is not JSON' };
    if (status === 401 || status === 429 || status >= 500) return { reason: `status ${status}` };
    if (isDeeperThan(body, languageLimits.depth))
      return { reason: 'its body is nested too deeply' };
    const sent = request === undefined ? '' : hash('sha256', JSON.stringify(request)).slice(0, 12);
    const key = requestKey(vendor.slug, operation.name + sent, given, 1);
    const hasCursor = rule !== null && new URL(exchange.url).searchParams.has(rule.param);
    const page = hasCursor ? (pages.get(key) ?? 0) + 1 : 1;
    pages.set(key, page);
    const found =
      rule === null || status > 299 ? { next: null } : nextCursor(rule, { headers, body });
    const isPaged = rule !== null && operation.method === 'GET';
    const isLast = 'next' in found && found.next === null;
    const file = captureFileOf(contract, createAnswerRedaction(contract, secrets), {
      ...{ operation, arguments: given, status, headers, at: exchange.at, body },
      ...(isPaged ? { page: { number: page, isLast } } : {}),
      ...(request === undefined ? {} : { request }),
    });
    const number = isPaged ? `-${String(page).padStart(4, '0')}` : '';
    const path = `${captureFolder}${operation.name}/${key.slice(0, 12)}${number}.json`;
    const target = join(folder, path);
    makeFoldersSync(dirname(target));
    const beside = join(dirname(target), '.capture-under-way');
    writeFileSync(beside, `${JSON.stringify(file, null, 2)}\n`);
    renameSync(beside, target);
    return { file: path };
  };
};
