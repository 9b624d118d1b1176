/** A world's tools as clients see them. */
import type { Static } from 'typebox';
import { toolSchemasOf } from '#language/artifacts/tool-schemas.ts';
import type { Contract } from '#language/contract.ts';
import type { ToolView } from '#wire/public-api/session.ts';

/**
 * Of the tools as JSON text those that a task gives, as JSON text. They are cut out by their lengths, in
 * characters by name (`toolLengths` of the version), and not parsed: the text may be large.
 */
export const pickTools = (
  toolSchemas: string,
  toolLengths: string,
  given: readonly string[],
): string => {
  const wanted = new Set(given);
  const picked: string[] = [];
  let at = '['.length;
  for (const [name, length] of JSON.parse(toolLengths) as [string, number][]) {
    if (wanted.has(name)) picked.push(toolSchemas.slice(at, at + length));
    at += length + ','.length;
  }
  return `[${picked.join(',')}]`;
};

/** The tools of a contract, in its order; each schema stands for itself. */
export const viewTools = (contract: Contract): Static<typeof ToolView>[] =>
  toolSchemasOf(contract).map(({ input, output, ...tool }) => ({
    ...tool,
    inputSchema: input,
    outputSchema: output,
  }));
