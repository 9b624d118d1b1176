/** What a browser that is a host of the service knows: of itself, and of the session that it serves. */
import type { ControlLink, HostIdentity } from '#hosting/link.ts';
import type { Log } from '#runtime/log.ts';
import type { BrowserAssignment } from '#wire/host-api/browser-operations.ts';
import type { SessionAccess } from '../door/session-access.ts';
import type { Way } from '../fence/way.ts';
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
  way: Way;
  log: Log;
  stopping: AbortSignal;
  takeToken(token: string): void;
  /** The session that it serves. */
  session: Session | undefined;
};

export type Session = {
  assignment: BrowserAssignment;
  world: WorldLink;
  /** Resets of the session that its profile has seen. */
  resets: number;
  /** Checkpoints so far, and the sending of the last. */
  sequence: number;
  keeping: Promise<unknown>;
  /** Undefined: it is not recorded. */
  recording: Recording | undefined;
};
