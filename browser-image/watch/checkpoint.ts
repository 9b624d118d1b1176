/**
 * Takes and restores checkpoints, from which a lost browser resumes: cookies, storage and tabs of its own profile. A
 * checkpoint is taken over DevTools while the browser runs, and restored in another one. It leaves out contexts that
 * clients made, which end with their clients, and also IndexedDB, caches and service workers.
 */
import type { Driver } from '../cdp/driver.ts';
import type { Params } from '../cdp/message.ts';
import type { Tab, Tabs } from './tabs.ts';

type Entries = [name: string, value: string][];

export type Checkpoint = {
  /** Time at which the checkpoint was taken, ISO 8601 in UTC. */
  at: string;
  /** Cookies in the format of `Storage.getCookies`. */
  cookies: Params[];
  origins: { origin: string; localStorage: Entries }[];
  /** Open tabs in their order, each with the session storage of the origin that its address has. */
  tabs: { url: string; isActive: boolean; sessionStorage: Entries }[];
  /** Origins whose storage was left out because it was too large. */
  left?: string[];
};

/** Maximum size of the stored entries, in characters for each origin and kind of storage. */
const mostStorageChars = 2 ** 21;

export type Reading = {
  driver: Driver;
  isPage(url: string): boolean;
  /** Previous checkpoint, used for tabs that cannot be read now because their page is navigating or has crashed. */
  before: Checkpoint | undefined;
};

const keptBefore = ({ before }: Reading, { url }: Tab, isLocalStorage: boolean): Entries => {
  const { origin } = new URL(url);
  const local = before?.origins.find((one) => one.origin === origin)?.localStorage;
  const session = before?.tabs.find((one) => one.url === url)?.sessionStorage;
  return (isLocalStorage ? local : session) ?? [];
};

/** Reads the entries of a tab's storage; returns undefined if they are too large to be stored. */
const readStorage = async (
  reading: Reading,
  tab: Tab,
  isLocalStorage: boolean,
): Promise<Entries | undefined> => {
  const storageId = { securityOrigin: new URL(tab.url).origin, isLocalStorage };
  const asked = reading.driver.send('DOMStorage.getDOMStorageItems', { storageId }, tab.sessionId);
  const entries = await asked.then(
    (answer) => answer.entries as Entries,
    () => keptBefore(reading, tab, isLocalStorage),
  );
  const chars = entries.reduce((sum, [name, value]) => sum + name.length + value.length, 0);
  return chars > mostStorageChars ? undefined : entries;
};

/** Takes a checkpoint of the tabs that show pages of the session. */
export const takeCheckpoint = async (
  reading: Reading,
  tabs: Pick<Tabs, 'list' | 'active'>,
): Promise<Checkpoint> => {
  const standing = tabs
    .list()
    .filter(({ contextId, url }) => contextId === undefined && reading.isPage(url))
    .filter(({ url }) => url !== '' && url !== 'about:blank');
  const { cookies } = await reading.driver.send('Storage.getCookies');
  const local = new Map<string, Entries>();
  const left = new Set<string>();
  const kept: Checkpoint['tabs'] = [];
  for (const tab of standing) {
    const { origin } = new URL(tab.url);
    const session = await readStorage(reading, tab, false);
    const entries = local.get(origin) ?? (await readStorage(reading, tab, true));
    if (entries !== undefined) local.set(origin, entries);
    if (entries === undefined || session === undefined) left.add(origin);
    kept.push({ url: tab.url, isActive: tabs.active() === tab, sessionStorage: session ?? [] });
  }
  return {
    at: new Date().toISOString(),
    cookies: cookies as Params[],
    origins: [...local].map(([origin, localStorage]) => ({ origin, localStorage })),
    tabs: kept,
    ...(left.size === 0 ? {} : { left: [...left] }),
  };
};

/**
 * Returns the parameters that set a cookie. A host-only cookie is set by its address, because a domain would share it
 * with hosts below.
 */
const toSet = (cookie: Params): Params => {
  const { name, value, path, secure, httpOnly, sameSite, priority, expires, domain, partitionKey } =
    cookie;
  const isHostOnly = !String(domain).startsWith('.');
  const place = isHostOnly
    ? { url: `${secure ? 'https' : 'http'}://${domain}${path}` }
    : { domain };
  const kept = { name, value, path, secure, httpOnly, sameSite, priority, partitionKey, ...place };
  return cookie.session === true ? kept : { ...kept, expires };
};

/** Returns a script that fills the storage of a page before the page's own scripts run. */
const fillingScript = (origin: string, local: Entries, session: Entries): string => {
  const given = JSON.stringify({ origin, local, session });
  return `(({origin, local, session}) => {
    if (location.origin !== origin || window !== window.top) return;
    for (const [name, value] of local) localStorage.setItem(name, value);
    for (const [name, value] of session) sessionStorage.setItem(name, value);
  })(${given})`;
};

const openTab = async (
  driver: Driver,
  sessionId: string,
  { url, source }: { url: string; source: string },
): Promise<void> => {
  const added = await driver.send('Page.addScriptToEvaluateOnNewDocument', { source }, sessionId);
  await driver.send('Page.navigate', { url }, sessionId);
  await driver.send(
    'Page.removeScriptToEvaluateOnNewDocument',
    { identifier: added.identifier },
    sessionId,
  );
};

/**
 * Restores a checkpoint in a fresh browser, whose one empty tab becomes the first.
 *
 * @returns the number of tabs opened.
 */
export const restoreCheckpoint = async (
  driver: Driver,
  { cookies, origins, tabs: kept }: Pick<Checkpoint, 'cookies' | 'origins' | 'tabs'>,
  { newTab, tabs }: { tabs: Tabs; newTab(): Promise<Tab> },
): Promise<number> => {
  await driver.send('Storage.setCookies', { cookies: cookies.map(toSet) });
  let active: Tab | undefined;
  for (const [index, { url, isActive, sessionStorage }] of kept.entries()) {
    const tab = (index === 0 ? tabs.active() : undefined) ?? (await newTab());
    const { origin } = new URL(url);
    const local = origins.find((one) => one.origin === origin)?.localStorage ?? [];
    const source = fillingScript(origin, local, sessionStorage);
    await openTab(driver, tab.sessionId, { url, source });
    if (isActive) active = tab;
  }
  if (active !== undefined && kept.length > 1) {
    await driver.send('Page.bringToFront', {}, active.sessionId);
    tabs.setActive(active.id);
  }
  return kept.length;
};
