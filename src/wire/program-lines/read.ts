/** Parses the lines that a program writes to its standard output, and validates each against the schema of its kind. */
import { Ajv, type ValidateFunction } from 'ajv';
import type { ProgramLine } from './lines.ts';
import * as lines from './lines.ts';

const kinds = [
  lines.ListeningLine,
  lines.LeadingLine,
  lines.LaunchesLine,
  lines.ConfigurationLine,
  lines.IsolationLine,
  lines.ProgressLine,
  lines.ReadyLine,
  lines.ServingLine,
  lines.NotServedLine,
  lines.RequestLine,
  lines.RegradedLine,
];

let check: ValidateFunction<ProgramLine> | undefined;

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** Parses a line; undefined for any other text, such as output of a library for people. */
export const readProgramLine = (text: string): ProgramLine | undefined => {
  check ??= new Ajv().compile<ProgramLine>({ anyOf: kinds });
  const value = parse(text);
  return check(value) ? value : undefined;
};
