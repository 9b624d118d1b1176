/**
 * Builds the body of a request that creates a world from a template, a connector or a folder, with optional overlay
 * files. A folder is compiled on this machine first, so that its problems are shown with their lines and no broken tree
 * is sent.
 */
import { AppError } from '#domain/error.ts';
import type { TreeFile } from '#domain/world.ts';
import { compileTree, replaceFiles } from '#language/compile/compile.ts';
import type { Contract } from '#language/contract.ts';
import { bundledTemplatesDir, readTemplateTree } from '#runtime/templates.ts';
import type { CreateWorldBody } from '#wire/public-api/worlds/world.ts';
import { encodeTree, namesFolder, overlayTree, readTree } from '../files/input.ts';
import type { Context } from '../terminal/context.ts';
import { ProblemsError } from '../views/report.ts';

export type WorldSource = {
  body: Pick<CreateWorldBody, 'from' | 'overlay'>;
  /** Contract used to parse row files; undefined if the service builds the world from parts that only it has. */
  contract: Contract | undefined;
};

const compileHere = (tree: readonly TreeFile[]): Contract | undefined => {
  const compiled = compileTree(tree);
  return compiled.ok ? compiled.contract : undefined;
};

/** Reads the source of a new world from the options. */
export const readWorldSource = (
  context: Context,
  from: string | undefined,
  overlay: string | undefined,
): WorldSource => {
  const laidOver = overlay === undefined ? [] : readTree(context, overlay);
  if (from === undefined && overlay === undefined) {
    throw new AppError('invalid', 'the source of the world is missing: give "from"');
  }
  if (from === undefined || namesFolder(from)) {
    const tree = from === undefined ? laidOver : overlayTree(readTree(context, from), laidOver);
    const compiled = compileTree(tree);
    if (!compiled.ok) throw new ProblemsError(from ?? overlay ?? '', compiled.problems, tree);
    const { contract, rewritten } = compiled;
    return { body: { from: encodeTree(replaceFiles(tree, rewritten)) }, contract };
  }
  const template = readTemplateTree(bundledTemplatesDir, from);
  return {
    body: { from, ...(overlay === undefined ? {} : { overlay: encodeTree(laidOver) }) },
    contract: template && compileHere(overlayTree(template, laidOver)),
  };
};
