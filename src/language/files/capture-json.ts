/**
 * Reads `captures/<operation>/<any name>.json`: one answer of the vendor, with the arguments of its request. The format
 * is this project's own; see `docs/write-worlds/world-language.md`. This file only parses captures; `capture/ingest.ts`
 * applies them to the data model. Compiling a world never reads captures.
 */
import type { Row, VendorOperation } from '../contract.ts';
import {
  anything,
  flag,
  integer,
  type Kind,
  listOf,
  mapOf,
  type Placed,
  refuseType,
  text,
} from '../read/kinds.ts';
import { nearestName } from '../read/suggest.ts';
import { optional, readTable, required, type TableOf, tableOf } from '../read/table.ts';
import type { Tree } from '../read/tree.ts';
import { isTable } from '../read/values.ts';

export const captureFolder = 'captures/';
/** Log of the requests of a capture, one per line. The capturing program uses it; it is not a capture itself. */
export const captureManifest = `${captureFolder}manifest.jsonl`;

const maxCaptures = 1_000;

/** Kind of an object whose keys the vendor chose. */
const object: Kind<Row> = (place, value) =>
  isTable(value) ? value : refuseType(place, 'an object', value);

/** Fields that were redacted before the capture was written, listed by mode. */
const redactedKeys = {
  hash: required<string[]>(listOf(text), []),
  drop: required<string[]>(listOf(text), []),
  preserve: required<string[]>(listOf(text), []),
  round: required<Map<string, number>>(mapOf(integer(0, 10)), new Map()),
};

const captureKeys = {
  operation: required(text, ''),
  /** Arguments of the request, by the name of the path argument or query parameter. */
  arguments: required<Row>(object, {}),
  status: required(integer(100, 599), 200),
  /** JSON body of the answer as received; null if there was none. */
  body: required(anything, null),
  /** Body of the request, for an operation that writes. */
  request: optional(anything),
  /** Headers of the answer that clients use, by name in lower case. */
  headers: optional<Map<string, string>>(mapOf(text)),
  /** Number of the page that the answer has, from 1, and whether it is the last page. */
  page: optional<number>(integer(1, 1_000_000)),
  last: optional<boolean>(flag),
  redacted: optional(tableOf(redactedKeys)),
  url: optional(text),
  captured_at: optional(text),
};
export type Capture = TableOf<typeof captureKeys>;

const readCapture = (tree: Tree, file: string, folder: string): Placed<Capture>[] => {
  const before = tree.problems.count();
  const document = tree.json(file);
  if (document === undefined) return [];
  const { place } = document;
  const value = readTable(place, document.value, captureKeys);
  if (tree.problems.count() > before) return [];
  if (value.operation === folder) return [{ place, value }];
  const message = `the capture is of "${value.operation.slice(0, 100)}" but is in the folder of "${folder}"`;
  place
    .at('operation')
    .refuse('bad_capture', message, `move the capture to ${captureFolder}<operation>/`);
  return [];
};

/**
 * Returns the captures of a tree, sorted by path. Captures that are refused are left out; notes in `.md` are allowed.
 */
export const readCaptures = (tree: Tree): Placed<Capture>[] => {
  const files = tree
    .paths(captureFolder)
    .filter((path) => !path.endsWith('.md') && path !== captureManifest);
  if (files.length > maxCaptures) {
    const message = `there are ${files.length} captures, more than ${maxCaptures}`;
    tree
      .place(captureFolder)
      .refuse('too_many', message, 'keep only a few captures of each operation');
    return [];
  }
  return files.flatMap((file) => {
    const [, folder] = /^([^/]+)\/[^/]+\.json$/.exec(file.slice(captureFolder.length)) ?? [];
    if (folder !== undefined) return readCapture(tree, file, folder);
    const message = `${captureFolder} must contain only captures, in files named <operation>/<any name>.json`;
    tree.place(file).refuse('unsupported_file', message);
    return [];
  });
};

/** Returns each capture with its operation. A capture whose operation is unknown is refused and left out. */
export const matchCaptures = (
  captures: readonly Placed<Capture>[],
  operations: readonly VendorOperation[],
): { capture: Placed<Capture>; operation: VendorOperation }[] => {
  const byName = new Map(operations.map((operation) => [operation.name, operation]));
  return captures.flatMap((capture) => {
    const { operation: name } = capture.value;
    const operation = byName.get(name);
    if (operation !== undefined) return [{ capture, operation }];
    const nearest = nearestName(name, byName.keys());
    const hint =
      nearest === undefined
        ? 'declare the operation, or remove the capture'
        : `did you mean "${nearest}"?`;
    const message = `the connector has no operation "${name.slice(0, 100)}"`;
    capture.place.at('operation').refuse('bad_capture', message, hint);
    return [];
  });
};
