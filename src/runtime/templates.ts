/**
 * World templates: folders that hold a tree each, named by their slug. Some are bundled with the programs; a service
 * may have others.
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { AppError } from '#domain/error.ts';
import { isSlug, type TreeFile } from '#domain/world.ts';
import { readTree } from './tree.ts';

/** Folder of the bundled templates. */
export const bundledTemplatesDir = fileURLToPath(new URL('../templates', import.meta.url));

/** Returns the slugs of a folder's templates, sorted. Throws `unavailable` when the folder cannot be read. */
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

/** Returns the tree of a template; undefined when there is none of that slug. */
export const readTemplateTree = (templatesDir: string, slug: string): TreeFile[] | undefined =>
  templateSlugs(templatesDir).includes(slug) ? readTree(join(templatesDir, slug), slug) : undefined;
