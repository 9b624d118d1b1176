/**
 * Tracks the open pages of a browser, in the order in which they were opened. It attaches to each page, so that the
 * program receives the page's events.
 */
import type { Driver } from '../cdp/driver.ts';
import type { Params } from '../cdp/message.ts';

export type Tab = {
  /** Chromium's id of the target. */
  id: string;
  /** DevTools session for commands to this tab. */
  sessionId: string;
  url: string;
  title: string;
  /** Absent for pages of the browser's own profile; otherwise the context that a client made. */
  contextId?: string;
};

export type Tabs = {
  list(): Tab[];
  /** Returns the tab that was last opened or brought to the front. */
  active(): Tab | undefined;
  find(id: string): Tab | undefined;
  bySession(sessionId: string | undefined): Tab | undefined;
  setActive(id: string): void;
  /**
   * Registers a listener for each tab that opens, closes, or changes its address or title. Returns a function that
   * removes it.
   */
  onChange(listener: () => void): () => void;
};

export type TabsOptions = {
  driver: Driver;
  /** Context of the browser's own profile. */
  ownContextId: string;
  /** Called for each page before it runs, so that the caller can begin to listen to it. */
  onPage(sessionId: string): Promise<void>;
};

type TargetInfo = {
  targetId: string;
  type: string;
  url: string;
  title: string;
  browserContextId?: string;
};

/** Attaches to all pages, including later ones. Resolves when it has attached to the present ones. */
export const followTabs = async ({ driver, ownContextId, onPage }: TabsOptions): Promise<Tabs> => {
  const tabs = new Map<string, Tab>();
  const listeners = new Set<() => void>();
  let activeId: string | undefined;
  const changed = (): void => {
    for (const listener of listeners) listener();
  };

  const onAttached = async ({ sessionId, targetInfo }: Params): Promise<void> => {
    const { targetId, type, url, title, browserContextId } = targetInfo as TargetInfo;
    const session = String(sessionId);
    if (type === 'page') {
      const isOwn = browserContextId === undefined || browserContextId === ownContextId;
      const context = isOwn ? {} : { contextId: browserContextId };
      tabs.set(targetId, { id: targetId, sessionId: session, url, title, ...context });
      activeId = targetId;
      await onPage(session);
    }
    await driver.send('Runtime.runIfWaitingForDebugger', {}, session);
    changed();
  };

  // A page that closes while it is prepared needs no preparation.
  driver.on('Target.attachedToTarget', (params) => void onAttached(params).catch(() => undefined));
  const onInfo = ({ targetInfo }: Params): void => {
    const { targetId, url, title } = targetInfo as TargetInfo;
    const tab = tabs.get(targetId);
    if (tab === undefined || (tab.url === url && tab.title === title)) return;
    tab.url = url;
    tab.title = title;
    changed();
  };
  driver.on('Target.targetInfoChanged', onInfo);
  // `Target.targetInfoChanged` does not report a page that navigated to the empty page.
  driver.on('Page.frameNavigated', ({ frame }, sessionId) => {
    const { parentId, url, urlFragment, unreachableUrl } = frame as Params;
    const tab = [...tabs.values()].find((one) => one.sessionId === sessionId);
    if (tab === undefined || parentId !== undefined) return;
    tab.url = String(unreachableUrl ?? `${url}${urlFragment ?? ''}`);
    changed();
  });
  // Chromium does not report a title that was loaded with the page, so it is requested.
  for (const event of ['Page.domContentEventFired', 'Page.loadEventFired']) {
    driver.on(event, (_, sessionId) => {
      const tab = [...tabs.values()].find((one) => one.sessionId === sessionId);
      if (tab === undefined) return;
      const asked = driver.send('Target.getTargetInfo', { targetId: tab.id });
      asked.then(onInfo).catch(() => undefined); // a closed tab has no title
    });
  }
  driver.on('Target.detachedFromTarget', ({ sessionId }) => {
    for (const tab of tabs.values()) if (tab.sessionId === sessionId) tabs.delete(tab.id);
    if (activeId !== undefined && !tabs.has(activeId)) activeId = [...tabs.keys()].at(-1);
    changed();
  });
  await driver.send('Target.setDiscoverTargets', { discover: true });
  const autoAttach = { autoAttach: true, waitForDebuggerOnStart: true, flatten: true };
  await driver.send('Target.setAutoAttach', { ...autoAttach, filter: [{ type: 'page' }] });

  return {
    list: () => [...tabs.values()],
    active: () => (activeId === undefined ? undefined : tabs.get(activeId)),
    find: (id) => tabs.get(id),
    bySession: (sessionId) => [...tabs.values()].find((tab) => tab.sessionId === sessionId),
    setActive(id) {
      if (tabs.has(id)) activeId = id;
      changed();
    },
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
};
