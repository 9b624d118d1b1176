/**
 * Parses TypeScript as Node runs it. First amaro, which Node also uses, replaces types by spaces, so that positions
 * stay. Then acorn parses the remaining JavaScript.
 */
import { createRequire } from 'node:module';
import { type Options, type Program, parse } from 'acorn';
import { isOverflow } from './overflow.ts';
import { type CodeFault, syntaxFault } from './reading.ts';

const require = createRequire(import.meta.url);
const moduleName = 'amaro';

/** Error of amaro; its lines count from 1, its columns from 0. */
type EraserFault = { code: string; message: string; startLine: number; startColumn: number };

/** Error of acorn; its lines count from 1, its columns from 0. */
type ParserFault = SyntaxError & { loc: { line: number; column: number } };

const isEraserFault = (error: unknown): error is EraserFault =>
  typeof error === 'object' && error !== null && 'startLine' in error;

const isParserFault = (error: unknown): error is ParserFault =>
  error instanceof SyntaxError && 'loc' in error;

const options: Options = {
  ecmaVersion: 'latest',
  sourceType: 'module',
  locations: true,
  ranges: true,
};

const erasure =
  'Node only erases types, so TypeScript syntax that generates code (enum, namespace, parameter properties) is not allowed';

const faultOf = (error: unknown): CodeFault => {
  if (isEraserFault(error)) {
    const { code, message, startLine: line, startColumn } = error;
    const said = message.replace(/ in strip-only mode$/, ' here');
    const hint = code === 'UnsupportedSyntax' ? erasure : undefined;
    return syntaxFault({ line, column: startColumn + 1 }, `not valid TypeScript: ${said}`, hint);
  }
  if (isParserFault(error)) {
    const { line, column } = error.loc;
    const said = error.message.replace(/ \(\d+:\d+\)$/, '');
    return syntaxFault({ line, column: column + 1 }, `not valid JavaScript: ${said}`);
  }
  throw error;
};

/** Parsed program, or its faults. A file that nests too deeply has neither. */
export type ParsedScript = { program?: Program; faults: CodeFault[] };

/** Parses a TypeScript file. */
export const parseTypescript = (text: string): ParsedScript => {
  try {
    const { transformSync } = require(moduleName) as typeof import('amaro');
    const { code } = transformSync(text, { mode: 'strip-only' });
    return { program: parse(code, options), faults: [] };
  } catch (error) {
    if (!isOverflow(error)) return { faults: [faultOf(error)] };
    delete require.cache[require.resolve(moduleName)];
    return { faults: [] };
  }
};
