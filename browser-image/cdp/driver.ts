/** Wraps a branch for the browser program's own code: commands are promises, events are subscribed to by name. */
import type { Answer, Connection } from './connection.ts';
import { CommandFailed } from './connection.ts';
import type { Params } from './message.ts';

type Listener = (params: Params, sessionId: string | undefined) => void;

export type Driver = {
  /** Sends a command and resolves with its result. Throws `CommandFailed`. */
  send(method: string, params?: Params, sessionId?: string): Promise<Params>;
  on(method: string, listener: Listener): void;
  end(): Promise<void>;
};

/** Opens a branch for the browser program's own code. */
export const openDriver = async (connection: Connection): Promise<Driver> => {
  const listeners = new Map<string, Listener[]>();
  const branch = await connection.branch(({ method, params = {}, sessionId }) => {
    for (const listener of listeners.get(method) ?? []) listener(params, sessionId);
  });
  return {
    async send(method, params = {}, sessionId) {
      const command = { method, params, ...(sessionId === undefined ? {} : { sessionId }) };
      const answer = await new Promise<Answer>((resolve) => branch.ask(command, resolve));
      if ('error' in answer) throw new CommandFailed(method, answer.error);
      return answer.result;
    },
    on(method, listener) {
      listeners.set(method, [...(listeners.get(method) ?? []), listener]);
    },
    end: () => branch.end(),
  };
};
