/**
 * Checks whether gateways poll for routes. Only callers with the valid token count as gateways. A caller with a wrong
 * token may be a misconfigured gateway or any program that reaches the port, so refused callers alone never fail the
 * check.
 */
import { type AskingGateway, listGateways } from '../../db/sessions/gateways.ts';
import type { Parts } from '../../parts.ts';
import { type Finding, failed, listNames, ok, warning } from './finding.ts';

/** Time within which a gateway must have called, in milliseconds; longer than its long poll. */
const withinMs = 60_000;

const seeRefused =
  "if it is a gateway, give SVC_GATEWAY_TOKEN of it and of the control plane the same value, and restart both; if it is no gateway, block its access to the control plane's internal address (network policy)";

const describeRefused = (refused: readonly AskingGateway[]): string =>
  `a request with a wrong gateway token came from ${listNames(refused.map(({ address }) => address))}`;

/** Returns the finding for a control plane that has no gateway configured. */
const judgeNone = (refused: readonly AskingGateway[]): Finding =>
  refused.length === 0
    ? ok('none are configured: clients connect to hosts directly')
    : warning(
        `${describeRefused(refused)}, and this control plane has no gateway configured`,
        "set SVC_GATEWAY_URL and SVC_GATEWAY_TOKEN of the control plane, or stop the gateway; if the caller is no gateway, block its access to the control plane's internal address (network policy)",
      );

/** Returns the finding about the gateways that called within the last minute. */
export const checkGateways = async ({ config, db }: Parts): Promise<Finding> => {
  const asking = await listGateways(db, withinMs);
  const refused = asking.filter((one) => one.refused);
  const seen = asking.filter((one) => one.seen).length;
  if (config.gateway === null) return judgeNone(refused);
  const without = refused.length === 0 ? '' : `; ${describeRefused(refused)}`;
  if (seen === 0) {
    const see = `check with GET /ready and the log of the gateway that it runs; it must reach the control plane's internal address (SVC_CONTROL_URL)`;
    return failed(
      `no gateway has asked for routes within a minute, so no session can be reached by its address${without}`,
      refused.length === 0 ? see : `${see}; ${seeRefused}`,
    );
  }
  const asked = `${seen} ask for routes`;
  return refused.length === 0 ? ok(asked) : warning(`${asked}${without}`, seeRefused);
};
