/**
 * How often tests of properties run: as often as a test asks for, times what `vitest.config.ts` says,
 * from the seed that it gives, each day another. A failure is printed with its seed and path: `FUZZ_SEED`
 * repeats its run.
 */
import { inject } from 'vitest';

declare module 'vitest' {
  export interface ProvidedContext {
    /** How many times as many runs as usual, and the seed to start from. */
    fuzz: { times: number; seed: number };
    /** Minutes to send bodies for, 0 for the few of the ordinary tests; where to start; where to tell. */
    schemathesis: { examples: number; seed: number };
    fuzzHttp: { minutes: number; seed: number; report: string | null };
  }
}

/**
 * The parameters of a property that runs `usual` times, and that often a time in `make fuzz`; where those
 * take long, `short` is how often it runs in the ordinary tests.
 */
export const fuzzRuns = (usual: number, short = usual): { numRuns: number; seed: number } => {
  const { times, seed } = inject('fuzz');
  return { numRuns: times > 1 ? usual * times : short, seed };
};
