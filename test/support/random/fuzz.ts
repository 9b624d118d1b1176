/**
 * Number of runs of property tests: the test's own number, times the factor of `vitest.config.ts`. The seed of the runs
 * is in that file, too, and changes daily. A failure is printed with its seed and path; with `FUZZ_SEED` its run can be
 * repeated.
 */
import { inject } from 'vitest';

declare module 'vitest' {
  export interface ProvidedContext {
    /** Factor on the usual number of runs, and the seed to start from. */
    fuzz: { times: number; seed: number };
    /** Number of examples, and the seed. */
    schemathesis: { examples: number; seed: number };
    /**
     * Minutes for which bodies are sent (0 for the few of the ordinary tests), the seed, and the file of the report.
     */
    fuzzHttp: { minutes: number; seed: number; report: string | null };
  }
}

/**
 * Returns the parameters of a property that usually runs `usual` times, and a multiple of that in `make fuzz`. For
 * slow properties, `short` is the number of runs in the ordinary tests.
 */
export const fuzzRuns = (usual: number, short = usual): { numRuns: number; seed: number } => {
  const { times, seed } = inject('fuzz');
  return { numRuns: times > 1 ? usual * times : short, seed };
};
