/**
 * Structured logs, one JSON object a line on standard error, so that standard output stays for what a
 * program says to its caller. Every program makes one logger and hands out children with ids.
 */
import { writeSync } from 'node:fs';
import { type Logger, pino } from 'pino';
import { hideCredentials } from '#domain/credentials.ts';
import { AppError, describeError } from '#domain/error.ts';
import { makeLinesVisible } from '#domain/visible-text.ts';

export type Log = Logger;

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent';

/** A pipe that nobody empties is waited for so long, and looked at so often, in milliseconds. */
const slowPipe = { mostMs: 2_000, everyMs: 20 };

const pauseBlocking = (ms: number): void => {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
};

const isFullPipe = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'EAGAIN';

/** Writes as much as there is room for now; 0 when a pipe is full. */
const writeSome = (fd: number, bytes: Uint8Array): number => {
  try {
    return writeSync(fd, bytes);
  } catch (error) {
    if (isFullPipe(error)) return 0;
    throw error;
  }
};

/**
 * A file that lines are written to. That it takes none, because its disk is full above all, is no failure of
 * whoever writes them: the line is lost, and the next one that can be written comes after one that says how
 * many were. pino's own destination throws, and what it has kept for a full disk it never writes.
 */
export const openLines = (fd: number) => {
  let lost = 0;
  let failure = '';
  /** Whether the last line was cut off. */
  let isBroken = false;

  const writeWhole = (text: string): void => {
    let left: Uint8Array = Buffer.from(isBroken ? `\n${text}` : text);
    for (let waitedMs = 0; left.length > 0; ) {
      const written = writeSome(fd, left);
      left = left.subarray(written);
      isBroken = left.length > 0 && (isBroken || written > 0);
      if (written > 0) continue;
      if (lost > 0 || waitedMs >= slowPipe.mostMs) throw new Error('nobody reads the log');
      pauseBlocking(slowPipe.everyMs);
      waitedMs += slowPipe.everyMs;
    }
  };

  const tellOfLost = (): void => {
    if (lost === 0) return;
    const time = new Date().toISOString();
    const msg = `${lost} lines of the log were lost: ${failure}`;
    writeWhole(`${JSON.stringify({ level: 'warn', time, msg })}\n`);
    lost = 0;
  };

  return {
    write(line: string): void {
      try {
        tellOfLost();
        writeWhole(line);
      } catch (error) {
        lost += 1;
        failure = describeError(error);
      }
    },
  };
};

/**
 * Lines quote addresses and what was sent: tokens and keys of the service are hidden in all of them, and what would steer
 * the terminal on which they are read is written out, in the form that JSON has for it.
 */
const hiding = (to: { write(line: string): unknown }) => ({
  write: (line: string) => void to.write(makeLinesVisible(hideCredentials(line))),
});

/**
 * A logger for one program. Errors print with their causes, stack, and the id of the request that was
 * answered with them. Lines about a session or a host name it as `sessionId`, `hostId`. What `about`
 * answers when a line is written is a part of it.
 */
export const createLog = (program: string, level: LogLevel, about = () => ({})): Log =>
  pino(
    {
      level,
      base: { program },
      mixin: about,
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
      serializers: {
        err: (error: unknown) => ({
          message: describeError(error),
          stack: error instanceof Error ? error.stack : undefined,
          requestId: error instanceof AppError ? error.detail.requestId : undefined,
        }),
      },
    },
    hiding(openLines(2)),
  );
