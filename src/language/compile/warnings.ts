/**
 * Warns of trees that compile and are probably wrong:
 * - redaction of fields that no entity has, or after which rows no longer fit their schemas (bare names are never
 * refused);
 * - rows in the clear that the policy names;
 * - create routes that can never make a row (a reconciled schema may require more than they fill);
 * - tests to run on a push when there are none;
 * - code in folders that are left out.
 */
import { leftOutFolder } from '#domain/tree-path.ts';
import type { TreeFile } from '#domain/world.ts';
import { leftOutCode } from '../artifacts/bundle.ts';
import { describeContract } from '../artifacts/describe.ts';
import type { Contract, RouteContract } from '../contract.ts';
import { nearestName } from '../read/suggest.ts';
import { type BaseRows, plaintextWarnings } from './plaintext-warnings.ts';

/** Maximum number of warnings about one world. */
const mostWarnings = 100;

/** Returns a sentence for each warning: about tests, fields, rows, routes and paths, in this order; at most 100. */
export const languageWarnings = (
  contract: Contract,
  files: readonly TreeFile[],
  baseRows: BaseRows,
): string[] =>
  [
    ...pushWarnings(contract, files),
    ...unknownRedactions(contract),
    ...(contract.redact === null ? [] : redactWarnings(contract)),
    ...plaintextWarnings(contract, baseRows),
    ...creationWarnings(contract),
    ...leftOutCode(contract, files).map(
      (path) =>
        `${path} is not run, because folders named ${leftOutFolder(path)} are never part of a world; rename the folder`,
    ),
  ].slice(0, mostWarnings);

/**
 * Warns if a push is to run tests and the tree has none. This is no error, because an author may set `on_push` before
 * writing tests.
 */
const pushWarnings = ({ onPush }: Contract, files: readonly TreeFile[]): string[] =>
  onPush.includes('tests') && !files.some(({ path }) => path.startsWith('tests/'))
    ? ['a push is configured to run the tests, but tests/ has no files, so no test runs']
    : [];

/**
 * Warns of bare names in `[redact]` that no field has. They are no errors, because a vendor's answers may have more
 * fields than the entities. Paths are not checked, because they may be meant for fields of such answers.
 */
const unknownRedactions = (contract: Contract): string[] => {
  const { redact } = contract;
  if (redact === null) return [];
  const paths = describeContract(contract).entities.flatMap(({ fields }) =>
    fields.map(({ path }) => path),
  );
  const known = new Set(paths.flatMap((path) => [path, ...path.split('.')]));
  const { hash, drop, preserve, round } = redact;
  return [...hash, ...drop, ...preserve, ...Object.keys(round)]
    .filter((name) => !name.includes('.') && !known.has(name))
    .map((name) => {
      const nearest = nearestName(name, known);
      const meant = nearest === undefined ? '' : `; did you mean "${nearest}"?`;
      return `[redact] names "${name}", but no field of an entity has that name${meant}`;
    });
};

const redactWarnings = (contract: Contract): string[] =>
  describeContract(contract).entities.flatMap(({ name, fields }) =>
    fields.flatMap(({ path, types, required, policy }) => {
      const field = `${name}.${path}`;
      if (policy === 'drop' && required) {
        return [`${field} is dropped by [redact], but every row must have it`];
      }
      if ((policy === 'hash' || policy === 'preserve') && types.includes('object')) {
        const done = policy === 'hash' ? 'hashed' : 'preserved';
        return [
          `${field} is ${done} by [redact], but objects are not redacted as a whole; name its fields`,
        ];
      }
      const isText = types.includes('string') || types.includes('array');
      return policy === 'hash' && !isText
        ? [
            `${field} is hashed by [redact], which makes its values texts, but its type is ${types.join(' or ')}`,
          ]
        : [];
    }),
  );

/**
 * Returns the fields that a create route fills; undefined for a route that maps no field of its body and takes the
 * whole body.
 */
const filledBy = (route: RouteContract): Set<string> | undefined => {
  if (route.body.length === 0) return undefined;
  const matched = route.filter.filter(({ match }) => match === 'equals');
  return new Set([
    ...Object.keys(route.defaults),
    ...route.body.map(({ field: [name = ''] }) => name),
    ...matched.map(({ path: [name = ''] }) => name),
    ...route.generate.map(({ field }) => field),
  ]);
};

const creationWarnings = (contract: Contract): string[] => {
  const { entities } = describeContract(contract);
  return (contract.api?.routes ?? []).flatMap((route) => {
    const filled = filledBy(route);
    if (route.action !== 'create' || filled === undefined) return [];
    const fields = entities.find(({ name }) => name === route.entity)?.fields ?? [];
    const lacking = fields
      .filter(({ path, required }) => required && !path.includes('.') && !filled.has(path))
      .map(({ path }) => path);
    if (lacking.length === 0) return [];
    return [
      `${route.operation} can never make a row: it does not fill ${lacking.join(', ')}, which every row of ${route.entity} must have; map these fields in body, or fill them by defaults or generate`,
    ];
  });
};
