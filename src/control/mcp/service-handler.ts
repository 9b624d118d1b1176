/**
 * The MCP server of a project, with the operations of the public API as tools. Each caller sees the tools that the
 * caller may use, according to the access of each operation.
 */
import { AppError } from '#domain/error.ts';
import { isObject } from '#domain/json.ts';
import { suggestName } from '#language/read/suggest.ts';
import { isReadAccess } from '#wire/access.ts';
import { JsonText, writeJson } from '../base/json/json-text.ts';
import type { KeyLevel } from '../platform/tokens/tokens.ts';
import {
  type CallWatch,
  failedResult,
  type McpHandler,
  type ToolResult,
  valueResult,
} from './handler.ts';
import type { ServiceTool, ToolRequest } from './service-tools.ts';

/** Lowest HTTP status that is an error. */
const firstRefusal = 400;

/** Performs the request of a tool for its caller; throws the error if the operation refuses the request. */
export type PerformTool = (
  tool: ServiceTool,
  request: ToolRequest,
  watch: CallWatch,
) => Promise<{ status: number; body: unknown }>;

export type ServiceHandlerOptions = {
  tools: ReadonlyMap<string, ServiceTool>;
  /** Level of the caller; `public` may only read. */
  level: KeyLevel;
  perform: PerformTool;
};

/** Returns true if the answer of a tool reports that the tool's work failed. */
const saysFailure = ({ failed }: ServiceTool, body: unknown): boolean => {
  const value = failed === undefined || !isObject(body) ? undefined : body[failed.member];
  return typeof value === 'string' && failed?.values.includes(value) === true;
};

const resultOf = (tool: ServiceTool, status: number, body: unknown): ToolResult => {
  // Clients validate structured content against the schema of successful answers, so a refusal is text alone.
  if (status >= firstRefusal) return failedResult(writeJson(body).join(''));
  return { ...valueResult(body), ...(saysFailure(tool, body) ? { isError: true } : {}) };
};

const mayUse = ({ operation }: ServiceTool, level: KeyLevel): boolean =>
  level === 'secret' || isReadAccess(operation.access);

/** Creates the server of one caller. */
export const createServiceHandler = ({
  tools,
  level,
  perform,
}: ServiceHandlerOptions): McpHandler => {
  const findTool = (name: string): ServiceTool => {
    const tool = tools.get(name);
    if (tool === undefined) {
      const hint = suggestName(name, tools.keys()) ?? 'it has none';
      throw new AppError('not_found', `there is no tool "${name}"; ${hint}`);
    }
    if (mayUse(tool, level)) return tool;
    throw new AppError(
      'forbidden',
      `the tool ${name} changes the project, and your credential may only read`,
    );
  };
  return {
    title: 'Simulated services for agents',
    instructions:
      'Worlds are simulated services. Open a session of a world on a task, act in the session through its tools or its API, grade the session, and close it. describe_project describes the project.',
    async listTools() {
      const usable = [...tools.values()].filter((tool) => mayUse(tool, level));
      return new JsonText(`[${usable.map(({ json }) => json).join(',')}]`);
    },
    async callTool(name, argumentTexts, watch) {
      const tool = findTool(name);
      const { status, body } = await perform(tool, tool.request(argumentTexts), watch);
      return resultOf(tool, status, body);
    },
    listResources: async () => [],
    async readResource(uri) {
      throw new AppError('not_found', `there is no resource "${uri}"; this server has none`);
    },
  };
};
