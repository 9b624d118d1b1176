/** Reads the installed world templates and their descriptions. */
import { parse } from 'smol-toml';
import { AppError } from '#domain/error.ts';
import type { TreeFile } from '#domain/world.ts';
import { leadOf } from '#language/edit/template-summary.ts';
import { suggestName } from '#language/read/suggest.ts';
import { readTemplateTree, templateSlugs } from '#runtime/templates.ts';

export type Template = { slug: string; name: string; description: string };

const textOf = (tree: readonly TreeFile[], path: string): string =>
  new TextDecoder().decode(tree.find((file) => file.path === path)?.content);

/** Returns the name of a template's world as its manifest gives it; the template's slug if the manifest has no name. */
export const templateName = (slug: string, tree: readonly TreeFile[]): string => {
  const manifest = parse(textOf(tree, 'svc-env.toml')) as Record<string, { name?: unknown }>;
  const name = (manifest.environment ?? manifest.env)?.name;
  return typeof name === 'string' ? name : slug;
};

const describe = (slug: string, tree: readonly TreeFile[]): Template => ({
  slug,
  name: templateName(slug, tree),
  description: leadOf(textOf(tree, 'README.md')),
});

/** Returns the tree of a template. Throws `invalid` at the given field if no template has that name. */
export const readTemplate = (folder: string, slug: string, field = 'from'): TreeFile[] => {
  const tree = readTemplateTree(folder, slug);
  if (tree !== undefined) return tree;
  const suggestion = suggestName(slug, templateSlugs(folder)) ?? 'none is installed';
  const message = slug.startsWith('workspace:')
    ? `"${slug}": only a world is made of a connector; give a template, or its files`
    : `there is no template "${slug}"; ${suggestion}`;
  throw new AppError('invalid', message, { fields: [{ path: [field], message }] });
};

/** Returns all templates in the folder, sorted by slug. */
export const listTemplates = (folder: string): Template[] =>
  templateSlugs(folder).map((slug) => describe(slug, readTemplate(folder, slug)));
