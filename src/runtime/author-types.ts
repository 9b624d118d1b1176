/**
 * Reads the types of `svc_env` for editors and type checkers. Authors of worlds write their code with this module. A
 * test of the world host compares the types with the module.
 */
import { fileURLToPath } from 'node:url';
import type { TreeFile } from '#domain/world.ts';
import { readTree } from './tree.ts';

const folder = fileURLToPath(new URL('../author-types', import.meta.url));

/** Returns the stubs of the Python package, and a declaration of the TypeScript module. */
export const readAuthorTypes = (): TreeFile[] => readTree(folder, 'author-types');
