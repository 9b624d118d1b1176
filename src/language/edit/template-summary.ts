/**
 * Summarises a template before a world is made of it: its name and description, and its entities, tools, routes, tasks
 * and rows.
 */
import type { TreeFile } from '#domain/world.ts';
import { type CompileResult, compileTree } from '../compile/compile.ts';
import type { Problem } from '../problem.ts';
import { textAt } from './tree-text.ts';

export type TemplateSummary = {
  slug: string;
  /** Name of the world in its manifest. */
  name: string;
  /** First paragraph of the world's README, on one line; '' if there is no README. */
  description: string;
  /** Names of entities, tools and tasks, in the order in which the files declare them. */
  entities: string[];
  tools: string[];
  /** Method and path of each route, for example `GET /users/{username}`. */
  routes: string[];
  tasks: string[];
  counts: { entities: number; tools: number; routes: number; tasks: number; rows: number };
};

export type TemplateSummaryResult =
  | { ok: true; summary: TemplateSummary }
  | { ok: false; problems: Problem[] };

/** Returns the first paragraph below the heading of a README, on one line. */
export const leadOf = (readme: string): string => {
  const paragraphs = readme.split(/\n\s*\n/).map((text) => text.trim());
  const lead = paragraphs.find((text) => text !== '' && !text.startsWith('#'));
  return (lead ?? '').replace(/\s+/g, ' ');
};

const summaryOf = (
  slug: string,
  description: string,
  { contract, baseRows }: Extract<CompileResult, { ok: true }>,
): TemplateSummary => {
  const lists = {
    entities: contract.entities.map(({ name }) => name),
    tools: contract.tools.map(({ name }) => name),
    routes: (contract.api?.routes ?? []).map(({ method, path }) => `${method} ${path}`),
    tasks: contract.tasks.map(({ name }) => name),
  };
  const counts = {
    entities: lists.entities.length,
    tools: lists.tools.length,
    routes: lists.routes.length,
    tasks: lists.tasks.length,
    rows: Object.values(baseRows).reduce((sum, rows) => sum + rows.length, 0),
  };
  return { slug, name: contract.name, description, ...lists, counts };
};

/** Returns the summary of a template's tree, or its problems if it is not a valid world. */
export const summarizeTemplate = (
  slug: string,
  files: readonly TreeFile[],
): TemplateSummaryResult => {
  const compiled = compileTree(files);
  if (!compiled.ok) return compiled;
  const description = leadOf(textAt(files, 'README.md'));
  return { ok: true, summary: summaryOf(slug, description, compiled) };
};
