/** One Chromium from its start to its end, with all listeners to its events. */
import { join } from 'node:path';
import { AppError } from '#domain/error.ts';
import type { Log } from '#runtime/log.ts';
import { until } from '#runtime/pause.ts';
import { type Connection, connect } from '../cdp/connection.ts';
import { type Driver, openDriver } from '../cdp/driver.ts';
import { type Chromium, launchChromium } from '../chromium/launch.ts';
import { type Downloads, keepDownloads } from '../watch/downloads.ts';
import type { Report } from '../watch/events.ts';
import { reportPages, startReports } from '../watch/listen.ts';
import { followTabs, type Tab, type Tabs } from '../watch/tabs.ts';

export type InstanceOptions = {
  /** Path of the Chromium program. */
  path: string;
  /** Folder for this Chromium alone; it is created, and removed at the end. */
  folder: string;
  /** Folder that keeps the session's downloads. */
  downloads: string;
  /** `host:port` of the egress proxy. */
  proxy: string;
  window: { width: number; height: number };
  authority: string | undefined;
  /** True to run pages in Chromium's own sandbox. */
  isSandboxed: boolean;
  report: Report;
  /** Returns true if no client drives the browser, and no viewer acts in it. */
  isAlone(): boolean;
  onChange(): void;
  log: Log;
};

export type Instance = {
  pid: number;
  connection: Connection;
  driver: Driver;
  tabs: Tabs;
  downloads: Downloads;
  /** Resolves when the process has ended, stopped or not, with the signal if one ended it. */
  ended: Promise<NodeJS.Signals | null>;
  /** Returns true if the process has ended. */
  isGone(): boolean;
  /** Opens an empty tab in the browser's own profile. */
  newTab(): Promise<Tab>;
  stop(): Promise<void>;
};

/** Error for a Chromium that was to run in its own sandbox where the machine or container does not allow it. */
export class NoSandbox extends AppError {
  constructor() {
    super(
      'unavailable',
      'Chromium finds no user namespaces for its sandbox: allow them (in a container by its seccomp profile), ' +
        'or set SVC_BROWSER_SANDBOX=off',
    );
  }
}

/** Time after which a start has failed, in milliseconds. */
const startMs = 30_000;

const attach = async (
  chromium: Chromium,
  connection: Connection,
  options: InstanceOptions,
): Promise<Instance> => {
  const { report, isAlone, onChange, downloads: folder } = options;
  const driver = await openDriver(connection);
  const { defaultBrowserContextId } = await driver.send('Target.getBrowserContexts');
  const downloads = keepDownloads(driver, { folder, report });
  await downloads.keep();
  let tabs: Tabs | undefined;
  reportPages({ driver, tabs: () => tabs, report, isAlone, onChange });
  tabs = await followTabs({
    driver,
    ownContextId: String(defaultBrowserContextId),
    onPage: (sessionId) => startReports(driver, sessionId),
  });
  const following = tabs;
  following.onChange(onChange);
  const waited = { timeoutMs: startMs, everyMs: 5, what: 'the first tab of a browser' };
  await until(() => following.active(), waited);
  let isGone = false;
  const ended = chromium.ended.then(({ signal }) => {
    isGone = true;
    return signal;
  });
  return {
    pid: chromium.pid,
    connection,
    driver,
    tabs: following,
    downloads,
    ended,
    isGone: () => isGone,
    async newTab() {
      const { targetId } = await driver.send('Target.createTarget', { url: 'about:blank' });
      return until(() => following.find(String(targetId)), { ...waited, what: 'a new tab' });
    },
    stop: () => chromium.stop(),
  };
};

/**
 * Starts a Chromium with a fresh profile and an empty tab.
 *
 * @throws `NoSandbox` if it was to run in a sandbox and cannot, `unavailable` if it does not come up.
 */
export const startInstance = async (options: InstanceOptions): Promise<Instance> => {
  const chromium = await launchChromium(options);
  const connection = connect(chromium);
  void chromium.ended.then(() => connection.close());
  const early = chromium.ended.then(({ code, signal, hasNoSandbox }) => {
    if (hasNoSandbox) throw new NoSandbox();
    throw new AppError(
      'unavailable',
      `Chromium ended before it was ready (${signal ?? `exit ${code}`})`,
    );
  });
  try {
    return await Promise.race([attach(chromium, connection, options), early]);
  } catch (cause) {
    await chromium.stop();
    if (cause instanceof NoSandbox) throw cause;
    throw new AppError('unavailable', `Chromium at ${options.path} did not start`, { cause });
  }
};

/** Returns the folder of the nth Chromium of a program. */
export const instanceFolder = (workDir: string, number: number): string =>
  join(workDir, `chromium-${number}`);
