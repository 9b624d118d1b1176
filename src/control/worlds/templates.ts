/** The world templates that are installed: folders that hold a tree each. */
import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { parse } from 'smol-toml';
import { AppError } from '#domain/error.ts';
import { isSlug, type TreeFile } from '#domain/world.ts';
import { suggestName } from '#language/read/suggest.ts';

export type Template = { slug: string; name: string; description: string };

/** Folders and files that are nobody's source. */
const isLeftOut = (path: string): boolean =>
  path.split('/').some((part) => part.startsWith('.') || part === '__pycache__');

const listSlugs = async (folder: string): Promise<string[]> => {
  const entries = await readdir(folder, { withFileTypes: true });
  return entries
    .filter((entry) => entry.isDirectory() && isSlug(entry.name))
    .map(({ name }) => name)
    .sort();
};

const readTree = async (folder: string): Promise<TreeFile[]> => {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .filter((path) => !isLeftOut(path));
  return Promise.all(
    paths.map(async (path) => ({ path, content: await readFile(join(folder, path)) })),
  );
};

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

/** Every template of the folder, by slug. */
export const listTemplates = async (folder: string): Promise<Template[]> => {
  const slugs = await listSlugs(folder);
  return Promise.all(slugs.map(async (slug) => describe(slug, await readTree(join(folder, slug)))));
};

/** The tree of a template; `invalid` when there is none of that name. */
export const readTemplate = async (folder: string, slug: string): Promise<TreeFile[]> => {
  const known = await listSlugs(folder);
  if (!known.includes(slug)) {
    const message = slug.startsWith('workspace:')
      ? `"${slug}": connectors of a workspace are not served; give a template or the files of a tree`
      : `there is no template "${slug}"; ${suggestName(slug, known) ?? 'none is installed'}`;
    throw new AppError('invalid', message, { fields: [{ path: ['from'], message }] });
  }
  return readTree(join(folder, slug));
};
