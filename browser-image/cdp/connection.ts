/**
 * Shares one DevTools pipe between several users. Each gets a branch: its own browser session inside Chromium
 * (`Target.attachToBrowserTarget`). The branch alone has the targets that it attaches to, the events that it listens to
 * and the settings that it overrides, as if it were the only user. This file renumbers commands and routes answers and
 * events to their branch; Chromium does the rest.
 */
import { AppError } from '#domain/error.ts';
import type { Pipe } from '../chromium/launch.ts';
import type { CdpError, CdpMessage, Command, Params } from './message.ts';

/** Error for a command that Chromium refused, or that was never answered because the browser is gone. */
export class CommandFailed extends AppError {
  constructor(method: string, error: CdpError) {
    super('unavailable', `the browser refused ${method}: ${error.message}`);
  }
}

export type Answer = { result: Params } | { error: CdpError };

export type Branch = {
  /**
   * Sends a command to the branch's browser session, or to a session within it that the branch has attached to. The
   * answer comes by a callback, not a promise, because clients rely on the order of answers and events.
   */
  ask(command: Omit<Command, 'id'>, onAnswer: (answer: Answer) => void): void;
  /**
   * Detaches the branch from everything that it attached to, and disposes of everything that only this branch
   * requested.
   */
  end(): Promise<void>;
};

export type Connection = {
  /** Opens a branch. Its events come in order; events of its own browser session have no `sessionId`. */
  branch(onEvent: (event: CdpMessage & { method: string }) => void): Promise<Branch>;
  /** Fails all pending commands, and every later one. */
  close(): void;
};

type Owner = { session: string; onEvent: (event: CdpMessage & { method: string }) => void };

const gone: CdpError = { code: -32_000, message: 'the browser is gone' };
const unknownSession: CdpError = { code: -32_001, message: 'Session with given id not found.' };

/** Creates the connection over a pipe, which must have no other user. */
export const connect = (pipe: Pipe): Connection => {
  const pending = new Map<number, (answer: Answer) => void>();
  const owners = new Map<string, Owner>();
  let lastId = 0;
  let isClosed = false;

  const ask = (
    { method, params, sessionId }: Omit<Command, 'id'>,
    settle: (answer: Answer) => void,
  ): void => {
    if (isClosed) {
      settle({ error: gone });
      return;
    }
    lastId += 1;
    pending.set(lastId, settle);
    pipe.send(JSON.stringify({ id: lastId, method, params, sessionId }));
  };
  const request = (method: string, params: Params): Promise<Answer> =>
    new Promise((resolve) => ask({ method, params }, resolve));

  const onAnswer = ({ id, result = {}, error }: CdpMessage): void => {
    const settle = pending.get(id as number);
    pending.delete(id as number);
    settle?.(error === undefined ? { result } : { error });
  };

  const onEvent = ({ sessionId = '', method = '', params = {} }: CdpMessage): void => {
    const owner = owners.get(sessionId);
    if (owner === undefined) return;
    const child = typeof params.sessionId === 'string' ? params.sessionId : '';
    if (method === 'Target.attachedToTarget') owners.set(child, owner);
    const within = sessionId === owner.session ? {} : { sessionId };
    owner.onEvent({ method, params, ...within });
    if (method === 'Target.detachedFromTarget') owners.delete(child);
  };

  pipe.onText((text) => {
    const message = JSON.parse(text) as CdpMessage;
    if (message.id === undefined) onEvent(message);
    else onAnswer(message);
  });

  const forget = (owner: Owner): void => {
    for (const [session, one] of owners) if (one === owner) owners.delete(session);
  };

  return {
    async branch(listener) {
      const answer = await request('Target.attachToBrowserTarget', {});
      if ('error' in answer) {
        throw new AppError(
          'unavailable',
          `the browser accepts no DevTools client: ${answer.error.message}`,
        );
      }
      const owner: Owner = { session: answer.result.sessionId as string, onEvent: listener };
      owners.set(owner.session, owner);
      return {
        ask({ method, params, sessionId = owner.session }, onAnswer) {
          if (owners.get(sessionId) === owner) ask({ method, params, sessionId }, onAnswer);
          else onAnswer({ error: unknownSession });
        },
        async end() {
          forget(owner);
          await request('Target.detachFromTarget', { sessionId: owner.session });
        },
      };
    },
    close() {
      isClosed = true;
      for (const settle of pending.values()) settle({ error: gone });
      pending.clear();
      owners.clear();
    },
  };
};
