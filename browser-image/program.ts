/**
 * Wires a browser program: a warm browser, and the door by which clients and viewers come to it. Whoever runs it drives
 * it by the object that `startBrowserProgram` gives; events and checkpoints come out by two functions.
 */

import { findChromium } from '#runtime/chromium.ts';
import type { Log } from '#runtime/log.ts';
import { trustAuthority } from '#runtime/trust.ts';
import type { BrowserConfig } from './config.ts';
import { createAccess, type DoorAccess } from './door/access.ts';
import { type Door, openDoor } from './door/server.ts';
import { directWay, type Way } from './fence/way.ts';
import { type SessionBrowser, startBrowser } from './life/browser.ts';
import type { Assignment } from './life/state.ts';
import type { Checkpoint } from './watch/checkpoint.ts';
import type { BrowserEvent } from './watch/events.ts';

/** How clients come to the browser of a session. */
export type Surface = {
  /** `ws://…/cdp`; clients send the token as `Authorization: Bearer <token>`. */
  cdpUrl: string;
  token: string;
};

export type BrowserProgram = Omit<SessionBrowser, 'assign' | 'drive' | 'view'> & {
  /** `http://host:port` of the door. */
  address: string;
  /** Serves at one more address, and no more there. */
  listenToo: Door['listenToo'];
  leaveOthers: Door['leaveOthers'];
  /** Gives the browser to a session, with a token of its own. Resolves when its entry page stands. */
  assign(assignment: Assignment): Promise<Surface>;
  /** A one-time link to the live view. */
  viewLink(options: { isReadOnly: boolean }): string;
  /** `cdpUrl` with a one-time ticket, for clients that cannot send headers. */
  cdpLink(): string;
};

export type ProgramOptions = {
  config: BrowserConfig;
  /** How the session's surfaces are reached; absent: where their addresses say. */
  way?: Way;
  /** Who may come in; absent: by the token and the tickets that the program gives out itself. */
  access?: DoorAccess;
  log: Log;
  /** Called with what belongs into the session's ledger. */
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
  way = directWay,
  log,
  onEvent,
  onCheckpoint,
  ...options
}: ProgramOptions): Promise<BrowserProgram> => {
  const { authority } = config;
  if (authority !== undefined) trustAuthority(authority);
  const { listen, workDir, window, sandbox, hasSpare, checkpointMs, mostConnections } = config;
  const chromium = findChromium(config.chromium);
  const chosen = { chromium, workDir, window, sandbox, hasSpare, way, authority };
  const settings = { ...chosen, checkpointMs, mostConnections };
  const browser = await startBrowser({ ...settings, onEvent, onCheckpoint, log });
  const own = createAccess();
  const access = options.access ?? own;
  const { drive, view, assign, end, stop, ...rest } = browser;
  const door = await openDoor({ listen, access, drive, view, log }).catch(
    async (error: unknown) => {
      await stop();
      throw error;
    },
  );
  const cdpUrl = `${door.address.replace(/^http/, 'ws')}/cdp`;
  return {
    ...rest,
    address: door.address,
    listenToo: door.listenToo,
    leaveOthers: door.leaveOthers,
    async assign(assignment) {
      await assign(assignment);
      return { cdpUrl, token: own.renew() };
    },
    async end() {
      own.renew();
      await end();
    },
    viewLink: ({ isReadOnly }) =>
      `${door.address}/view?ticket=${own.issue({ for: 'view', isReadOnly })}`,
    cdpLink: () => `${cdpUrl}?ticket=${own.issue({ for: 'cdp' })}`,
    async stop() {
      await stop();
      await door.close();
    },
  };
};
