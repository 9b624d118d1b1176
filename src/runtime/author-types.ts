/**
 * Reads the types of `svc_env`, the module that authors of worlds write their code with, for editors and type checkers.
 * A test of the world host compares them with the module.
 */
import { fileURLToPath } from 'node:url';
import type { TreeFile } from '#domain/world.ts';
import { readTree } from './tree.ts';

const folder = fileURLToPath(new URL('../author-types', import.meta.url));

/** Returns the stubs of the Python package, and a declaration of the TypeScript module. */
export const readAuthorTypes = (): TreeFile[] => readTree(folder, 'author-types');
