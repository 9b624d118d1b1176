// Starts a program for users on the Node that the project pins (an npm package for each platform), whatever Node ran
// this file: the programs are TypeScript that only a recent Node runs as it is. The IPC channel tells the program when
// this process dies without a signal that it could pass on. What Node compiles is kept beside the packages, where only
// who may change these can write, and whoever may not goes without: a command then starts in half the time.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import module from 'node:module';
import { constants } from 'node:os';
import { fileURLToPath } from 'node:url';

const pinned = fileURLToPath(new URL('../node_modules/.bin/node', import.meta.url));
const compiled = fileURLToPath(new URL('../node_modules/.cache/svc', import.meta.url));
const [major, minor] = process.versions.node.split('.').map(Number);
const isRecent = major > 24 || (major === 24 && minor >= 15);

/** Starts the program of this name, whose file is given from here. */
export const start = async (name, file) => {
  const main = fileURLToPath(new URL(file, import.meta.url));
  if (isRecent) {
    module.enableCompileCache(compiled);
    await import(main);
  } else if (existsSync(pinned)) {
    const child = spawn(pinned, [main, ...process.argv.slice(2)], {
      env: { NODE_COMPILE_CACHE: compiled, ...process.env },
      stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    });
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
      process.on(signal, () => child.kill(signal));
    child.on('exit', (code, signal) => {
      process.exitCode = code ?? 128 + (constants.signals[signal] ?? 0);
    });
  } else {
    console.error(
      `${name} needs Node 24.15 or later; this is ${process.version}. On Linux "npm ci" installs one.`,
    );
    process.exitCode = 1;
  }
};
