/** Checks what goes into a tool and what comes out of it against the tool's declared schemas. */
import type { Contract, JsonSchema } from '../contract.ts';
import { suggestName } from '../read/suggest.ts';
import { andKept } from './kept-values.ts';
import { type RowProblem, toRowProblems } from './row-checker.ts';
import { createShapes } from './shapes.ts';

export type ToolChecker = {
  /** Everything wrong with a tool's input, at most 20 problems; empty when it fits. */
  input(tool: string, value: unknown): RowProblem[];
  /** The same for what the tool returned. */
  output(tool: string, value: unknown): RowProblem[];
};

/** A checker for all tools of a contract; each schema is compiled when it is first needed. */
export const createToolChecker = (
  contract: Pick<Contract, 'definitions' | 'tools'>,
): ToolChecker => {
  const createSide = (side: 'input' | 'output'): ToolChecker['input'] => {
    const schemas = new Map<string, JsonSchema>(
      contract.tools.map((tool) => [tool.name, tool[side]]),
    );
    const shapes = createShapes(contract.definitions, schemas);
    return (tool, value) => {
      const checkShape = shapes.get(tool);
      if (checkShape !== undefined) return toRowProblems(andKept(checkShape)(value));
      const hint = suggestName(tool, schemas.keys());
      const detail = `the world has no tool "${tool}"${hint === undefined ? '' : `; ${hint}`}`;
      return [{ field: '', pointer: '', detail }];
    };
  };
  return { input: createSide('input'), output: createSide('output') };
};
