import { describe, expect, it } from 'vitest';
import { markOf, metadataOf } from './arrangement.ts';

const hourMs = 3_600_000;

describe('the eviction protection of a pod', () => {
  it('allows its eviction while it serves no session', () => {
    expect(markOf(undefined, undefined, hourMs)).toBe('idle');
    expect(markOf(undefined, 5, hourMs)).toBe('idle');
  });

  it('keeps autoscalers away from a standard session that lasts long', () => {
    expect(markOf({ tier: 'standard', forMs: 1_000 }, undefined, hourMs)).toBeUndefined();
    expect(markOf({ tier: 'standard', forMs: 10_000 }, undefined, hourMs)).toBe('busy');
  });

  it('protects a premium session at once, and for a limited time on a node that is being drained', () => {
    const premium = { tier: 'premium', forMs: 2 * hourMs } as const;
    expect(markOf({ ...premium, forMs: 0 }, undefined, hourMs)).toBe('protected');
    expect(markOf(premium, undefined, hourMs)).toBe('protected');
    expect(markOf(premium, hourMs - 1, hourMs)).toBe('protected');
    expect(markOf(premium, hourMs, hourMs)).toBe('busy');
  });

  it('protects a premium session on a node that is not drained, even if drains do not wait', () => {
    const premium = { tier: 'premium', forMs: 500 } as const;
    expect(markOf(premium, undefined, 0)).toBe('protected');
    expect(markOf(premium, 0, 0)).toBe('busy');
  });

  it('protects a premium session for the same time if the session begins on a node that was cordoned long ago', () => {
    const begun = (forMs: number) => ({ tier: 'premium', forMs }) as const;
    expect(markOf(begun(0), 5 * hourMs, hourMs)).toBe('protected');
    expect(markOf(begun(hourMs - 1), 5 * hourMs, hourMs)).toBe('protected');
    expect(markOf(begun(hourMs), 5 * hourMs, hourMs)).toBe('busy');
  });

  it.each([
    ['idle', 'true', null, null],
    ['busy', 'false', 'true', null],
    ['protected', 'false', 'true', 'yes'],
  ] as const)(
    '%s sets the fields that both autoscalers and the disruption budget read',
    (mark, evict, keep, budget) => {
      expect(metadataOf(mark)).toEqual({
        labels: { 'svc.protected': budget },
        annotations: {
          'cluster-autoscaler.kubernetes.io/safe-to-evict': evict,
          'karpenter.sh/do-not-disrupt': keep,
        },
      });
    },
  );
});
