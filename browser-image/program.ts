/**
 * Wires the parts of a browser program: a warm browser, and the server to which clients and viewers connect. The caller
 * controls it by the object that `startBrowserProgram` returns; events and checkpoints come out by two callbacks.
 */

import { findChromium } from '#runtime/chromium.ts';
import type { Log } from '#runtime/log.ts';
import { trustAuthority } from '#runtime/trust.ts';
import type { BrowserConfig } from './config.ts';
import { type SessionBrowser, startBrowser } from './life/browser.ts';
import type { Assignment } from './life/state.ts';
import { type ClientAccess, createAccess } from './listener/access.ts';
import { type Listener, openListener } from './listener/server.ts';
import { directRoute, type Route } from './policy/route.ts';
import type { Checkpoint } from './watch/checkpoint.ts';
import type { BrowserEvent } from './watch/events.ts';

/** Address and token with which clients connect to a session's browser. */
export type Surface = {
  /** `ws://…/cdp`; clients send the token as `Authorization: Bearer <token>`. */
  cdpUrl: string;
  token: string;
};

export type BrowserProgram = Omit<SessionBrowser, 'assign' | 'drive' | 'view'> & {
  /** Base address of the server, `http://host:port`. */
  address: string;
  /** Makes the server listen at one more address. */
  listenToo: Listener['listenToo'];
  leaveOthers: Listener['leaveOthers'];
  /** Assigns the browser to a session, with a token of its own. Resolves when the entry page is open. */
  assign(assignment: Assignment): Promise<Surface>;
  /** Returns a one-time link to the live view. */
  viewLink(options: { isReadOnly: boolean }): string;
  /** Returns `cdpUrl` with a one-time ticket, for clients that cannot send headers. */
  cdpLink(): string;
};

export type ProgramOptions = {
  config: BrowserConfig;
  /** Route to the session's surfaces; when absent, they are dialled directly. */
  route?: Route;
  /** Access check for clients and viewers; when absent, the token and the tickets that the program issues itself. */
  access?: ClientAccess;
  log: Log;
  /** Called with each event for the session's ledger. */
  onEvent(event: BrowserEvent): void;
  /** Called with each new checkpoint. */
  onCheckpoint(checkpoint: Checkpoint): void;
};

/**
 * Starts a program with a warm browser.
 *
 * @throws `conflict` with `reason: "no_browser"` where there is no Chromium, `unavailable` when it does not come up.
 */
export const startBrowserProgram = async ({
  config,
  route = directRoute,
  log,
  onEvent,
  onCheckpoint,
  ...options
}: ProgramOptions): Promise<BrowserProgram> => {
  const { authority } = config;
  if (authority !== undefined) trustAuthority(authority);
  const { listen, workDir, window, sandbox, hasSpare, checkpointMs, mostConnections } = config;
  const chromium = findChromium(config.chromium);
  const chosen = { chromium, workDir, window, sandbox, hasSpare, route, authority };
  const settings = { ...chosen, checkpointMs, mostConnections };
  const browser = await startBrowser({ ...settings, onEvent, onCheckpoint, log });
  const own = createAccess();
  const access = options.access ?? own;
  const { drive, view, assign, end, stop, ...rest } = browser;
  const listener = await openListener({ listen, access, drive, view, log }).catch(
    async (error: unknown) => {
      await stop();
      throw error;
    },
  );
  const cdpUrl = `${listener.address.replace(/^http/, 'ws')}/cdp`;
  return {
    ...rest,
    address: listener.address,
    listenToo: listener.listenToo,
    leaveOthers: listener.leaveOthers,
    async assign(assignment) {
      await assign(assignment);
      return { cdpUrl, token: own.renew() };
    },
    async end() {
      own.renew();
      await end();
    },
    viewLink: ({ isReadOnly }) =>
      `${listener.address}/view?ticket=${own.issue({ for: 'view', isReadOnly })}`,
    cdpLink: () => `${cdpUrl}?ticket=${own.issue({ for: 'cdp' })}`,
    async stop() {
      await stop();
      await listener.close();
    },
  };
};
