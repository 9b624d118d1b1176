/** The control plane's process. Once it listens it prints one JSON line: `{"listening":[…]}`. */
import { createLog } from '#runtime/log.ts';
import { runProgram } from '#runtime/run.ts';
import { readConfig } from './config.ts';
import { startControl } from './program.ts';

const start = async () => {
  const config = readConfig(process.env);
  const control = await startControl(config, createLog('control', config.logLevel));
  process.stdout.write(`${JSON.stringify({ listening: control.addresses })}\n`);
  return control;
};

await runProgram(start, { stopDeadlineMs: 3_500 });
