/** State of a browser that is a host of the service: its own, and that of the session that it serves. */
import type { ControlLink, HostIdentity } from '#hosting/link.ts';
import type { Log } from '#runtime/log.ts';
import type { BrowserAssignment } from '#wire/host-api/browser-operations.ts';
import type { SessionAccess } from '../listener/session-access.ts';
import type { Route } from '../policy/route.ts';
import type { BrowserProgram } from '../program.ts';
import type { HostConfig } from './host-config.ts';
import type { Recording } from './recording.ts';
import type { WorldLink } from './world-link.ts';

export type Agent = {
  host: HostConfig;
  identity: HostIdentity;
  link: ControlLink;
  program: BrowserProgram;
  access: SessionAccess;
  route: Route;
  log: Log;
  stopping: AbortSignal;
  takeToken(token: string): void;
  /** Session that the browser serves now. */
  session: Session | undefined;
};

export type Session = {
  assignment: BrowserAssignment;
  world: WorldLink;
  /** Number of the session's resets that the browser's profile has seen. */
  resets: number;
  /** Number of checkpoints so far; the member below is the promise of the last one being sent. */
  sequence: number;
  keeping: Promise<unknown>;
  /** Recording of the session; undefined if the session is not recorded. */
  recording: Recording | undefined;
};
