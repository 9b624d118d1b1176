/**
 * A world host: serves one session of one world at a time. Labels on its command line are for whoever
 * looks at processes; everything it must know is in its environment.
 */
import { createLog } from '#runtime/log.ts';
import { runProgram } from '#runtime/run.ts';
import { readConfig } from './config.ts';
import { startHost } from './program.ts';

/** A call that runs when the host is told to stop has this long to end and be answered. */
const stopDeadlineMs = 10_000;

await runProgram(
  async () => {
    const config = readConfig(process.env);
    return startHost(
      config,
      createLog('world-host', config.logLevel).child({ host: config.hostId }),
    );
  },
  { stopDeadlineMs },
);
