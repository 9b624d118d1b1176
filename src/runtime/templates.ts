/**
 * World templates: folders, each with one tree, named by their slug. Some are bundled with the programs; an
 * installation may have its own.
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { AppError } from '#domain/error.ts';
import { isSlug, type TreeFile } from '#domain/world.ts';
import { readTree } from './tree.ts';

/** Folder of the bundled templates. */
export const bundledTemplatesDir = fileURLToPath(new URL('../templates', import.meta.url));

/** Returns the slugs of the templates in a folder, sorted. Throws `unavailable` if the folder cannot be read. */
export const templateSlugs = (templatesDir: string): string[] => {
  try {
    return readdirSync(templatesDir, { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && isSlug(entry.name))
      .map(({ name }) => name)
      .sort();
  } catch (cause) {
    throw new AppError('unavailable', `cannot read the templates in ${templatesDir}`, { cause });
  }
};

/** Returns the tree of a template; undefined if no template has that slug. */
export const readTemplateTree = (templatesDir: string, slug: string): TreeFile[] | undefined =>
  templateSlugs(templatesDir).includes(slug) ? readTree(join(templatesDir, slug), slug) : undefined;
