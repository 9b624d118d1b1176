/**
 * Defines what a command gets from its process: environment, working folder, output and input. `main.ts` creates the
 * real one; tests create their own.
 */
import { makeLinesVisible } from '#domain/visible-text.ts';
import type { Env } from '#runtime/env.ts';
import { type Colors, createColors, renderColors } from './colors.ts';

export type { Colors } from './colors.ts';

/** Sink for bytes: a stream of the process. */
export type Stream = {
  write(text: string): void;
  /** Resolves when the buffer is small enough to write more. */
  drained(): Promise<void>;
  /** True for a terminal. Only a terminal gets colours and lines that are rewritten. */
  isTerminal: boolean;
  columns: number;
};

/**
 * Output of a command. Everything that the command prints goes through it, so that untrusted text cannot control the
 * terminal.
 */
export type Output = Omit<Stream, 'write'> & {
  /** Writes a text for people. Control characters are made visible, except line ends and tabs. */
  write(text: string): void;
  /** Writes a text that a program may read, such as JSON, unchanged; on a terminal, writes it as `write` does. */
  writeExactly(text: string): void;
  /** Replaces the current line of a terminal. */
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
  /** Colours of standard output; without effect if `wantsColor` returns false. */
  colors: Colors;
  readStdin(): Promise<Buffer>;
  /** Standard input as a stream, which can be read once. */
  stdin(): AsyncIterable<Uint8Array>;
  /** Sets the exit status of a command that ends without an error; 0 if never called. */
  setExitStatus(status: number): void;
};

/** Returns the columns available for a text: those of the terminal, or Infinity if there is none. */
export const columnsOf = ({
  isTerminal,
  columns,
}: Pick<Stream, 'isTerminal' | 'columns'>): number => (isTerminal ? columns : Infinity);

/** Colours of a text for people, and the columns of a line (Infinity if the output is no terminal). */
export type View = { colors: Colors; columns: number };

/** Returns the view of standard output. */
export const viewOf = ({ out, colors }: Pick<Context, 'out' | 'colors'>): View => ({
  colors,
  columns: columnsOf(out),
});

const isForced = ({ FORCE_COLOR: force = '' }: Env): boolean => force !== '' && force !== '0';

/** Returns true if an output should be coloured (https://no-color.org, https://force-color.org). */
export const wantsColor = (env: Env, isTerminal: boolean): boolean => {
  if ((env.NO_COLOR ?? '') !== '') return false;
  return isForced(env) || (isTerminal && env.TERM !== 'dumb');
};

/** Creates a context from streams. */
export const createContext = (
  parts: Omit<Context, 'colors' | 'out' | 'err'> & { out: Stream; err: Stream },
): Context => ({
  ...parts,
  out: outputOf(parts.out),
  err: outputOf(parts.err),
  colors: createColors(wantsColor(parts.env, parts.out.isTerminal)),
});
