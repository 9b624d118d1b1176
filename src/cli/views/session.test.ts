import { describe, expect, it } from 'vitest';
import { runAnswered, session } from '#test/support/cli/service.ts';
import type { SessionListView, SessionView } from '#wire/public-api/sessions/session.ts';
import { createColors } from '../terminal/colors.ts';
import { widthOf } from '../terminal/print.ts';
import { describeSession, listSessions } from './session.ts';

const colors = createColors(false);
const id = 'ses-01kaz4x0pg8q2m5v7n3c1d9e6f';
const build = { id: 'bld-1', agentId: 'support', buildHash: 'sha256:b1', version: '1.4.0' };
const graded = {
  ...{ ...session, id, state: 'CLOSED', endReason: 'requested' },
  ...{ verdict: 'fail', score: 0.25, run: { kind: 'agent', id: 'nightly-42' }, build },
  traceId: null,
  traceSessionId: null,
} as unknown as SessionListView;
const open = { ...graded, id: `${id.slice(0, -1)}g`, state: 'READY', endReason: null } as const;
const ungraded = { ...open, verdict: null, score: null, run: null, build: null };

describe('a list of sessions', () => {
  it('shows state, verdict, score, task, run and build, and leaves out columns in which all cells are empty', () => {
    const [head, first, second] = listSessions([graded, ungraded], {
      colors,
      columns: Infinity,
    }).split('\n');
    expect(head?.split(/ {2,}/)).toEqual([
      ...['SESSION', 'WORLD', 'STATE', 'VERDICT', 'SCORE', 'TASK', 'RUN', 'BUILD', 'CREATED'],
    ]);
    expect(first?.split(/ {2,}/).slice(0, -1)).toEqual([
      ...[id, 'notes', 'CLOSED (requested)', 'fail', '0.25', 'finish', 'nightly-42'],
      'support 1.4.0',
    ]);
    expect(second).toMatch(/ notes {2}READY +- +- +finish +- +- /);
    expect(listSessions([ungraded], { colors, columns: Infinity })).not.toContain('VERDICT');
  });

  it('fits a terminal of 80 columns, and begins with the complete id', () => {
    const text = listSessions([graded], { colors, columns: 80 });
    expect(widthOf(text)).toBeLessThanOrEqual(80);
    expect(text.split('\n')[0]).toBe(id);
    expect(text).toMatch(
      / verdict fail · score 0\.25\n {2}task finish · run nightly-42 · build support 1\.4\.0 · /,
    );
  });

  it('makes control characters of a task or a run visible', () => {
    const hostile = {
      ...graded,
      task: { ...session.task, name: 'a\u001b[2Jb' },
      run: { kind: 'agent', id: 'r\u0007' },
    } as unknown as SessionListView;
    const shown = listSessions([hostile], { colors, columns: 80 });
    expect([...'\u001b\u0007'].filter((one) => shown.includes(one))).toEqual([]);
    expect(shown).toContain('a\\u001b[2Jb · run r\\u0007');
  });

  it('sends all filters in one request', async () => {
    const words = '--verdict fail --task finish --run nightly --build sha256:b1 --state CLOSED';
    const meta = { page: 1, limit: 50, totalItems: 0, totalPages: 0 };
    const { status, asked } = await runAnswered(`worlds session list ${words}`, {
      body: { data: [], meta },
    });
    const { searchParams } = new URL(asked[0]?.url ?? '', 'http://localhost');
    expect([status, Object.fromEntries(searchParams)]).toEqual([
      0,
      {
        ...{ page: '1', limit: '50', state: 'CLOSED', verdict: 'fail', task: 'finish' },
        ...{ run: 'nightly', build: 'sha256:b1' },
      },
    ]);
  });
});

describe('a session', () => {
  it('wraps the instruction at the edge of the terminal, and keeps its blank lines', () => {
    const instruction = `${'Cancel the appointment. '.repeat(6)}\n\nThen answer.\n`;
    const shown = describeSession({ ...graded, instruction } as unknown as SessionView, {
      ...{ colors, columns: 80 },
    });
    expect(widthOf(shown)).toBeLessThanOrEqual(80);
    expect(shown).toMatch(
      /\n {2}Cancel .*\n {2}(?:Cancel|the|appointment).*\n\n {2}Then answer\.$/,
    );
  });

  it('shows verdict with score, run and build', async () => {
    const { out } = await runAnswered('worlds session show ses-1', { body: graded });
    expect(out).toMatch(/\nverdict +fail, score 0\.25\n/);
    expect(out).toMatch(/\nbuild +support 1\.4\.0\n/);
    expect(out).toMatch(/\nrun +nightly-42 \(agent\)\n/);
  });
});
