/** Endpoints for the files of a world that does not exist yet, and the list of templates for new worlds. */
import type { Problem } from '#language/problem.ts';
import * as api from '#wire/public-api/operations.ts';
import type { RuntimeRejection } from '#wire/public-api/worlds/runtime.ts';
import type { Parts } from '../../../parts.ts';
import { describeProblems } from '../../../worlds/versions/problems.ts';
import { requestProblems, runCommand } from '../../../worlds/versions/runtime.ts';
import { listTemplates } from '../../../worlds/versions/templates.ts';
import { type Endpoint, endpoint, respond } from '../../server/endpoint.ts';
import { pageOf } from '../../server/paging.ts';

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

export const runtimeEndpoints = ({ compiler, config: { templatesDir } }: Parts): Endpoint[] => [
  endpoint(
    api.runWorldCommand,
    async ({ body }, { caller, signal }) => {
      const context = { project: caller.projectId, signal };
      const outcome = await runCommand({ compiler, templatesDir }, body, context);
      return outcome.ok ? respond(200, outcome.answer) : respond(400, reject(outcome.problems));
    },
    (fields, message) => reject(requestProblems(fields, message)),
  ),

  endpoint(api.listTemplates, async ({ query }) =>
    respond(200, pageOf(listTemplates(templatesDir), query)),
  ),
];
