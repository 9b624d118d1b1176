/**
 * Reads an OpenAPI document from a YAML or JSON file, together with the files that it refers to. A document is
 * untrusted, so its references may lead only to files in its own folder, and to no URL.
 */
import { dirname, relative } from 'node:path';
import {
  BaseResolver,
  bundle,
  createConfig,
  isAbsoluteUrl,
  ResolveError,
  Source,
} from '@redocly/openapi-core';
import { AppError } from '#domain/error.ts';
import { isObject } from '#domain/json.ts';
import { readNamedFile } from '#runtime/named-file.ts';
import type { Mark } from './api.ts';

/** Maximum number of marks for unresolved references; documents have thousands when one file is missing. */
const mostMarks = 50;

/**
 * Resolver that reads the document that the user named, and files in the document's folder to which references lead.
 */
class FolderResolver extends BaseResolver {
  readonly document: string;

  constructor(document: string) {
    super();
    this.document = document;
  }

  override async loadExternalRef(path: string): Promise<Source> {
    if (path === this.document) return await super.loadExternalRef(path);
    if (isAbsoluteUrl(path)) {
      const shown = path.length > 200 ? `${path.slice(0, 200)}…` : path;
      const why = "is a URL, and only files in the document's folder are read";
      throw new ResolveError(new Error(`${shown} ${why}`));
    }
    try {
      const folder = dirname(this.document);
      const text = readNamedFile(folder, path, relative(folder, path)).toString();
      return new Source(path, text.replace(/\r\n/g, '\n'));
    } catch (error) {
      throw error instanceof AppError ? new ResolveError(error) : error;
    }
  }
}

type Bundled = Awaited<ReturnType<typeof bundle>>;

/** Returns a mark for each reference without a target; the draft accepts any value there. */
const marksOf = (folder: string, { problems }: Bundled): Mark[] => {
  const found = new Map<string, Mark>();
  for (const { message, location, severity } of problems) {
    if (severity !== 'error') continue;
    const [at] = location;
    const file = at === undefined ? '' : relative(folder, at.source.absoluteRef);
    const place = `reference at ${file}${at?.pointer ?? ''}`;
    const why = message.replace(/^Can't resolve \$ref(?:: )?/, '');
    found.set(place, {
      place,
      message:
        why === ''
          ? 'it has no target, so any value is accepted there'
          : `${why}, so any value is accepted there`,
    });
  }
  const marks = [...found.values()];
  const left = marks.length - mostMarks;
  if (left <= 0) return marks;
  const message = `${left} more references have no target, so any value is accepted there`;
  return [...marks.slice(0, mostMarks), { place: 'references', message }];
};

/** An OpenAPI document with the files that it refers to, and marks of references that could not be followed. */
export type ReadDocument = { document: Record<string, unknown>; marks: Mark[] };

/** Reads the document at a path; throws `invalid` when the file is no OpenAPI document. */
export const readOpenApi = async (path: string, shown: string): Promise<ReadDocument> => {
  const refuse = (why: string, cause?: unknown): AppError =>
    new AppError('invalid', `${shown} is not an OpenAPI document: ${why}`, { cause });
  let found: Bundled;
  try {
    const config = await createConfig({});
    found = await bundle({ ref: path, config, externalRefResolver: new FolderResolver(path) });
  } catch (error) {
    throw refuse(
      error instanceof Error ? (error.message.split('\n', 1)[0] ?? '') : 'it cannot be read',
      error,
    );
  }
  const { parsed } = found.bundle;
  if (!isObject(parsed) || !isObject(parsed.paths)) throw refuse('it has no "paths"');
  return { document: parsed, marks: marksOf(dirname(path), found) };
};
