/**
 * Entry point of the program that serves the world of a folder to its author. `svc worlds connector serve` starts the
 * program and sends it worlds, one per line.
 */
import { createInterface } from 'node:readline';
import { createLog } from '#runtime/log.ts';
import { runProgram } from '#runtime/run.ts';
import type { FolderWorld } from '#wire/program-lines/lines.ts';
import { readConfig } from './config.ts';
import { startFolderHost } from './program.ts';

const stopDeadlineMs = 5_000;

/**
 * Yields the worlds that the parent process sends. They are not validated, because the parent is this project's own
 * program.
 */
async function* readWorlds(): AsyncGenerator<FolderWorld> {
  for await (const line of createInterface({ input: process.stdin })) {
    yield JSON.parse(line) as FolderWorld;
  }
}

await runProgram(
  () => {
    const config = readConfig(process.env);
    const log = createLog('folder-host', config.logLevel);
    return startFolderHost({ config, worlds: readWorlds(), log });
  },
  { stopDeadlineMs },
);
