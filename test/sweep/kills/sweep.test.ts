/**
 * The fault sweep: each program is killed, paused or cut off, and PostgreSQL crashes, at each step that involves two
 * programs, on one service for all cases. docs/internals/faults.md has the promised behaviour; `make sweep` runs many
 * cases, an ordinary test run some.
 */
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { processesNaming } from '../../support/programs/processes.ts';
import { casesOf, describeCase } from './cases.ts';
import { findRuntimes, isLong } from './extent.ts';
import { runCase, tellFailure } from './run-case.ts';
import { type Service, startService } from './service.ts';

const { seed, total, times, only } = inject('sweep');
const caseTimeoutMs = 180_000;

describe.each(await findRuntimes())('on the %s runtime', (runtime) => {
  let service: Service;
  let isSound = true;
  const wanted = { runtime, seed, times: only ?? times[runtime], withLong: isLong };
  const cases = casesOf(wanted).filter(({ number }) => only === null || number === only);

  beforeAll(async () => {
    service = await startService(runtime);
  });

  afterAll(async () => {
    await service.stop();
    expect(processesNaming(service.network.installation)).toEqual([]);
  });

  it.each(cases.map((given) => ({ name: describeCase(given), given })))(
    '$name',
    { timeout: caseTimeoutMs },
    async ({ given }) => {
      if (!isSound) {
        await service.stop();
        service = await startService(runtime);
      }
      isSound = false;
      const verdict = await runCase(service, given);
      expect(verdict.wrongs, tellFailure({ given, total }, verdict, service)).toEqual([]);
      isSound = true;
    },
  );
});
