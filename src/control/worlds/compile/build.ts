/**
 * Builds a world version from a tree's files: contract, generated files, bundle and snapshot, or the list of all
 * problems. This is pure computation over user input, so it runs in a compile process (see `compiler.ts`) and returns
 * plain data.
 */

import type { FieldProblem } from '#domain/error.ts';
import { parsePointer } from '#domain/json.ts';
import type { TreeFile } from '#domain/world.ts';
import { decodeBundle, encodeBundle, selectUserCode } from '#language/artifacts/bundle.ts';
import { createWithholding, redactRows } from '#language/capture/redacted-rows.ts';
import { compileTree } from '#language/compile/compile.ts';
import { languageWarnings } from '#language/compile/warnings.ts';
import type { Contract, Dependency } from '#language/contract.ts';
import type { Problem } from '#language/problem.ts';
import { type RedactionMode, redactionLack } from '#language/redaction-modes.ts';
import { StoreRefusal } from '#store/refusal.ts';
import { type BuiltSnapshot, buildSnapshot } from '#store/snapshot.ts';
import type { VersionChanges } from '#wire/public-api/worlds/version.ts';
import type { VersionTexts } from '../../base/contracts/contract-view.ts';
import { type ContractFacts, factsOf, writeTexts } from '../../base/contracts/contract-view.ts';
import { compareEntities } from '../../base/contracts/version-changes.ts';
import { type BaseVersion, countTreeRows, type Rows, withoutReplaced } from './kept-rows.ts';
import { overlay } from './tree.ts';

/** Row that the store refuses, with its place in the tree or in the request. */
export type RefusedRow = { message: string; field: FieldProblem };

/** Rows of a version. */
export type BuiltRows = {
  /** Rows of each entity that came from the tree; they are the first ones. */
  treeRows: Record<string, number>;
  /**
   * Rows kept from the version before that did not come from its tree, and rows of the tree that were left out for
   * them.
   */
  keptRows: number;
  leftOutRows: number;
  snapshot: BuiltSnapshot;
};

/** Rows of a version that keeps some of the version before. They are combined later, see `carry.ts`. */
export type RowsToCarry = {
  /** Rows of the tree, as JSON text of lists by entity. */
  treeRowsJson: string;
  /** Rows of each entity of the version before that came from its tree. */
  baseTreeRows: Record<string, number>;
};

export type Built =
  | {
      ok: true;
      /** Name of the world in its manifest. */
      name: string;
      /** Contract as JSON text: it is stored as such, and may be large. */
      contractJson: string;
      /** Precomputed texts for answers. */
      texts: VersionTexts;
      facts: ContractFacts;
      /** Jobs that the world has run on each push. */
      onPush: Contract['onPush'];
      /** Checks that a pushed version must pass before it becomes the head. */
      gate: NonNullable<Contract['gate']>;
      /** Links to other worlds, and the tools of those that its tasks name. */
      dependencies: Dependency[];
      linkedTaskTools: string[];
      /** Entities that were added, changed or removed since the version that it is made from. */
      entities: VersionChanges['entities'];
      rows: ({ kind: 'built' } & BuiltRows) | ({ kind: 'to_carry' } & RowsToCarry);
      /** Files to store beside those of the tree, and in place of those with the same path. */
      generated: TreeFile[];
      /** Blob that hosts load, see `encodeBundle`. */
      bundle: Uint8Array;
      /** Warnings of the language about likely mistakes. */
      warnings: string[];
    }
  | { ok: false; problems: Problem[] }
  | { ok: false; row: RefusedRow };

const joinRows = (base: Rows, more: Rows): Rows => {
  const joined = new Map(Object.entries(base));
  for (const [entity, rows] of Object.entries(more)) {
    joined.set(entity, [...(joined.get(entity) ?? []), ...rows]);
  }
  return Object.fromEntries(joined);
};

const countRows = (rows: Rows): Record<string, number> =>
  Object.fromEntries(Object.entries(rows).map(([entity, list]) => [entity, list.length]));

const totalOf = (rows: Rows): number =>
  Object.values(rows).reduce((sum, list) => sum + list.length, 0);

/** Returns the place of a refused row: in the tree's data, or in the body, whose rows follow those of the tree. */
const placeRefusal = (refusal: StoreRefusal, base: Rows): FieldProblem => {
  const { entity, index, detail } = refusal;
  const pointer = parsePointer(refusal.pointer ?? '');
  const ofTree = Object.hasOwn(base, entity) ? (base[entity]?.length ?? 0) : undefined;
  const isOfBody = index === undefined ? ofTree === undefined : index >= (ofTree ?? 0);
  const position = index === undefined ? [] : [String(isOfBody ? index - (ofTree ?? 0) : index)];
  const place = isOfBody ? ['data', 'rows', entity] : [`data/${entity}.json`];
  return { path: [...place, ...position, ...pointer], message: detail };
};

/** Returns the rows of a request as they are to be stored, or the reason why they are refused. */
const redactMore = (
  contract: Contract,
  more: Rows,
  mode: RedactionMode,
): { ok: true; rows: Rows } | { ok: false; row: RefusedRow } => {
  if (mode === 'off') return { ok: true, rows: more };
  const lack = redactionLack(contract, mode);
  if (lack !== undefined) {
    return {
      ok: false,
      row: { message: lack, field: { path: ['data', 'redact'], message: lack } },
    };
  }
  const redacted = redactRows(contract, more, mode);
  if (redacted.ok) return redacted;
  const { path = [], message = '' } = redacted.problems[0] ?? {};
  return { ok: false, row: { message, field: { path: ['data', 'rows', ...path], message } } };
};

/** Returns the refusal of redacted rows without any quote of them. */
const withheld = (refusal: StoreRefusal, contract: Contract): StoreRefusal => {
  if (refusal.kind !== 'shape') return refusal;
  const { pointer = '', detail } = refusal;
  return new StoreRefusal({ ...refusal, ...createWithholding(contract)({ pointer, detail }) });
};

const linkedTaskTools = ({ tasks, tools }: Contract): string[] => {
  const own = new Set(tools.map(({ name }) => name));
  const given = new Set(tasks.flatMap((task) => task.tools ?? []));
  return [...given].filter((name) => !own.has(name));
};

const buildRows = (contract: Contract, all: Rows, ofTree: Rows, more: Rows): BuiltRows => ({
  treeRows: countRows(ofTree),
  keptRows: 0,
  leftOutRows: totalOf(all) - totalOf(ofTree),
  snapshot: buildSnapshot(contract, joinRows(ofTree, more)),
});

/**
 * Builds a version of a tree: its rows, then those of a request, which are redacted first if the request says so. If
 * rows of the version before are kept, they may be very many; then no rows are combined here.
 */
export const buildVersion = (
  files: readonly TreeFile[],
  given: Rows,
  { base, redact = 'off' }: { base?: BaseVersion; redact?: RedactionMode } = {},
): Built => {
  const compiled = compileTree(files);
  if (!compiled.ok) return compiled;
  const { contract, baseRows, rewritten } = compiled;
  const generated = [...rewritten, ...compiled.generated];
  const redacted = redactMore(contract, given, redact);
  if (!redacted.ok) return redacted;
  const before = base === undefined ? undefined : decodeBundle(base.bundle).contract;
  const ofTree = withoutReplaced(baseRows, base?.replaced);
  try {
    const rows: Extract<Built, { ok: true }>['rows'] =
      base?.treeRows === undefined
        ? { kind: 'built', ...buildRows(contract, baseRows, ofTree, redacted.rows) }
        : {
            kind: 'to_carry',
            treeRowsJson: JSON.stringify(baseRows),
            baseTreeRows: countTreeRows(base.treeRows),
          };
    const code = selectUserCode(contract, overlay(files, generated));
    return {
      ok: true,
      name: contract.name,
      contractJson: JSON.stringify(contract),
      texts: writeTexts(contract),
      facts: factsOf(contract),
      onPush: contract.onPush,
      gate: contract.gate ?? [],
      dependencies: contract.dependencies,
      linkedTaskTools: linkedTaskTools(contract),
      entities: compareEntities(before?.entities ?? [], contract.entities),
      rows,
      generated,
      bundle: encodeBundle({ contract, files: code }),
      warnings: languageWarnings(contract, files, baseRows),
    };
  } catch (error) {
    if (!(error instanceof StoreRefusal)) throw error;
    const refusal = redact === 'off' ? error : withheld(error, contract);
    const row = { message: refusal.message, field: placeRefusal(refusal, ofTree) };
    return { ok: false, row };
  }
};
