/**
 * Writes structured logs, one JSON object per line on standard error, so that standard output stays free for the
 * program's messages to its caller. Every program creates one logger and derives child loggers with ids from it.
 */
import { writeSync } from 'node:fs';
import { type Logger, pino } from 'pino';
import { hideCredentials } from '#domain/credentials.ts';
import { AppError, describeError } from '#domain/error.ts';
import { makeLinesVisible } from '#domain/visible-text.ts';

export type Log = Logger;

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent';

/**
 * Maximum time that a write to a full pipe waits for the pipe's reader, and interval between attempts, in milliseconds.
 */
const slowPipe = { mostMs: 2_000, everyMs: 20 };

const pauseBlocking = (ms: number): void => {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
};

const isFullPipe = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'EAGAIN';

/** Writes as many bytes as possible without waiting; returns their number, which is 0 if a pipe is full. */
const writeSome = (fd: number, bytes: Uint8Array): number => {
  try {
    return writeSync(fd, bytes);
  } catch (error) {
    if (isFullPipe(error)) return 0;
    throw error;
  }
};

/**
 * Opens a file for log lines. If a write fails, usually because the disk is full, the caller does not fail, and the
 * line is lost. Before the next line that can be written, one line reports how many were lost. pino's own destination
 * would throw, and would never write the lines that it buffered while the disk was full.
 */
export const openLines = (fd: number) => {
  let lost = 0;
  let failure = '';
  /** True if the last line was written only in part. */
  let isBroken = false;

  const writeWhole = (text: string): void => {
    let left: Uint8Array = Buffer.from(isBroken ? `\n${text}` : text);
    for (let waitedMs = 0; left.length > 0; ) {
      const written = writeSome(fd, left);
      left = left.subarray(written);
      isBroken = left.length > 0 && (isBroken || written > 0);
      if (written > 0) continue;
      if (lost > 0 || waitedMs >= slowPipe.mostMs)
        throw new Error('the reader of the log does not read');
      pauseBlocking(slowPipe.everyMs);
      waitedMs += slowPipe.everyMs;
    }
  };

  const reportLost = (): void => {
    if (lost === 0) return;
    const time = new Date().toISOString();
    const msg = `${lost} lines of the log were lost: ${failure}`;
    writeWhole(`${JSON.stringify({ level: 'warn', time, msg })}\n`);
    lost = 0;
  };

  return {
    write(line: string): void {
      try {
        reportLost();
        writeWhole(line);
      } catch (error) {
        lost += 1;
        failure = describeError(error);
      }
    },
  };
};

/**
 * Wraps a log destination. Log lines quote addresses and requests, so the service's tokens and keys are masked in each
 * line. Characters that would control a terminal are escaped as in JSON.
 */
const hiding = (to: { write(line: string): unknown }) => ({
  write: (line: string) => void to.write(makeLinesVisible(hideCredentials(line))),
});

/**
 * Creates the logger of one program. It logs errors with their causes, stack, and the id of the request that they
 * answered. Lines about a session or a host have its id in `sessionId` or `hostId`. Each line includes what `about`
 * returns when the line is written.
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
