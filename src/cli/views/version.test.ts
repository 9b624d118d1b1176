import { describe, expect, it } from 'vitest';
import type { PushView, VersionListView } from '#wire/public-api/worlds/version.ts';
import { createColors } from '../terminal/colors.ts';
import { describePush, listVersions } from './version.ts';

const version = {
  ...{ id: 'ver-1', number: 5, state: 'READY', contentHash: 'sha256:0', message: null },
  ...{ author: 'pk', origin: 'push', createdAt: '2026-01-01T00:00:00.000Z', labels: [] },
  ...{ tests: null, changes: null, gate: null },
} as const satisfies VersionListView;
const view = { colors: createColors(false), columns: Infinity };

describe('a list of versions', () => {
  it('shows the gate if a version has to pass it; otherwise there is no such column', () => {
    const plain = listVersions([version], view);
    expect(plain).not.toContain('GATE');
    const [head, first, second] = listVersions(
      [{ ...version, gate: 'failed' }, version],
      view,
    ).split('\n');
    expect(head).toMatch(/^VERSION {2}ID +GATE +BY/);
    expect(first).toMatch(/^5 +ver-1 +failed +push/);
    expect(second).toMatch(/^5 +ver-1 +- +push/);
  });
});

describe('the result of a push', () => {
  const answer = { ...version, slug: 'crm', changed: true, keptRows: 0, leftOutRows: 0 };
  const textOf = (more: object) =>
    describePush(
      {
        answer: { ...answer, warnings: [], ...more } as unknown as PushView,
        sentFiles: 1,
        sentBytes: 2,
      },
      { ...view, columns: 80 },
    );

  it('explains how the version becomes the head while the gate blocks it', () => {
    expect(textOf({ gate: 'waiting' })).toMatch(
      /\ngate +its tests run; .*\n.*\nsee +svc worlds versions crm\nagain +svc worlds test crm@5\n/,
    );
    expect(textOf({})).not.toContain('gate');
  });

  it('shows, if nothing changed, the state of the version that has the tree', () => {
    const same = 'nothing changed: version 5 of crm equals this tree';
    expect(textOf({ changed: false })).toBe(same);
    expect(textOf({ changed: false, gate: 'failed' })).toBe(`${same}, and failed its tests`);
  });
});
