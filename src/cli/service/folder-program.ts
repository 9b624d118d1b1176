/**
 * The program that serves a folder. It is given worlds on its standard input and says on its standard output what
 * becomes of them, and each request.
 */
import type { Env } from '#runtime/env.ts';
import type { FolderWorld, ProgramLine } from '#wire/program-lines/lines.ts';
import { type HostProgram, startHostProgram } from './host-program.ts';

export type FolderProgram = Pick<HostProgram, 'ended' | 'stop'> & {
  /** Serves this one from now on. */
  give(world: FolderWorld): void;
};

export type FolderProgramOptions = {
  env: Env;
  port: number;
  /** Told each line that it says. */
  hear(line: ProgramLine): void;
};

/** Starts it. */
export const startFolderProgram = ({ env, port, hear }: FolderProgramOptions): FolderProgram => {
  const { child, ended, stop } = startHostProgram({
    main: 'folder/main.ts',
    what: 'the program that serves the folder',
    env,
    own: { SVC_LISTEN: `127.0.0.1:${port}` },
    hear,
  });
  return { give: (world) => void child.stdin?.write(`${JSON.stringify(world)}\n`), ended, stop };
};
