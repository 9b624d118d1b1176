/**
 * Starts the program that serves a folder. The program reads worlds from its standard input. On its standard output, it
 * reports whether a world is served, and each request.
 */
import type { Env } from '#runtime/env.ts';
import type { FolderWorld, ProgramLine } from '#wire/program-lines/lines.ts';
import { type HostProgram, startHostProgram } from './host-program.ts';

export type FolderProgram = Pick<HostProgram, 'ended' | 'stop'> & {
  /** Makes the program serve this world from now on. */
  give(world: FolderWorld): void;
};

export type FolderProgramOptions = {
  env: Env;
  port: number;
  /** Called with each line that the program prints. */
  hear(line: ProgramLine): void;
};

/** Starts the program. */
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
