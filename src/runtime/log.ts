/**
 * Structured logs, one JSON object a line on standard error, so that standard output stays for what a
 * program says to its caller. Every program makes one logger and hands out children with ids.
 */
import { destination, type Logger, pino } from 'pino';
import { describeError } from '#domain/error.ts';

export type Log = Logger;

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent';

/** A logger for one program. Errors print with their causes and stack. */
export const createLog = (program: string, level: LogLevel): Log =>
  pino(
    {
      level,
      base: { program },
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
      serializers: {
        err: (error: unknown) => ({
          message: describeError(error),
          stack: error instanceof Error ? error.stack : undefined,
        }),
      },
    },
    destination({ fd: 2, sync: true }),
  );
