/** Reports of proofs that have more rows than a report may contain. */
import { expect, it } from 'vitest';
import { createReport } from './report.ts';

const row = (what: string, ok: boolean) =>
  ({
    kind: 'change',
    what,
    expected: 'fail',
    verdict: ok ? 'fail' : 'pass',
    ok,
    detail: null,
  }) as const;

it('a report that must leave out rows still fails because of a late failure, and contains the row of that failure', () => {
  const report = createReport();
  for (let at = 0; at < 2_000; at += 1) report.add(row(`change ${at}`, true));
  report.add(row('the change that no check sees', false));
  report.add(row('one more', true));
  const { passed, summary, rows } = report.end([]);
  expect(passed).toBe(false);
  expect(summary).toEqual({ tried: 2_002, ok: 2_001 });
  expect(rows).toHaveLength(2_000);
  expect(rows.at(-1)?.what).toBe('the change that no check sees');
});
