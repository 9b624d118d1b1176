/**
 * The files that compilation generates, never edited by hand. They depend on the contract alone, so
 * equal trees give equal bytes.
 */
import type { TreeFile } from '#domain/world.ts';
import type { Contract } from './contract.ts';
import { createTablesSql } from './ddl.ts';
import { toolSchemasOf } from './tool-schemas.ts';

/** Paths that a tree's author must leave to the compiler. What stands there is replaced. */
export const generatedPaths = [
  'db/schema.sql',
  'schema/runtime.json',
  'tool-schemas.json',
] as const;

const toJson = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

const contentOf: Record<(typeof generatedPaths)[number], (contract: Contract) => string> = {
  'db/schema.sql': createTablesSql,
  'schema/runtime.json': toJson,
  'tool-schemas.json': (contract) => toJson({ tools: toolSchemasOf(contract) }),
};

export const generateArtifacts = (contract: Contract): TreeFile[] =>
  generatedPaths.map((path) => ({
    path,
    content: new TextEncoder().encode(contentOf[path](contract)),
  }));
