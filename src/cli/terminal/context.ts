/**
 * What a command gets from the process it runs in: environment, working folder, where it writes and
 * what it may read. `main.ts` makes the real one, tests make their own.
 */
import picocolors from 'picocolors';
import type { Env } from '#runtime/env.ts';

export type Output = {
  write(text: string): void;
  /** Resolves when what was written is little enough for more to be. */
  drained(): Promise<void>;
  /** Whether a person watches: only then are there colours and lines that change. */
  isTerminal: boolean;
  columns: number;
};

export type Colors = ReturnType<typeof picocolors.createColors>;

export type Context = {
  env: Env;
  cwd: string;
  out: Output;
  err: Output;
  /** Those of standard output; without effect where `wantsColor` says no. */
  colors: Colors;
  readStdin(): Promise<Buffer>;
  /** Standard input piece by piece; it comes once. */
  stdin(): AsyncIterable<Uint8Array>;
  /** The status to exit with when the command ends without an error; 0 unless set. */
  setExitStatus(status: number): void;
};

/** How wide a text may be: as the terminal is, or any width where nobody watches. */
export const roomOf = ({ isTerminal, columns }: Output): number =>
  isTerminal ? columns : Infinity;

const isForced = ({ FORCE_COLOR: force = '' }: Env): boolean => force !== '' && force !== '0';

/** Whether an output should be coloured (https://no-color.org, https://force-color.org). */
export const wantsColor = (env: Env, isTerminal: boolean): boolean => {
  if ((env.NO_COLOR ?? '') !== '') return false;
  return isForced(env) || (isTerminal && env.TERM !== 'dumb');
};

/** A context over given streams. */
export const createContext = (parts: Omit<Context, 'colors'>): Context => ({
  ...parts,
  colors: picocolors.createColors(wantsColor(parts.env, parts.out.isTerminal)),
});
