/**
 * World templates: folders that hold a tree each, named by their slug. Some come along with the
 * programs; a service may have others.
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { AppError } from '#domain/error.ts';
import { isSlug, type TreeFile } from '#domain/world.ts';
import { readTree } from './tree.ts';

/** The folder of those that come along. */
export const bundledTemplatesDir = fileURLToPath(new URL('../templates', import.meta.url));

/** The slugs of a folder's templates, sorted. `unavailable` when the folder cannot be read. */
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

/** The tree of a template; undefined when there is none of that slug. */
export const readTemplateTree = (templatesDir: string, slug: string): TreeFile[] | undefined =>
  templateSlugs(templatesDir).includes(slug) ? readTree(join(templatesDir, slug), slug) : undefined;
