/**
 * A browser program: one Chromium for one session at a time. It says its address on standard output, and is driven by
 * lines on standard input (control/lines.ts).
 */
import { createLog } from '#runtime/log.ts';
import { type Running, runProgram } from '#runtime/run.ts';
import { readConfig } from './config.ts';
import { serveLines } from './control/lines.ts';
import { startBrowserProgram } from './program.ts';

const stopDeadlineMs = 10_000;

const say = (line: Record<string, unknown>): void => {
  process.stdout.write(`${JSON.stringify(line)}\n`);
};

const start = async (): Promise<Running> => {
  const config = readConfig(process.env);
  const program = await startBrowserProgram({
    config,
    log: createLog('browser', config.logLevel),
    onEvent: (event) => say({ event }),
    onCheckpoint: (checkpoint) => say({ checkpoint }),
  });
  say({ listening: [program.address] });
  const ended = serveLines({ program, input: process.stdin, say });
  return { ended, stop: () => program.stop() };
};

await runProgram(start, { stopDeadlineMs });
