/** What is said of a session that asks for a host which no pool has. */
import { AppError } from '#domain/error.ts';
import { type HostOffer, type HostWish, suits } from '#domain/pool.ts';
import { browserTiers } from '#domain/session.ts';

/** The wish field by field, as the request names them: what says most of a session comes last. */
const fields = ['browserTier', 'isolation', 'size'] as const;
type Field = (typeof fields)[number];

const without: Record<Field, (wish: HostWish, offer: HostOffer) => HostWish> = {
  size: (wish, { size }) => ({ ...wish, size }),
  isolation: (wish) => ({ ...wish, isolation: null }),
  browserTier: (wish, { tier }) => ({ ...wish, tier: tier ?? wish.tier }),
};

/** The first field that alone keeps every offer from suiting; the size where no single one does. */
const fieldAtFault = (wish: HostWish, offers: readonly HostOffer[]): Field =>
  fields.find((field) => offers.some((offer) => suits(offer, without[field](wish, offer)))) ??
  'size';

const describe = ({ size, isolation, tier }: HostOffer): string =>
  `size "${size}" with isolation "${isolation}" for ${tier ?? browserTiers.join(' and ')} sessions`;

/** That no pool has what is asked for, and what there is. */
export const describeUnsuited = (wish: HostWish, offers: readonly HostOffer[]): string => {
  const isolation = wish.isolation === null ? '' : ` with isolation "${wish.isolation}"`;
  const asked = `size "${wish.size}"${isolation} for ${wish.tier} sessions`;
  return `no pool has hosts of ${asked}; there are: ${offers.map(describe).join('; ')}`;
};

/** How an open is refused that asks for such a host: at the field to change. */
export const unsuitedError = (wish: HostWish, offers: readonly HostOffer[]): AppError => {
  const message = describeUnsuited(wish, offers);
  const field = fieldAtFault(wish, offers);
  return new AppError('invalid', message, { fields: [{ path: [field], message }] });
};
