/**
 * Runs a grader in Python, in a process of its own. The grader works on a copy of rows and ledger that is made while
 * nothing changes them. The session can therefore continue, and its code has no influence on the verdict. The process
 * answers with plain data, which is validated here; the host decides whether the grade passes.
 */
import { ledgerEntity } from '#domain/ledger.ts';
import { ledgerEntityContract } from '#language/sql/ledger-entity.ts';
import { type FrozenRows, freezeRows } from '#store/frozen.ts';
import { StoreRefusal } from '#store/refusal.ts';
import type { TaskSpec } from '#wire/public-api/worlds/task-spec.ts';
import { CallFailure } from '../calls/answers/failure.ts';
import type { Session } from '../session/session.ts';
import { createGraderAccess } from '../session/store-access.ts';
import { wholeLedger } from './assertions.ts';
import { type CheckResult, verdictOf } from './check-result.ts';

type PythonGrader = Extract<NonNullable<TaskSpec['grader']>, { kind: 'python' }>;

const timeoutMs = 120_000;
const file = 'checks/verify.py';

const mebibyte = 2 ** 20;
/** Maximum size of the copy, in bytes. The rows themselves stay in the host's memory, too. */
const mostCopyBytes = 128 * mebibyte;
/** Memory that is reserved for the grader's process and the host, in bytes; the copy may use the rest. */
const reservedBytes = 64 * mebibyte;

const most = { checks: 1_000, nameChars: 200, detailChars: 2_000 };

const fail = (code: string, message: string): never => {
  throw new CallFailure({ code, message });
};

/**
 * Copy of rows and ledger at one moment. `at` is the world's time, `missing` the number of entries that the ledger has
 * dropped.
 */
type Frozen = { rows: FrozenRows; at: string; missing: number };

/**
 * Copies the state. Call it while nothing changes the rows. Fails the call if there is not enough memory for the copy.
 */
const freeze = async ({ clock, world, ledger }: Session): Promise<Frozen> => {
  const entities = [...world.contract.entities, ledgerEntityContract];
  const at = clock.iso();
  const noted = ledger.asOfNow();
  const limitBytes = Math.min(mostCopyBytes, process.availableMemory() - reservedBytes);
  if (limitBytes < mebibyte)
    fail('exhausted', 'the host has no memory left to copy the state for a grade');
  try {
    const rows = await freezeRows(
      { entities, definitions: world.contract.definitions },
      (entity) => (entity === ledgerEntity ? noted : world.store),
      limitBytes,
    );
    return { rows, at, missing: noted.missing };
  } catch (error) {
    if (!(error instanceof StoreRefusal) || error.kind !== 'full') throw error;
    const remedy = 'grade it by assertions, which need no copy';
    return fail(
      'too_large',
      `the state is too large for a grader in Python: ${error.detail}; ${remedy}`,
    );
  }
};

const cut = (text: string, chars: number): string =>
  text.length <= chars ? text : `${text.slice(0, chars - 1)}…`;

const toCheck = (value: unknown, index: number): CheckResult => {
  const { name, passed, detail } = (value ?? {}) as Record<string, unknown>;
  const isPlain =
    typeof name === 'string' &&
    typeof passed === 'boolean' &&
    (detail === null || typeof detail === 'string');
  if (!isPlain)
    return fail(
      'bad_grader',
      `check ${index + 1} of the grader is invalid: it must have a name, passed (true or false) and detail (a text or null)`,
    );
  return {
    name: cut(name, most.nameChars),
    ...verdictOf(passed),
    expected: null,
    found: null,
    detail: detail === null ? null : cut(detail, most.detailChars),
  };
};

/** Reads the checks from the report of a grader's process. Fails the call if they are invalid. */
export const readReport = (report: unknown): CheckResult[] => {
  const { checks } = (report ?? {}) as { checks?: unknown };
  if (!Array.isArray(checks))
    return fail('bad_grader', "the grader's process did not answer with a list of checks");
  if (checks.length === 0)
    return fail('failed', 'the grader made no check: call ctx.check at least once');
  if (checks.length > most.checks) {
    return fail(
      'bad_grader',
      `the grader made ${checks.length} checks, more than the maximum of ${most.checks}`,
    );
  }
  return checks.map(toCheck);
};

/**
 * Runs a grader's source and returns its checks. Calls `look` in the moment whose state the grader judges. Throws
 * `CallFailure` if the grader cannot judge.
 */
export const gradeByPython = async (
  session: Session,
  { source }: PythonGrader,
  look: () => Promise<void> = async () => undefined,
): Promise<CheckResult[]> => {
  const { world } = session;
  const grader = world.code.openGrader({ path: file, content: new TextEncoder().encode(source) });
  let frozen: Frozen | undefined;
  try {
    frozen = await world.store.exclusively(async () => {
      await look();
      return freeze(session);
    });
    const { at, missing, rows } = frozen;
    const asked = new Set<string>();
    const access = createGraderAccess(rows, at, (entity) => asked.add(entity));
    const result = await grader.run({
      language: 'python',
      file,
      function: 'verify',
      as: 'verify',
      input: null,
      access,
      timeoutMs,
    });
    if (!result.ok) throw new CallFailure(result.error);
    const checks = readReport(result.value);
    return asked.has(ledgerEntity) ? [...checks, ...wholeLedger(missing)] : checks;
  } finally {
    await grader.end();
    frozen?.rows.close();
  }
};
