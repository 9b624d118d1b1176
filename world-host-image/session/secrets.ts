/**
 * What must not stand in the ledger of a session: its own token, the bearers that it mints, and what the
 * world's contract calls a secret.
 */
import type { Contract } from '#language/contract.ts';
import type { Secret } from '#runtime/secret.ts';
import { type Secrets, secretNamesOf } from '../ledger/mask.ts';
import { openingOfTokens } from './oauth-tokens.ts';

export const secretsOf = (contract: Contract, token: Secret): Secrets => ({
  names: secretNamesOf(contract),
  values: [token.reveal()],
  openings: contract.api?.auth.scheme === 'oauth2' ? [openingOfTokens(token)] : [],
});
