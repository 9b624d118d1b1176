/**
 * Call `export`: returns everything about the session, page by page, for the session's archive. The control plane makes
 * this call. Each page contains a stamp of the state from which it was read, so the reader detects a change between two
 * pages. The call does not change the session. The export also contains a grade of the present state.
 */
import { hash } from 'node:crypto';
import { isObject } from '#domain/json.ts';
import { ledgerEntity } from '#domain/ledger.ts';
import { limits } from '#domain/limits.ts';
import type { Row } from '#language/contract.ts';
import type { RecordPage, RecordPlace, SessionState } from '#wire/host-api/session-archive.ts';
import type { Grade } from '#wire/public-api/sessions/grade.ts';
import { CallFailure } from '../calls/answers/failure.ts';
import { type RunCall, refuseUnknown } from '../calls/call.ts';
import { gradeSession } from '../grading/grade.ts';
import { createClock } from '../session/clock.ts';
import type { Session } from '../session/session.ts';

/** Maximum size of a page, in characters; the answer to a call may be four times as large. */
const pageChars = limits.callOutputBytes / 4;

/** Maximum number of rows that are exported one by one. If there are more, the archive contains no rows. */
const mostRows = 200_000;

type Part = RecordPage['sections'][number]['part'];

/**
 * Section of the archive. `read` yields its lines, starting at an offset; the caller stops it when the page is full.
 */
type Section = { part: Part; read(offset: number): Iterable<unknown> };

type Aliased = readonly [alias: string | null, session: Session];

/** Returns the session and the sessions of its linked worlds, each with its alias. */
const worldsOf = (session: Session): Aliased[] => [[null, session], ...session.links];

const changesOf = (session: Session): Section => ({
  part: 'changes',
  *read(offset) {
    let at = 0;
    for (const [alias, { world }] of worldsOf(session)) {
      for (const change of world.store.changesSinceTask()) {
        if (at >= offset) yield { world: alias, ...change };
        at += 1;
      }
    }
  },
});

const queried = 500;

/** Yields rows in the order of the store, or entries of the ledger, in batches. */
function* readAll(
  { query }: Pick<Session['ledger'], 'query'>,
  entity: string,
  from: number,
): Iterable<Row> {
  for (let offset = from; ; offset += queried) {
    const payloads = query(entity, { where: [], limit: queried, offset });
    for (const payload of payloads) yield JSON.parse(payload) as Row;
    if (payloads.length < queried) return;
  }
}

const rowsOf = ([alias, { world }]: Aliased): Section[] =>
  world.contract.entities.map(({ name }) => ({
    part: 'rows',
    *read(offset) {
      for (const row of readAll(world.store, name, offset)) {
        yield { world: alias, entity: name, row };
      }
    },
  }));

const countsOf = ([, { world }]: Aliased): number =>
  Object.values(world.store.counts()).reduce((sum, count) => sum + count, 0);

const hasAllRows = (session: Session): boolean =>
  worldsOf(session).reduce((sum, one) => sum + countsOf(one), 0) <= mostRows;

const sectionsOf = (session: Session): Section[] => [
  changesOf(session),
  { part: 'ledger', read: (offset) => readAll(session.ledger, ledgerEntity, offset) },
  ...(hasAllRows(session) ? worldsOf(session).flatMap(rowsOf) : []),
];

const stateOf = (session: Session): SessionState => {
  const { answer, clock, ledger, links, world } = session;
  return {
    at: clock.iso(),
    digest: world.store.digest(),
    counts: world.store.counts(),
    links: Object.fromEntries(
      [...links].map(([alias, linked]) => [
        alias,
        { digest: linked.world.store.digest(), counts: linked.world.store.counts() },
      ]),
    ),
    ledger: { lastId: ledger.lastId(), missing: ledger.missing() },
    answer,
    rows: hasAllRows(session) ? 'all' : 'left out',
  };
};

/** Returns a hash of the state that pages are read from: rows, ledger and answer, but not the time. */
const stampOf = (session: Session): string => {
  const { at: _, ...state } = stateOf(session);
  return hash('sha256', JSON.stringify(state), 'hex');
};

const tooLarge = (part: Part, offset: number): CallFailure =>
  new CallFailure({
    code: 'too_large',
    message: `line ${offset + 1} of the section "${part}" is larger than the ${limits.callOutputBytes} bytes that an answer may have, so the session cannot be exported`,
  });

/** Reads the page that begins at `from`. */
const readPage = (session: Session, from: RecordPlace): Pick<RecordPage, 'sections' | 'next'> => {
  const sections: RecordPage['sections'] = [];
  let chars = 0;
  for (const [index, { part, read }] of [...sectionsOf(session).entries()].slice(from.section)) {
    const start = index === from.section ? from.offset : 0;
    const lines: unknown[] = [];
    sections.push({ part, lines });
    for (const line of read(start)) {
      const size = JSON.stringify(line).length;
      if (size > pageChars * 3) throw tooLarge(part, start + lines.length);
      if (chars > 0 && chars + size > pageChars) {
        return { sections, next: { section: index, offset: start + lines.length } };
      }
      lines.push(line);
      chars += size;
    }
  }
  return { sections, next: null };
};

type Asked = { from: RecordPlace; stamp: string | undefined };

const readAsked = (input: Row): Asked => {
  refuseUnknown(input, ['from', 'stamp']);
  const { from, stamp } = input;
  if (from === undefined) return { from: { section: 0, offset: 0 }, stamp: undefined };
  if (!isObject(from) || typeof stamp !== 'string') {
    throw new CallFailure({
      code: 'invalid_input',
      message: 'from and stamp must be given together, as the previous page returned them',
      path: '',
    });
  }
  return { from: from as RecordPlace, stamp };
};

const moved = (): CallFailure =>
  new CallFailure({
    code: 'moved',
    message: 'the session changed while it was exported; export it again',
  });

/**
 * Returns the session with a frozen clock. Grading may take a while, and the grader must see the same time as the
 * archive.
 */
const atOneMoment = (session: Session): Session => ({
  ...session,
  clock: createClock({ at: session.clock.iso(), mode: 'frozen', rate: 1 }),
});

/** Grades the session if its task has a grader. No call `grade` is made, so the ledger gets no entry. */
const gradeOf = async (session: Session): Promise<Grade | null> => {
  const grader = session.task?.grader;
  return grader === undefined ? null : ((await gradeSession(session, grader)) as Grade);
};

export const callExport: RunCall = async (running, _call, input) => {
  const session = atOneMoment(running);
  const { store } = session.world;
  const { from, stamp } = readAsked(input);
  const expected = stamp ?? (await store.exclusively(() => stampOf(session)));
  const grade = stamp === undefined ? await gradeOf(session) : null;
  const output = await store.exclusively((): RecordPage => {
    if (stampOf(session) !== expected) throw moved();
    const page = readPage(session, from);
    const head = { state: stateOf(session), grade };
    return { stamp: expected, ...(stamp === undefined ? { head } : {}), ...page };
  });
  return { output, changes: {} };
};
