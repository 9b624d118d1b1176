/** Reads TypeScript without running it: its faults, and the modules, entities and context members that it names. */
import type {
  AnyNode,
  CallExpression,
  Function as FunctionNode,
  ImportDeclaration,
  MemberExpression,
  Program,
} from 'acorn';
import { analyze, type Reference, type ScopeManager, type Variable } from 'eslint-scope';
import { nearestName } from '../read/suggest.ts';
import { typescriptModules } from './author-modules.ts';
import { mostHints } from './imports.ts';
import { hiddenGlobals } from './node-modules.ts';
import {
  type CodeFault,
  type CodeReading,
  type Import,
  type MemberUse,
  type NamedAt,
  nestsTooDeeply,
  type ReadingOptions,
  unreadable,
} from './reading.ts';
import { parseTypescript } from './typescript-syntax.ts';

const isNode = (value: unknown): value is AnyNode =>
  typeof value === 'object' && value !== null && 'type' in value && 'start' in value;

const placeOf = ({ loc }: Pick<AnyNode, 'loc'>): { line: number; column: number } => ({
  line: loc?.start.line ?? 1,
  column: (loc?.start.column ?? 0) + 1,
});

/** Maps every node of a program to its parent, without recursion. */
const parentsOf = (program: AnyNode): Map<AnyNode, AnyNode | undefined> => {
  const parents = new Map<AnyNode, AnyNode | undefined>([[program, undefined]]);
  const waiting: AnyNode[] = [program];
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    for (const child of Object.values(node).flat().filter(isNode)) {
      parents.set(child, node);
      waiting.push(child);
    }
  }
  return parents;
};

type Script = {
  nodes: readonly AnyNode[];
  parents: ReadonlyMap<AnyNode, AnyNode | undefined>;
  scopes: ScopeManager;
};

const literal = (node: AnyNode | undefined): NamedAt | undefined =>
  node?.type === 'Literal' && typeof node.value === 'string'
    ? { name: node.value, ...placeOf(node) }
    : undefined;

/** Returns the name of an import or export, which may be written as a string. */
const nameOf = (node: { type: string; name?: unknown; value?: unknown }): string =>
  String(node.type === 'Identifier' ? node.name : node.value);

const readImports = ({ nodes }: Script): Import[] =>
  nodes.flatMap((node): Import[] => {
    if (node.type === 'ImportExpression') {
      const module = literal(node.source as AnyNode);
      return module === undefined ? [] : [{ ...module, takes: [] }];
    }
    const isFrom =
      node.type === 'ImportDeclaration' ||
      node.type === 'ExportAllDeclaration' ||
      node.type === 'ExportNamedDeclaration';
    const module = isFrom ? literal((node.source ?? undefined) as AnyNode | undefined) : undefined;
    if (module === undefined) return [];
    const specifiers = node.type === 'ExportAllDeclaration' ? [] : (node as Taking).specifiers;
    const takes = specifiers.flatMap((specifier): NamedAt[] => {
      if (specifier.type === 'ImportNamespaceSpecifier') return [];
      if (specifier.type === 'ImportDefaultSpecifier') {
        return [{ name: 'default', ...placeOf(specifier) }];
      }
      if (specifier.type === 'ImportSpecifier') {
        return [{ name: nameOf(specifier.imported), ...placeOf(specifier) }];
      }
      return specifier.type === 'ExportSpecifier'
        ? [{ name: nameOf(specifier.local), ...placeOf(specifier) }]
        : [];
    });
    return [{ ...module, takes }];
  });

type Taking = { specifiers: AnyNode[] };

const declaredNames = (pattern: AnyNode): string[] => {
  const names: string[] = [];
  const waiting: (AnyNode | null)[] = [pattern];
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    if (node?.type === 'Identifier') names.push(node.name);
    else if (node?.type === 'ObjectPattern') waiting.push(...(node.properties as AnyNode[]));
    else if (node?.type === 'Property') waiting.push(node.value);
    else if (node?.type === 'ArrayPattern') waiting.push(...(node.elements as AnyNode[]));
    else if (node?.type === 'AssignmentPattern') waiting.push(node.left as AnyNode);
    else if (node?.type === 'RestElement') waiting.push(node.argument as AnyNode);
  }
  return names;
};

/** Reads the exports of a file; undefined if the file re-exports everything from another file. */
const readExports = ({ nodes }: Script): Set<string> | undefined => {
  const names = new Set<string>();
  for (const node of nodes) {
    if (node.type === 'ExportAllDeclaration') {
      if (node.exported === null || node.exported === undefined) return undefined;
      names.add(nameOf(node.exported));
    } else if (node.type === 'ExportDefaultDeclaration') names.add('default');
    else if (node.type === 'ExportNamedDeclaration') {
      for (const { exported } of node.specifiers) names.add(nameOf(exported));
      const { declaration } = node;
      if (declaration?.type === 'VariableDeclaration') {
        for (const { id } of declaration.declarations) {
          for (const name of declaredNames(id as AnyNode)) names.add(name);
        }
      } else if (declaration?.id) names.add(declaration.id.name);
    }
  }
  return names;
};

const known: ReadonlySet<string> = new Set(
  Object.getOwnPropertyNames(globalThis).filter((name) => !hiddenGlobals.has(name)),
);

/** Returns true if a reference is the operand of `typeof`, where an undefined name is allowed. */
const isAsked = ({ identifier }: Reference, { parents }: Script): boolean => {
  const around = parents.get(identifier as unknown as AnyNode);
  return around?.type === 'UnaryExpression' && around.operator === 'typeof';
};

const undefinedNames = (script: Script): CodeFault[] => {
  const { scopes } = script;
  const declared = new Set(
    scopes.scopes.flatMap(({ variables }) => variables.map(({ name }) => name)),
  );
  const through = (scopes.globalScope?.through ?? []).filter(
    (reference) => !known.has(reference.identifier.name) && !isAsked(reference, script),
  );
  return through.map(({ identifier }, index) => {
    const { name } = identifier;
    const at = placeOf(identifier as unknown as AnyNode);
    if (hiddenGlobals.has(name)) {
      const message = `"${name}" is not available, because code of a world has no network`;
      return { ...at, code: 'unknown_name', message };
    }
    const nearest = index < mostHints ? nearestName(name, declared) : undefined;
    const hint = nearest === undefined ? 'define or import it' : `did you mean "${nearest}"?`;
    return { ...at, code: 'unknown_name', message: `"${name}" is not defined`, hint };
  });
};

/** Returns the first argument of a call of `callee`, if it is a literal. */
const entityOf = (callee: AnyNode, { parents }: Script): NamedAt[] => {
  const call = parents.get(callee);
  if (call?.type !== 'CallExpression' || call.callee !== (callee as CallExpression['callee']))
    return [];
  const entity = literal(call.arguments[0] as AnyNode | undefined);
  return entity === undefined ? [] : [entity];
};

/** Returns the member expression around a reference, such as `ctx.get` around `ctx`. */
const memberOf = (
  object: AnyNode,
  { parents }: Script,
): { expression: MemberExpression; name: string; at: AnyNode } | undefined => {
  const around = parents.get(object);
  if (
    around?.type !== 'MemberExpression' ||
    around.object !== (object as MemberExpression['object'])
  ) {
    return undefined;
  }
  if (around.computed || around.property.type !== 'Identifier') return undefined;
  return { expression: around, name: around.property.name, at: around.property };
};

/** Reads the entity passed to a method of a context or of `world`: `ctx.get('x')`, `ctx.ids.next('x', …)`. */
const entitiesOfMember = (object: AnyNode, script: Script): NamedAt[] => {
  const member = memberOf(object, script);
  if (member === undefined) return [];
  if (typescriptModules.store.has(member.name)) return entityOf(member.expression, script);
  const inner = member.name === 'ids' ? memberOf(member.expression, script) : undefined;
  return inner?.name === 'next' ? entityOf(inner.expression, script) : [];
};

/** Returns `module.name` for a variable that is imported; undefined for any other variable. */
const importedAs = ({ defs: [def] }: Variable): string | undefined => {
  if (def?.type !== 'ImportBinding' || def.node.type !== 'ImportSpecifier') return undefined;
  const { source } = def.parent as unknown as ImportDeclaration;
  return `${String(source.value)}.${nameOf(def.node.imported as never)}`;
};

/** Collects the entities passed to functions that are imported from the modules of hosts. */
const readCalls = (script: Script): NamedAt[] =>
  script.scopes.scopes
    .flatMap(({ variables }) => variables)
    .flatMap((variable) => {
      const imported = importedAs(variable);
      if (imported?.startsWith('svc_env') !== true) return [];
      const [module, name = ''] = imported.split('.');
      return variable.references.flatMap((reference) => {
        const node = reference.identifier as unknown as AnyNode;
        if (module === 'svc_env/testing')
          return name === 'world' ? entitiesOfMember(node, script) : [];
        if (typescriptModules.store.has(name)) return entityOf(node, script);
        const member = name === 'ids' ? memberOf(node, script) : undefined;
        return member?.name === 'next' ? entityOf(member.expression, script) : [];
      });
    });

const isFunction = (node: AnyNode): node is AnyNode & FunctionNode =>
  node.type === 'FunctionDeclaration' ||
  node.type === 'FunctionExpression' ||
  node.type === 'ArrowFunctionExpression';

/** Nodes that group several targets of an assignment. */
const groups = new Set([
  'ArrayPattern',
  'ObjectPattern',
  'Property',
  'AssignmentPattern',
  'RestElement',
]);

/** Returns true if code assigns a member or deletes it. */
const isWritten = (member: AnyNode, { parents }: Script): boolean => {
  let target = member;
  let around = parents.get(target);
  while (around !== undefined && groups.has(around.type)) {
    target = around;
    around = parents.get(target);
  }
  if (around?.type === 'AssignmentExpression' || around?.type === 'ForOfStatement') {
    return around.left === target;
  }
  if (around?.type === 'ForInStatement') return around.left === target;
  return (
    around?.type === 'UpdateExpression' ||
    (around?.type === 'UnaryExpression' && around.operator === 'delete')
  );
};

/** Returns true if a function is at the top level of a file, and not in another function or class. */
const isOfFile = (node: AnyNode, { parents }: Script): boolean => {
  for (let around = parents.get(node); around !== undefined; around = parents.get(around)) {
    if (isFunction(around) || /^(?:Class|ArrayExpression|ObjectExpression)/.test(around.type))
      return false;
  }
  return true;
};

/** Expressions that test which members `ctx` has, or add members, in contrast to plain uses. */
const probing = /\bin\s+ctx\b|\b(?:Object|Reflect)\s*\.\s*\w+\s*\(\s*ctx\b/;

/**
 * Collects the uses of a first parameter `ctx` that has no type, or the type of a handler's context. Types are erased
 * from the program, so they are read from the text, in which all positions are the same.
 */
const readContexts = (
  script: Script,
  text: string,
  { context }: ReadingOptions,
): Pick<CodeReading, 'adds' | 'entities' | 'members'> => {
  const members: MemberUse[] = [];
  const entities: NamedAt[] = [];
  const adds = new Set<string>();
  const isOpen = context === undefined || probing.test(text);
  for (const node of script.nodes.filter(isFunction)) {
    const [first] = node.params;
    if (first?.type !== 'Identifier' || first.name !== 'ctx') continue;
    const typed = /^\s*(?::\s*HandlerContext\s*)?(?:[,)]|=>)/.test(text.slice(first.end));
    if (!typed || !isOfFile(node, script)) continue;
    const variable = script.scopes.acquire(node as never)?.set.get('ctx');
    const references = variable?.references ?? [];
    if (references.some((reference) => reference.isWrite())) continue;
    for (const { identifier } of references) {
      const object = identifier as unknown as AnyNode;
      const member = memberOf(object, script);
      if (member === undefined || !/^\s*\??\.\s*$/.test(text.slice(object.end, member.at.start)))
        continue;
      if (isWritten(member.expression, script)) adds.add(member.name);
      if (context !== undefined && !isOpen) {
        members.push({ name: member.name, ...placeOf(member.at), context });
      }
      entities.push(...entitiesOfMember(object, script));
    }
  }
  return { members, entities, adds };
};

/** Reads a TypeScript file. */
export const readTypescript = (text: string, options: ReadingOptions): CodeReading => {
  const { program, faults } = parseTypescript(text);
  if (program === undefined) {
    return faults.length === 0 ? nestsTooDeeply('TypeScript') : unreadable(faults);
  }
  const parents = parentsOf(program);
  const scopes = scopesOf(program);
  if (scopes === undefined) return nestsTooDeeply('TypeScript');
  const script = { nodes: [...parents.keys()], parents, scopes };
  const { entities, ...contexts } = readContexts(script, text, options);
  return {
    ...contexts,
    faults: undefinedNames(script),
    imports: readImports(script),
    entities: [...entities, ...readCalls(script)],
    offers: readExports(script),
  };
};

/** Analyses the scopes of a program; undefined if it nests too deeply. */
const scopesOf = (program: Program): ScopeManager | undefined => {
  try {
    return analyze(program as never, { ecmaVersion: 2025, sourceType: 'module' });
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
};
