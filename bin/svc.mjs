#!/usr/bin/env node
// Starts the CLI on the Node that the project pins (the `node` npm package), whatever Node ran this
// file: the programs are TypeScript that only Node 24 and later runs as it is.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { constants } from 'node:os';
import { fileURLToPath } from 'node:url';

const main = fileURLToPath(new URL('../src/cli/main.ts', import.meta.url));
const pinned = fileURLToPath(new URL('../node_modules/node/bin/node', import.meta.url));
const runsTypeScript = Number(process.versions.node.split('.')[0]) >= 24;

if (runsTypeScript) {
  await import(main);
} else if (existsSync(pinned)) {
  const child = spawn(pinned, [main, ...process.argv.slice(2)], { stdio: 'inherit' });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('exit', (code, signal) => {
    process.exitCode = code ?? 128 + (constants.signals[signal] ?? 0);
  });
} else {
  console.error(`svc needs Node 24 or later; this is ${process.version}. Run "npm ci" first.`);
  process.exitCode = 1;
}
