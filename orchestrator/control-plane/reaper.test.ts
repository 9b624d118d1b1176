import { expect, it } from 'vitest';
import { limitsAfterGap } from './reaper.ts';

const limits = { idleMs: 1_000, maxAgeMs: 3_600_000, provisionMs: 150_000, closingMs: 20_000 };
const heardMs = 15_000;

it('the reaper applies no limit but the maximum age just after an outage of the control plane, when nothing was reported', () => {
  const { maxAgeMs, ...others } = limitsAfterGap(limits, 500, heardMs);
  expect(maxAgeMs).toBe(limits.maxAgeMs);
  for (const limitMs of Object.values(others)) expect(limitMs).toBeGreaterThan(24 * 3_600_000);
});

it('the reaper applies a limit again once hosts had time to report, or after the whole limit if that is shorter', () => {
  expect(limitsAfterGap(limits, 1_001, heardMs)).toMatchObject({ idleMs: 1_000 });
  expect(limitsAfterGap(limits, 1_001, heardMs).closingMs).toBeGreaterThan(limits.closingMs);
  expect(limitsAfterGap(limits, heardMs + 1, heardMs)).toEqual(limits);
});
