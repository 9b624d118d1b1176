/**
 * Cache of the tools of versions in MCP's form. The tools of a version are built from the version's texts when first
 * needed. The cache has a size limit that projects share fairly. Very large lists of tools are built in a separate
 * process, because schemas are user input.
 */
import { AppError } from '#domain/error.ts';
import { limits } from '#domain/limits.ts';
import { type McpTool, mcpToolsOf } from '../../base/contracts/mcp-tools.ts';
import { createFairCache } from '../../base/fairness/fair-cache.ts';
import type { ProcessPool } from '../compile/process-pool.ts';
import type { VersionTexts } from './version-texts.ts';
import type { Version } from './versions.ts';

export type McpTools = {
  /** Returns all tools of a version, including those of linked worlds, in the version's order. */
  of(version: Pick<Version, 'id' | 'projectId'>, signal: AbortSignal): Promise<McpTool[]>;
};

/** Maximum size of the cache, in bytes. */
const mostBytes = 64 * 1024 * 1024;
const bytesPerChar = 2;
const toolBytes = 128;

const bytesOf = (tools: readonly McpTool[]): number =>
  tools.reduce((sum, { json }) => sum + toolBytes + json.length * bytesPerChar, 0);

/** Creates the cache. It reads the texts of versions and uses the processes that parse large bodies. */
export const createMcpTools = (
  texts: Pick<VersionTexts, 'one'>,
  readers: Pick<ProcessPool, 'run'>,
): McpTools => {
  const kept = createFairCache<McpTool[]>(mostBytes);

  const makeApart = async (
    toolSchemas: string,
    project: string,
    signal: AbortSignal,
  ): Promise<McpTool[]> => {
    const end = await readers.run({ kind: 'mcp-tools', toolSchemas }, { project, signal });
    if (end.kind === 'done') return end.outcome as McpTool[];
    throw new AppError('exhausted', 'listing the tools takes more time or memory than is allowed');
  };

  return {
    async of(version, signal) {
      const { id, projectId } = version;
      const known = kept.get(id);
      if (known !== undefined) return known;
      const text = await texts.one(version, 'toolSchemas');
      const value =
        text.length <= limits.directBodyBytes
          ? mcpToolsOf(text)
          : await makeApart(text, projectId, signal);
      kept.keep({ key: id, owner: projectId, bytes: bytesOf(value), value });
      return value;
    },
  };
};
