/**
 * Where the session's browser speaks with its world host, on the UI's own origin. It has entered the page as any browser,
 * and shows a key besides, which no page has.
 */
import { Ajv, type ValidateFunction } from 'ajv';
import { Secret } from '#runtime/secret.ts';
import {
  BrowserReport,
  browserKeyHeader,
  browserKeyPurpose,
  browserLinkPath,
} from '#wire/browser-link/exchange.ts';
import type { Session } from '../session/session.ts';
import { type UiAnswer, type UiRequest, uiJson } from './service.ts';

/** Whether a request is the browser's own. */
export const isOfBrowser = ({ path }: Pick<UiRequest, 'path'>): boolean => path === browserLinkPath;

let check: ValidateFunction<BrowserReport> | undefined;

const readReport = (bytes: Uint8Array | undefined): BrowserReport | undefined => {
  check ??= new Ajv({ strict: false }).compile<BrowserReport>(BrowserReport);
  try {
    const value: unknown = JSON.parse(Buffer.from(bytes ?? []).toString('utf8'));
    return check(value) ? value : undefined;
  } catch {
    return undefined; // which is told as a report that cannot be read
  }
};

/** Takes a report of the browser; it is held for orders, at most until the session ends. */
export const answerBrowser = async (
  { browser, token }: Session,
  request: UiRequest,
  ending: AbortSignal,
): Promise<UiAnswer> => {
  if (browser == null) return uiJson(404, { message: 'the session has no browser' });
  const key = request.headers[browserKeyHeader] ?? '';
  if (!new Secret(token.derive(browserKeyPurpose)).matches(key)) {
    return uiJson(403, { message: 'only the session’s browser itself speaks here' });
  }
  const report = readReport(await request.readBody());
  if (report === undefined) return uiJson(400, { message: 'this is no report of a browser' });
  return uiJson(200, await browser.exchange(report, ending));
};
