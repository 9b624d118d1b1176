/**
 * Structured logs, one JSON object a line on standard error, so that standard output stays for what a
 * program says to its caller. Every program makes one logger and hands out children with ids.
 */
import { destination, type Logger, pino } from 'pino';
import { hideCredentials } from '#domain/credentials.ts';
import { AppError, describeError } from '#domain/error.ts';

export type Log = Logger;

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent';

/** Lines quote addresses and what was sent: tokens and keys of the service are hidden in all of them. */
const hiding = (to: { write(line: string): unknown }) => ({
  write: (line: string) => void to.write(hideCredentials(line)),
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
    hiding(destination({ fd: 2, sync: true })),
  );
