/** Reads Python without running it: its faults, and the modules, entities and context members that it names. */
import type { SyntaxNode, Tree } from '@lezer/common';
import { parser } from '@lezer/python';
import { nearestName } from '../read/suggest.ts';
import { createTextPositions, lineStarts } from '../read/text-position.ts';
import { pythonModules } from './author-modules.ts';
import { mostHints } from './imports.ts';
import { pythonFaults } from './python-syntax.ts';
import {
  type CodeFault,
  type CodeReading,
  type ContextKind,
  type Import,
  type MemberUse,
  type NamedAt,
  nestsTooDeeply,
  type ReadingOptions,
  unreadable,
} from './reading.ts';

type Source = { text: string; at(node: SyntaxNode): { line: number; column: number } };

const textOf = ({ text }: Source, { from, to }: SyntaxNode): string => text.slice(from, to);

const childrenOf = (node: SyntaxNode): SyntaxNode[] => {
  const children: SyntaxNode[] = [];
  for (let child = node.firstChild; child !== null; child = child.nextSibling) children.push(child);
  return children;
};

/** Nodes of a file that are examined, by kind. */
type Found = {
  imports: SyntaxNode[];
  members: SyntaxNode[];
  calls: SyntaxNode[];
  /** All names in the file. */
  names: Set<string>;
  /** Names that are bound by anything other than an import or a parameter. */
  assigned: Set<string>;
  imported: Set<string>;
  parameters: Set<string>;
  /** True if the file imports all names of another file. */
  hasStar: boolean;
  tree: Tree;
};

/** Nodes that bind, or may bind, the plain names that are their direct children. */
const bindingNodes = new Set([
  ...['FunctionDefinition', 'ClassDefinition', 'ForStatement', 'WithStatement', 'TryStatement'],
  ...['NamedExpression', 'CapturePattern', 'ComprehensionExpression', 'SetComprehensionExpression'],
  ...['ArrayComprehensionExpression', 'DictionaryComprehensionExpression'],
]);

/** Nodes that group several targets of an assignment. */
const groups = new Set(['TupleExpression', 'ArrayExpression', 'ParenthesizedExpression']);

/** Returns true if an assignment gives a value to the node, also as a member of a group. */
const isAssigned = (node: SyntaxNode): boolean => {
  let target = node;
  while (target.parent !== null && groups.has(target.parent.name)) target = target.parent;
  return target.parent?.name === 'AssignStatement' && isTarget(target);
};

/** Returns true if a name is bound at this node, and neither as a parameter nor by an import. */
const isBinding = (node: SyntaxNode): boolean =>
  bindingNodes.has(node.parent?.name ?? '') || isAssigned(node);

/** Functions that create names, or members of a value, at run time. */
const dynamic = ['globals', 'locals', 'vars', 'exec', 'eval', 'setattr', 'builtins', '__getattr__'];
const probing = ['setattr', 'getattr', 'hasattr', 'delattr', 'vars'];

/** Collects the nodes in one pass, and without recursion, because a client's file may nest arbitrarily deep. */
const findNodes = (source: Source): Found => {
  const { text } = source;
  const found: Found = {
    ...{ imports: [], members: [], calls: [], names: new Set(), assigned: new Set() },
    ...{ imported: new Set(), parameters: new Set(), hasStar: false, tree: parser.parse(text) },
  };
  found.tree.iterate({
    enter(ref) {
      if (ref.name === 'ImportStatement') found.imports.push(ref.node);
      else if (ref.name === 'MemberExpression') found.members.push(ref.node);
      else if (ref.name === 'CallExpression') found.calls.push(ref.node);
      else if (ref.name === '*') found.hasStar ||= ref.node.parent?.name === 'ImportStatement';
      else if (ref.name === 'VariableName') {
        const name = text.slice(ref.from, ref.to);
        found.names.add(name);
        const { parent } = ref.node;
        if (parent?.name === 'ParamList') found.parameters.add(name);
        else if (parent?.name === 'ImportStatement') found.imported.add(name);
        else if (!found.assigned.has(name) && isBinding(ref.node)) found.assigned.add(name);
      }
    },
  });
  return found;
};

/** Statements within which an import may fail, or may never run. */
const conditional = new Set(['TryStatement', 'IfStatement', 'WithStatement', 'MatchStatement']);

/** Returns true if an import may fail or never run, as in `try` or under `if TYPE_CHECKING`. */
const isOptional = (node: SyntaxNode): boolean => {
  for (let around = node.parent; around !== null; around = around.parent) {
    if (conditional.has(around.name)) return true;
  }
  return false;
};

/** Returns the names before `as` in a list such as `a.b as c, d as e`. */
const listedNames = (nodes: readonly SyntaxNode[], source: Source): NamedAt[] => {
  const names: NamedAt[] = [];
  let isDotted = false;
  let isAlias = false;
  for (const node of nodes) {
    if (node.name === 'VariableName' && !isAlias) {
      const last = isDotted ? names.pop() : undefined;
      const name = `${last === undefined ? '' : `${last.name}.`}${textOf(source, node)}`;
      names.push({ ...(last ?? source.at(node)), name });
    } else if (node.name === '*') names.push({ name: '*', ...source.at(node) });
    isDotted = node.name === '.';
    isAlias = node.name === 'as';
  }
  return names;
};

const readImport = (node: SyntaxNode, source: Source): Import[] => {
  const children = childrenOf(node);
  if (children[0]?.name !== 'from') {
    return listedNames(children, source).map((module) => ({ ...module, takes: [] }));
  }
  const end = children.findIndex(({ name }) => name === 'import');
  const of = children.slice(1, end);
  const name = of.map((part) => textOf(source, part)).join('');
  const [first = node] = of;
  return [{ name, ...source.at(first), takes: listedNames(children.slice(end + 1), source) }];
};

/** Returns the imports from the modules of hosts, each as `module.name` under its local name. */
const hostNames = (imports: readonly SyntaxNode[], source: Source): Map<string, string> => {
  const names = new Map<string, string>();
  for (const node of imports) {
    const written = textOf(source, node)
      .replace(/[()\\]/g, ' ')
      .replace(/#.*$/gm, '');
    const [, module, list] = /^from\s+(svc_env[\w.]*)\s+import\s+([\s\S]*)$/.exec(written) ?? [];
    for (const item of list?.split(',') ?? []) {
      const [name = '', , alias = name] = item.trim().split(/\s+/);
      if (name !== '') names.set(alias, `${module}.${name}`);
    }
  }
  return names;
};

/** Returns true if the node is the target of an assignment. */
const isTarget = (node: SyntaxNode): boolean => {
  for (let next = node.nextSibling; next !== null; next = next.nextSibling) {
    if (next.name === 'AssignOp') return true;
  }
  return false;
};

/** Returns the text of a string literal; undefined if the literal has a prefix or escapes. */
const plainText = (written: string): string | undefined =>
  /^(?:'([^'\\\n]*)'|"([^"\\\n]*)")$/
    .exec(written)
    ?.slice(1)
    .find((text) => text !== undefined);

/** Returns the argument at an index of a call, or the keyword argument `entity`, if it is a literal. */
const literalArgument = (call: SyntaxNode, index: number, source: Source): NamedAt | undefined => {
  const list = call.getChild('ArgList');
  const args = list === null ? [] : childrenOf(list).filter(({ name }) => !/^[(),]$/.test(name));
  const keyword = args.findIndex((node) => textOf(source, node) === 'entity');
  const isNamed = keyword !== -1 && args[keyword + 1]?.name === 'AssignOp';
  const node = args[isNamed ? keyword + 2 : index];
  if (node?.name !== 'String' || (!isNamed && node.nextSibling?.name === 'AssignOp'))
    return undefined;
  const name = plainText(textOf(source, node));
  return name === undefined ? undefined : { name, ...source.at(node) };
};

/**
 * Returns the kind of context that an annotation names; `other` if it names another type; undefined without an
 * annotation.
 */
const annotated = (type: SyntaxNode | null, source: Source): ContextKind | 'other' | undefined => {
  if (type?.name !== 'TypeDef') return undefined;
  const [, name] =
    /^:\s*["']?(?:\w+\.)*(HandlerContext|VerifyContext)["']?$/.exec(textOf(source, type)) ?? [];
  if (name === undefined) return 'other';
  return name === 'HandlerContext' ? 'handler' : 'verify';
};

/** Returns the kind of context that a parameter is; undefined if the function has no parameter with this name. */
const parameterKind = (
  definition: SyntaxNode,
  name: string,
  { source, context }: { source: Source; context: ContextKind | undefined },
): ContextKind | 'other' | undefined => {
  const names = definition.getChild('ParamList')?.getChildren('VariableName') ?? [];
  const index = names.findIndex((node) => textOf(source, node) === name);
  const node = names[index];
  if (node === undefined) return undefined;
  if (/^\*/.test(node.prevSibling?.name ?? '')) return 'other';
  const isUsual = index === 0 && name === 'ctx' && definition.parent?.name === 'Script';
  return annotated(node.nextSibling, source) ?? (isUsual ? context : undefined) ?? 'other';
};

/**
 * Returns the context to which a name refers. It is a parameter of the nearest enclosing function that has a parameter
 * with this name.
 */
const contextAt = (
  node: SyntaxNode,
  of: { source: Source; context: ContextKind | undefined },
): ContextKind | undefined => {
  const name = textOf(of.source, node);
  for (let around = node.parent; around !== null; around = around.parent) {
    if (around.name !== 'FunctionDefinition' && around.name !== 'LambdaExpression') continue;
    const kind = parameterKind(around, name, of);
    if (kind !== undefined) return kind === 'other' ? undefined : kind;
  }
  return undefined;
};

/** Collects the uses of contexts: their members, and the entities passed to their methods. */
const readContexts = (
  { members: found, assigned, imported, names }: Found,
  source: Source,
  { context }: ReadingOptions,
): Pick<CodeReading, 'adds' | 'entities' | 'members'> => {
  const members: MemberUse[] = [];
  const entities: NamedAt[] = [];
  const adds = new Set<string>();
  const isOpen = probing.some((name) => names.has(name)) || source.text.includes('# type: (');
  for (const node of found) {
    const object = node.firstChild;
    const property = node.lastChild;
    if (object?.name !== 'VariableName' || property?.name !== 'PropertyName') continue;
    const of = textOf(source, object);
    if (assigned.has(of) || imported.has(of)) continue;
    const kind = contextAt(object, { source, context });
    if (kind === undefined) continue;
    const name = textOf(source, property);
    if (isAssigned(node)) adds.add(name);
    members.push({ name, ...source.at(property), context: kind });
    entities.push(...entityOf(node, name, source));
  }
  return { members: isOpen ? [] : members, entities, adds };
};

/** Returns the entity that is passed to a method of a context or of `world`. */
const entityOf = (method: SyntaxNode, member: string, source: Source): NamedAt[] => {
  let callee = method;
  const outer = method.parent;
  if (member === 'ids' && outer?.name === 'MemberExpression') {
    if (!/\.\s*next$/.test(textOf(source, outer))) return [];
    callee = outer;
  } else if (!pythonModules.store.has(member)) return [];
  const call = callee.parent;
  if (call?.name !== 'CallExpression') return [];
  const entity = literalArgument(call, 0, source);
  return entity === undefined ? [] : [entity];
};

/** Collects the entities passed to functions that are imported from the modules of hosts. */
const readCalls = (
  calls: readonly SyntaxNode[],
  names: ReadonlyMap<string, string>,
  source: Source,
): NamedAt[] =>
  calls.flatMap((call) => {
    const callee = call.firstChild;
    if (callee === null) return [];
    const [object = '', method] = textOf(source, callee).split('.');
    const of = names.get(object);
    if (of === undefined) return [];
    const [module = '', name = ''] = [of.slice(0, of.lastIndexOf('.')), of.split('.').at(-1)];
    const isStore = module === 'svc_env' && method === undefined && pythonModules.store.has(name);
    const isIds = of === 'svc_env.ids' && method === 'next';
    const isWorld = of === 'svc_env.testing.world' && pythonModules.store.has(method ?? '');
    const isFinder = module === 'svc_env.finding' && pythonModules.finders.has(name);
    if (!isStore && !isIds && !isWorld && !isFinder) return [];
    const entity = literalArgument(call, isFinder ? 1 : 0, source);
    return entity === undefined ? [] : [entity];
  });

/** Returns true if a name is in an annotation, which may never be evaluated. */
const isAnnotation = ({ line, column }: CodeFault, starts: number[], tree: Tree): boolean => {
  const offset = (starts[line - 1] ?? 0) + column - 1;
  let node: SyntaxNode | null = tree.resolveInner(offset, 1);
  for (; node !== null; node = node.parent) if (node.name === 'TypeDef') return true;
  return false;
};

/** Adds a hint to each of the first undefined names: the name that was probably meant, or the way out. */
const withHints = (faults: readonly CodeFault[], names: ReadonlySet<string>): CodeFault[] => {
  const undefinedName = ({ message }: CodeFault) => /^"(.*)" is not defined$/.exec(message)?.[1];
  const wrong = new Set(faults.map(undefinedName));
  const known = [...names].filter((name) => !wrong.has(name));
  return faults.map((fault, index) => {
    const name = undefinedName(fault);
    if (name === undefined) return fault;
    const nearest = index < mostHints ? nearestName(name, known) : undefined;
    return { ...fault, hint: nearest ? `did you mean "${nearest}"?` : 'define or import it' };
  });
};

/** Reads a Python file. */
export const readPython = (text: string, options: ReadingOptions): CodeReading => {
  const faults = pythonFaults(text);
  if (faults === undefined) return nestsTooDeeply('Python');
  if (faults.some(({ code }) => code === 'syntax')) {
    return unreadable(faults.filter(({ code }) => code === 'syntax').slice(0, 1));
  }
  const position = createTextPositions(text);
  const source: Source = { text, at: ({ from }) => position(from) };
  const found = findNodes(source);
  const { imports, names, assigned, parameters } = found;
  const isDynamic = dynamic.some((name) => names.has(name));
  const hosts = new Map(
    [...hostNames(imports, source)].filter(
      ([name]) => !assigned.has(name) && !parameters.has(name),
    ),
  );
  const { entities, ...contexts } = readContexts(found, source, options);
  const starts = lineStarts(text);
  const wrong = isDynamic ? [] : faults.filter((fault) => !isAnnotation(fault, starts, found.tree));
  return {
    ...contexts,
    faults: withHints(wrong, names),
    imports: imports
      .filter((node) => !isOptional(node))
      .flatMap((node) => readImport(node, source)),
    entities: [...entities, ...readCalls(found.calls, hosts, source)],
    offers: isDynamic || found.hasStar ? undefined : names,
  };
};
