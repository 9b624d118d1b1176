/** Formats errors for the author; their stacks contain only frames of the author's own files. */
import { readFileSync } from 'node:fs';
import { relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

export type Frame = { file: string; line: number; function: string; source?: string };

export type Described = { exception: string; message: string; trace: Frame[]; cause?: string };

const maxFrames = 20;
const messageChars = 4_000;

const framePattern =
  /^\s+at (?:async )?(?:(?:new )?(.*?) (?:\[as .*\] )?\()?(file:\/\/[^)]+?):(\d+):\d+\)?$/;
/** Pattern for the file and line of a syntax error, which Node puts before the error's own text. */
const headPattern = /^(file:\/\/\S+):(\d+)$/m;

const pathOf = (url: string): string => fileURLToPath(url.replace(/\?.*$/, ''));

const sourceLine = (path: string, line: number): string => {
  try {
    return readFileSync(path, 'utf8').split('\n')[line - 1]?.trim().slice(0, 200) ?? '';
  } catch {
    return ''; // The code has used up the limit of open files.
  }
};

const frameAt = (url: string, line: number, name: string, root: string): Frame[] => {
  const path = pathOf(url);
  if (!path.startsWith(root + sep)) return [];
  const called = name.replace(/^Module\./, '') || '<anonymous>';
  return [{ file: relative(root, path), line, function: called, source: sourceLine(path, line) }];
};

/** Returns the author's frames in a stack. The innermost frame comes last, as in Python. */
const framesOf = (stack: string, root: string): Frame[] => {
  const frames = stack.split('\n').flatMap((text) => {
    const [, name = '', url, line] = framePattern.exec(text) ?? [];
    return url === undefined ? [] : frameAt(url, Number(line), name, root);
  });
  const [, headUrl, headLine] = headPattern.exec(stack) ?? [];
  const head = headUrl === undefined ? [] : frameAt(headUrl, Number(headLine), '<module>', root);
  return [...frames.reverse(), ...head].slice(-maxFrames);
};

const textOf = (value: unknown): string => {
  try {
    return String(value);
  } catch {
    return '<no message>';
  }
};

const messageOf = (error: Error, root: string): string =>
  textOf(error.message)
    .replaceAll(root + sep, '')
    .slice(0, messageChars);

/** Describes a thrown value, whatever its type is. */
export const describe = (thrown: unknown, root: string): Described => {
  if (!(thrown instanceof Error)) {
    return { exception: 'thrown', message: textOf(thrown).slice(0, messageChars), trace: [] };
  }
  const described: Described = {
    exception: textOf(thrown.name),
    message: messageOf(thrown, root),
    trace: framesOf(textOf(thrown.stack), root),
  };
  if (thrown.cause instanceof Error) {
    described.cause = `${thrown.cause.name}: ${messageOf(thrown.cause, root)}`;
  }
  return described;
};

/** Formats an error as one line: `TypeError: x is not a function (tools.ts:12 in triage)`. */
export const summarize = ({ exception, message, trace }: Described): string => {
  const at = trace.at(-1);
  const text = message === '' ? exception : `${exception}: ${message}`;
  return at === undefined ? text : `${text} (${at.file}:${at.line} in ${at.function})`;
};
