/** A world's tools as clients see them. */
import type { Static } from 'typebox';
import type { Contract } from '#language/contract.ts';
import { toolSchemasOf } from '#language/tool-schemas.ts';
import type { ToolView } from '#wire/public-api/session.ts';

/** The tools of a contract, in its order; each schema stands for itself. */
export const viewTools = (contract: Contract): Static<typeof ToolView>[] =>
  toolSchemasOf(contract).map(({ input, output, ...tool }) => ({
    ...tool,
    inputSchema: input,
    outputSchema: output,
  }));
