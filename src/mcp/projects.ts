/**
 * Finds the projects that a personal access token grants access to, and the project that each message is meant for. If
 * the token grants several projects, each tool has one more argument, `project_id`; the message is then sent to the
 * address of that project. Access is checked again before each call, so that a revoked right is reported in a clear
 * message.
 */
import { AppError } from '#domain/error.ts';
import { isObject } from '#domain/json.ts';
import { fromErrorAnswer } from '#wire/errors.ts';
import type { JSONRPCMessage, JSONRPCRequest } from '#wire/mcp-relay.ts';

export type Project = { id: string; name: string };

export type ProjectsOptions = {
  /** Base address of the service. */
  url: string;
  authorization: string;
  /** Project of calls that do not name one. */
  projectId: string | undefined;
};

const argument = 'project_id';
const answerMs = 30_000;

const isProject = (value: unknown): value is Project =>
  isObject(value) && typeof value.id === 'string' && typeof value.name === 'string';

/** Fetches the projects. Throws the error that the service answers, and `unavailable` if it does not answer. */
export const listProjects = async ({
  url,
  authorization,
}: Pick<ProjectsOptions, 'url' | 'authorization'>): Promise<Project[]> => {
  const address = `${url}/api/public/projects`;
  let response: Response;
  try {
    response = await fetch(address, {
      headers: { authorization },
      signal: AbortSignal.timeout(answerMs),
    });
  } catch (cause) {
    throw new AppError('unavailable', `${address} does not answer`, { cause });
  }
  const body: unknown = await response.json().catch(() => undefined);
  if (!response.ok) throw fromErrorAnswer(response.status, body);
  return isObject(body) && Array.isArray(body.data) ? body.data.filter(isProject) : [];
};

/** Formats the id and name of each project, one project a line. */
export const linesOf = (projects: readonly Project[]): string[] =>
  projects.map(({ id, name }) => `  ${id}  ${name}`);

const noSuch = (id: string, projects: readonly Project[]): AppError =>
  new AppError(
    'forbidden',
    `the token does not reach the project "${id}"; it reaches ${projects.map((one) => one.id).join(', ') || 'none'}`,
  );

/**
 * Returns the project that a message names, or else the only project of the token. Throws if a message names none and
 * there are several.
 */
const choose = (named: string | undefined, projects: readonly Project[]): string => {
  if (named !== undefined) {
    if (projects.some(({ id }) => id === named)) return named;
    throw noSuch(named, projects);
  }
  const [only] = projects;
  if (only === undefined) throw new AppError('forbidden', 'the token reaches no project');
  if (projects.length === 1) return only.id;
  throw new AppError(
    'invalid',
    `the token reaches several projects: set "${argument}" to one of ${projects.map((one) => one.id).join(', ')}`,
  );
};

const argumentOf = (message: JSONRPCMessage): string | undefined => {
  if (!('method' in message) || message.method !== 'tools/call') return undefined;
  const given = isObject(message.params) ? message.params.arguments : undefined;
  const named = isObject(given) ? given[argument] : undefined;
  return typeof named === 'string' ? named : undefined;
};

/** Returns the message without the `project_id` argument, which the server does not know. */
const withoutArgument = (message: JSONRPCMessage): JSONRPCMessage => {
  if (argumentOf(message) === undefined || !('params' in message)) return message;
  const { arguments: given, ...params } = message.params as { arguments: Record<string, unknown> };
  const { [argument]: _, ...rest } = given;
  return { ...message, params: { ...params, arguments: rest } } as JSONRPCMessage;
};

/** Returns a function that directs each message to the server of its project. */
export const directorOf = (options: ProjectsOptions) => {
  const { url, projectId } = options;
  const addressOf = (id: string): string =>
    `${url}/api/public/mcp?project_id=${encodeURIComponent(id)}`;
  return async (message: JSONRPCMessage) => {
    const projects = await listProjects(options);
    const named = argumentOf(message) ?? projectId;
    const isCall = 'method' in message && message.method === 'tools/call';
    // Messages other than tool calls have the same answer in every project.
    const id = isCall ? choose(named, projects) : (named ?? projects[0]?.id);
    if (id === undefined) throw new AppError('forbidden', 'the token reaches no project');
    return { address: addressOf(id), message: withoutArgument(message) };
  };
};

type Tool = { inputSchema: { properties?: Record<string, unknown>; required?: string[] } };

/** Adds the argument `project_id`, required or optional, to each tool of a list. */
export const withProjectArgument =
  (isRequired: boolean) =>
  ({ method }: JSONRPCRequest, answer: JSONRPCMessage): JSONRPCMessage => {
    const result = 'result' in answer && isObject(answer.result) ? answer.result : undefined;
    if (method !== 'tools/list' || !Array.isArray(result?.tools)) return answer;
    const tools = (result.tools as Tool[]).map((tool) => {
      const { properties = {}, required = [] } = tool.inputSchema;
      const inputSchema = {
        ...tool.inputSchema,
        properties: {
          [argument]: { type: 'string', description: 'id of the project that the call is for' },
          ...properties,
        },
        ...(isRequired ? { required: [argument, ...required] } : {}),
      };
      return { ...tool, inputSchema };
    });
    return { ...answer, result: { ...result, tools } } as JSONRPCMessage;
  };
