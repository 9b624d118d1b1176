/**
 * Entry point of the program that grades an archive again and prints the result. `svc worlds session regrade` starts
 * the program.
 */
import { rm } from 'node:fs/promises';
import { createLog } from '#runtime/log.ts';
import { runProgram } from '#runtime/run.ts';
import { say } from '#wire/program-lines/lines.ts';
import { readConfig } from '../folder/config.ts';
import { createOwnLoader, type OwnLoader } from '../folder/loader.ts';
import { readArchive } from './archive.ts';
import { regrade } from './regrade.ts';

const stopDeadlineMs = 5_000;

await runProgram(
  async () => {
    const config = readConfig(process.env);
    const path = process.env.SVC_ARCHIVE ?? '';
    let worlds: OwnLoader | undefined;
    const gradeAgain = async (): Promise<void> => {
      const archive = await readArchive(path, `${config.workDir}/archive`);
      const log = createLog('regrade', config.logLevel);
      worlds = createOwnLoader({ config, fetchBlob: archive.blob, log });
      say({ regraded: { archived: archive.grade, grade: await regrade(archive, worlds) } });
    };
    return {
      ended: gradeAgain(),
      async stop() {
        await worlds?.stop();
        await rm(config.workDir, { recursive: true, force: true, maxRetries: 5 });
      },
    };
  },
  { stopDeadlineMs },
);
