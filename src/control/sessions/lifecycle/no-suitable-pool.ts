/** Builds the error for opening a session that requests a kind of host which no pool has. */
import { AppError } from '#domain/error.ts';
import { type HostOffer, type HostWish, suits } from '#domain/pool.ts';
import { browserTiers } from '#domain/session.ts';

/** Request fields that make up the wish for a host, the most significant one last. */
const fields = ['browserTier', 'isolation', 'size'] as const;
type Field = (typeof fields)[number];

const without: Record<Field, (wish: HostWish, offer: HostOffer) => HostWish> = {
  size: (wish, { size }) => ({ ...wish, size }),
  isolation: (wish) => ({ ...wish, isolation: null }),
  browserTier: (wish, { tier }) => ({ ...wish, tier: tier ?? wish.tier }),
};

/**
 * Returns the first field that, if it alone were changed, would make some offer suitable. If there is no such field,
 * returns `size`.
 */
const fieldAtFault = (wish: HostWish, offers: readonly HostOffer[]): Field =>
  fields.find((field) => offers.some((offer) => suits(offer, without[field](wish, offer)))) ??
  'size';

const describe = ({ size, isolation, tier }: HostOffer): string =>
  `size "${size}" with isolation "${isolation}" for ${tier ?? browserTiers.join(' and ')} sessions`;

/** Returns the message that no pool has the requested hosts; it lists the kinds of hosts that exist. */
export const describeUnsuited = (wish: HostWish, offers: readonly HostOffer[]): string => {
  const isolation = wish.isolation === null ? '' : ` with isolation "${wish.isolation}"`;
  const asked = `size "${wish.size}"${isolation} for ${wish.tier} sessions`;
  return `no pool has hosts of ${asked}; there are: ${offers.map(describe).join('; ')}`;
};

/** Builds the error for an open that requests hosts which no pool has; the error names the field to change. */
export const unsuitedError = (wish: HostWish, offers: readonly HostOffer[]): AppError => {
  const message = describeUnsuited(wish, offers);
  const field = fieldAtFault(wish, offers);
  return new AppError('invalid', message, { fields: [{ path: [field], message }] });
};
