/**
 * What must not stand in the ledger of a session: its own token, the bearers that it mints, and what the
 * world's contract calls a secret.
 */
import type { Contract } from '#language/contract.ts';
import type { Secret } from '#runtime/secret.ts';
import { openingOfTokens } from '../api/oauth-tokens.ts';
import { type Secrets, secretNamesOf } from '../mask.ts';

export const secretsOf = (contract: Contract, token: Secret): Secrets => ({
  names: secretNamesOf(contract),
  values: [token.reveal()],
  openings: contract.api?.auth.scheme === 'oauth2' ? [openingOfTokens(token)] : [],
});
