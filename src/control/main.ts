/**
 * The control plane's process. Once it listens, it prints one JSON line with the addresses of its listeners:
 * `{"listening":[…],"hosts":[…],"internal":[…]}` for the public API, the host API and the internal APIs.
 */
import { createLog } from '#runtime/log.ts';
import { runProgram } from '#runtime/run.ts';
import { putNewObjectsAmongYoung } from '#runtime/young-objects.ts';
import { say } from '#wire/program-lines/lines.ts';
import { readConfig } from './config.ts';
import { startControl } from './program.ts';

const start = async () => {
  const config = readConfig(process.env);
  const control = await startControl(config, createLog('control', config.logLevel));
  const { public: listening, host: hosts, internal } = control.addresses;
  say({ listening, hosts, internal });
  return control;
};

putNewObjectsAmongYoung();
await runProgram(start, { stopDeadlineMs: 3_500 });
