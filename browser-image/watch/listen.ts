/**
 * Listens to the browser's pages, and reports events for the session's ledger: navigations, and errors on the console.
 */
import { hideCredentials } from '#domain/credentials.ts';
import { isObject } from '#domain/json.ts';
import type { Driver } from '../cdp/driver.ts';
import type { Params } from '../cdp/message.ts';
import { createThrottle, type Report } from './events.ts';
import type { Tabs } from './tabs.ts';

/** Number of characters of a message or address that are reported. */
const keptChars = 2_000;

const shortened = (text: unknown): string =>
  hideCredentials(String(text ?? '').slice(0, keptChars));

/** Returns the text of a console call's arguments. */
const wordsOf = (args: unknown): string =>
  (Array.isArray(args) ? args : [])
    .map((arg: Params) => arg.value ?? arg.description ?? arg.unserializableValue ?? arg.type)
    .map((value) => (isObject(value) ? JSON.stringify(value) : String(value)))
    .join(' ');

const placeOf = (stack: unknown): string => {
  const frames = isObject(stack) && Array.isArray(stack.callFrames) ? stack.callFrames : [];
  return isObject(frames[0]) ? String(frames[0].url ?? '') : '';
};

/** Enables the event domains of a page that the listeners need. */
export const startReports = async (driver: Driver, sessionId: string): Promise<void> => {
  const methods = ['Page.enable', 'Runtime.enable', 'Log.enable', 'DOMStorage.enable'];
  await Promise.all(methods.map((method) => driver.send(method, {}, sessionId)));
};

export type PageReportOptions = {
  driver: Driver;
  tabs: () => Tabs | undefined;
  report: Report;
  /** Returns true if no client or viewer could answer a dialog, which would otherwise block its page for good. */
  isAlone(): boolean;
  /** Called when cookies, storage or tabs may have changed. */
  onChange(): void;
};

/** Starts to listen. Errors beyond the limit for a second are counted, not reported. */
export const reportPages = ({
  driver,
  tabs,
  report,
  isAlone,
  onChange,
}: PageReportOptions): void => {
  const throttle = createThrottle();
  const tellError = (message: unknown, url: unknown): void => {
    const error = {
      kind: 'console_error',
      message: shortened(message),
      url: shortened(url),
    } as const;
    throttle((left) => report({ ...error, ...left }));
  };
  driver.on('Page.frameNavigated', ({ frame }, sessionId) => {
    onChange();
    const { parentId, url, unreachableUrl } = frame as Params;
    if (parentId !== undefined || url === 'about:blank') return;
    const tab = tabs()?.bySession(sessionId)?.id ?? '';
    report({ kind: 'navigated', url: shortened(unreachableUrl ?? url), tab });
  });
  driver.on('Page.navigatedWithinDocument', ({ url }, sessionId) => {
    onChange();
    report({ kind: 'navigated', url: shortened(url), tab: tabs()?.bySession(sessionId)?.id ?? '' });
  });
  driver.on('Runtime.consoleAPICalled', ({ type, args, stackTrace }) => {
    if (type === 'error' || type === 'assert') tellError(wordsOf(args), placeOf(stackTrace));
  });
  driver.on('Runtime.exceptionThrown', ({ exceptionDetails }) => {
    const { text, exception, url, stackTrace } = exceptionDetails as Params;
    const words = isObject(exception) ? (exception.description ?? exception.value) : undefined;
    tellError(words ?? text, url ?? placeOf(stackTrace));
  });
  driver.on('Log.entryAdded', ({ entry }) => {
    const { level, text, url } = entry as Params;
    if (level === 'error') tellError(text, url);
  });
  driver.on('Page.javascriptDialogOpening', ({ type }, sessionId) => {
    if (!isAlone()) return;
    const accept = type === 'alert' || type === 'beforeunload';
    // A client or viewer that connected this moment may have answered it.
    driver.send('Page.handleJavaScriptDialog', { accept }, sessionId).catch(() => undefined);
  });
  for (const what of ['Added', 'Updated', 'Removed']) {
    driver.on(`DOMStorage.domStorageItem${what}`, onChange);
  }
  driver.on('DOMStorage.domStorageItemsCleared', onChange);
};
