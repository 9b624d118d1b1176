/**
 * The open pages of a browser, in the order in which they were opened. Each is attached to, so that what happens in it
 * is heard.
 */
import type { Driver } from '../cdp/driver.ts';
import type { Params } from '../cdp/message.ts';

export type Tab = {
  /** Chromium's id of the target. */
  id: string;
  /** The session by which we speak to it. */
  sessionId: string;
  url: string;
  title: string;
  /** Absent for pages of the browser's own profile; others are in contexts that a client made. */
  contextId?: string;
};

export type Tabs = {
  list(): Tab[];
  /** The tab that was opened or brought to the front last. */
  active(): Tab | undefined;
  find(id: string): Tab | undefined;
  bySession(sessionId: string | undefined): Tab | undefined;
  setActive(id: string): void;
  /** Called whenever a tab comes, goes, or changes its address or title. */
  onChange(listener: () => void): () => void;
};

export type TabsOptions = {
  driver: Driver;
  /** The context of the browser's own profile. */
  ownContextId: string;
  /** Prepares to listen to a page before it runs. */
  onPage(sessionId: string): Promise<void>;
};

type TargetInfo = {
  targetId: string;
  type: string;
  url: string;
  title: string;
  browserContextId?: string;
};

/** Attaches to all pages, those to come as well. Resolves when it has attached to those that are there. */
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

  // A page that goes while it is prepared needs no preparing.
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
  // Nor does it tell of a page that went to the empty one.
  driver.on('Page.frameNavigated', ({ frame }, sessionId) => {
    const { parentId, url, urlFragment, unreachableUrl } = frame as Params;
    const tab = [...tabs.values()].find((one) => one.sessionId === sessionId);
    if (tab === undefined || parentId !== undefined) return;
    tab.url = String(unreachableUrl ?? `${url}${urlFragment ?? ''}`);
    changed();
  });
  // Of a title that came with the page, Chromium does not tell by itself.
  for (const event of ['Page.domContentEventFired', 'Page.loadEventFired']) {
    driver.on(event, (_, sessionId) => {
      const tab = [...tabs.values()].find((one) => one.sessionId === sessionId);
      if (tab === undefined) return;
      const asked = driver.send('Target.getTargetInfo', { targetId: tab.id });
      asked.then(onInfo).catch(() => undefined); // a tab that went has no title
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
