/**
 * Reads `connector.toml`: the vendor that a world simulates. The files of `connector/` define the keys of each table;
 * `check/` checks them against the data model and one another.
 */
import { type Kind, type Placed, placed } from '../read/kinds.ts';
import type { Place } from '../read/place.ts';
import {
  defaultedTable,
  described,
  optional,
  readTable,
  requiredTable,
  type TableOf,
  tableOf,
} from '../read/table.ts';
import type { Tree } from '../read/tree.ts';
import { apiKeys } from './connector/api.ts';
import { operationsKey } from './connector/operations.ts';
import { redactKeys } from './connector/redact.ts';
import { uiKeys, webhooksKeys } from './connector/surfaces.ts';
import { authKeys, captureKeys, connectorKeys } from './connector/vendor.ts';

export const connectorFile = 'connector.toml';

const optionalPlaced = <Value>(kind: Kind<Value>) => optional<Placed<Value>>(placed(kind));

export const connectorFileKeys = {
  connector: described('The vendor.', requiredTable(connectorKeys)),
  auth: described("The vendor's credential.", optionalPlaced(tableOf(authKeys))),
  capture: described('How answers are captured.', defaultedTable(captureKeys)),
  redact: described(
    'Fields that are redacted in captures, in rows that are imported or seeded with redact = "apply", and in what "svc worlds data extract" writes. Not redacted: rows of data/, which are kept as they are written ("schema check" warns of plaintext), and rows that requests and tools write in a session.',
    optionalPlaced(tableOf(redactKeys)),
  ),
  operations: operationsKey,
  api: described('Settings for every route.', defaultedTable(apiKeys)),
  ui: described('The page that the world serves.', optionalPlaced(tableOf(uiKeys))),
  webhooks: described('The events that the world sends.', optionalPlaced(tableOf(webhooksKeys))),
};
export type Connector = TableOf<typeof connectorFileKeys> & { place: Place };

/** Reads the connector; undefined if the world has none, or if it is malformed, which is then reported. */
export const readConnector = (tree: Tree): Connector | undefined => {
  const document = tree.toml(connectorFile);
  if (document === undefined) return undefined;
  return { ...readTable(document.place, document.value, connectorFileKeys), place: document.place };
};

/** Returns true if the connector has problems. Routes may then be missing from the contract. */
export const hasFaultyConnector = ({ problems }: Tree): boolean =>
  problems.anyBelow((file) => file === connectorFile, ['']);
