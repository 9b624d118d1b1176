import { expect, it } from 'vitest';
import { limitsAfterGap } from './reaper.ts';

const limits = { idleMs: 1_000, maxAgeMs: 3_600_000, provisionMs: 150_000, closingMs: 20_000 };
const heardMs = 15_000;

it('the reaper counts no time in which the control plane was away, since nothing could be reported then', () => {
  const { maxAgeMs, ...others } = limitsAfterGap(limits, 500, heardMs);
  expect(maxAgeMs).toBe(limits.maxAgeMs);
  for (const limitMs of Object.values(others)) expect(limitMs).toBeGreaterThan(24 * 3_600_000);
});

it('the reaper counts a limit again once hosts were heard, or after the whole limit if that is shorter', () => {
  expect(limitsAfterGap(limits, 1_001, heardMs)).toMatchObject({ idleMs: 1_000 });
  expect(limitsAfterGap(limits, 1_001, heardMs).closingMs).toBeGreaterThan(limits.closingMs);
  expect(limitsAfterGap(limits, heardMs + 1, heardMs)).toEqual(limits);
});
