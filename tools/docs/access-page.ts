/**
 * Builds `docs/use/access.md`: the callers that each public route accepts, from the operations and the access table.
 */
import { leastRoleFor } from '#domain/account.ts';
import { type AccessRule, accessRules, isPublicAccess, type PublicAccess } from '#wire/access.ts';
import { operationsOf } from '#wire/operation.ts';
import * as publicApi from '#wire/public-api/operations.ts';

const operations = operationsOf(publicApi);

const cellOf = (rule: AccessRule[keyof AccessRule]): string =>
  rule === 'taken' ? '✓' : String(rule);

/**
 * Returns the cell for a token: the least role that its user must have, where that role is assigned, and the scope that
 * the token needs.
 */
const tokenCell = (rule: AccessRule['token']): string => {
  if (typeof rule === 'number') return String(rule);
  const least = leastRoleFor(rule.deed).toLowerCase();
  const who = least === 'none' ? 'any member' : least === 'owner' ? 'owner' : `${least} or more`;
  const where = rule.where === 'project' ? ' of the project' : '';
  return `${who}${where}${rule.scope === null ? '' : `, \`${rule.scope}\``}`;
};

const rowOf = (access: PublicAccess): string => {
  const rule: AccessRule = accessRules[access];
  const cells = [cellOf(rule.keyPair), cellOf(rule.publicKey), cellOf(rule.organizationKey)];
  return `| \`${access}\` | ${rule.about} | ${cells.join(' | ')} | ${tokenCell(rule.token)} |`;
};

const routesOf = (access: PublicAccess): string[] => {
  const routes = operations
    .filter((operation) => operation.access === access)
    .map(({ method, path, summary }) => `| ${method} | \`${path}\` | ${summary} |`)
    .sort();
  if (routes.length === 0) return [];
  return [
    '',
    `## \`${access}\``,
    '',
    '| Method | Path | What it does |',
    '| - | - | - |',
    ...routes,
  ];
};

/** Returns the text of the page. */
export const accessPage = (): string => {
  const names = Object.keys(accessRules).filter(isPublicAccess);
  return `${[
    '# Who may call which route',
    '',
    '<!-- Made by `make docs` from `src/wire/access.ts` and the operations: edit those. -->',
    '',
    'This page is for programmers who want to know which credentials a route of the REST API accepts. Each route has',
    'one kind of access. The first table lists the kinds with the credentials that they accept. The tables after it',
    'list the routes of each kind.',
    '',
    'In the first table, ✓ means that the credential is accepted. 401 means that other credentials are needed. 403',
    'means that the credential is known, but not sufficient. The last column says which role the user of a token needs,',
    'and which scope the token needs. If an object belongs to another project, the answer is always 404. A test calls',
    'every route with every kind of credential and compares the answers with this page.',
    '',
    '| Access | What it is for | key pair | public key | organization key | personal access token |',
    '| - | - | - | - | - | - |',
    ...names.map(rowOf),
    ...names.flatMap(routesOf),
  ].join('\n')}\n`;
};
