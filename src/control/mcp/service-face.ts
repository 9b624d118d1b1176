/**
 * The MCP server of a project: its operations as tools. A caller finds those that it may use; which these are is
 * said by the access of each operation.
 */
import { AppError } from '#domain/error.ts';
import { suggestName } from '#language/read/suggest.ts';
import { isReadAccess } from '#wire/access.ts';
import { JsonText } from '../json/json-text.ts';
import type { KeyLevel } from '../tokens/tokens.ts';
import { type CallWatch, type Face, valueResult } from './face.ts';
import type { ServiceTool, ToolRequest } from './service-tools.ts';

/** Does the request of a tool for its caller; throws what the operation refuses. */
export type PerformTool = (
  tool: ServiceTool,
  request: ToolRequest,
  watch: CallWatch,
) => Promise<unknown>;

export type ServiceFaceOptions = {
  tools: ReadonlyMap<string, ServiceTool>;
  /** `public`: it may only read. */
  level: KeyLevel;
  perform: PerformTool;
};

const mayUse = ({ operation }: ServiceTool, level: KeyLevel): boolean =>
  level === 'secret' || isReadAccess(operation.access);

/** Makes the server of one caller. */
export const createServiceFace = ({ tools, level, perform }: ServiceFaceOptions): Face => {
  const findTool = (name: string): ServiceTool => {
    const tool = tools.get(name);
    if (tool === undefined) {
      const hint = suggestName(name, tools.keys()) ?? 'it has none';
      throw new AppError('not_found', `there is no tool "${name}"; ${hint}`);
    }
    if (mayUse(tool, level)) return tool;
    throw new AppError(
      'forbidden',
      `${name} changes what is in the project, and you may only read`,
    );
  };
  return {
    title: 'Simulated services for agents',
    instructions:
      'Worlds are simulated services. Open a session of a world on a task, act on it by its tools or its API, grade it, close it. describe_project says which project this is.',
    async listTools() {
      const usable = [...tools.values()].filter((tool) => mayUse(tool, level));
      return new JsonText(`[${usable.map(({ json }) => json).join(',')}]`);
    },
    async callTool(name, argumentTexts, watch) {
      const tool = findTool(name);
      return valueResult(await perform(tool, tool.request(argumentTexts), watch));
    },
    listResources: async () => [],
    async readResource(uri) {
      throw new AppError('not_found', `there is no resource "${uri}"; this server has none`);
    },
  };
};
