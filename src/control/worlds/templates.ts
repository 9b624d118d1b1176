/** The world templates that are installed, and what is said of them. */
import { parse } from 'smol-toml';
import { AppError } from '#domain/error.ts';
import type { TreeFile } from '#domain/world.ts';
import { suggestName } from '#language/read/suggest.ts';
import { readTemplateTree, templateSlugs } from '#runtime/templates.ts';

export type Template = { slug: string; name: string; description: string };

/** The first paragraph of a README below its heading, on one line. */
export const leadOf = (readme: string): string => {
  const paragraphs = readme.split(/\n\s*\n/).map((text) => text.trim());
  const lead = paragraphs.find((text) => text !== '' && !text.startsWith('#'));
  return (lead ?? '').replace(/\s+/g, ' ');
};

const nameOf = (manifest: string, slug: string): string => {
  const { environment, env } = parse(manifest) as Record<string, { name?: unknown } | undefined>;
  const name = environment?.name ?? env?.name;
  return typeof name === 'string' ? name : slug;
};

const describe = (slug: string, tree: readonly TreeFile[]): Template => {
  const textOf = (path: string): string => {
    const file = tree.find((candidate) => candidate.path === path);
    return file === undefined ? '' : new TextDecoder().decode(file.content);
  };
  return {
    slug,
    name: nameOf(textOf('svc-env.toml'), slug),
    description: leadOf(textOf('README.md')),
  };
};

/** The tree of a template; `invalid` when there is none of that name. */
export const readTemplate = (folder: string, slug: string, field = 'from'): TreeFile[] => {
  const tree = readTemplateTree(folder, slug);
  if (tree !== undefined) return tree;
  const suggestion = suggestName(slug, templateSlugs(folder)) ?? 'none is installed';
  const message = slug.startsWith('workspace:')
    ? `"${slug}": connectors of a workspace are not served; give a template or the files of a tree`
    : `there is no template "${slug}"; ${suggestion}`;
  throw new AppError('invalid', message, { fields: [{ path: [field], message }] });
};

/** Every template of the folder, by slug. */
export const listTemplates = (folder: string): Template[] =>
  templateSlugs(folder).map((slug) => describe(slug, readTemplate(folder, slug)));
