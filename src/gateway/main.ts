/** Entry point of the gateway process. Once the gateway listens, it prints one JSON line: `{"listening":[…]}`. */
import { createLog } from '#runtime/log.ts';
import { runProgram } from '#runtime/run.ts';
import { say } from '#wire/program-lines/lines.ts';
import { readConfig } from './config.ts';
import { startGateway } from './program.ts';

const start = async () => {
  const config = readConfig(process.env);
  const gateway = await startGateway(config, createLog('gateway', config.logLevel));
  say({ listening: gateway.addresses });
  return gateway;
};

await runProgram(start, { stopDeadlineMs: 30_000 });
