/**
 * Step 7 of the demo: an agent does the task. It reads through tools, one of each kind. It writes through the vendor's
 * own client, which gets only the base address and the token of the session.
 */
import { Octokit } from '@octokit/rest';
import { AppError } from '#domain/error.ts';
import type { Row } from '#language/contract.ts';
import type { Client } from '#wire/client.ts';
import type { SessionView } from '#wire/public-api/sessions/session.ts';
import { sendCall } from '../service/waits.ts';
import { cutLine, elapsedMs, formatCount, formatDuration } from '../terminal/print.ts';
import { outputOf } from '../views/call.ts';
import { comment, duplicate, label, original, repository } from './demo-data.ts';
import { expectEqual, expectSome, expectThat, type Step } from './timeline.ts';

type AgentOptions = { client: Client; session: SessionView; signal: AbortSignal };

type Triage = { open: number; closed: number };
type Likeness = { number: number; title: string; state: string; score: number };

type Called = { output: unknown; took: string };

const callTool = async (
  { client, session, signal }: AgentOptions,
  name: string,
  input: Row,
): Promise<Called> => {
  const sessionId = session.id;
  const call = await sendCall({ client, sessionId, call: { kind: 'tool', name, input }, signal });
  const output = outputOf(call);
  expectEqual(`the rows that ${name} changed`, call.changes, {});
  return { output, took: formatDuration(elapsedMs(call.queuedAt, call.answeredAt) ?? 0) };
};

/** Creates the vendor's client for the session, with its logging switched off. */
const vendorClient = (session: SessionView, token: string | undefined): Octokit => {
  const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
  return new Octokit({
    baseUrl: expectSome('the address of its API', session.surfaces.api?.url),
    ...(token === undefined ? {} : { auth: token }),
    log: silent,
  });
};

/**
 * Calls a Python and a TypeScript tool: one counts the open issues, the other finds the issue that the new one
 * duplicates.
 */
const lookThroughTools = async (step: Step, options: AgentOptions): Promise<Triage> => {
  const summary = await callTool(options, 'triage_summary', { ...repository });
  const triage = summary.output as Triage;
  const { open, closed } = triage;
  step.note(`Python      triage_summary: ${open} open, ${closed} closed · ${summary.took}`);

  const input = { ...repository, number: duplicate };
  const likeness = await callTool(options, 'find_duplicates', input);
  const first = expectSome('a similar issue', (likeness.output as Likeness[])[0]);
  expectEqual('the most similar issue', [first.number, first.state], [original, 'open']);
  step.note(`TypeScript  find_duplicates: most similar is #${first.number} · ${likeness.took}`);
  step.aside(`            "${cutLine(first.title, 70)}"`);
  return triage;
};

const readIssues = async (step: Step, octokit: Octokit, triage: Triage): Promise<void> => {
  const issues = await octokit.paginate(octokit.rest.issues.listForRepo, {
    ...repository,
    state: 'open',
    per_page: 20,
  });
  expectEqual('open issues that the vendor client reads', issues.length, triage.open);
  const found = expectSome(
    `#${duplicate}`,
    issues.find((issue) => issue.number === duplicate),
  );
  step.note(`octokit     reads ${formatCount(issues.length, 'open issue')}, among them`);
  step.aside(`            #${found.number} "${cutLine(found.title, 60)}" by ${found.user?.login}`);
};

const closeAsDuplicate = async (step: Step, octokit: Octokit): Promise<void> => {
  const issue = { ...repository, issue_number: duplicate };
  const labels = await octokit.rest.issues.addLabels({ ...issue, labels: [label] });
  const names = labels.data.map(({ name }) => name);
  expectThat(`the label "${label}" on #${duplicate}`, names.includes(label), names);
  step.note(`octokit     labels it: ${names.join(', ')}`);

  const commented = await octokit.rest.issues.createComment({ ...issue, body: comment });
  expectEqual('the status of the comment', commented.status, 201);
  expectEqual('the text of the comment', commented.data.body, comment);
  step.note(`octokit     comments: "${comment}"`);

  const closed = await octokit.rest.issues.update({
    ...issue,
    state: 'closed',
    state_reason: 'not_planned',
  });
  expectEqual(
    'its state',
    [closed.data.state, closed.data.state_reason],
    ['closed', 'not_planned'],
  );
  step.note('octokit     closes it as not planned');
};

/** Checks that the session answers a request without a token as the vendor would. */
const tryWithoutToken = async (step: Step, session: SessionView): Promise<void> => {
  try {
    await vendorClient(session, undefined).rest.issues.get({
      ...repository,
      issue_number: duplicate,
    });
  } catch (error) {
    const { status, response } = error as { status?: number; response?: { data?: unknown } };
    if (status === undefined) throw error;
    expectEqual('the status without a token', status, 401);
    const { message } = (response?.data ?? {}) as { message?: unknown };
    expectEqual('the message without a token', message, 'Bad credentials');
    step.note(`octokit     without a token: 401 ${JSON.stringify(message)}`);
    return;
  }
  throw new AppError('conflict', 'a request without a token was accepted');
};

/** Calls a conventional tool, which lists the rows of an entity. */
const listClosed = async (step: Step, options: AgentOptions, triage: Triage): Promise<void> => {
  const input = { ...repository, state: 'closed', limit: 1_000 };
  const { output, took } = await callTool(options, 'list_issues', input);
  const closed = output as { number: number }[];
  expectEqual('closed issues', closed.length, triage.closed + 1);
  expectThat(
    `#${duplicate} among them`,
    closed.some(({ number }) => number === duplicate),
    closed,
  );
  step.note(`convention  list_issues: ${closed.length} closed, #${duplicate} among them · ${took}`);
};

export const actAsAgent = async (step: Step, options: AgentOptions): Promise<void> => {
  const { session } = options;
  const token = expectSome('the token of its API', session.surfaces.api?.token);
  const octokit = vendorClient(session, token);
  const triage = await lookThroughTools(step, options);
  await readIssues(step, octokit, triage);
  await closeAsDuplicate(step, octokit);
  await tryWithoutToken(step, session);
  await listClosed(step, options, triage);
};
