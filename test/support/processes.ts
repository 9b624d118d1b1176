/** The processes of an installation, found by their command lines (Linux). */
import { readdirSync, readFileSync } from 'node:fs';

export type FoundProcess = { pid: number; commandLine: string };

const commandLineOf = (pid: string): string => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
  } catch {
    return ''; // it ended between the listing and the look
  }
};

/** Every live process whose command line names the text. */
export const processesNaming = (text: string): FoundProcess[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => ({ pid: Number(pid), commandLine: commandLineOf(pid) }))
    .filter(({ commandLine }) => commandLine.includes(text));

/** Kills them all; one that has ended meanwhile is no failure. */
export const killNaming = (text: string): void => {
  for (const { pid } of processesNaming(text)) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  }
};
