/**
 * Receives the reports of the session's browser at its world host, on the UI's own origin. The browser has entered the
 * session like any other browser, and also sends a key that no page has.
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

/** Returns true if the request is the browser's own report. */
export const isOfBrowser = ({ path }: Pick<UiRequest, 'path'>): boolean => path === browserLinkPath;

let check: ValidateFunction<BrowserReport> | undefined;

const readReport = (bytes: Uint8Array | undefined): BrowserReport | undefined => {
  check ??= new Ajv({ strict: false }).compile<BrowserReport>(BrowserReport);
  try {
    const value: unknown = JSON.parse(Buffer.from(bytes ?? []).toString('utf8'));
    return check(value) ? value : undefined;
  } catch {
    return undefined; // the browser gets a 400
  }
};

/** Answers a report of the browser. The answer is held back until there are orders, or until the session ends. */
export const answerBrowser = async (
  { browser, token }: Session,
  request: UiRequest,
  ending: AbortSignal,
): Promise<UiAnswer> => {
  if (browser == null) return uiJson(404, { message: 'the session has no browser' });
  const key = request.headers[browserKeyHeader] ?? '';
  if (!new Secret(token.derive(browserKeyPurpose)).matches(key)) {
    return uiJson(403, { message: 'only the session’s browser may send reports here' });
  }
  const report = readReport(await request.readBody());
  if (report === undefined)
    return uiJson(400, { message: 'the body is not a report of a browser' });
  return uiJson(200, await browser.exchange(report, ending));
};
