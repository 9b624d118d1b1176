/** Tests `svc worlds session faults` by whole command lines, against a service whose answers each test sets. */
import { describe, expect, it } from 'vitest';
import { call, runAnswered } from '#test/support/cli/service.ts';

const output = {
  declared: false,
  faults: {
    tools: false,
    rules: [
      {
        name: 'busy',
        routes: ['list_notes', '/x*'],
        nth: 2,
        times: 3,
        status: 503,
        latency_ms: 20,
      },
      { name: 'tight', rate_limit: 'core', limit: 3, seconds: 60, status: 429 },
      { name: 'lost', chance: 0.25, drop: 'before' },
    ],
  },
  met: [
    { name: 'busy', requests: 4, met: 3 },
    { name: 'tight', requests: 1, met: 0 },
    { name: 'lost', requests: 5, met: 1 },
  ],
};
const none = { declared: true, faults: { tools: false, rules: [] }, met: [] };
const answer = (given: object) => ({ body: { ...call, kind: 'faults', output: given } });
const faults = (line: string, given: object = output) =>
  runAnswered(`worlds session faults ses-1${line}`, answer(given));

describe('svc worlds session faults', () => {
  it('shows each rule with the number of requests that it affected', async () => {
    const { out, asked, status } = await faults('');
    expect([status, asked[0]?.body]).toEqual([0, { kind: 'faults', input: {} }]);
    expect(out.split('\n').map((line) => line.trimEnd().replaceAll(/ {2,}/g, ' | '))).toEqual([
      'NAME | ROUTES | WHEN | DOES | MET',
      'busy | list_notes /x* | requests 2 to 4 | 20 ms later, 503 | 3 of 4',
      "tight | the limit's | beyond the limit | core: 3 in 60 s, then 429 | 0 of 1",
      'lost | all | chance 0.25 | dropped before it is carried out | 1 of 5',
      'set for this session, until its next reset; not for tools',
      '',
    ]);
  });

  it.each([
    [' --off', { rules: [] }],
    [' --declared', { declared: true }],
    [` --set {"rules":[]}`, { rules: [] }],
  ])('sends the input that matches the options:%s', async (line, input) => {
    const { out, asked } = await faults(line, none);
    expect(asked[0]?.body).toEqual({ kind: 'faults', input });
    expect(out).toBe('no faults (declared by the world)\n');
  });

  it('refuses two options that both set faults', async () => {
    const { err, asked, status } = await faults(' --off --declared');
    expect([status, asked]).toEqual([1, []]);
    expect(err).toContain('give only one of --set, --off and --declared');
  });
});
