/** POST /worlds/runtime */
import type { Problem } from '#language/problem.ts';
import { runWorldCommand as operation } from '#wire/public-api/operations.ts';
import type { RuntimeRejection } from '#wire/public-api/runtime.ts';
import type { Parts } from '../../parts.ts';
import { describeProblems } from '../../worlds/problems.ts';
import { requestProblems, runCommand } from '../../worlds/runtime.ts';
import { endpoint, respond } from '../endpoint.ts';

const reject = (problems: Problem[]): RuntimeRejection => {
  const { code = 'internal', file = '', message = '', pointer = '' } = problems[0] ?? {};
  const path = pointer === '' ? file : `${file}#${pointer}`;
  return {
    status: 'rejected',
    message: describeProblems(problems),
    error: { code, message, path },
    problems,
  };
};

export const runWorldCommand = ({ compiler, config }: Pick<Parts, 'compiler' | 'config'>) =>
  endpoint(
    operation,
    async ({ body }, { caller, signal }) => {
      const parts = { compiler, templatesDir: config.templatesDir };
      const outcome = await runCommand(parts, body, { project: caller.projectId, signal });
      return outcome.ok ? respond(200, outcome.answer) : respond(400, reject(outcome.problems));
    },
    (fields, message) => reject(requestProblems(fields, message)),
  );
