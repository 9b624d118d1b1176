/** Step 8: graded again, the task passes; the session tells what changed and what it was asked. */
import { ledgerEntity } from '#domain/ledger.ts';
import type { LedgerEntry } from '#wire/host-api/ledger.ts';
import type { RequestView } from '#wire/public-api/request.ts';
import { sendCall } from '../../calls.ts';
import { outputOf } from '../../views/call.ts';
import { describeLedger, requestOfRow } from '../../views/request.ts';
import { expectEqual, expectThat } from '../expect.ts';
import { duplicate, repository } from '../story.ts';
import type { Step } from '../timeline.ts';
import { type GradeOptions, grade } from './grade-before.ts';

const issuePath = `/repos/${repository.owner}/${repository.repo}/issues/${duplicate}`;

/** What the agent must have been seen doing, as `METHOD path status`. */
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
  step.note(`\n${options.colors.bold('what the session was asked, and the rows that changed')}`);
  step.note(describeLedger(ledger, options.colors));
};
