/** Formats the faults of a session for a person, one rule a line. */
import type { Row } from '#language/contract.ts';
import type { View } from '../terminal/context.ts';
import { formatFitted } from './fitted-table.ts';

/** Output of a call of kind `faults`. */
export type FaultsView = {
  /** True if the rules in effect are those that the world declares. */
  declared: boolean;
  faults: { tools: boolean; rules: Row[] };
  met: { name: string; requests: number; met: number }[];
};

const whenOf = ({ nth, times, chance, rate_limit: limit }: Row): string => {
  if (limit !== undefined) return 'beyond the limit';
  if (chance !== undefined) return `chance ${chance}`;
  if (nth === undefined) return 'always';
  return times === 1 ? `request ${nth}` : `requests ${nth} to ${Number(nth) + Number(times) - 1}`;
};

const effectOf = ({ drop, latency_ms: ms, rate_limit: rateLimit, ...rule }: Row): string => {
  const { limit, seconds, status } = rule;
  const limited = rateLimit === undefined ? '' : `${rateLimit}: ${limit} in ${seconds} s, then `;
  const effects = [
    ms === undefined ? '' : `${ms} ms later`,
    drop === undefined ? '' : `dropped ${drop} it is carried out`,
    status === undefined ? '' : `${limited}${status}`,
  ];
  return effects.filter((one) => one !== '').join(', ');
};

const routesOf = ({ routes, rate_limit: limit }: Row): string => {
  if (limit !== undefined) return "the limit's";
  return Array.isArray(routes) ? routes.join(' ') : 'all';
};

export const describeFaults = ({ declared, faults, met }: FaultsView, view: View): string => {
  const { rules, tools } = faults;
  const whose = declared ? 'declared by the world' : 'set for this session, until its next reset';
  if (rules.length === 0) return `no faults (${whose})`;
  return [
    formatFitted(
      ['NAME', 'ROUTES', 'WHEN', 'DOES', 'MET'],
      rules.map((rule, index) => [
        String(rule.name),
        routesOf(rule),
        whenOf(rule),
        effectOf(rule),
        `${met[index]?.met ?? 0} of ${met[index]?.requests ?? 0}`,
      ]),
      view,
    ),
    `${whose}; ${tools ? 'also for tools' : 'not for tools'}`,
  ].join('\n');
};
