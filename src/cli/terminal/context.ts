/**
 * What a command gets from the process it runs in: environment, working folder, where it writes and
 * what it may read. `main.ts` makes the real one, tests make their own.
 */
import { makeLinesVisible } from '#domain/visible-text.ts';
import type { Env } from '#runtime/env.ts';
import { type Colors, createColors, renderColors } from './colors.ts';

export type { Colors } from './colors.ts';

/** Sink for bytes: a stream of the process. */
export type Stream = {
  write(text: string): void;
  /** Resolves when what was written is little enough for more to be. */
  drained(): Promise<void>;
  /** Whether a person watches: only then are there colours and lines that change. */
  isTerminal: boolean;
  columns: number;
};

/** All that a command prints goes through here, so that no text of strangers steers the terminal. */
export type Output = Omit<Stream, 'write'> & {
  /** Writes a text for people: hidden characters are written out, ends of lines and tabs apart. */
  write(text: string): void;
  /** Writes a text for programs: exactly where none but a program reads, on a terminal as `write` does. */
  writeExactly(text: string): void;
  /** Replaces the line that was begun on a terminal. */
  rewriteLine(text: string): void;
};

const outputOf = (stream: Stream): Output => {
  const write = (text: string): void => stream.write(renderColors(text, makeLinesVisible));
  return {
    write,
    writeExactly: stream.isTerminal ? write : (text) => stream.write(text),
    rewriteLine(text) {
      stream.write('\r\u001b[2K');
      write(text);
    },
    drained: () => stream.drained(),
    isTerminal: stream.isTerminal,
    get columns() {
      return stream.columns;
    },
  };
};

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
export const roomOf = ({ isTerminal, columns }: Pick<Stream, 'isTerminal' | 'columns'>): number =>
  isTerminal ? columns : Infinity;

/** Colours of a text for a person, and the columns of a line (Infinity where output is piped). */
export type View = { colors: Colors; room: number };

/** Returns the view of standard output. */
export const viewOf = ({ out, colors }: Pick<Context, 'out' | 'colors'>): View => ({
  colors,
  room: roomOf(out),
});

const isForced = ({ FORCE_COLOR: force = '' }: Env): boolean => force !== '' && force !== '0';

/** Whether an output should be coloured (https://no-color.org, https://force-color.org). */
export const wantsColor = (env: Env, isTerminal: boolean): boolean => {
  if ((env.NO_COLOR ?? '') !== '') return false;
  return isForced(env) || (isTerminal && env.TERM !== 'dumb');
};

/** A context over given streams. */
export const createContext = (
  parts: Omit<Context, 'colors' | 'out' | 'err'> & { out: Stream; err: Stream },
): Context => ({
  ...parts,
  out: outputOf(parts.out),
  err: outputOf(parts.err),
  colors: createColors(wantsColor(parts.env, parts.out.isTerminal)),
});
