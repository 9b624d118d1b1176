/** Context of a tool, which runs inside the transaction of its call. */
import type { Contract, Row, ToolContract } from '#language/contract.ts';
import type { WorldStore } from '#store/world-store.ts';
import type { AuthorCode } from '../../session/author-code.ts';
import type { Session } from '../../session/session.ts';

export type ToolContext = {
  session: Session;
  contract: Contract;
  store: WorldStore;
  code: AuthorCode;
  tool: ToolContract;
  /** Input that fits the tool's input schema. */
  input: Row;
};
