/**
 * Steps of the demo that grade: before the work, where the grade must be fail with reasons (6), and after it, where the
 * grade must be pass (8). Step 8 also shows the changes and the requests of the session.
 */
import { ledgerEntity } from '#domain/ledger.ts';
import type { Client } from '#wire/client.ts';
import type { LedgerEntry } from '#wire/host-api/ledger.ts';
import type { Grade } from '#wire/public-api/sessions/grade.ts';
import type { RequestView } from '#wire/public-api/sessions/request.ts';
import { sendCall } from '../service/waits.ts';
import type { Colors } from '../terminal/context.ts';
import { describeGrade, outputOf } from '../views/call.ts';
import { describeLedger, requestOfRow } from '../views/request.ts';
import { checksHeldFromTheStart, checksOfTheWork, duplicate, repository } from './demo-data.ts';
import { expectEqual, expectThat, type Step } from './timeline.ts';

type GradeOptions = {
  client: Client;
  sessionId: string;
  colors: Colors;
  signal: AbortSignal;
};

/** Grades the session and prints each check. `failing` names the checks that must fail. */
const grade = async (
  step: Step,
  { client, sessionId, colors, signal }: GradeOptions,
  failing: readonly string[],
): Promise<Grade> => {
  const call = await sendCall({ client, sessionId, call: { kind: 'grade' }, signal });
  const result = outputOf(call) as Grade;
  step.note(describeGrade(result, colors));
  const all = [...checksOfTheWork, ...checksHeldFromTheStart].sort();
  expectEqual('the checks', result.checks.map(({ name }) => name).sort(), all);
  const failed = result.checks.filter(({ passed }) => !passed).map(({ name }) => name);
  expectEqual('the checks that fail', failed.sort(), [...failing].sort());
  expectEqual('whether it passed', result.passed, failing.length === 0);
  return result;
};

export const gradeBefore = (step: Step, options: GradeOptions): Promise<Grade> =>
  grade(step, options, checksOfTheWork);

const issuePath = `/repos/${repository.owner}/${repository.repo}/issues/${duplicate}`;

/** Requests by the agent that the ledger must contain, as `METHOD path status`. */
const expectedRequests = [
  `POST ${issuePath}/labels 200`,
  `POST ${issuePath}/comments 201`,
  `PATCH ${issuePath} 200`,
];
const expectedTools = ['triage_summary', 'find_duplicates', 'list_issues'];

const readLedger = async (options: GradeOptions): Promise<RequestView[]> => {
  const { client, sessionId, signal } = options;
  const input = { entity: ledgerEntity, limit: 1_000 };
  const call = await sendCall({ client, sessionId, call: { kind: 'state', input }, signal });
  const { rows } = outputOf(call) as { rows: LedgerEntry[] };
  return rows.map((row) => requestOfRow(sessionId, row));
};

const checkLedger = (entries: readonly RequestView[]): void => {
  const requests = entries.map(({ method, path, status }) => `${method} ${path} ${status}`);
  for (const expected of expectedRequests) {
    expectThat(`the request ${expected} in the ledger`, requests.includes(expected), requests);
  }
  const tools = entries.filter(({ via }) => via === 'tool').map(({ operation }) => operation);
  expectEqual('the tools in the ledger', tools, expectedTools);
};

export const gradeAfter = async (step: Step, options: GradeOptions): Promise<void> => {
  await grade(step, options, []);
  const ledger = await readLedger(options);
  checkLedger(ledger);
  step.note(`\n${options.colors.bold('requests to the session, and the rows that they changed')}`);
  step.note(describeLedger(ledger, { colors: options.colors, columns: Infinity }));
};
